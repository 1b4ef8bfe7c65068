//! What can be said of a NodeId without looking for its node (OPC 10000-3 §8.2.4).

use uaforge_codec::{NodeIdRef, StatusCode};
use uaforge_types::status;

/// Longest identifier: characters of a String, bytes of an opaque one.
const LONGEST: usize = 4_096;

/// Whether an id has the form that every id has to have.
pub(crate) fn is_well_formed(node: NodeIdRef<'_>) -> bool {
    match node {
        NodeIdRef::String(_, bytes) => core::str::from_utf8(bytes)
            .is_ok_and(|text| text.len() <= LONGEST || text.chars().take(LONGEST + 1).count() <= LONGEST),
        NodeIdRef::Opaque(_, bytes) => bytes.len() <= LONGEST,
        NodeIdRef::Numeric(..) | NodeIdRef::Guid(..) => true,
    }
}

/// The status of an id that no node has: Bad_NodeIdInvalid if none can have it, the null id among them
/// (OPC 10000-4 §7.38.2).
#[cold]
pub(crate) fn unknown(node: NodeIdRef<'_>) -> StatusCode {
    if is_well_formed(node) && !node.is_null() {
        status::BAD_NODE_ID_UNKNOWN
    } else {
        status::BAD_NODE_ID_INVALID
    }
}
