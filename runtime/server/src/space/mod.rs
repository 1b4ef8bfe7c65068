//! The default node manager: everything in the address space, static tables and added nodes alike.

mod browse;
mod call;
pub(crate) mod check;
mod follow;
pub(crate) mod live;
mod method;
mod option_set;
mod properties;
mod read;
pub(crate) mod signature;
pub(crate) mod standard;
mod write;
mod write_attribute;

pub(crate) use browse::describe;
use live::Live;
use uaforge_codec::DateTime;

use crate::access::Rights;
use crate::methods::Bindings;

/// Answers from a snapshot of the address space, without waiting and without allocating.
pub(crate) struct SpaceManager {
    pub(crate) live: Live,
    pub(crate) methods: Bindings,
    /// When the server started: the source timestamp of values that stand in the tables.
    pub(crate) started: DateTime,
    /// What users may do of what the nodes offer.
    pub(crate) rights: Rights,
}
