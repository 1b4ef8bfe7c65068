//! Reference lists that many snapshots share: a change copies one chunk, not the list.

use alloc::sync::Arc;
use alloc::vec::Vec;

use uaforge_codec::NodeId;

/// References in one chunk.
const CHUNK: usize = 64;

/// A reference of or to a node of the overlay.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DynamicReference {
    /// Number of the type in [`ReferenceTypes`](crate::space::ReferenceTypes).
    pub(crate) number: u16,
    pub(crate) reference_type: NodeId,
    pub(crate) target: NodeId,
}

/// References of one node in one direction, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReferenceList {
    chunks: Vec<Arc<Vec<DynamicReference>>>,
}

impl ReferenceList {
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// A part of the list; `None` after the last one.
    #[inline]
    pub(crate) fn chunk(&self, index: usize) -> Option<&[DynamicReference]> {
        self.chunks.get(index).map(|chunk| chunk.as_slice())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &DynamicReference> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    pub(crate) fn push(&mut self, reference: DynamicReference) {
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(reference),
            None => self.chunks.push(Arc::new(alloc::vec![reference])),
        }
    }

    /// Removes what `gone` picks.
    pub(crate) fn remove(&mut self, gone: impl Fn(&DynamicReference) -> bool) {
        for chunk in &mut self.chunks {
            if chunk.iter().any(&gone) {
                Arc::make_mut(chunk).retain(|reference| !gone(reference));
            }
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
    }
}
