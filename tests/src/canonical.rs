//! The canonical form of a model, from what a server would show of it.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use uaforge_codec::{NamespaceMap, NodeId, NodeIdRef};
use uaforge_nodes::{
    AttributeId, AttributeValue, BrowseName, Direction, Node, NodeClass, ReferenceFilter, Snapshot, Text,
};

/// Lines of one model: nodes, references, attributes.
#[derive(Debug, Default)]
pub struct Canonical {
    /// `N` lines.
    pub nodes: BTreeSet<String>,
    /// `R` lines.
    pub references: BTreeSet<String>,
    /// `A` lines.
    pub attributes: BTreeSet<String>,
}

impl Canonical {
    /// SHA-256 over a group of lines.
    #[must_use]
    pub fn hash<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
        let mut sha = Sha256::new();
        for line in lines {
            sha.update(line.as_bytes());
            sha.update(b"\n");
        }
        hex::encode(sha.finalize())
    }

    /// The whole text in order.
    pub fn lines(&self) -> impl Iterator<Item = &String> {
        self.nodes.iter().chain(&self.references).chain(&self.attributes)
    }
}

fn id(namespaces: &NamespaceMap, id: NodeIdRef<'_>) -> String {
    let ident = NodeId::with_namespace(&id.to_owned(), 0).to_string();
    match namespaces.uri(id.namespace()) {
        Some(uri) if id.namespace() != 0 => format!("nsu={uri};{ident}"),
        _ => ident,
    }
}

fn name(namespaces: &NamespaceMap, name: BrowseName<'_>) -> String {
    match namespaces.uri(name.namespace) {
        Some(uri) if name.namespace != 0 => format!("nsu={uri};{}", name.name),
        _ => name.name.to_owned(),
    }
}

fn text(text: Text<'_>) -> String {
    let words: Vec<&str> = text.text.split_whitespace().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// All of one namespace: its nodes, and the references with one end in it and the other in it or in
/// one of `others`.
#[must_use]
pub fn of_namespace(snapshot: &Snapshot, namespace: u16, others: &[u16]) -> Canonical {
    let mut out = Canonical::default();
    let namespaces = snapshot.namespaces();
    for node in snapshot.nodes() {
        let own = id(namespaces, node.id());
        if node.id().namespace() == namespace {
            let definition = node.type_definition().map_or("-".to_owned(), |t| id(namespaces, t));
            let browse_name = name(namespaces, node.browse_name());
            out.nodes.insert(format!("N\t{own}\t{:?}\t{browse_name}\t{definition}", node.class()));
            attributes(namespaces, node, &own, &mut out.attributes);
        }
        for reference in node.references(Direction::Both, ReferenceFilter::ALL) {
            let (here, there) = (node.id().namespace(), reference.target_id().namespace());
            let known = |ns: u16| ns == namespace || others.contains(&ns);
            if (here != namespace && there != namespace) || !known(here) || !known(there) {
                continue;
            }
            let target = id(namespaces, reference.target_id());
            let (source, target) =
                if reference.is_forward() { (own.clone(), target) } else { (target, own.clone()) };
            let reference_type = id(namespaces, reference.type_id());
            out.references.insert(format!("R\t{source}\t{reference_type}\t{target}"));
        }
    }
    out
}

fn attributes(namespaces: &NamespaceMap, node: Node<'_>, own: &str, out: &mut BTreeSet<String>) {
    let mut wanted = vec![AttributeId::DisplayName];
    match node.class() {
        NodeClass::Variable | NodeClass::VariableType => {
            wanted.extend([AttributeId::DataType, AttributeId::ValueRank, AttributeId::ArrayDimensions]);
        }
        NodeClass::Object => wanted.push(AttributeId::EventNotifier),
        NodeClass::ReferenceType => wanted.extend([AttributeId::Symmetric, AttributeId::InverseName]),
        _ => {}
    }
    if node.class() == NodeClass::Variable {
        wanted.push(AttributeId::AccessLevel);
    }
    if node.class().is_type() {
        wanted.push(AttributeId::IsAbstract);
    }
    for attribute in wanted {
        let value = match node.attribute(attribute) {
            Ok(AttributeValue::NodeId(value)) => id(namespaces, value),
            Ok(AttributeValue::LocalizedText(value)) => text(value),
            Ok(AttributeValue::Boolean(value)) => value.to_string(),
            Ok(AttributeValue::Byte(value)) => value.to_string(),
            Ok(AttributeValue::Int32(value)) => value.to_string(),
            Ok(AttributeValue::Dimensions(dimensions)) => {
                dimensions.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
            }
            Ok(AttributeValue::Null) | Err(_) => "-".to_owned(),
            Ok(other) => format!("{other:?}"),
        };
        out.insert(format!("A\t{own}\t{attribute:?}\t{value}"));
    }
}
