//! Writes a model's interface.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::text::escape;
use super::value::Values;
use super::{FORMAT, KEPT_VALUES, MAGIC};
use crate::canonical::class_name;
use crate::resolved::{Field, Id, Model, ModelSet, Node, NodeClass, Ns, QName, Text, Triple};

/// The interface of the model of a namespace; empty if the set does not have it.
pub fn write(set: &ModelSet, ns: Ns) -> String {
    let Some(model) = set.model(ns) else {
        return String::new();
    };
    let mut writer = Writer { indexes: indexes(set, model), text: String::new() };
    writer.head(set, model);
    let mut references: BTreeMap<&Id, Vec<&Triple>> = BTreeMap::new();
    for triple in &model.references {
        references.entry(&triple.source).or_default().push(triple);
    }
    for node in model.nodes.values() {
        writer.node(node);
        for triple in references.remove(&node.id).into_iter().flatten() {
            let (reference_type, target) = (writer.id(&triple.reference_type), writer.id(&triple.target));
            writer.line(&[">", &reference_type, &target]);
        }
    }
    for triple in references.into_values().flatten() {
        let ids = [&triple.source, &triple.reference_type, &triple.target].map(|id| writer.id(id));
        writer.line(&["R", &ids[0], &ids[1], &ids[2]]);
    }
    writer.text
}

/// File-local indexes of the namespaces that occur: OPC UA, the model, the others by URI.
fn indexes(set: &ModelSet, model: &Model) -> BTreeMap<Ns, usize> {
    let mut used: BTreeSet<Ns> = model.required.iter().filter_map(|required| set.ns(&required.uri)).collect();
    for triple in &model.references {
        used.extend([triple.source.ns, triple.reference_type.ns, triple.target.ns]);
    }
    for node in model.nodes.values() {
        used.extend([node.browse_name.ns, node.data_type.ns]);
        used.extend(node.parent_hint.iter().chain(&node.method_declaration).map(|id| id.ns));
        let fields = node.definition.iter().flat_map(|definition| &definition.fields);
        used.extend(fields.map(|field| field.data_type.ns));
        if let Some(value) = kept_value(node) {
            super::value::namespaces(value, &mut used);
        }
    }
    used.remove(&Ns::UA);
    used.remove(&model.ns);
    let mut others: Vec<Ns> = used.into_iter().collect();
    others.sort_by_key(|ns| set.uri(*ns));
    let own = [Ns::UA, model.ns];
    let mut indexes = BTreeMap::new();
    for ns in own.into_iter().chain(others) {
        let next = indexes.len();
        indexes.entry(ns).or_insert(next);
    }
    indexes
}

/// The value of a variable that dependents need.
fn kept_value(node: &Node) -> Option<&crate::resolved::Value> {
    let kept = node.browse_name.ns == Ns::UA && KEPT_VALUES.contains(&&*node.browse_name.name);
    node.value.as_ref().filter(|_| kept && node.class == NodeClass::Variable)
}

struct Writer {
    indexes: BTreeMap<Ns, usize>,
    text: String,
}

impl Writer {
    fn line(&mut self, fields: &[&str]) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.text.push('\t');
            }
            self.text.push_str(&escape(field));
        }
        self.text.push('\n');
    }

    fn head(&mut self, set: &ModelSet, model: &Model) {
        let _ = writeln!(self.text, "{MAGIC} {FORMAT}");
        self.line(&["model", set.uri(model.ns)]);
        let facts = [
            ("version", &model.version),
            ("date", &model.publication_date),
            ("model-version", &model.model_version),
            ("xml-schema", &model.xml_schema_uri),
            ("rust", &model.rust_path),
        ];
        for (key, value) in facts {
            if let Some(value) = value {
                self.line(&[key, value]);
            }
        }
        for required in &model.required {
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            let (version, date) = (text(&required.version), text(&required.publication_date));
            self.line(&["require", &required.uri, &version, &date, &text(&required.model_version)]);
        }
        let mut namespaces: Vec<(usize, Ns)> = self.indexes.iter().map(|(ns, index)| (*index, *ns)).collect();
        namespaces.sort_unstable();
        for (index, ns) in namespaces {
            self.line(&["ns", &index.to_string(), set.uri(ns)]);
        }
        for ((scope, original), name) in &model.ledger {
            self.line(&["name", scope, original, name]);
        }
    }

    fn id(&self, id: &Id) -> String {
        id_text(&self.indexes, id)
    }

    fn node(&mut self, node: &Node) {
        let mut fields = vec!["N".to_owned(), self.id(&node.id), class_name(node.class).to_owned()];
        fields.push(name_text(&self.indexes, &node.browse_name));
        self.node_facts(node, &mut fields);
        variable_facts(node, &mut fields);
        if matches!(node.class, NodeClass::Variable | NodeClass::VariableType)
            && node.data_type != Id::ns0(24)
        {
            fields.push(format!("type={}", self.id(&node.data_type)));
        }
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        self.line(&fields);
        if let Some(definition) = &node.definition {
            let mut line = vec!["D".to_owned()];
            line.extend(definition.is_union.then(|| "union".to_owned()));
            line.extend(definition.is_option_set.then(|| "optionset".to_owned()));
            line.extend(definition.symbolic_name.as_ref().map(|name| format!("symbolic={name}")));
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            self.line(&line);
            for field in &definition.fields {
                self.field(field);
            }
        }
        if let Some(value) = kept_value(node) {
            let text = Values { indexes: &self.indexes }.text(value);
            self.line(&["V", &text]);
        }
    }

    fn node_facts(&self, node: &Node, fields: &mut Vec<String>) {
        let same = |texts: &[Text]| matches!(texts, [only] if only.locale.is_none() && *only.text == *node.browse_name.name);
        if !same(&node.display_name) {
            fields.extend(node.display_name.iter().map(|text| localized("display", text)));
            fields.extend(node.display_name.is_empty().then(|| "nodisplay".to_owned()));
        }
        fields.extend(node.symbolic_name.as_ref().map(|name| format!("symbolic={name}")));
        fields.extend(node.parent_hint.as_ref().map(|id| format!("parent={}", self.id(id))));
        fields.extend((node.write_mask != 0).then(|| format!("writemask={}", node.write_mask)));
        fields.extend(node.is_abstract.then(|| "abstract".to_owned()));
        fields.extend(node.symmetric.then(|| "symmetric".to_owned()));
        fields.extend(node.inverse_name.iter().map(|text| localized("inverse", text)));
        fields.extend((node.event_notifier != 0).then(|| format!("notifier={}", node.event_notifier)));
        fields.extend(node.contains_no_loops.then(|| "noloops".to_owned()));
        fields.extend((!node.executable).then(|| "notexecutable".to_owned()));
        fields.extend(node.method_declaration.as_ref().map(|id| format!("declaration={}", self.id(id))));
        fields.extend(node.types_only.then(|| "typesonly".to_owned()));
        fields.extend(node.design_tool_only.then(|| "designtool".to_owned()));
        fields.extend(node.access_restrictions.map(|bits| format!("restrictions={bits}")));
        fields.extend(node.release_status.as_ref().map(|status| format!("status={status}")));
    }

    fn field(&mut self, field: &Field) {
        let mut line = vec!["F".to_owned(), field.name.clone()];
        line.extend(field.symbolic_name.as_ref().map(|name| format!("symbolic={name}")));
        line.extend((field.data_type != Id::ns0(24)).then(|| format!("type={}", self.id(&field.data_type))));
        line.extend((field.value_rank != -1).then(|| format!("rank={}", field.value_rank)));
        line.extend(dimensions(&field.array_dimensions));
        line.extend((field.max_string_length != 0).then(|| format!("maxlength={}", field.max_string_length)));
        line.extend(field.value.map(|value| format!("value={value}")));
        line.extend(field.is_optional.then(|| "optional".to_owned()));
        line.extend(field.allow_sub_types.then(|| "subtypes".to_owned()));
        line.extend(field.display_name.iter().map(|text| localized("display", text)));
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        self.line(&line);
    }
}

fn variable_facts(node: &Node, fields: &mut Vec<String>) {
    fields.extend((node.value_rank != -1).then(|| format!("rank={}", node.value_rank)));
    fields.extend(dimensions(&node.array_dimensions));
    fields.extend((node.access_level != 1).then(|| format!("access={}", node.access_level)));
    let interval = node.minimum_sampling_interval;
    fields.extend((interval != 0.0).then(|| format!("sampling={interval}")));
    fields.extend(node.historizing.then(|| "historizing".to_owned()));
}

fn dimensions(dimensions: &[u32]) -> Option<String> {
    let texts: Vec<String> = dimensions.iter().map(u32::to_string).collect();
    (!texts.is_empty()).then(|| format!("dims={}", texts.join(",")))
}

/// `key=text`, or `key@locale=text`.
fn localized(key: &str, text: &Text) -> String {
    match &text.locale {
        Some(locale) => format!("{key}@{locale}={}", text.text),
        None => format!("{key}={}", text.text),
    }
}

/// An id with the file's index.
pub(super) fn id_text(indexes: &BTreeMap<Ns, usize>, id: &Id) -> String {
    match indexes.get(&id.ns) {
        None | Some(0) => id.ident.to_string(),
        Some(index) => format!("ns={index};{}", id.ident),
    }
}

/// A browse name with the file's index; always with one if the name looks as if it had one.
pub(super) fn name_text(indexes: &BTreeMap<Ns, usize>, name: &QName) -> String {
    let index = indexes.get(&name.ns).copied().unwrap_or(0);
    let ambiguous = crate::ids::split_qualified_name(&name.name).1.len() != name.name.len();
    if index == 0 && !ambiguous { name.name.to_string() } else { format!("{index}:{}", name.name) }
}
