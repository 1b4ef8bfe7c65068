//! References by source and by target over all models.

use std::collections::HashMap;
use std::sync::Arc;

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
}

impl Index {
    fn build(set: &ModelSet) -> Self {
        let mut index = Index::default();
        for triple in set.models.iter().flat_map(|model| &model.references) {
            let link = |target: &Id| Link {
                reference_type: triple.reference_type.clone(),
                target: target.clone(),
            };
            index
                .forward
                .entry(triple.source.clone())
                .or_default()
                .push(link(&triple.target));
            index
                .inverse
                .entry(triple.target.clone())
                .or_default()
                .push(link(&triple.source));
        }
        for links in index.forward.values_mut().chain(index.inverse.values_mut()) {
            links.sort_unstable();
            links.dedup();
        }
        index
    }
}

impl ModelSet {
    fn index(&self) -> &Arc<Index> {
        self.index.get_or_init(|| Arc::new(Index::build(self)))
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
