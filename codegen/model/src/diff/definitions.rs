//! DataTypeDefinitions: what is on the wire.

use std::collections::BTreeMap;

use super::side::Side;
use super::{ADDITIVE, At, BEHAVIOURAL, BOTH, CLIENTS, Report};
use crate::query::DataTypeKind;
use crate::resolved::{Definition, Field, Node};

pub(super) fn compare(report: &mut Report, old: &Side<'_>, new: &Side<'_>, before: &Node, after: &Node) {
    let at = new.at(after);
    let kinds = (old.set.kind_of_data_type(&before.id), new.set.kind_of_data_type(&after.id));
    if kinds.0 != kinds.1 {
        let said = format!("is {:?}, before {:?}", kinds.1, kinds.0).replace("Some(", "").replace(')', "");
        report.of_node("data-type-kind-changed", BOTH, &at, &said);
        return;
    }
    let option_set_structure = new.set.is_option_set_structure(&after.id);
    let (before, after) = match (&before.definition, &after.definition) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(_)) => return report.of_node("definition-added", ADDITIVE, &at, "has a Definition now"),
        (Some(_), None) => {
            return report.of_node("definition-removed", BOTH, &at, "has no Definition any more");
        }
        (None, None) => return,
    };
    let numbered =
        matches!(kinds.1, Some(DataTypeKind::Enumeration | DataTypeKind::OptionSet)) || option_set_structure;
    if numbered {
        numbers(report, &at, before, after);
    } else {
        let fields = Fields { old, new, at: &at, union: kinds.1 == Some(DataTypeKind::Union) };
        fields.compare(report, before, after);
    }
    if before.is_union != after.is_union || before.is_option_set != after.is_option_set {
        report.of_node("definition-kind-changed", BOTH, &at, "has other marks IsUnion or IsOptionSet");
    }
}

fn by_name(definition: &Definition) -> BTreeMap<&str, (usize, &Field)> {
    definition.fields.iter().enumerate().map(|(at, field)| (field.name.as_str(), (at, field))).collect()
}

/// Values of an enumeration or bits of an option set.
fn numbers(report: &mut Report, at: &At, before: &Definition, after: &Definition) {
    let (old, new) = (by_name(before), by_name(after));
    let mut renamed = Vec::new();
    for (name, (_, field)) in &old {
        match new.get(name) {
            Some((_, same)) if same.value != field.value => {
                let said = format!("has the value {name} = {}, before {}", number(same), number(field));
                report.of_node("value-renumbered", BOTH, at, &said);
            }
            Some((_, same)) => texts(report, at, field, same),
            None => {
                let other = after.fields.iter().find(|other| {
                    other.value == field.value
                        && field.value.is_some()
                        && !old.contains_key(other.name.as_str())
                });
                if let Some(other) = other {
                    renamed.push(other.name.as_str());
                    let said = format!("calls {} {}, before {name}", number(field), other.name);
                    report.of_node("value-renamed", CLIENTS, at, &said);
                } else {
                    report.of_node("value-removed", BOTH, at, &format!("has no value {name} any more"));
                }
            }
        }
    }
    for (name, (_, field)) in
        new.iter().filter(|(name, _)| !old.contains_key(*name) && !renamed.contains(name))
    {
        report.of_node("value-added", ADDITIVE, at, &format!("has a new value {name} = {}", number(field)));
    }
}

fn number(field: &Field) -> String {
    field.value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// What of a field is not on the wire.
fn texts(report: &mut Report, at: &At, before: &Field, after: &Field) {
    if before.display_name != after.display_name {
        report.of_node(
            "field-display-name-changed",
            BEHAVIOURAL,
            at,
            &format!("shows {} by another text", after.name),
        );
    }
    if before.symbolic_name != after.symbolic_name {
        let said = format!("has another symbolic name for {}", after.name);
        report.of_node("field-symbolic-name-changed", CLIENTS, at, &said);
    }
}

/// Fields of a structure or union: each of them is on the wire, in order.
struct Fields<'a, 's> {
    old: &'a Side<'s>,
    new: &'a Side<'s>,
    at: &'a At,
    union: bool,
}

impl Fields<'_, '_> {
    fn compare(&self, report: &mut Report, before: &Definition, after: &Definition) {
        let (old, new) = (by_name(before), by_name(after));
        let renamed = self.renamed(before, after, &old, &new);
        for (from, to) in &renamed {
            report.of_node("field-renamed", CLIENTS, self.at, &format!("has the field {to}, before {from}"));
        }
        for (name, (_, field)) in &old {
            match new.get(name) {
                Some((_, same)) => self.field(report, field, same),
                None if renamed.contains_key(name) => {}
                None => {
                    report.of_node("field-removed", BOTH, self.at, &format!("has no field {name} any more"))
                }
            }
        }
        let is_new = |name: &str| !old.contains_key(name) && !renamed.values().any(|to| *to == name);
        for (name, _) in new.iter().filter(|(name, _)| is_new(name)) {
            let what = if self.union { "alternative" } else { "field" };
            report.of_node("field-added", BOTH, self.at, &format!("has a new {what} {name}"));
        }
        let kept = |fields: &Definition, other: &BTreeMap<&str, (usize, &Field)>| -> Vec<String> {
            let names = fields.fields.iter().map(|field| field.name.clone());
            names.filter(|name| other.contains_key(name.as_str())).collect()
        };
        if kept(before, &new) != kept(after, &old) {
            let order: Vec<&str> = after.fields.iter().map(|field| field.name.as_str()).collect();
            report.of_node(
                "field-moved",
                BOTH,
                self.at,
                &format!("has its fields in another order: {}", order.join(", ")),
            );
        }
    }

    /// Fields that have another name at the same place and are otherwise equal.
    fn renamed<'d>(
        &self,
        before: &'d Definition,
        after: &'d Definition,
        old: &BTreeMap<&str, (usize, &Field)>,
        new: &BTreeMap<&str, (usize, &Field)>,
    ) -> BTreeMap<&'d str, &'d str> {
        if before.fields.len() != after.fields.len() {
            return BTreeMap::new();
        }
        let pairs = before.fields.iter().zip(&after.fields);
        let other_name = pairs.filter(|(first, second)| {
            !new.contains_key(first.name.as_str()) && !old.contains_key(second.name.as_str())
        });
        let same =
            other_name.filter(|(first, second)| self.shape(self.old, first) == self.shape(self.new, second));
        same.map(|(first, second)| (first.name.as_str(), second.name.as_str())).collect()
    }

    /// What is on the wire of a field.
    fn shape(&self, side: &Side<'_>, field: &Field) -> [String; 4] {
        let rank = field.value_rank.to_string();
        [side.id(&field.data_type), rank, field.is_optional.to_string(), field.allow_sub_types.to_string()]
    }

    fn field(&self, report: &mut Report, before: &Field, after: &Field) {
        let shapes = self.shape(self.old, before).into_iter().zip(self.shape(self.new, after));
        let kinds =
            ["field-type-changed", "field-rank-changed", "field-optional-changed", "field-subtypes-changed"];
        let words = ["data type", "value rank", "IsOptional", "AllowSubTypes"];
        for ((kind, word), (was, is)) in kinds.into_iter().zip(words).zip(shapes) {
            if was != is {
                let said = format!("has the field {} with {word} {is}, before {was}", after.name);
                report.of_node(kind, BOTH, self.at, &said);
            }
        }
        if before.array_dimensions != after.array_dimensions
            || before.max_string_length != after.max_string_length
        {
            let said = format!("has other greatest lengths for the field {}", after.name);
            report.of_node("field-length-changed", CLIENTS, self.at, &said);
        }
        texts(report, self.at, before, after);
    }
}
