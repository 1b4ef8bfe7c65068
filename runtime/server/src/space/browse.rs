//! Browse of nodes of the address space (OPC 10000-4 §5.9.2).

use uaforge_codec::{ExpandedNodeIdRef, StatusCode, UaString};
use uaforge_nodes::{AttributeId, Cursor, Node, Snapshot};

use super::SpaceManager;
use crate::encode::{Target, encoded_target};
use crate::manager::{BrowseCx, BrowseItem, Description, Reference, Start};
use crate::node_ids::unknown;
use crate::proto::continuation::Position;

impl SpaceManager {
    pub(crate) fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        let now = cx.snapshot;
        for item in items {
            if cx.is_spent() {
                cx.postpone(item);
                continue;
            }
            let (cursor, snapshot) = match item.start {
                Start::Cursor(cursor, snapshot) => (cursor, snapshot),
                _ => (Cursor::default(), now),
            };
            if let Err(status) = browse_one(cx, snapshot, cursor, item) {
                cx.status(item, status);
            }
        }
    }
}

fn browse_one(
    cx: &mut BrowseCx<'_, '_>,
    snapshot: &Snapshot,
    cursor: Cursor,
    item: &BrowseItem<'_>,
) -> Result<(), StatusCode> {
    let node = snapshot.node(item.node).ok_or_else(|| unknown(item.node))?;
    let mut references = node.references_from(item.direction, item.filter, cursor);
    let mut next = references.cursor();
    let (locales, context) = (cx.locales, cx.core.encode_context());
    // What is kept of a node has its first texts.
    let whole = Target::is_whole(item.result_mask) && locales.is_empty();
    let mut browser = cx.begin(item);
    while let Some(found) = references.next() {
        if !browser.spend() {
            break;
        }
        let reference = Reference {
            reference_type: found.type_id(),
            forward: found.is_forward(),
            target: ExpandedNodeIdRef { node_id: found.target_id(), ..Default::default() },
        };
        let full = match found.target() {
            Some(target) if whole => {
                match target.memo(|| encoded_target(&describe(&target, locales), context)) {
                    Some(bytes) => browser.push_target(&reference, Target::Encoded(target.class(), bytes)),
                    None => browser.push(&reference, Some(&describe(&target, locales))),
                }
            }
            Some(target) => browser.push(&reference, Some(&describe(&target, locales))),
            None => browser.push_node(found.type_id(), found.is_forward(), found.target_id()),
        };
        if full.is_break() {
            break;
        }
        next = references.cursor();
    }
    browser.finish_at(|| Position::Cursor(next, snapshot.clone()));
    Ok(())
}

/// What a reference shows of a node of the address space.
pub(crate) fn describe<'a>(node: &Node<'a>, locales: &[UaString]) -> Description<'a> {
    let name = if locales.is_empty() { None } else { node.localized(AttributeId::DisplayName, locales) };
    Description {
        class: node.class(),
        browse_name: node.browse_name(),
        display_name: name.unwrap_or_else(|| node.display_name()),
        type_definition: node.type_definition(),
    }
}
