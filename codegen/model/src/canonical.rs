//! The canonical text of a model and the hashes over it: equal for equal models, whatever the order,
//! aliases, index tables and directions of references in the file.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use crate::query::well_known::HAS_TYPE_DEFINITION;
use crate::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns, Text, Triple};

/// The three groups of lines, each sorted by its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canonical {
    /// `N` lines.
    pub nodes: Vec<String>,
    /// `R` lines.
    pub references: Vec<String>,
    /// `A` lines.
    pub attributes: Vec<String>,
}

/// Hexadecimal SHA-256 of each group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// Over the nodes.
    pub nodes: String,
    /// Over the references.
    pub references: String,
    /// Over the attributes.
    pub attributes: String,
    /// Over all of them.
    pub model: String,
    /// Over the nodes of one class, by its name.
    pub nodes_by_class: BTreeMap<&'static str, String>,
}

/// The canonical text of the model of a namespace; empty if the set does not have it.
pub fn text(set: &ModelSet, ns: Ns) -> String {
    canonical(set, ns).text()
}

/// The hashes of the model of a namespace.
pub fn hashes(set: &ModelSet, ns: Ns) -> Hashes {
    canonical(set, ns).hashes()
}

/// The canonical lines of everything that the model's documents say.
pub fn canonical(set: &ModelSet, ns: Ns) -> Canonical {
    set.model(ns).map_or_else(Canonical::default, |model| lines(set, model, |_| true))
}

/// The canonical lines of what is in an address space: without data types that are types only, their
/// encodings, and references to either.
pub fn address_space(set: &ModelSet, ns: Ns) -> Canonical {
    set.model(ns).map_or_else(Canonical::default, |model| lines(set, model, |id| !set.is_types_only(id)))
}

/// The canonical lines of what a server of this model and those below it shows of it: its nodes, and the references
/// with one end in it and the other in any of them.
pub fn served(set: &ModelSet, ns: Ns) -> Canonical {
    let Some(model) = set.model(ns) else {
        return Canonical::default();
    };
    let shown = |id: &Id| set.node(id).is_some_and(|node| !node.types_only);
    let mut canonical = lines(set, model, |id| !set.is_types_only(id));
    canonical.references = model
        .references
        .iter()
        .filter(|triple| triple.source.ns == ns || triple.target.ns == ns)
        .filter(|triple| shown(&triple.source) && shown(&triple.target))
        .map(|triple| reference(set, triple))
        .collect();
    canonical.references.sort_unstable();
    canonical
}

/// The name of a node class.
pub fn class_name(class: NodeClass) -> &'static str {
    match class {
        NodeClass::Object => "Object",
        NodeClass::Variable => "Variable",
        NodeClass::Method => "Method",
        NodeClass::ObjectType => "ObjectType",
        NodeClass::VariableType => "VariableType",
        NodeClass::ReferenceType => "ReferenceType",
        NodeClass::DataType => "DataType",
        NodeClass::View => "View",
    }
}

/// The class of a word that [`class_name`] gives.
pub(crate) fn class_of(word: &str) -> Option<NodeClass> {
    let classes = [
        NodeClass::Object,
        NodeClass::Variable,
        NodeClass::Method,
        NodeClass::ObjectType,
        NodeClass::VariableType,
        NodeClass::ReferenceType,
        NodeClass::DataType,
        NodeClass::View,
    ];
    classes.into_iter().find(|class| class_name(*class) == word)
}

fn lines(set: &ModelSet, model: &Model, keep: impl Fn(&Id) -> bool) -> Canonical {
    let mut canonical = Canonical::default();
    let definitions = type_definitions(&model.references);
    for node in model.nodes.values().filter(|node| keep(&node.id)) {
        let id = set.id_text(&node.id);
        let definition = definitions.get(&node.id).map_or_else(|| "-".to_owned(), |id| set.id_text(id));
        let name = set.name_text(&node.browse_name);
        canonical.nodes.push(format!("N\t{id}\t{}\t{name}\t{definition}", class_name(node.class)));
        attributes(set, node, &id, &mut canonical.attributes);
    }
    for triple in &model.references {
        if [&triple.source, &triple.reference_type, &triple.target].into_iter().all(&keep) {
            canonical.references.push(reference(set, triple));
        }
    }
    for group in [&mut canonical.nodes, &mut canonical.references, &mut canonical.attributes] {
        group.sort_unstable();
    }
    canonical
}

fn reference(set: &ModelSet, triple: &Triple) -> String {
    let [source, reference_type, target] =
        [&triple.source, &triple.reference_type, &triple.target].map(|id| set.id_text(id));
    format!("R\t{source}\t{reference_type}\t{target}")
}

fn type_definitions(references: &[Triple]) -> BTreeMap<&Id, &Id> {
    let mut definitions = BTreeMap::new();
    for triple in references.iter().filter(|triple| triple.reference_type == HAS_TYPE_DEFINITION) {
        definitions.entry(&triple.source).or_insert(&triple.target);
    }
    definitions
}

fn attributes(set: &ModelSet, node: &Node, id: &str, lines: &mut Vec<String>) {
    let mut line = |name: &str, value: &str| lines.push(format!("A\t{id}\t{name}\t{value}"));
    line("DisplayName", &first_text(&node.display_name));
    if matches!(node.class, NodeClass::Variable | NodeClass::VariableType) {
        line("DataType", &set.id_text(&node.data_type));
        line("ValueRank", &node.value_rank.to_string());
        let dimensions: Vec<String> = node.array_dimensions.iter().map(u32::to_string).collect();
        line(
            "ArrayDimensions",
            if dimensions.is_empty() { "-".to_owned() } else { dimensions.join(",") }.as_str(),
        );
    }
    match node.class {
        NodeClass::Variable => line("AccessLevel", &node.access_level.to_string()),
        NodeClass::Object => line("EventNotifier", &node.event_notifier.to_string()),
        NodeClass::ObjectType | NodeClass::VariableType | NodeClass::DataType | NodeClass::ReferenceType => {
            line("IsAbstract", if node.is_abstract { "true" } else { "false" });
        }
        NodeClass::Method | NodeClass::View => {}
    }
    if node.class == NodeClass::ReferenceType {
        line("Symmetric", if node.symmetric { "true" } else { "false" });
        line("InverseName", &first_text(&node.inverse_name));
    }
}

/// The first text with runs of white space as one blank; `-` if there is none.
fn first_text(texts: &[Text]) -> String {
    let text = texts.first().map_or("", |text| &text.text);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

impl Canonical {
    /// The three groups one after another, each line ended by a line feed.
    pub fn text(&self) -> String {
        let groups = [&self.nodes, &self.references, &self.attributes];
        let mut text = String::new();
        for line in groups.into_iter().flatten() {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// The hashes of the groups.
    pub fn hashes(&self) -> Hashes {
        let mut nodes_by_class: BTreeMap<&'static str, Vec<&String>> = BTreeMap::new();
        for line in &self.nodes {
            if let Some(class) = line.split('\t').nth(2).and_then(known_class) {
                nodes_by_class.entry(class).or_default().push(line);
            }
        }
        Hashes {
            nodes: hash(&self.nodes),
            references: hash(&self.references),
            attributes: hash(&self.attributes),
            model: hash([&self.nodes, &self.references, &self.attributes].into_iter().flatten()),
            nodes_by_class: nodes_by_class.into_iter().map(|(class, lines)| (class, hash(lines))).collect(),
        }
    }
}

fn known_class(name: &str) -> Option<&'static str> {
    let classes = [
        NodeClass::Object,
        NodeClass::Variable,
        NodeClass::Method,
        NodeClass::ObjectType,
        NodeClass::VariableType,
        NodeClass::ReferenceType,
        NodeClass::DataType,
        NodeClass::View,
    ];
    classes.into_iter().map(class_name).find(|class| *class == name)
}

/// SHA-256 of lines, each ended by a line feed, in lower-case hexadecimal digits.
pub fn hash<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
    let mut hasher = Sha256::new();
    for line in lines {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hexadecimal(&hasher.finalize())
}

/// Lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend(
            [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')),
        );
    }
    text
}
