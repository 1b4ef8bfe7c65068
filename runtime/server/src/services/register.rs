//! RegisterNodes and UnregisterNodes (OPC 10000-4 §5.9.5, §5.9.6).

use uaforge_codec::{Encode as _, Encoder, NodeIdRef, StatusCode};
use uaforge_types::{RegisterNodesRequestRef, UnregisterNodesRequestRef, status};

use super::ServiceCx;
use crate::manager::{RegisterCx, RegisterItem, contain};
use crate::node_ids::is_well_formed;

/// Checks what holds for a RegisterNodes as a whole: one malformed id makes all of it void (§5.9.5.3).
pub(crate) fn check(cx: &ServiceCx<'_>, request: &RegisterNodesRequestRef<'_>) -> Result<(), StatusCode> {
    check_count(cx, request.nodes_to_register.len())?;
    let known = cx.snapshot.namespaces().len();
    let is_valid = |node: NodeIdRef<'_>| {
        !node.is_null() && usize::from(node.namespace()) < known && is_well_formed(node)
    };
    match request.nodes_to_register.iter().all(is_valid) {
        true => Ok(()),
        false => Err(status::BAD_NODE_ID_INVALID),
    }
}

/// Checks the number of nodes.
pub(crate) fn check_count(cx: &ServiceCx<'_>, nodes: usize) -> Result<(), StatusCode> {
    match nodes {
        0 => Err(status::BAD_NOTHING_TO_DO),
        nodes if nodes > cx.core.limits.operations.max_nodes_per_register_nodes as usize => {
            Err(status::BAD_TOO_MANY_OPERATIONS)
        }
        _ => Ok(()),
    }
}

/// Writes the ids to use: those of the managers that gave one, the nodes' own for the rest.
pub(crate) fn register(cx: &mut ServiceCx<'_>, request: &RegisterNodesRequestRef<'_>, e: &mut Encoder<'_>) {
    let mut aliases = Vec::new();
    for (manager, number) in cx.core.managers.iter().zip(1..) {
        let nodes = request.nodes_to_register.iter().enumerate();
        let items: Vec<_> = nodes
            .filter(|(_, node)| cx.core.route(*node) == number)
            .map(|(index, node)| RegisterItem { index, node })
            .collect();
        let Some(first) = items.first() else { continue };
        let mut given = Vec::new();
        let mut register = RegisterCx { access: cx.access, now: cx.now, aliases: &mut given };
        contain("RegisterNodes", first.node, || manager.register(&mut register, &items));
        let (kept, refused): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|(_, id)| cx.session.registered.add(id, manager, cx.access));
        if !refused.is_empty() {
            let refused: Vec<_> = refused.into_iter().map(|(_, id)| id).collect();
            contain("UnregisterNodes", first.node, || manager.unregister(cx.access, &refused));
        }
        aliases.extend(kept);
    }
    aliases.sort_by_key(|(index, _)| *index);
    e.put_array_len(Some(request.nodes_to_register.len()));
    for (index, node) in request.nodes_to_register.iter().enumerate() {
        match aliases.binary_search_by_key(&index, |(index, _)| *index).ok().and_then(|at| aliases.get(at)) {
            Some((_, alias)) => alias.encode(e),
            None => node.encode(e),
        }
    }
}

/// Gives ids back. Ids that were not registered are no error (§5.9.6.1).
pub(crate) fn unregister(cx: &ServiceCx<'_>, request: &UnregisterNodesRequestRef<'_>) {
    cx.session.registered.remove(request.nodes_to_unregister.iter());
}
