//! Type dictionaries (BSD): definitions of data types whose NodeSet has none, and of types without a NodeSet.

mod layout;

use std::collections::{BTreeMap, BTreeSet};

use super::requirements::empty_model;
use super::{Declared, Resolver};
use crate::NS0_URI;
use crate::diagnostic::{Diagnostic, codes};
use crate::identifiers::Table;
use crate::ids::shared;
use crate::query::well_known::{
    DATA_TYPE_ENCODING_TYPE, ENUMERATION, HAS_ENCODING, HAS_SUBTYPE, HAS_TYPE_DEFINITION, STRUCTURE, UNION,
};
use crate::resolved::{
    Definition, Field, Id, Ident, Node, NodeClass, Ns, QName, Requirement, Span, Text, Triple,
};
use crate::schema::{BSD_XMLNS, Dictionary, Element, RawKind, RawType, TypeRef};

const BYTE_STRING: Id = Id::ns0(15);

/// Ids of the dictionary's own types by name.
type Own<'a> = BTreeMap<&'a str, Id>;

impl<'a, 'd> Resolver<'a, 'd> {
    /// Reads a dictionary after all nodes.
    pub(super) fn read_dictionary(&mut self, dictionary: &Dictionary<'a>) {
        let ns = self.names.intern(dictionary.target.value);
        self.declare_dictionary(ns, dictionary);
        if let Some(order) = dictionary.byte_order.filter(|order| order.value.trim() != "LittleEndian") {
            self.not_representable(order.span, "numbers in OPC UA Binary are little-endian".to_owned());
        }
        let known = self.known_types(ns);
        let (mut own, mut taken) = (Own::new(), BTreeSet::new());
        let mut without_id = 0usize;
        let table = self.table_of(dictionary);
        for raw in &dictionary.types {
            let listed = table.and_then(|table| table.find(raw.name.value, NodeClass::DataType));
            let listed =
                listed.and_then(|ident| self.free_id(ns, ident)).filter(|id| taken.insert(id.clone()));
            let id = known.get(raw.name.value).cloned().or(listed);
            without_id += usize::from(id.is_none());
            let id = id.unwrap_or_else(|| Id { ns, ident: Ident::String(shared(raw.name.value)) });
            own.insert(raw.name.value, id);
        }
        if without_id > 0 {
            let message = format!(
                "{without_id} type(s) of this dictionary have no node in a NodeSet: their ids are their names"
            );
            let help = "load the NodeSet of the model or its table of identifiers (CSV) beside the dictionary, or use the types by \
                        name alone";
            self.diagnostics.push(
                Diagnostic::note(codes::DICTIONARY_WITHOUT_IDS, message).at(dictionary.span).help(help),
            );
        }
        for raw in &dictionary.types {
            self.dictionary_type(ns, raw, &own, table);
        }
    }

    /// The table of identifiers of a dictionary: the one of its model, else the one with most of its types.
    fn table_of(&self, dictionary: &Dictionary<'_>) -> Option<&'d Table<'d>> {
        let count = |table: &Table<'_>| {
            let names: BTreeSet<&str> = table.rows.iter().map(|row| row.name).collect();
            dictionary.types.iter().filter(|raw| names.contains(raw.name.value)).count()
        };
        let tables = self.identifiers.iter().filter(|table| match table.uri {
            Some(uri) => uri == dictionary.target.value,
            None => count(table) > 0,
        });
        tables.max_by_key(|table| (table.uri.is_some(), count(table)))
    }

    /// An id of a table that no node has yet.
    fn free_id(&self, ns: Ns, ident: &Ident) -> Option<Id> {
        let taken = self.models.get(&ns).is_some_and(|model| model.nodes.contains_key(ident));
        (!taken).then(|| Id { ns, ident: ident.clone() })
    }

    fn declare_dictionary(&mut self, ns: Ns, dictionary: &Dictionary<'_>) {
        self.model_spans.entry(ns).or_insert(dictionary.target.span);
        let model = self.models.entry(ns).or_insert_with(|| empty_model(ns));
        if model.required.is_empty() && ns != Ns::UA {
            let (version, publication_date, model_version) = (None, None, None);
            model.required.push(Requirement {
                uri: shared(NS0_URI),
                version,
                publication_date,
                model_version,
            });
        }
    }

    /// Data types of a namespace by browse name and symbolic name.
    fn known_types(&self, ns: Ns) -> BTreeMap<String, Id> {
        let nodes = self.models.get(&ns).into_iter().flat_map(|model| model.nodes.values());
        let types = nodes.filter(|node| node.class == NodeClass::DataType);
        let named = |node: &Node| {
            let symbolic = node.symbolic_name.clone().map(|name| (name, node.id.clone()));
            symbolic.into_iter().chain([(node.browse_name.name.to_string(), node.id.clone())])
        };
        types.flat_map(named).collect()
    }

    fn dictionary_type(&mut self, ns: Ns, raw: &RawType<'a>, own: &Own<'a>, table: Option<&Table<'_>>) {
        let Some(id) = own.get(raw.name.value) else { return };
        let known = self.models.get(&ns).and_then(|model| model.nodes.get(&id.ident));
        let exists = known.is_some();
        // What the NodeSet says counts: dictionaries lose optional flags.
        if let Some(definition) = known.and_then(|node| node.definition.clone()) {
            if self.options.lints {
                self.compare_dictionary(ns, raw, own, &definition);
            }
            return;
        }
        if exists && raw.kind == RawKind::Opaque {
            return;
        }
        let Some((base, definition)) = self.lower(ns, raw, own) else { return };
        if let Some(node) = self.models.get_mut(&ns).and_then(|model| model.nodes.get_mut(&id.ident)) {
            node.definition = definition;
            return;
        }
        let span = raw.element.span();
        let browse_name = QName { ns, name: shared(raw.name.value) };
        let mut node = Node::new(id.clone(), NodeClass::DataType, browse_name);
        node.definition = definition;
        self.dictionary_node(node, raw.name.value, span);
        self.dictionary_reference(id, &base, HAS_SUBTYPE, id, span);
        if raw.kind == RawKind::Structured {
            let text = format!("{}_Encoding_DefaultBinary", raw.name.value);
            let listed = table.and_then(|table| table.find(&text, NodeClass::Object));
            let listed = listed.and_then(|ident| self.free_id(ns, ident));
            let encoding = listed.unwrap_or_else(|| Id { ns, ident: Ident::String(shared(&text)) });
            let browse_name = QName { ns: Ns::UA, name: shared("Default Binary") };
            let node = Node::new(encoding.clone(), NodeClass::Object, browse_name);
            self.dictionary_node(node, "Default Binary", span);
            self.dictionary_reference(&encoding, id, HAS_ENCODING, &encoding, span);
            self.dictionary_reference(
                &encoding,
                &encoding,
                HAS_TYPE_DEFINITION,
                &DATA_TYPE_ENCODING_TYPE,
                span,
            );
        }
    }

    /// Tells where a dictionary has other fields or values than the NodeSet, which counts.
    fn compare_dictionary(&mut self, ns: Ns, raw: &RawType<'a>, own: &Own<'a>, definition: &Definition) {
        let before = self.diagnostics.len();
        let lowered = self.lower(ns, raw, own);
        // What is wrong with a definition that is not used is no matter.
        self.diagnostics.truncate(before);
        let Some((_, Some(other))) = lowered else { return };
        let count = |definition: &Definition| {
            let optional = definition.fields.iter().filter(|field| field.is_optional).count();
            (definition.fields.len(), optional)
        };
        let same = |(field, other): (&Field, &Field)| {
            let names = [Some(field.name.as_str()), field.symbolic_name.as_deref()];
            names.contains(&Some(other.name.as_str()))
                && (field.value, field.is_optional) == (other.value, other.is_optional)
        };
        let alike =
            count(definition) == count(&other) && definition.fields.iter().zip(&other.fields).all(same);
        if !alike {
            let ((fields, optional), (others, other_optional)) = (count(definition), count(&other));
            let message = format!(
                "{} has {others} fields, {other_optional} of them optional, in this dictionary, and {fields} with {optional} \
                 optional ones or others in the NodeSet",
                raw.name.value
            );
            let help = "the NodeSet counts: dictionaries lose optional flags and types";
            let diagnostic =
                Diagnostic::warning(codes::DICTIONARY_DIFFERS, message).at(raw.name.span).help(help);
            self.diagnostics.push(diagnostic);
        }
    }

    fn dictionary_node(&mut self, mut node: Node, name: &str, span: Span) {
        node.span = span;
        node.display_name = vec![Text { locale: None, text: name.to_owned() }];
        if let Some(model) = self.models.get_mut(&node.id.ns) {
            model.nodes.insert(node.id.ident.clone(), node);
        }
    }

    fn dictionary_reference(&mut self, by: &Id, source: &Id, reference_type: Id, target: &Id, span: Span) {
        let triple = Triple { source: source.clone(), reference_type, target: target.clone() };
        self.declared.push(Declared { triple, declared_by: by.clone(), span });
    }

    /// Supertype and definition of a type.
    fn lower(&mut self, ns: Ns, raw: &RawType<'a>, own: &Own<'a>) -> Option<(Id, Option<Definition>)> {
        let bits: Option<u32> = self.optional_number(raw.element, "LengthInBits");
        let unsigned = match bits {
            Some(8) => Some(Id::ns0(3)),
            Some(16) => Some(Id::ns0(5)),
            Some(32) => Some(Id::ns0(7)),
            Some(64) => Some(Id::ns0(9)),
            _ => None,
        };
        match raw.kind {
            RawKind::Opaque if bits.is_none() => Some((BYTE_STRING, None)),
            RawKind::Opaque => self.width(raw, unsigned).map(|base| (base, None)),
            RawKind::Enumerated => {
                let is_option_set = self.flag(raw.element, "IsOptionSet", false);
                let base = if is_option_set {
                    self.width(raw, unsigned)?
                } else if matches!(bits, None | Some(32)) {
                    ENUMERATION
                } else {
                    self.not_representable(raw.name.span, "an enumeration has 32 bits".to_owned());
                    return None;
                };
                Some((base, Some(self.values(raw, is_option_set))))
            }
            RawKind::Structured => {
                let (is_union, fields) = self.layout(ns, raw, own)?;
                let base = match raw.element.type_ref("BaseType") {
                    Some(base) if !matches!(base.name, "ExtensionObject" | "Union" | "Structure") => {
                        self.dictionary_ref(ns, &base, own, raw.name.span)?
                    }
                    _ if is_union => UNION,
                    _ => STRUCTURE,
                };
                Some((base, Some(Definition { is_union, fields, ..Definition::default() })))
            }
        }
    }

    fn width(&mut self, raw: &RawType<'_>, unsigned: Option<Id>) -> Option<Id> {
        if unsigned.is_none() {
            self.not_representable(raw.name.span, "it has to be 8, 16, 32 or 64 bits wide".to_owned());
        }
        unsigned
    }

    /// Values of an enumeration; bits of an option set, whose values are masks.
    fn values(&mut self, raw: &RawType<'a>, is_option_set: bool) -> Definition {
        let mut definition = Definition { is_option_set, ..Definition::default() };
        for part in &raw.parts {
            let name = part.attribute("Name").map(|name| name.value).unwrap_or_default();
            let mut value: Option<i64> = self.optional_number(*part, "Value");
            if is_option_set {
                let mask = value.unwrap_or(0);
                if mask == 0 {
                    continue; // "none of them" is no bit
                }
                if !mask.cast_unsigned().is_power_of_two() {
                    self.not_representable(part.name_span(), format!("{name} is more than one bit"));
                    continue;
                }
                value = Some(i64::from(mask.trailing_zeros()));
            }
            let mut field = self.dictionary_field(name, Id::ns0(24), part.span());
            field.value = value;
            definition.fields.push(field);
        }
        definition
    }

    fn dictionary_field(&self, name: &str, data_type: Id, span: Span) -> Field {
        Field {
            name: name.to_owned(),
            symbolic_name: None,
            data_type,
            value_rank: -1,
            array_dimensions: Vec::new(),
            max_string_length: 0,
            value: None,
            is_optional: false,
            allow_sub_types: false,
            display_name: Vec::new(),
            description: Vec::new(),
            span,
        }
    }

    /// The data type that a qualified name means; an unknown one is reported.
    fn dictionary_ref(&mut self, ns: Ns, name: &TypeRef<'_>, own: &Own<'a>, span: Span) -> Option<Id> {
        let found = match name.namespace {
            BSD_XMLNS => opc_type(name.name).map(Id::ns0),
            NS0_URI => match name.name {
                "ExtensionObject" => Some(STRUCTURE),
                "Variant" => Some(Id::ns0(24)),
                other => self.names.standard.get(other).cloned(),
            },
            uri => match self.names.ns(uri) {
                Some(other) if other == ns => own.get(name.name).cloned(),
                Some(other) => self.known_types(other).remove(name.name),
                None => None,
            },
        };
        if found.is_none() {
            let message = format!("the type {} of {} is not known", name.name, name.namespace);
            let help =
                "load the NodeSet or the dictionary of that namespace, or correct the prefix or the name";
            self.diagnostics.push(Diagnostic::error(codes::DICTIONARY_TYPE, message).at(span).help(help));
        }
        found
    }

    fn not_representable(&mut self, span: Span, why: String) {
        let message = format!("no DataTypeDefinition has this layout: {why}");
        let help = "such a type cannot be a data type of OPC UA (OPC 10000-6 §5.2.6); correct the dictionary";
        self.diagnostics.push(Diagnostic::error(codes::DICTIONARY_LAYOUT, message).at(span).help(help));
    }
}

/// The data type of a builtin type of the OPC Binary schema.
fn opc_type(name: &str) -> Option<u32> {
    const NAMES: [&str; 15] = [
        "Boolean",
        "SByte",
        "Byte",
        "Int16",
        "UInt16",
        "Int32",
        "UInt32",
        "Int64",
        "UInt64",
        "Float",
        "Double",
        "String",
        "DateTime",
        "Guid",
        "ByteString",
    ];
    let name = if name == "CharArray" { "String" } else { name };
    (1u32..).zip(NAMES).find(|(_, known)| *known == name).map(|(number, _)| number)
}

/// A field's element and name.
struct Part<'a> {
    element: Element<'a>,
    name: &'a str,
}
