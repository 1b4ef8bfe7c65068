//! Buffers of a connection that requests use again and again.

use uaforge_codec::{DataValue, ExpandedNodeId, StatusCode};

use super::results::ResultBuffers;
use crate::manager::{BatchRoutes, BrowseBuffers, BrowseItem, Deferred, LateStep, ReadItem, WriteItem};
use crate::services::write::WriteHead;

/// Room that an idle connection keeps in one buffer, in bytes.
const KEEP: usize = 64 * 1024;

/// Everything a service needs room for. Nothing in here outlives a request but capacity.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) results: ResultBuffers,
    pub(crate) browse: BrowseBuffers,
    pub(crate) read_items: Vec<ReadItem<'static>>,
    /// Those of one manager.
    pub(crate) read_batch: Vec<ReadItem<'static>>,
    pub(crate) write_items: Vec<WriteItem<'static>>,
    pub(crate) write_heads: Vec<WriteHead<'static>>,
    pub(crate) write_values: Vec<Result<DataValue, StatusCode>>,
    pub(crate) browse_items: Vec<BrowseItem<'static>>,
    pub(crate) routes: BatchRoutes,
    pub(crate) walk: WalkBuffers,
    pub(crate) deferred: Vec<Deferred>,
    /// Of one late answer.
    pub(crate) late: Vec<u8>,
}

/// Nodes of a walk along a browse path.
#[derive(Default)]
pub(crate) struct WalkBuffers {
    pub(crate) frontier: Vec<ExpandedNodeId>,
    pub(crate) targets: Vec<ExpandedNodeId>,
    /// Targets that managers will tell.
    pub(crate) late: Vec<LateStep>,
}

impl WalkBuffers {
    pub(crate) fn clear(&mut self) {
        self.frontier.clear();
        self.targets.clear();
        self.late.clear();
    }
}

impl Buffers {
    /// Gives room back that an unusual request took.
    pub(crate) fn trim(&mut self) {
        self.results.trim(KEEP);
        self.browse.trim(KEEP);
        self.routes.trim(KEEP);
        self.read_items.shrink_to(KEEP / size_of::<ReadItem<'_>>());
        self.read_batch.shrink_to(KEEP / size_of::<ReadItem<'_>>());
        self.write_items.shrink_to(KEEP / size_of::<WriteItem<'_>>());
        self.write_heads.shrink_to(KEEP / size_of::<WriteHead<'_>>());
        self.write_values.shrink_to(KEEP / size_of::<DataValue>());
        self.browse_items.shrink_to(KEEP / size_of::<BrowseItem<'_>>());
        self.late.clear();
        self.late.shrink_to(KEEP);
        self.walk.frontier.shrink_to(KEEP / size_of::<ExpandedNodeId>());
        self.walk.targets.shrink_to(KEEP / size_of::<ExpandedNodeId>());
    }
}

/// Empties a buffer so that it can hold items of another lifetime. std collects such an iterator in
/// place, so the allocation stays (watched by the allocation test).
macro_rules! recycle {
    ($buffer:expr) => {{
        let mut buffer = $buffer;
        buffer.clear();
        buffer.into_iter().filter_map(|_| None).collect()
    }};
}
pub(crate) use recycle;
