//! Node managers: who answers for which nodes, in batches.

mod attributes;
mod batch;
mod browse;
mod call;
mod claim;
mod contain;
mod defer;
mod follow;
mod read;
mod register;
mod write;

pub use browse::{BrowseAnswer, BrowseCx, BrowseItem, Browser, Description, Reference};
pub use call::{CallCx, CallItem};
pub use claim::Claim;
pub use follow::{FollowAnswer, FollowCx, FollowItem};
pub use read::{ReadCx, ReadItem};
pub use register::{RegisterCx, RegisterItem};
pub use write::{WriteCx, WriteItem};

pub(crate) use browse::{BrowseBuffers, Start, put_browse_status, wants_type};
pub(crate) use call::{CallAnswer, put_answer, put_call_status};
pub(crate) use claim::{BatchRoutes, Routes};
pub(crate) use contain::{contain, shield};
pub(crate) use defer::{Deferred, Late};
pub(crate) use follow::LateStep;
pub(crate) use read::{ReadSettings, encode_answer, put_read_status};
pub(crate) use write::{Malformed, check_level, level, put_write_status, written_value};

use uaforge_codec::{NodeId, NodeIdRef};
use uaforge_types::status;

use crate::access::Access;

/// Answers for the nodes of its namespaces, or for a part of them. The methods are synchronous and get a
/// whole batch: an answer that is there goes into `cx` at once, one that is not is handed over with
/// `cx.defer` (a future) or `cx.blocking` (a job on a bounded pool of threads).
///
/// An item that is neither answered nor deferred gets Bad_InternalError; so do those that a panic left
/// over.
///
/// A manager with one node, the hour of the day, which is organized by a folder of the address space
/// ([`Server::add_reference`](crate::Server::add_reference)):
///
/// ```
/// use uaforge_codec::{NodeIdRef, Variant};
/// use uaforge_nodes::{BrowseName, NodeClass, Text, ValueType};
/// use uaforge_server::{
///     BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem,
/// };
/// use uaforge_types::status;
///
/// struct Clock;
///
/// const BYTE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 3);
/// const BOUNDS: ValueType<'static> =
///     ValueType { data_type: BYTE, value_rank: -1, array_dimensions: &[], access_level: 1 };
///
/// fn hour(namespace: u16) -> Description<'static> {
///     Description {
///         class: NodeClass::Variable,
///         browse_name: BrowseName { namespace, name: "Hour" },
///         display_name: Text { locale: "", text: "Hour" },
///         type_definition: Some(NodeIdRef::Numeric(0, 63)),
///     }
/// }
///
/// impl NodeManager for Clock {
///     fn namespaces(&self) -> Vec<Claim> {
///         vec!["urn:example:clock".into()]
///     }
///
///     fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
///         for item in items {
///             let now = cx.now().utc;
///             match (item.node, item.attribute) {
///                 (NodeIdRef::Numeric(_, 1), 13) => {
///                     let hours = now.0 / 36_000_000_000 % 24;
///                     cx.value(item, &Variant::Byte(hours as u8), now);
///                 }
///                 (NodeIdRef::Numeric(namespace, 1), _) => {
///                     cx.attribute(item, &hour(namespace), Some(&BOUNDS));
///                 }
///                 _ => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
///             }
///         }
///     }
///
///     fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
///         for item in items {
///             match item.node {
///                 // Nothing of its own; the server adds the folder.
///                 NodeIdRef::Numeric(_, 1) => cx.begin(item).finish(),
///                 _ => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
///             }
///         }
///     }
///
///     fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}
///
///     fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
///         let known = matches!(node, NodeIdRef::Numeric(_, 1));
///         if known {
///             found(&hour(node.namespace()));
///         }
///         known
///     }
/// }
/// ```
pub trait NodeManager: Send + Sync + 'static {
    /// The namespaces this manager answers for; the server gives them an index. Asked once.
    fn namespaces(&self) -> Vec<Claim>;

    /// Whether a node of a namespace that is claimed in part ([`Claim::part`]) is this manager's. The
    /// managers of a namespace are asked in the order in which they were added; what none of them wants
    /// is the address space's. Asked for each node of a request, so it must not wait or be slow.
    fn owns(&self, node: NodeIdRef<'_>) -> bool {
        let _ = node;
        true
    }

    /// Reads attributes (OPC 10000-4 §5.11.2).
    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]);

    /// Writes attributes (OPC 10000-4 §5.11.4). Without a body of its own, nothing is writable.
    fn write(&self, cx: &mut WriteCx<'_, '_>, items: &[WriteItem<'_>]) {
        for item in items {
            cx.status(item, status::BAD_NOT_WRITABLE);
        }
    }

    /// Gives the references of nodes (OPC 10000-4 §5.9.2).
    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]);

    /// Follows one element of a browse path from each item's node (OPC 10000-4 §5.9.4).
    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]);

    /// Calls Methods of this manager's Objects (OPC 10000-4 §5.12.2).
    fn call(&self, cx: &mut CallCx<'_, '_>, items: &[CallItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_METHOD_INVALID));
    }

    /// Prepares for frequent use of nodes (OPC 10000-4 §5.9.5), and may hand out ids that are quicker to find.
    /// Without a body of its own, nodes keep their ids.
    fn register(&self, cx: &mut RegisterCx<'_>, items: &[RegisterItem<'_>]) {
        let _ = (cx, items);
    }

    /// Takes back ids that [`register`](Self::register) handed out: the client does not need them any more
    /// (OPC 10000-4 §5.9.6), or its session has ended.
    fn unregister(&self, access: Access, ids: &[NodeId]) {
        let _ = (access, ids);
    }

    /// Tells what a reference to `node` shows of it; `false` if there is no such node.
    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool;
}
