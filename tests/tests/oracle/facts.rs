//! What the resolved model says, in the form of the facts files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};
use uaforge_model::canonical::class_name;
use uaforge_model::query::well_known::{DATA_TYPE_ENCODING_TYPE, HAS_ENCODING};
use uaforge_model::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns, QName, Value as UaValue};

/// One model of a set, and the namespace table of its facts file.
pub(crate) struct Facts<'a> {
    pub(crate) set: &'a ModelSet,
    pub(crate) model: &'a Model,
    indexes: HashMap<Ns, usize>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(set: &'a ModelSet, ns: Ns, namespaces: &Value) -> Self {
        let uris = namespaces.as_array().expect("a list").iter().map(|uri| uri.as_str().expect("a text"));
        let indexes = uris.enumerate().filter_map(|(index, uri)| Some((set.ns(uri)?, index))).collect();
        Self { set, model: set.model(ns).expect("the model is loaded"), indexes }
    }

    pub(crate) fn sections(&self) -> Vec<(&'static str, Value)> {
        let types = |class, entry: &dyn Fn(&'a Node) -> Value| -> Value {
            self.nodes(class).map(entry).collect::<Vec<_>>().into()
        };
        vec![
            ("model", self.identity()),
            ("counts", self.counts()),
            ("value_extension_objects", self.extension_objects()),
            ("data_types", types(NodeClass::DataType, &|node| self.data_type(node))),
            ("reference_types", types(NodeClass::ReferenceType, &|node| self.reference_type(node))),
            ("object_types", self.instance_types(NodeClass::ObjectType)),
            ("variable_types", self.instance_types(NodeClass::VariableType)),
            ("methods", types(NodeClass::Method, &|node| self.method(node))),
        ]
    }

    fn index(&self, ns: Ns) -> usize {
        self.indexes.get(&ns).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn id(&self, id: &Id) -> String {
        match self.index(id.ns) {
            0 => id.ident.to_string(),
            index => format!("ns={index};{}", id.ident),
        }
    }

    pub(crate) fn name(&self, name: &QName) -> String {
        match self.index(name.ns) {
            0 => name.name.to_string(),
            index => format!("{index}:{}", name.name),
        }
    }

    /// The browse name of a node.
    pub(crate) fn name_of(&self, id: &Id) -> String {
        self.set.node(id).map_or_else(|| self.id(id), |node| self.name(&node.browse_name))
    }

    /// The model's nodes of one class, in order of id.
    pub(crate) fn nodes(&self, class: NodeClass) -> impl Iterator<Item = &'a Node> {
        self.model.nodes.values().filter(move |node| node.class == class)
    }

    fn identity(&self) -> Value {
        json!({
            "uri": self.set.uri(self.model.ns),
            "version": self.model.version,
            "publication_date": self.model.publication_date,
            "model_version": self.model.model_version,
            "xml_schema_uri": self.model.xml_schema_uri,
        })
    }

    fn counts(&self) -> Value {
        let nodes = self.model.nodes.values();
        let count =
            |test: &dyn Fn(&Node) -> bool| self.model.nodes.values().filter(|node| test(node)).count();
        let mut by_class = BTreeMap::new();
        let mut by_kind = BTreeMap::new();
        let mut by_status = BTreeMap::new();
        for node in nodes {
            *by_class.entry(class_name(node.class)).or_insert(0) += 1;
            if node.class == NodeClass::DataType {
                *by_kind.entry(self.kind(&node.id)).or_insert(0) += 1;
            }
            if let Some(status) = &node.release_status {
                *by_status.entry(status.as_str()).or_insert(0) += 1;
            }
        }
        json!({
            "nodes": self.model.nodes.len(),
            "by_class": by_class,
            "data_types_by_kind": by_kind,
            "references_distinct": self.model.references.len(),
            "values": count(&|node| node.value.is_some()),
            "encodings": count(&|node| self.set.type_definition(&node.id) == Some(&DATA_TYPE_ENCODING_TYPE)),
            "symbolic_names": count(&|node| node.symbolic_name.is_some()),
            "release_status": by_status,
            "documentation": count(&|node| node.documentation.is_some()),
            "role_permissions": count(&|node| !node.role_permissions.is_empty()),
            "access_restrictions": count(&|node| node.access_restrictions.is_some()),
            "nodes_outside_types": self.outside_types(),
        })
    }

    /// Nodes that are no types and are not reached from one.
    fn outside_types(&self) -> usize {
        let own = |id: &Id| self.set.node(id).filter(|_| id.ns == self.model.ns);
        let is_type = |node: &Node| {
            !matches!(
                node.class,
                NodeClass::Object | NodeClass::Variable | NodeClass::Method | NodeClass::View
            )
        };
        let mut open: Vec<&Node> = self.model.nodes.values().filter(|node| is_type(node)).collect();
        let mut seen: BTreeSet<&Id> = open.iter().map(|node| &node.id).collect();
        while let Some(node) = open.pop() {
            let encodings =
                self.set.forward(&node.id).iter().filter(|link| link.reference_type == HAS_ENCODING);
            let members = self.set.children(&node.id).map(|(_, child)| &child.id);
            for next in members.chain(encodings.map(|link| &link.target)).filter_map(own) {
                if seen.insert(&next.id) {
                    open.push(next);
                }
            }
        }
        self.model.nodes.len() - seen.len()
    }

    fn extension_objects(&self) -> Value {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for value in self.model.nodes.values().filter_map(|node| node.value.as_ref()) {
            self.count_objects(value, &mut counts);
        }
        json!(counts)
    }

    fn count_objects(&self, value: &UaValue, counts: &mut BTreeMap<String, usize>) {
        match value {
            UaValue::Structure { data_type, .. } | UaValue::Union { data_type, .. } => {
                *counts.entry(self.name_of(data_type)).or_default() += 1;
            }
            UaValue::Array { items, .. } | UaValue::Matrix { items, .. } => {
                items.iter().for_each(|item| self.count_objects(item, counts));
            }
            _ => {}
        }
    }
}
