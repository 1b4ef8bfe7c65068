//! Bytes that whoever reads the static nodes keeps beside them, made when they are first asked for.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::node::{At, Node};
use crate::lock::Once;

/// Rows of one block: nothing is taken for the blocks of nodes that nobody looks at.
const BLOCK: usize = 64;

type Block = Box<[Once<Box<[u8]>>]>;

/// One place for each row of a model.
pub(crate) struct Memo(Vec<Once<Block>>);

impl Memo {
    pub(crate) fn new(rows: usize) -> Self {
        Self((0..rows.div_ceil(BLOCK)).map(|_| Once::new()).collect())
    }

    #[inline]
    fn get(&self, row: u32, make: impl FnOnce() -> Box<[u8]>) -> Option<&[u8]> {
        let row = row as usize;
        let block = self.0.get(row / BLOCK)?;
        let block = block.get_or_init(|| (0..BLOCK).map(|_| Once::new()).collect());
        block.get(row % BLOCK).map(|place| &**place.get_or_init(make))
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Memo").field(&self.0.len()).finish()
    }
}

impl<'a> Node<'a> {
    /// Bytes that follow from what the model says of the node, such as a part of a response: made once and kept
    /// as long as the address space. All callers have to mean the same by them. `None` for nodes that were
    /// added, and if an attribute of any node was written over: then nothing is sure to last.
    #[inline]
    pub fn memo(&self, make: impl FnOnce() -> Box<[u8]>) -> Option<&'a [u8]> {
        match self.at() {
            At::Static(node) if !self.has_overrides() => node.mounted.memo.get(node.index.row, make),
            _ => None,
        }
    }
}
