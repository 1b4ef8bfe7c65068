//! Members of types, methods and objects.

use std::collections::HashMap;

use super::Linter;
use crate::diagnostic::{Diagnostic, codes};
use crate::query::well_known::HAS_COMPONENT;
use crate::query::{Declaration, ModellingRule};
use crate::resolved::{Id, Node, NodeClass, QName, Value};

const BASE_EVENT_TYPE: Id = Id::ns0(2041);
const TRANSITION_TYPE: Id = Id::ns0(2310);
const FROM_STATE: Id = Id::ns0(51);
const TO_STATE: Id = Id::ns0(52);

pub(super) fn of_type(linter: &mut Linter<'_>, node: &Node) {
    let set = linter.set;
    let own = set.declarations(&node.id);
    let interfaces: Vec<&Id> = set.interfaces(&node.id).collect();
    if let Some(interface) = interfaces.first().filter(|_| set.is_subtype_of(&node.id, &BASE_EVENT_TYPE)) {
        let message = format!(
            "the event type {} has the interface {}",
            linter.name(node),
            linter.other(interface, node.span)
        );
        let help = "select its fields by the event type: an interface is not in the hierarchy of event types";
        linter.report(node, Diagnostic::note(codes::EVENT_INTERFACE, message).help(help));
    }
    for interface in interfaces {
        not_repeated(linter, node, interface, &own);
    }
    placeholders(linter, node, &own);
    if let Some(base) = set.supertype(&node.id) {
        let inherited = set.declarations(base);
        overrides(linter, &own, &inherited);
    }
}

fn path(path: &[QName]) -> String {
    path.iter().map(|name| &*name.name).collect::<Vec<_>>().join("/")
}

fn not_repeated(linter: &mut Linter<'_>, node: &Node, interface: &Id, own: &[Declaration<'_>]) {
    let rows = linter.set.declarations(interface);
    let missing: Vec<String> = rows
        .iter()
        .filter(|row| row.rule == ModellingRule::Mandatory && !own.iter().any(|own| own.path == row.path))
        .map(|row| path(&row.path))
        .collect();
    let Some(first) = missing.first() else {
        return;
    };
    let message = format!(
        "{} does not repeat {} mandatory member(s) of its interface {}, such as {first}",
        linter.name(node),
        missing.len(),
        linter.other(interface, node.span)
    );
    let help =
        "an instance has them all the same (OPC 10000-3 §6.9): repeat them, or name them where you build one";
    linter.report(node, Diagnostic::note(codes::INTERFACE_NOT_REPEATED, message).help(help));
}

/// `<Name>` is a habit, the modelling rule counts.
fn placeholders(linter: &mut Linter<'_>, node: &Node, own: &[Declaration<'_>]) {
    for row in own.iter().filter(|row| row.depth == 0 && row.node.id.ns == node.id.ns) {
        let bracketed = row.node.browse_name.name.contains('<') && row.node.browse_name.name.contains('>');
        if bracketed && matches!(row.rule, ModellingRule::Mandatory | ModellingRule::Optional) {
            let message = format!(
                "{} of {} looks like a placeholder, but its modelling rule is {:?}",
                path(&row.path),
                linter.name(node),
                row.rule
            );
            let help = "the modelling rule counts: it is one member of that very name";
            linter.report(row.node, Diagnostic::note(codes::PLACEHOLDER_NAME, message).help(help));
        }
        if !bracketed
            && matches!(row.rule, ModellingRule::OptionalPlaceholder | ModellingRule::MandatoryPlaceholder)
        {
            let message = format!(
                "{} of {} is a placeholder by its modelling rule, but has no angle brackets",
                path(&row.path),
                linter.name(node)
            );
            let help =
                "the modelling rule counts: instances have any number of members of other names in its place";
            linter.report(row.node, Diagnostic::note(codes::PLACEHOLDER_NAME, message).help(help));
        }
    }
}

/// A member that a subtype overrides keeps its data type or narrows it (OPC 10000-3 §6.3.3.3).
fn overrides(linter: &mut Linter<'_>, own: &[Declaration<'_>], inherited: &[Declaration<'_>]) {
    let by_path: HashMap<&[QName], &Declaration<'_>> =
        inherited.iter().map(|row| (row.path.as_slice(), row)).collect();
    for row in own.iter().filter(|row| row.depth == 0 && row.node.class == NodeClass::Variable) {
        let Some(base) =
            by_path.get(row.path.as_slice()).filter(|base| base.node.class == NodeClass::Variable)
        else {
            continue;
        };
        if linter.set.is_subtype_of(&row.node.data_type, &base.node.data_type) {
            continue;
        }
        let message = format!(
            "{} has the data type {}, which is none below {}, that of the member it overrides",
            linter.name(row.node),
            linter.other(&row.node.data_type, row.node.span),
            linter.other(&base.node.data_type, row.node.span)
        );
        let help = "an override keeps the data type or takes a subtype of it";
        linter.report(row.node, Diagnostic::warning(codes::OVERRIDE_TYPE, message).help(help));
    }
}

pub(super) fn object(linter: &mut Linter<'_>, node: &Node) {
    let set = linter.set;
    let Some(definition) = set.type_definition(&node.id) else {
        return;
    };
    if set.is_subtype_of(definition, &TRANSITION_TYPE) {
        let links = set.forward(&node.id);
        let has = |wanted: &Id| links.iter().any(|link| link.reference_type == *wanted);
        if !has(&FROM_STATE) || !has(&TO_STATE) {
            let message = format!("the transition {} lacks FromState or ToState", linter.name(node));
            let help = "add both references, or the state machine cannot be followed (OPC 10000-16 §4.4.11)";
            linter.report(node, Diagnostic::note(codes::TRANSITION_WITHOUT_STATES, message).help(help));
        }
    }
    super::variables::abstract_type(linter, node, definition);
}

/// Name, type and rank of each argument of a property; `None` if it has no value.
fn arguments(value: Option<&Value>) -> Option<Vec<String>> {
    let Value::Array { items, .. } = value? else {
        return None;
    };
    let shape = |item: &Value| match item {
        Value::Structure { fields, .. } => {
            let parts =
                fields.iter().filter(|(name, _)| matches!(name.as_str(), "Name" | "DataType" | "ValueRank"));
            Some(parts.map(|(_, value)| format!("{value:?}")).collect())
        }
        _ => None,
    };
    Some(items.iter().filter_map(shape).collect())
}

/// One Method node below several nodes: a call tells them apart by its object alone.
fn shared(linter: &mut Linter<'_>, node: &Node) {
    let links = linter.set.inverse(&node.id).iter();
    let owners: Vec<&Id> =
        links.filter(|link| link.reference_type == HAS_COMPONENT).map(|link| &link.target).collect();
    if let [first, second, ..] = owners.as_slice() {
        let message = format!(
            "the Method {} is a component of {} nodes, {} and {} among them",
            linter.name(node),
            owners.len(),
            linter.other(first, node.span),
            linter.other(second, node.span)
        );
        let help = "its handler learns the object from the call (OPC 10000-4 §5.11.2); arguments and permissions are \
                    the same for all";
        linter.report(node, Diagnostic::note(codes::SHARED_METHOD, message).help(help));
    }
}

pub(super) fn method(linter: &mut Linter<'_>, node: &Node) {
    let set = linter.set;
    for name in ["InputArguments", "OutputArguments"] {
        let Some(property) = set.property(&node.id, name).filter(|property| property.id.ns == node.id.ns)
        else {
            continue;
        };
        let Some(found) = arguments(property.value.as_ref()) else {
            let message = format!("{name} of the method {} has no value", linter.name(node));
            let help = "give it the list of arguments, or remove the property if there are none";
            linter.report(property, Diagnostic::warning(codes::ARGUMENTS_WITHOUT_VALUE, message).help(help));
            continue;
        };
        if let [length] = property.array_dimensions.as_slice()
            && *length != 0
            && *length as usize != found.len()
        {
            let message = format!(
                "{name} of {} has ArrayDimensions {length}, but {} argument(s)",
                linter.name(node),
                found.len()
            );
            let help = "ArrayDimensions is the number of arguments; it is not used";
            linter.report(property, Diagnostic::note(codes::ARGUMENT_COUNT, message).help(help));
        }
    }
    shared(linter, node);
    let Some(declaration) = &node.method_declaration else {
        return;
    };
    let of = |id: &Id, name: &str| {
        arguments(set.property(id, name).and_then(|node| node.value.as_ref())).unwrap_or_default()
    };
    let differs =
        ["InputArguments", "OutputArguments"].iter().any(|name| of(&node.id, name) != of(declaration, name));
    if set.node(declaration).is_some() && differs {
        let message = format!(
            "the method {} has another signature than its declaration {}",
            linter.name(node),
            linter.other(declaration, node.span)
        );
        let help = "a client that calls it by the declaration passes other arguments";
        linter.report(node, Diagnostic::note(codes::SIGNATURE_DIFFERS, message).help(help));
    }
}
