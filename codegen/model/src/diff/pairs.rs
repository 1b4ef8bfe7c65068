//! Which node of the old version is which of the new one.

use std::collections::{BTreeMap, BTreeSet};

use super::side::Side;
use crate::resolved::Node;

/// Nodes of both versions.
pub(super) struct Pairs<'s> {
    /// The same node in both, in order of the old id.
    pub(super) both: Vec<(&'s Node, &'s Node)>,
    pub(super) removed: Vec<&'s Node>,
    pub(super) added: Vec<&'s Node>,
    /// Id texts of what is removed or added.
    pub(super) alone: BTreeSet<String>,
    /// Id texts that one side alone has: those, and those of renumbered nodes.
    pub(super) one_sided: BTreeSet<String>,
}

pub(super) fn pair<'s>(old: &Side<'s>, new: &Side<'s>) -> Pairs<'s> {
    let mut both: Vec<(&Node, &Node)> =
        old.nodes.iter().filter_map(|(id, before)| Some((*before, *new.nodes.get(id)?))).collect();
    let gone = old.nodes.iter().filter(|(id, _)| !new.nodes.contains_key(*id));
    let come = new.nodes.iter().filter(|(id, _)| !old.nodes.contains_key(*id));
    let one_sided = gone.clone().chain(come.clone()).map(|(id, _)| id.clone()).collect();
    let mut removed: Vec<&Node> = gone.map(|(_, node)| *node).collect();
    let mut added: Vec<&Node> = come.map(|(_, node)| *node).collect();
    let (before, after) = (by_place(old, &removed), by_place(new, &added));
    let mut renumbered = BTreeSet::new();
    for (place, node) in &before {
        if let (Some(node), Some(Some(other))) = (node, after.get(place)) {
            both.push((node, other));
            renumbered.extend([old.id(&node.id), new.id(&other.id)]);
        }
    }
    removed.retain(|node| !renumbered.contains(&old.id(&node.id)));
    added.retain(|node| !renumbered.contains(&new.id(&node.id)));
    let alone = removed
        .iter()
        .map(|node| old.id(&node.id))
        .chain(added.iter().map(|node| new.id(&node.id)))
        .collect();
    Pairs { both, removed, added, alone, one_sided }
}

/// Nodes by class and path; `None` where a path is not unique.
fn by_place<'s>(side: &Side<'s>, nodes: &[&'s Node]) -> BTreeMap<String, Option<&'s Node>> {
    let mut places = BTreeMap::new();
    for node in nodes {
        places.entry(side.place(node)).and_modify(|place| *place = None).or_insert(Some(*node));
    }
    places
}
