//! The notifier hierarchy (OPC 10000-3 §7.17, §7.18): whose events an event is as well.

use uaforge_codec::{NodeId, NodeIdRef};
use uaforge_nodes::{Direction, Snapshot};
use uaforge_types::ids;

/// Most notifiers that one event is handed to.
const MOST: usize = 10_000;

/// The Server object, which has every event (OPC 10000-5 §8.3.2).
const SERVER: NodeIdRef<'static> = NodeIdRef::Numeric(0, 2253);

/// The source of an event, every node from which HasEventSource, HasNotifier or a subtype of them leads there, and the
/// Server object; each one once.
pub(crate) fn notifiers_of(snapshot: &Snapshot, source: &NodeId) -> Vec<NodeId> {
    let mut found = vec![source.clone()];
    let has_event_source = ids::reference_type::HAS_EVENT_SOURCE.resolve_ref(snapshot.namespaces()).ok();
    let filter = has_event_source.and_then(|id| snapshot.reference_filter(id, true));
    let mut next = 0;
    while let Some((node, filter)) = found.get(next).cloned().zip(filter).filter(|_| found.len() < MOST) {
        next += 1;
        let id = node.as_ref();
        let of_node = snapshot.node(id).map(|node| node.references(Direction::Inverse, filter));
        let external = snapshot.external_references(id, Direction::Inverse, filter);
        for reference in of_node.into_iter().flatten().chain(external) {
            let above = reference.target_id();
            if found.iter().all(|known| known.as_ref() != above) {
                found.push(above.to_owned());
            }
        }
    }
    if found.iter().all(|known| known.as_ref() != SERVER) {
        found.push(SERVER.to_owned());
    }
    found
}
