//! Changes to the overlay, all or nothing.

use alloc::sync::Arc;
use alloc::vec::Vec;

use uaforge_codec::{NodeId, NodeIdRef, StatusCode, Variant};

use super::{DynamicReference, Entry, NewNode, Overlay, ReferenceList};
use crate::cell::ValueCell;
use crate::class::{AttributeId, NodeClass};
use crate::ids;
use crate::space::{NONE, Snapshot};
use crate::status;

/// A set of changes. What it shows through [`snapshot`](Self::snapshot) has them already; others see
/// them when the closure given to [`AddressSpace::edit`](crate::AddressSpace::edit) returns `Ok`.
#[derive(Debug)]
pub struct Edit {
    snapshot: Snapshot,
}

impl Edit {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { snapshot }
    }

    pub(crate) fn into_overlay(self) -> Arc<Overlay> {
        self.snapshot.overlay
    }

    /// Goes back to an earlier state of this edit.
    pub(crate) fn restore(&mut self, snapshot: Snapshot) {
        self.snapshot = snapshot;
    }

    /// The address space with the changes so far.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn overlay(&mut self) -> &mut Overlay {
        Arc::make_mut(&mut self.snapshot.overlay)
    }

    fn has(&self, id: NodeIdRef<'_>) -> bool {
        self.snapshot.node(id).is_some()
    }

    /// Adds a node without any reference.
    ///
    /// # Errors
    /// Bad_NodeIdExists; Bad_NodeIdRejected for the null id or an unknown namespace;
    /// Bad_BrowseNameInvalid for a browse name without text.
    pub fn add_node(&mut self, node: NewNode) -> Result<(), StatusCode> {
        let id = node.id.clone();
        if self.has(id.as_ref()) {
            return Err(status::BAD_NODE_ID_EXISTS);
        }
        let known = self.snapshot.statics.namespaces.uri(id.namespace()).is_some();
        if id.is_null() || !known {
            return Err(status::BAD_NODE_ID_REJECTED);
        }
        if node.browse_name.name.as_str().unwrap_or_default().is_empty() {
            return Err(status::BAD_BROWSE_NAME_INVALID);
        }
        self.overlay().change(&id, |entry| entry.node = Some(Arc::new(node)));
        Ok(())
    }

    /// Adds a reference between nodes that exist. HasTypeDefinition and HasModellingRule are not kept
    /// at their target: nobody browses from a type to its instances, and the list would have no end.
    ///
    /// # Errors
    /// Bad_SourceNodeIdInvalid, Bad_TargetNodeIdInvalid, Bad_ReferenceTypeIdInvalid,
    /// Bad_DuplicateReferenceNotAllowed.
    pub fn add_reference(
        &mut self,
        source: &NodeId,
        reference_type: &NodeId,
        target: &NodeId,
    ) -> Result<(), StatusCode> {
        let Some(from) = self.snapshot.node(source.as_ref()) else {
            return Err(status::BAD_SOURCE_NODE_ID_INVALID);
        };
        let Some(to) = self.snapshot.node(target.as_ref()) else {
            return Err(status::BAD_TARGET_NODE_ID_INVALID);
        };
        // A node of the overlay has few references to it; its parent may have very many.
        let is_known = if to.is_static() || is_one_way(reference_type.as_ref()) {
            self.snapshot.has_reference(from, reference_type.as_ref(), target.as_ref())
        } else {
            let entry = self.snapshot.overlay.get(target.as_ref());
            let is_it = |r: &DynamicReference| r.target == *source && r.reference_type == *reference_type;
            entry.is_some_and(|entry| entry.inverse.iter().any(is_it))
        };
        if is_known {
            return Err(status::BAD_DUPLICATE_REFERENCE_NOT_ALLOWED);
        }
        let classes = (from.class(), to.class());
        let number = self.number(reference_type.as_ref()).ok_or(status::BAD_REFERENCE_TYPE_ID_INVALID)?;
        self.connect(number, source, reference_type, target);
        let is_subtype = reference_type.as_ref() == ids::ns0(ids::HAS_SUBTYPE);
        if is_subtype && classes == (NodeClass::ReferenceType, NodeClass::ReferenceType) {
            self.add_reference_type(source, target)?;
        }
        Ok(())
    }

    /// Adds a reference at least one end of which is not a node of this address space, but of somebody
    /// else in the same server. It is kept for both ends: see
    /// [`Snapshot::external_references`](crate::Snapshot::external_references). Whether the other end
    /// exists is for the caller to know. Between nodes of this address space it is an ordinary reference.
    ///
    /// # Errors
    /// Bad_SourceNodeIdInvalid and Bad_TargetNodeIdInvalid for null ids, Bad_ReferenceTypeIdInvalid,
    /// Bad_DuplicateReferenceNotAllowed.
    pub fn add_external_reference(
        &mut self,
        source: &NodeId,
        reference_type: &NodeId,
        target: &NodeId,
    ) -> Result<(), StatusCode> {
        if self.has(source.as_ref()) && self.has(target.as_ref()) {
            return self.add_reference(source, reference_type, target);
        }
        if source.is_null() {
            return Err(status::BAD_SOURCE_NODE_ID_INVALID);
        }
        if target.is_null() {
            return Err(status::BAD_TARGET_NODE_ID_INVALID);
        }
        let number = self.number(reference_type.as_ref()).ok_or(status::BAD_REFERENCE_TYPE_ID_INVALID)?;
        let is_it =
            |end: &NodeId, r: &DynamicReference| r.target == *end && r.reference_type == *reference_type;
        let overlay = &self.snapshot.overlay;
        let is_known = if is_one_way(reference_type.as_ref()) {
            overlay.get(source.as_ref()).is_some_and(|entry| entry.forward.iter().any(|r| is_it(target, r)))
        } else {
            overlay.get(target.as_ref()).is_some_and(|entry| entry.inverse.iter().any(|r| is_it(source, r)))
        };
        if is_known {
            return Err(status::BAD_DUPLICATE_REFERENCE_NOT_ALLOWED);
        }
        self.connect(number, source, reference_type, target);
        Ok(())
    }

    /// Notes a reference at both ends.
    fn connect(&mut self, number: u16, source: &NodeId, reference_type: &NodeId, target: &NodeId) {
        let forward =
            DynamicReference { number, reference_type: reference_type.clone(), target: target.clone() };
        let back = DynamicReference { target: source.clone(), ..forward.clone() };
        self.overlay().change(source, |entry| entry.forward.push(forward));
        if !is_one_way(reference_type.as_ref()) {
            self.overlay().change(target, |entry| entry.inverse.push(back));
        }
    }

    fn number(&self, reference_type: NodeIdRef<'_>) -> Option<u16> {
        let number = self.snapshot.overlay.types.number_of(&self.snapshot.statics, reference_type);
        (number != NONE).then_some(number)
    }

    fn add_reference_type(&mut self, parent: &NodeId, child: &NodeId) -> Result<(), StatusCode> {
        if self.number(child.as_ref()).is_some() {
            return Ok(());
        }
        let parent = self.number(parent.as_ref()).ok_or(status::BAD_PARENT_NODE_ID_INVALID)?;
        let types = Arc::make_mut(&mut self.overlay().types);
        if !types.has_room() {
            return Err(status::BAD_OUT_OF_RANGE);
        }
        types.add(child.clone(), parent);
        Ok(())
    }

    /// Removes a reference that was added here.
    ///
    /// # Errors
    /// Bad_NotFound; Bad_NotSupported if it stands in the static tables.
    pub fn remove_reference(
        &mut self,
        source: &NodeId,
        reference_type: &NodeId,
        target: &NodeId,
    ) -> Result<(), StatusCode> {
        let is_it =
            |end: &NodeId, r: &DynamicReference| r.reference_type == *reference_type && r.target == *end;
        let own = self.snapshot.overlay.get(source.as_ref());
        if !own.is_some_and(|entry| entry.forward.iter().any(|r| is_it(target, r))) {
            let stands = (self.snapshot.node(source.as_ref())).is_some_and(|node| {
                self.snapshot.has_reference(node, reference_type.as_ref(), target.as_ref())
            });
            return Err(if stands { status::BAD_NOT_SUPPORTED } else { status::BAD_NOT_FOUND });
        }
        let overlay = self.overlay();
        overlay.change(source, |entry| entry.forward.remove(|r| is_it(target, r)));
        overlay.change(target, |entry| entry.inverse.remove(|r| is_it(source, r)));
        Ok(())
    }

    /// Removes a node that was added here, with its references at both ends.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown; Bad_NotSupported for a static node.
    pub fn remove_node(&mut self, id: &NodeId) -> Result<(), StatusCode> {
        let Some(entry) = self.snapshot.overlay.get(id.as_ref()).filter(|e| e.node.is_some()) else {
            let is_static = self.has(id.as_ref());
            return Err(if is_static { status::BAD_NOT_SUPPORTED } else { status::BAD_NODE_ID_UNKNOWN });
        };
        let others = |list: &ReferenceList| -> Vec<NodeId> {
            list.iter().map(|r| r.target.clone()).filter(|target| target != id).collect()
        };
        let (sources, targets) = (others(&entry.inverse), others(&entry.forward));
        let overlay = self.overlay();
        for source in &sources {
            overlay.change(source, |entry| entry.forward.remove(|r| r.target == *id));
        }
        for target in &targets {
            overlay.change(target, |entry| entry.inverse.remove(|r| r.target == *id));
        }
        overlay.change(id, |entry| *entry = Entry::new(id.clone()));
        Ok(())
    }

    /// Removes a node and everything that only it holds by HasComponent, HasProperty and their
    /// subtypes.
    ///
    /// # Errors
    /// As [`remove_node`](Self::remove_node); parts that are static nodes or have another owner stay.
    pub fn remove_tree(&mut self, root: &NodeId) -> Result<(), StatusCode> {
        let mut stack = alloc::vec![root.clone()];
        while let Some(id) = stack.pop() {
            let parts = self.owned_parts(&id);
            let removed = self.remove_node(&id);
            if id == *root {
                removed?;
            }
            for part in parts {
                let orphan = self.snapshot.overlay.get(part.as_ref()).is_some_and(|entry| {
                    entry.node.is_some() && !entry.inverse.iter().any(|r| self.is_aggregate(r.number))
                });
                if orphan {
                    stack.push(part);
                }
            }
        }
        Ok(())
    }

    fn is_aggregate(&self, number: u16) -> bool {
        let types = &self.snapshot.overlay.types;
        let aggregates = types.number_of(&self.snapshot.statics, ids::ns0(ids::AGGREGATES));
        types.filter(aggregates, true).is_some_and(|filter| types.matches(filter, number))
    }

    fn owned_parts(&self, id: &NodeId) -> Vec<NodeId> {
        let Some(entry) = self.snapshot.overlay.get(id.as_ref()) else {
            return Vec::new();
        };
        let owned = entry.forward.iter().filter(|r| self.is_aggregate(r.number));
        owned.map(|r| r.target.clone()).collect()
    }

    pub(super) fn override_attribute(&mut self, id: &NodeId, attribute: AttributeId, value: Variant) {
        let overlay = self.overlay();
        overlay.has_overrides = true;
        overlay.change(id, |entry| entry.override_attribute(attribute, value));
    }

    /// Gives a Variable, static or added, the cell that holds its value; the cell it had before.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown, Bad_NodeClassInvalid.
    pub fn attach_cell(
        &mut self,
        id: &NodeId,
        cell: Arc<ValueCell>,
    ) -> Result<Option<Arc<ValueCell>>, StatusCode> {
        let node = self.snapshot.node(id.as_ref()).ok_or(status::BAD_NODE_ID_UNKNOWN)?;
        if node.class() != NodeClass::Variable {
            return Err(status::BAD_NODE_CLASS_INVALID);
        }
        Ok(self.overlay().change(id, |entry| entry.cell.replace(cell)).flatten())
    }

    /// Takes the cell of a Variable away; a static one shows the value of its model again.
    pub fn detach_cell(&mut self, id: &NodeId) -> Option<Arc<ValueCell>> {
        self.snapshot.overlay.get(id.as_ref())?.cell.as_ref()?;
        self.overlay().change(id, |entry| entry.cell.take()).flatten()
    }
}

/// References whose inverse is not kept.
fn is_one_way(reference_type: NodeIdRef<'_>) -> bool {
    [ids::HAS_TYPE_DEFINITION, ids::HAS_MODELLING_RULE].into_iter().any(|id| reference_type == ids::ns0(id))
}
