//! Names that people and tools mix up.

use std::collections::{BTreeMap, HashMap};

use super::Linter;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Model, Node, NodeClass};

/// What is left of a name in most programming languages.
fn squeezed(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Names of types over a whole model.
pub(super) fn types(linter: &mut Linter<'_>, model: &Model) {
    let is_type = |node: &&Node| {
        matches!(
            node.class,
            NodeClass::ObjectType | NodeClass::VariableType | NodeClass::DataType | NodeClass::ReferenceType
        )
    };
    let mut seen: HashMap<(NodeClass, &str), &Node> = HashMap::new();
    let mut elsewhere: HashMap<&str, &Node> = HashMap::new();
    for node in linter.other_models(model).flat_map(|other| other.nodes.values()) {
        if node.class == NodeClass::DataType {
            elsewhere.entry(&node.browse_name.name).or_insert(node);
        }
    }
    for node in model.nodes.values().filter(is_type) {
        if let Some(first) = seen.insert((node.class, &node.browse_name.name), node) {
            let message = format!("{} and {} have one name", linter.name(first), linter.name(node));
            let diagnostic = Diagnostic::warning(codes::TYPE_NAME_TWICE, message)
                .at(node.span)
                .label(first.span, "the first one is here")
                .help("give one another name; generated code tells them apart by a suffix of the id");
            linter.report(node, diagnostic);
        }
        if node.browse_name.ns != node.id.ns {
            let uri = linter.set.uri(node.browse_name.ns);
            let message =
                format!("the name of {} is in the namespace {uri}, its id is not", linter.name(node));
            let help = "a type's name belongs into the namespace of its id (OPC 10000-3 §5.2.4)";
            linter.report(node, Diagnostic::note(codes::TYPE_NAME_NAMESPACE, message).help(help));
        }
        let twin = elsewhere.get(&*node.browse_name.name).filter(|_| node.class == NodeClass::DataType);
        if let Some(twin) = twin {
            let other = linter.set.id_text(&twin.id);
            let message =
                format!("the data type {} has a namesake in another model, {other}", linter.name(node));
            let help = "tools that find data types by name take the wrong one; refer to it by id";
            linter.report(node, Diagnostic::note(codes::NAMESAKE, message).help(help));
        }
    }
}

/// Blanks around a name, symbolic names that differ, and fields that only punctuation or case tells apart.
pub(super) fn spelling(linter: &mut Linter<'_>, node: &Node) {
    let fields = node.definition.iter().flat_map(|definition| &definition.fields);
    let padded = |name: &str| name.trim() != name;
    let mut names =
        std::iter::once(&*node.browse_name.name).chain(fields.clone().map(|field| field.name.as_str()));
    if let Some(name) = names.find(|name| padded(name)) {
        let message = format!("the name \"{name}\" begins or ends with a blank");
        let help = "remove the blank: clients that trim names do not find it";
        linter.report(node, Diagnostic::warning(codes::PADDED_NAME, message).help(help));
    }
    if let Some(definition) =
        node.definition.as_ref().filter(|definition| definition.symbolic_name != node.symbolic_name)
    {
        let text = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        let message = format!(
            "{} has the symbolic name {}, its definition {}",
            linter.name(node),
            text(&node.symbolic_name),
            text(&definition.symbolic_name)
        );
        let help = "write the same SymbolicName at the node and at its Definition; the node's is taken";
        linter.report(node, Diagnostic::note(codes::SYMBOLIC_NAMES_DIFFER, message).help(help));
    }
    let mut seen: HashMap<String, &str> = HashMap::new();
    for field in fields {
        let first = seen.insert(squeezed(&field.name), &field.name);
        if let Some(first) = first.filter(|first| *first != field.name) {
            let message = format!(
                "\"{first}\" and \"{}\" of {} differ in punctuation or case only",
                field.name,
                linter.name(node)
            );
            linter.report(node, alike(message).at(field.span));
        }
    }
}

fn alike(message: String) -> Diagnostic {
    Diagnostic::note(codes::NAMES_ALIKE, message)
        .help("one of the two gets a suffix in generated code; a SymbolicName chooses it")
}

/// Children of one node with the same name, or with names that most languages cannot tell apart.
pub(super) fn siblings(linter: &mut Linter<'_>, node: &Node) {
    let mut by_name: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for (_, child) in linter.set.children(&node.id) {
        let known = by_name.entry(squeezed(&child.browse_name.name)).or_default();
        if !known.iter().any(|known| known.id == child.id) {
            known.push(child);
        }
    }
    for group in by_name.values() {
        let [first, rest @ ..] = group.as_slice() else {
            continue;
        };
        for child in rest {
            let (one, two) = (linter.other(&first.id, node.span), linter.other(&child.id, node.span));
            let diagnostic =
                if group.iter().any(|other| other.id != child.id && other.browse_name == child.browse_name) {
                    Diagnostic::warning(
                        codes::SIBLINGS_ONE_NAME,
                        format!("{one} and {two} have one browse name below {}", linter.name(node)),
                    )
                    .help("a browse path to either is ambiguous; give one another name")
                } else {
                    alike(format!(
                        "{one} and {two} below {} differ in namespace, punctuation or case only",
                        linter.name(node)
                    ))
                };
            linter.report(node, diagnostic);
        }
    }
}
