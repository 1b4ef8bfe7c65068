//! Data types: encodings, definitions, texts of enumerations, bits.

use std::collections::BTreeSet;

use super::Linter;
use crate::diagnostic::{Diagnostic, codes};
use crate::query::DataTypeKind;
use crate::query::well_known::STRUCTURE;
use crate::resolved::{Definition, Node, Value};

pub(super) fn check(linter: &mut Linter<'_>, node: &Node) {
    let Some(kind) = linter.set.kind_of_data_type(&node.id) else {
        return;
    };
    let option_set_structure = linter.set.is_option_set_structure(&node.id);
    if matches!(kind, DataTypeKind::Structure | DataTypeKind::Union) && !node.is_abstract && !node.types_only
    {
        encodings(linter, node);
    }
    let wants_definition = match kind {
        DataTypeKind::Structure | DataTypeKind::Union => !option_set_structure,
        DataTypeKind::Enumeration => true,
        _ => false,
    };
    let Some(definition) = &node.definition else {
        if wants_definition && !node.is_abstract {
            let message = format!("{} has no Definition", linter.name(node));
            let help = "add one, or load the model's type dictionary (BSD) beside the NodeSet";
            linter.report(node, Diagnostic::warning(codes::NO_DEFINITION, message).help(help));
        }
        return;
    };
    match kind {
        DataTypeKind::Enumeration => enumeration(linter, node, definition),
        DataTypeKind::Structure | DataTypeKind::Union if !option_set_structure => {
            fields(linter, node, definition)
        }
        _ => {}
    }
    if (kind == DataTypeKind::OptionSet || option_set_structure) && !definition.is_option_set {
        let message =
            format!("{} is an option set, but its Definition does not say IsOptionSet", linter.name(node));
        let help = "add IsOptionSet=\"true\"; it is read as an option set by its supertype";
        linter.report(node, Diagnostic::note(codes::OPTION_SET_UNMARKED, message).help(help));
    }
}

fn encodings(linter: &mut Linter<'_>, node: &Node) {
    let encodings = linter.set.encodings(&node.id);
    if encodings.binary.is_none() {
        let message = format!("the structure {} has no Default Binary encoding", linter.name(node));
        let help = "add the encoding object and its HasEncoding reference: without it the structure cannot stand in \
                    an ExtensionObject";
        linter.report(node, Diagnostic::warning(codes::NO_BINARY_ENCODING, message).help(help));
    } else if encodings.json.is_none() || encodings.xml.is_none() {
        let name = if encodings.json.is_none() { "Default JSON" } else { "Default XML" };
        let message = format!("the structure {} has no {name} encoding", linter.name(node));
        let help = "add the encoding object; JSON takes the data type's own id in its place";
        linter.report(node, Diagnostic::note(codes::NO_TEXT_ENCODING, message).help(help));
    }
}

fn enumeration(linter: &mut Linter<'_>, node: &Node, definition: &Definition) {
    let values: Vec<i64> = definition.fields.iter().filter_map(|field| field.value).collect();
    if !values.is_empty() && !values.contains(&0) {
        let message = format!("the enumeration {} has no value 0", linter.name(node));
        let help = "a value that nobody set is 0 on the wire, and has no name here";
        linter.report(node, Diagnostic::note(codes::NO_ZERO_VALUE, message).help(help));
    }
    mask(linter, node, &values);
    let by_position: BTreeSet<i64> = (0i64..).take(values.len()).collect();
    let declared: BTreeSet<i64> = values.iter().copied().collect();
    let texts = if let Some(Value::Array { items, .. }) = property(linter, node, "EnumStrings") {
        (items.len() != by_position.len() || declared != by_position).then(|| {
            format!("its EnumStrings are {} texts for 0 to {}", items.len(), items.len().saturating_sub(1))
        })
    } else if let Some(Value::Array { items, .. }) = property(linter, node, "EnumValues") {
        let told: BTreeSet<i64> = items.iter().filter_map(enum_value).collect();
        (told != declared).then(|| "its EnumValues have other values".to_owned())
    } else {
        None
    };
    if let Some(texts) = texts {
        let message =
            format!("the Definition of {} has {} values, but {texts}", linter.name(node), values.len());
        let help = "correct the property: EnumStrings for 0, 1, 2 … without gaps, EnumValues for all else \
                    (OPC 10000-3 §5.8.3); the Definition is taken";
        linter.report(node, Diagnostic::warning(codes::ENUM_TEXTS_DIFFER, message).help(help));
    }
}

/// Values that are bits and combinations of them: those of a mask are combined, those of an enumeration are not.
fn mask(linter: &mut Linter<'_>, node: &Node, values: &[i64]) {
    let bits = |value: &&i64| **value > 0 && value.count_ones() == 1;
    let all = values.iter().filter(bits).fold(0, |all, bit| all | bit);
    let combines = values.iter().all(|value| *value >= 0 && value & !all == 0);
    let dense = values.iter().max().is_some_and(|largest| *largest <= values.len() as i64);
    if all.count_ones() >= 3 && combines && !dense {
        let message = format!("the values of the enumeration {} are bits", linter.name(node));
        let help = "values that combine are an option set: derive it from an unsigned integer with IsOptionSet; read \
                    as an enumeration, unknown values survive";
        linter.report(node, Diagnostic::note(codes::MASK_ENUMERATION, message).help(help));
    }
}

fn property<'s>(linter: &Linter<'s>, node: &Node, name: &str) -> Option<&'s Value> {
    linter.set.property(&node.id, name)?.value.as_ref()
}

/// `Value` of an EnumValueType.
fn enum_value(value: &Value) -> Option<i64> {
    let Value::Structure { fields, .. } = value else {
        return None;
    };
    fields.iter().find_map(|(name, value)| match value {
        Some(Value::Int64(number)) if name == "Value" => Some(*number),
        _ => None,
    })
}

/// Fields of an abstract structure hold any of its subtypes, which `AllowSubTypes` says aloud.
fn fields(linter: &mut Linter<'_>, node: &Node, definition: &Definition) {
    for field in &definition.fields {
        let set = linter.set;
        let is_abstract = set.node(&field.data_type).is_some_and(|node| node.is_abstract);
        let kind = set.kind_of_data_type(&field.data_type);
        let structured = matches!(kind, Some(DataTypeKind::Structure | DataTypeKind::Union));
        if is_abstract && structured && !field.allow_sub_types && field.data_type != STRUCTURE {
            let message = format!(
                "the field {} of {} has the abstract type {} without AllowSubTypes",
                field.name,
                linter.name(node),
                linter.other(&field.data_type, field.span)
            );
            let help = "add AllowSubTypes=\"true\"; it is an ExtensionObject on the wire either way";
            let diagnostic = Diagnostic::note(codes::SUBTYPES_UNMARKED, message).at(field.span).help(help);
            linter.report(node, diagnostic);
        }
    }
}
