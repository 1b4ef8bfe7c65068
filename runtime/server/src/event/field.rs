//! A field of an event as an operand names it (SimpleAttributeOperand, OPC 10000-4 §7.7.4.5).

use core::cell::OnceCell;

use uaforge_codec::{NodeId, NumericRange, QualifiedName, StatusCode};
use uaforge_nodes::{AttributeId, NodeClass, Snapshot};
use uaforge_types::{SimpleAttributeOperand, status};

use super::types::{self, BASE_EVENT_TYPE, Paths};

/// A checked operand.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Only events of this type have the field; of any type if there is none.
    pub(super) event_type: Option<NodeId>,
    pub(super) path: Box<[QualifiedName]>,
    /// The NodeId of the node is asked for, not its value.
    pub(super) is_node_id: bool,
    pub(super) range: Option<NumericRange>,
}

/// What operands are checked against.
pub(crate) struct EventTypes<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// Made when it is needed, once for a request.
    paths: OnceCell<Paths>,
}

impl<'s> EventTypes<'s> {
    pub(crate) const fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, paths: OnceCell::new() }
    }

    /// Whether an event of any type has the field.
    fn has_path(&self, path: &[QualifiedName]) -> bool {
        types::declaration(self.snapshot, BASE_EVENT_TYPE, path).is_some()
            || self.paths.get_or_init(|| Paths::of(self.snapshot)).has(path)
    }
}

impl Field {
    /// Checks what is wrong for every event there could be (OPC 10000-4 §7.22.3).
    ///
    /// # Errors
    /// Bad_TypeDefinitionInvalid, Bad_BrowseNameInvalid, Bad_NodeIdUnknown, Bad_AttributeIdInvalid,
    /// Bad_IndexRangeInvalid.
    pub(super) fn check(
        operand: &SimpleAttributeOperand,
        types: &EventTypes<'_>,
    ) -> Result<Self, StatusCode> {
        let event_type = operand.type_definition_id.as_ref();
        if !types::is_operand_type(types.snapshot, event_type) {
            return Err(status::BAD_TYPE_DEFINITION_INVALID);
        }
        let is_node_id = match AttributeId::from_u32(operand.attribute_id) {
            Some(AttributeId::NodeId) => true,
            Some(AttributeId::Value) => false,
            _ => return Err(status::BAD_ATTRIBUTE_ID_INVALID),
        };
        let range = match operand.index_range.as_str().unwrap_or_default() {
            "" => None,
            _ if is_node_id => return Err(status::BAD_INDEX_RANGE_INVALID),
            text => Some(text.parse().map_err(|_| status::BAD_INDEX_RANGE_INVALID)?),
        };
        let path = &*operand.browse_path;
        if path.iter().any(|name| name.name.is_empty()) {
            return Err(status::BAD_BROWSE_NAME_INVALID);
        }
        let is_any = event_type == BASE_EVENT_TYPE;
        if path.is_empty() {
            // The event itself, which has no value: its id is that of the condition (OPC 10000-9 §5.5.2).
            if !is_node_id {
                return Err(status::BAD_ATTRIBUTE_ID_INVALID);
            }
        } else if is_any {
            if !types.has_path(path) {
                return Err(status::BAD_NODE_ID_UNKNOWN);
            }
        } else {
            match types::declaration(types.snapshot, event_type, path) {
                None => return Err(status::BAD_NODE_ID_UNKNOWN),
                Some(NodeClass::Object) if !is_node_id => return Err(status::BAD_ATTRIBUTE_ID_INVALID),
                Some(_) => {}
            }
        }
        let event_type = (!is_any).then(|| operand.type_definition_id.clone());
        Ok(Self { event_type, path: path.into(), is_node_id, range })
    }
}
