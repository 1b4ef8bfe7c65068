//! The default node manager: everything in the address space, static tables and added nodes alike.

mod browse;
mod follow;
pub(crate) mod live;
mod read;
pub(crate) mod standard;

use live::Live;
use uaforge_codec::DateTime;

/// Answers from a snapshot of the address space, without waiting and without allocating.
pub(crate) struct SpaceManager {
    pub(crate) live: Live,
    /// When the server started: the source timestamp of values that stand in the tables.
    pub(crate) started: DateTime,
}
