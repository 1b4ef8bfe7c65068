//! One step of a browse path from nodes of the address space (OPC 10000-4 §5.9.4).

use uaforge_nodes::Direction;

use super::SpaceManager;
use crate::manager::{FollowCx, FollowItem};

impl SpaceManager {
    pub(crate) fn follow(&self, cx: &mut FollowCx<'_>, item: &FollowItem<'_>) {
        let Some(node) = cx.snapshot.node(item.node) else { return };
        let direction = if item.inverse { Direction::Inverse } else { Direction::Forward };
        for reference in node.references(direction, item.filter) {
            if !cx.spend() {
                return;
            }
            match reference.target() {
                None => cx.target_if_named(item, reference.target_id()),
                Some(target) if item.has_name(target.browse_name()) => {
                    cx.target(reference.target_id().to_owned().into());
                }
                Some(_) => {}
            }
        }
    }
}
