//! One step of a browse path from nodes of the address space (OPC 10000-4 §5.9.4).

use uaforge_nodes::{Direction, Snapshot};

use super::SpaceManager;
use crate::manager::{FollowCx, FollowItem};
use crate::shared::Core;

impl SpaceManager {
    pub(crate) fn follow(
        &self,
        cx: &mut FollowCx<'_>,
        core: &Core,
        snapshot: &Snapshot,
        items: &[FollowItem<'_>],
    ) {
        for item in items {
            let Some(node) = snapshot.node(item.node) else { continue };
            let direction = if item.inverse { Direction::Inverse } else { Direction::Forward };
            for reference in node.references(direction, item.filter) {
                if !cx.spend() {
                    return;
                }
                let fits = match reference.target() {
                    Some(target) => item.has_name(target.browse_name()),
                    None => core.foreign_has_name(reference.target_id(), item),
                };
                if fits {
                    cx.target(reference.target_id().to_owned().into());
                }
            }
        }
    }
}
