//! What an instance has at least: the mandatory declarations, through the type definitions of its members.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::ModellingRule;
use crate::resolved::{Id, ModelSet, NodeClass, QName};

/// A browse path.
type Path = Vec<QName>;

/// Most paths of one type.
const MAX_PATHS: usize = 1 << 20;

/// Mandatory instances, remembered by type.
#[derive(Debug, Default)]
pub struct MandatoryInstances {
    known: HashMap<Id, Rc<BTreeSet<Path>>>,
}

impl MandatoryInstances {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Browse paths of an instance of `id` with only what is mandatory.
    pub fn paths(&mut self, set: &ModelSet, id: &Id) -> Rc<BTreeSet<Path>> {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        // A type that is met again below itself adds nothing there: the instance would have no end.
        self.known.insert(id.clone(), Rc::default());
        let mut paths: BTreeSet<Path> = BTreeSet::new();
        let mut rows = set.declarations(id);
        rows.retain(|row| row.rule == ModellingRule::Mandatory);
        rows.sort_by_key(|row| row.path.len());
        for row in rows {
            let parent = row.path.split_last().map_or(&[][..], |(_, parent)| parent);
            if !parent.is_empty() && !paths.contains(parent) {
                continue;
            }
            if row.node.class != NodeClass::Method
                && let Some(definition) = set.type_definition(&row.node.id)
            {
                for inner in self.paths(set, definition).iter() {
                    if paths.len() < MAX_PATHS {
                        paths.insert(row.path.iter().chain(inner).cloned().collect());
                    }
                }
            }
            paths.insert(row.path);
        }
        let paths = Rc::new(paths);
        self.known.insert(id.clone(), paths.clone());
        paths
    }
}
