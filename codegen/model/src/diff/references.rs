//! References between nodes that both versions have.

use std::collections::BTreeSet;

use super::pairs::Pairs;
use super::side::Side;
use super::{ADDITIVE, At, BEHAVIOURAL, CLIENTS, Class, Report, SERVERS};
use crate::query::well_known::{
    GENERATES_EVENT, HAS_ENCODING, HAS_INTERFACE, HAS_MODELLING_RULE, HAS_SUBTYPE, HAS_TYPE_DEFINITION,
};
use crate::resolved::{Id, Triple};

/// What is told with the nodes.
const TOLD: [Id; 3] = [HAS_SUBTYPE, HAS_TYPE_DEFINITION, HAS_MODELLING_RULE];

pub(super) fn compare(report: &mut Report, old: &Side<'_>, new: &Side<'_>, pairs: &Pairs<'_>) {
    let texts = |side: &Side<'_>| -> BTreeSet<[String; 3]> {
        side.model.references.iter().map(|triple| text(side, triple)).collect()
    };
    let (before, after) = (texts(old), texts(new));
    let mut tell =
        |side: &Side<'_>, other: &BTreeSet<[String; 3]>, kind, verb, classes: fn(&Side<'_>, &Triple) -> _| {
            for triple in side.model.references.iter().filter(|triple| !TOLD.contains(&triple.reference_type))
            {
                let ends = text(side, triple);
                if other.contains(&ends) || ends.iter().any(|id| pairs.one_sided.contains(id)) {
                    continue;
                }
                let at = side.set.node(&triple.source).map_or_else(
                    || At { id: side.id(&triple.source), path: side.name(&triple.source) },
                    |node| side.at(node),
                );
                let said =
                    format!("{verb} {} to {}", side.name(&triple.reference_type), side.name(&triple.target));
                report.of_node(kind, classes(side, triple), &at, &said);
            }
        };
    tell(old, &after, "reference-removed", "lost its reference", of_removed);
    tell(new, &before, "reference-added", "has a new reference", of_added);
}

fn text(side: &Side<'_>, triple: &Triple) -> [String; 3] {
    [&triple.source, &triple.reference_type, &triple.target].map(|id| side.id(id))
}

fn of_removed(side: &Side<'_>, triple: &Triple) -> &'static [Class] {
    let counts = [GENERATES_EVENT, HAS_INTERFACE, HAS_ENCODING];
    let breaks = side.set.is_hierarchical(&triple.reference_type)
        || counts.iter().any(|base| side.set.is_subtype_of(&triple.reference_type, base));
    if breaks { CLIENTS } else { BEHAVIOURAL }
}

fn of_added(side: &Side<'_>, triple: &Triple) -> &'static [Class] {
    // An interface brings members that a server has to have.
    if side.set.is_subtype_of(&triple.reference_type, &HAS_INTERFACE) { SERVERS } else { ADDITIVE }
}
