//! Nodes: gone, new, and their attributes.

use std::collections::BTreeMap;

use super::pairs::Pairs;
use super::side::{Side, indexes};
use super::{ADDITIVE, At, BEHAVIOURAL, BOTH, CLIENTS, Class, Report, SERVERS, definitions};
use crate::query::ModellingRule;
use crate::resolved::{Id, Node, NodeClass, Ns};

pub(super) fn compare(report: &mut Report, old: &Side<'_>, new: &Side<'_>, pairs: &Pairs<'_>) {
    for node in &pairs.removed {
        removed(report, old, pairs, node);
    }
    for node in &pairs.added {
        added(report, new, pairs, node);
    }
    let (of_old, of_new) = indexes(old, new);
    let values = (&of_old, &of_new);
    for (before, after) in &pairs.both {
        let attributes = Attributes { old, new, before, after, at: new.at(after) };
        attributes.compare(report);
        attributes.value(report, values);
    }
}

/// The node with whose coming or going this one came or went.
fn within<'s>(side: &Side<'s>, pairs: &Pairs<'_>, node: &'s Node) -> Option<&'s Node> {
    let mut above = side.ancestors(node).into_iter().skip(1);
    above.find(|node| pairs.alone.contains(&side.id(&node.id)))
}

fn noun(class: NodeClass) -> &'static str {
    crate::canonical::class_name(class)
}

fn removed<'s>(report: &mut Report, old: &Side<'s>, pairs: &Pairs<'_>, node: &'s Node) {
    if within(old, pairs, node).is_some() {
        return;
    }
    let is_type = !matches!(node.class, NodeClass::Object | NodeClass::Variable | NodeClass::View);
    let classes = if is_type { BOTH } else { CLIENTS };
    report.of_node("node-removed", classes, &old.at(node), &format!("is gone, a {}", noun(node.class)));
}

fn added<'s>(report: &mut Report, new: &Side<'s>, pairs: &Pairs<'_>, node: &'s Node) {
    if within(new, pairs, node).is_some() {
        return;
    }
    let rule = new.set.modelling_rule(&node.id);
    let mandatory = matches!(rule, Some(ModellingRule::Mandatory | ModellingRule::MandatoryPlaceholder));
    // A type that was there gets a member which every server of it has to have.
    let classes = if mandatory && new.parent(node).is_some() { SERVERS } else { ADDITIVE };
    let rule = rule.map_or_else(String::new, |rule| format!(" ({rule:?})"));
    report.of_node("node-added", classes, &new.at(node), &format!("is new, a {}{rule}", noun(node.class)));
}

struct Attributes<'a, 's> {
    old: &'a Side<'s>,
    new: &'a Side<'s>,
    before: &'s Node,
    after: &'s Node,
    at: At,
}

impl Attributes<'_, '_> {
    fn say(&self, report: &mut Report, kind: &'static str, classes: &'static [Class], said: String) {
        report.of_node(kind, classes, &self.at, &said);
    }

    fn compare(&self, report: &mut Report) {
        let (before, after) = (self.before, self.after);
        let (was, is) = (self.old.id(&before.id), self.new.id(&after.id));
        if was != is {
            self.say(report, "id-changed", BOTH, format!("has this id now, before {was}"));
        }
        if before.class != after.class {
            let said = format!("is a {}, before a {}", noun(after.class), noun(before.class));
            return self.say(report, "class-changed", BOTH, said);
        }
        self.names(report);
        self.rule(report);
        self.type_of_instance(report);
        match after.class {
            NodeClass::Variable | NodeClass::VariableType => self.variable(report),
            NodeClass::DataType => definitions::compare(report, self.old, self.new, before, after),
            _ => {}
        }
        if is_type(after.class) {
            self.supertype(report);
            self.is_abstract(report);
        }
        self.flags(report);
        self.access(report);
    }

    fn names(&self, report: &mut Report) {
        let (before, after) = (self.before, self.after);
        let (was, is) =
            (self.old.set.name_text(&before.browse_name), self.new.set.name_text(&after.browse_name));
        if was != is {
            self.say(
                report,
                "browse-name-changed",
                CLIENTS,
                format!("has the browse name {is}, before {was}"),
            );
        }
        let symbolic = |node: &Node| {
            let definition = node.definition.as_ref().and_then(|definition| definition.symbolic_name.clone());
            node.symbolic_name.clone().or(definition)
        };
        if symbolic(before) != symbolic(after) {
            let text = |node: &Node| symbolic(node).unwrap_or_else(|| "none".to_owned());
            let said = format!("has the symbolic name {}, before {}", text(after), text(before));
            // XML elements of values are called by it.
            let classes = if after.class == NodeClass::DataType { CLIENTS } else { BEHAVIOURAL };
            self.say(report, "symbolic-name-changed", classes, said);
        }
        if before.display_name != after.display_name {
            self.say(report, "display-name-changed", BEHAVIOURAL, "has another DisplayName".to_owned());
        }
        if before.inverse_name != after.inverse_name {
            self.say(report, "inverse-name-changed", BEHAVIOURAL, "has another InverseName".to_owned());
        }
    }

    fn rule(&self, report: &mut Report) {
        use ModellingRule::{Mandatory, MandatoryPlaceholder, Optional, OptionalPlaceholder};
        let was = self.old.set.modelling_rule(&self.before.id);
        let is = self.new.set.modelling_rule(&self.after.id);
        if was == is {
            return;
        }
        let classes = match (was, is) {
            (None, Some(Optional | OptionalPlaceholder)) => ADDITIVE,
            (None | Some(Optional), Some(Mandatory))
            | (None | Some(OptionalPlaceholder), Some(MandatoryPlaceholder)) => SERVERS,
            (Some(Mandatory), Some(Optional)) | (Some(MandatoryPlaceholder), Some(OptionalPlaceholder)) => {
                CLIENTS
            }
            (Some(_), None) => CLIENTS,
            _ => BOTH,
        };
        let text =
            |rule: Option<ModellingRule>| rule.map_or_else(|| "none".to_owned(), |rule| format!("{rule:?}"));
        self.say(
            report,
            "rule-changed",
            classes,
            format!("has the modelling rule {}, before {}", text(is), text(was)),
        );
    }

    fn type_of_instance(&self, report: &mut Report) {
        let was = self.old.set.type_definition(&self.before.id);
        let is = self.new.set.type_definition(&self.after.id);
        let (was_text, is_text) = (was.map(|id| self.old.id(id)), is.map(|id| self.new.id(id)));
        if was_text == is_text {
            return;
        }
        let classes = if self.derives(is, was_text.as_deref()) { ADDITIVE } else { BOTH };
        let name =
            |side: &Side<'_>, id: Option<&Id>| id.map_or_else(|| "none".to_owned(), |id| side.name(id));
        let said = format!("has the type definition {}, before {}", name(self.new, is), name(self.old, was));
        self.say(report, "type-definition-changed", classes, said);
    }

    /// True if the new type is below the old one.
    fn derives(&self, is: Option<&Id>, was: Option<&str>) -> bool {
        let was = was.and_then(|text| self.new.set.parse_id(text));
        matches!((is, was), (Some(is), Some(was)) if self.new.set.is_subtype_of(is, &was))
    }

    fn supertype(&self, report: &mut Report) {
        let was = self.old.set.supertype(&self.before.id);
        let is = self.new.set.supertype(&self.after.id);
        let (was_text, is_text) = (was.map(|id| self.old.id(id)), is.map(|id| self.new.id(id)));
        if was_text == is_text {
            return;
        }
        // What is below the old supertype is still all that it was; servers get its new members.
        let below = self.derives(is, was_text.as_deref()) && self.after.class != NodeClass::DataType;
        let classes = if below { SERVERS } else { BOTH };
        let name =
            |side: &Side<'_>, id: Option<&Id>| id.map_or_else(|| "none".to_owned(), |id| side.name(id));
        let said = format!("has the supertype {}, before {}", name(self.new, is), name(self.old, was));
        self.say(report, "supertype-changed", classes, said);
    }

    fn is_abstract(&self, report: &mut Report) {
        match (self.before.is_abstract, self.after.is_abstract) {
            (false, true) => self.say(report, "abstract-changed", BOTH, "is abstract now".to_owned()),
            (true, false) => {
                self.say(report, "abstract-changed", ADDITIVE, "is no longer abstract".to_owned())
            }
            _ => {}
        }
    }

    fn variable(&self, report: &mut Report) {
        let (before, after) = (self.before, self.after);
        let (was, is) = (self.old.id(&before.data_type), self.new.id(&after.data_type));
        if was != is {
            // A narrower type is still readable as before; a server may no longer give what it gave.
            let narrower = self.derives(Some(&after.data_type), Some(&was));
            let said = format!(
                "has the data type {}, before {}",
                self.new.name(&after.data_type),
                self.old.name(&before.data_type)
            );
            self.say(report, "data-type-changed", if narrower { SERVERS } else { BOTH }, said);
        }
        if before.value_rank != after.value_rank {
            let narrower = match before.value_rank {
                -2 => true,
                -3 => matches!(after.value_rank, -1 | 1),
                0 => after.value_rank >= 1,
                _ => false,
            };
            let said = format!("has the value rank {}, before {}", after.value_rank, before.value_rank);
            self.say(report, "value-rank-changed", if narrower { SERVERS } else { BOTH }, said);
        }
        // The dimensions of a list of arguments or texts follow its value.
        let listed = before.browse_name.ns == Ns::UA
            && crate::interface::KEPT_VALUES.contains(&&*before.browse_name.name);
        if before.array_dimensions != after.array_dimensions && !listed {
            let said = format!(
                "has the dimensions {:?}, before {:?}",
                after.array_dimensions, before.array_dimensions
            );
            self.say(report, "array-dimensions-changed", CLIENTS, said);
        }
    }

    fn flags(&self, report: &mut Report) {
        let (before, after) = (self.before, self.after);
        let bits = [
            ("access-level-changed", "access level", before.access_level, after.access_level),
            (
                "event-notifier-changed",
                "event notifier",
                before.event_notifier.into(),
                after.event_notifier.into(),
            ),
            ("write-mask-changed", "write mask", before.write_mask, after.write_mask),
        ];
        for (kind, word, was, is) in bits.into_iter().filter(|(_, _, was, is)| was != is) {
            let classes = if was & !is != 0 { CLIENTS } else { ADDITIVE };
            self.say(report, kind, classes, format!("has the {word} {is}, before {was}"));
        }
        if before.symmetric != after.symmetric {
            self.say(report, "symmetric-changed", CLIENTS, "has another mark Symmetric".to_owned());
        }
        if before.executable != after.executable {
            let classes = if after.executable { ADDITIVE } else { CLIENTS };
            self.say(report, "executable-changed", classes, format!("has Executable {}", after.executable));
        }
        if before.types_only != after.types_only {
            self.say(report, "purpose-changed", CLIENTS, "has another Purpose".to_owned());
        }
        let hints = [
            ("historizing-changed", "Historizing", before.historizing != after.historizing),
            ("no-loops-changed", "ContainsNoLoops", before.contains_no_loops != after.contains_no_loops),
            ("design-tool-only-changed", "DesignToolOnly", before.design_tool_only != after.design_tool_only),
            ("release-status-changed", "ReleaseStatus", before.release_status != after.release_status),
            (
                "sampling-interval-changed",
                "MinimumSamplingInterval",
                before.minimum_sampling_interval.to_bits() != after.minimum_sampling_interval.to_bits(),
            ),
            (
                "method-declaration-changed",
                "MethodDeclarationId",
                before.method_declaration.as_ref().map(|id| self.old.id(id))
                    != after.method_declaration.as_ref().map(|id| self.new.id(id)),
            ),
        ];
        for (kind, word, _) in hints.into_iter().filter(|(_, _, differs)| *differs) {
            self.say(report, kind, BEHAVIOURAL, format!("has another {word}"));
        }
    }

    fn access(&self, report: &mut Report) {
        let (was, is) = (self.before.access_restrictions, self.after.access_restrictions);
        if was != is {
            let tighter = is.unwrap_or(0) & !was.unwrap_or(0) != 0;
            let classes = if tighter { CLIENTS } else { BEHAVIOURAL };
            let text = |bits: Option<u16>| bits.map_or_else(|| "none".to_owned(), |bits| bits.to_string());
            let said = format!("has the access restrictions {}, before {}", text(is), text(was));
            self.say(report, "access-restrictions-changed", classes, said);
        }
        // Interface files have no roles.
        if self.old.model.from_interface || self.new.model.from_interface {
            return;
        }
        let roles = |side: &Side<'_>, node: &Node| -> BTreeMap<String, u32> {
            node.role_permissions.iter().map(|(role, bits)| (side.id(role), *bits)).collect()
        };
        let (was, is) = (roles(self.old, self.before), roles(self.new, self.after));
        if was != is {
            // Without any, everybody may.
            let fewer = !is.is_empty()
                && (was.is_empty()
                    || was.iter().any(|(role, bits)| bits & !is.get(role).copied().unwrap_or(0) != 0));
            let classes = if fewer { CLIENTS } else { ADDITIVE };
            self.say(report, "role-permissions-changed", classes, "has other role permissions".to_owned());
        }
    }

    fn value(&self, report: &mut Report, (old, new): (&BTreeMap<Ns, usize>, &BTreeMap<Ns, usize>)) {
        let (Some(was), Some(is)) = (self.old.value(self.before, old), self.new.value(self.after, new))
        else {
            return;
        };
        if was == is {
            return;
        }
        let arguments = self.after.browse_name.ns == Ns::UA
            && matches!(&*self.after.browse_name.name, "InputArguments" | "OutputArguments");
        if arguments {
            self.say(report, "arguments-changed", BOTH, "has other arguments".to_owned());
        } else {
            self.say(report, "value-changed", BEHAVIOURAL, "has another value".to_owned());
        }
    }
}

fn is_type(class: NodeClass) -> bool {
    matches!(
        class,
        NodeClass::ObjectType | NodeClass::VariableType | NodeClass::DataType | NodeClass::ReferenceType
    )
}
