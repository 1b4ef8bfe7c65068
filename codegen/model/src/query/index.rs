//! References by source and by target over all models.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::types::well_known::{HAS_SUBTYPE, HIERARCHICAL_REFERENCES};
use crate::resolved::{Id, ModelSet};

/// A reference seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The reference type.
    pub reference_type: Id,
    /// The other end.
    pub target: Id,
}

/// References by either end, sorted and without duplicates.
#[derive(Clone, Debug, Default)]
pub struct Index {
    forward: HashMap<Id, Vec<Link>>,
    inverse: HashMap<Id, Vec<Link>>,
    hierarchical: HashSet<Id>,
}

impl Index {
    fn build(set: &ModelSet) -> Self {
        let mut index = Index::default();
        for triple in set.models.iter().flat_map(|model| &model.references) {
            let link =
                |target: &Id| Link { reference_type: triple.reference_type.clone(), target: target.clone() };
            index.forward.entry(triple.source.clone()).or_default().push(link(&triple.target));
            index.inverse.entry(triple.target.clone()).or_default().push(link(&triple.source));
        }
        for links in index.forward.values_mut().chain(index.inverse.values_mut()) {
            links.sort_unstable();
            links.dedup();
        }
        index.hierarchical = index.below(&HIERARCHICAL_REFERENCES);
        index
    }

    /// A type and all its subtypes.
    fn below(&self, id: &Id) -> HashSet<Id> {
        let mut found = HashSet::from([id.clone()]);
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            let links = self.forward.get(&id).into_iter().flatten();
            for link in links.filter(|link| link.reference_type == HAS_SUBTYPE) {
                if found.insert(link.target.clone()) {
                    open.push(link.target.clone());
                }
            }
        }
        found
    }
}

impl ModelSet {
    fn index(&self) -> &Arc<Index> {
        self.index.get_or_init(|| Arc::new(Index::build(self)))
    }

    /// True for subtypes of HierarchicalReferences.
    pub fn is_hierarchical(&self, reference_type: &Id) -> bool {
        self.index().hierarchical.contains(reference_type)
    }

    /// Forward references of a node, from all models, sorted by type and target.
    pub fn forward(&self, id: &Id) -> &[Link] {
        self.index().forward.get(id).map_or(&[], Vec::as_slice)
    }

    /// Inverse references of a node; `target` of each is the source of the forward triple.
    pub fn inverse(&self, id: &Id) -> &[Link] {
        self.index().inverse.get(id).map_or(&[], Vec::as_slice)
    }
}
