//! Attributes that are written over those of a model or of an added node.

use uaforge_codec::{BuiltinType, NodeId, StatusCode, Variant};

use super::Edit;
use crate::class::{AttributeId, NodeClass};
use crate::status;

/// The builtin type of an attribute's values, and whether they are arrays (OPC 10000-3 §5.2 to §5.8).
/// `None` for the Value, whose type is the node's own.
pub const fn attribute_type(attribute: AttributeId) -> Option<(BuiltinType, bool)> {
    Some(match attribute {
        AttributeId::NodeId | AttributeId::DataType => (BuiltinType::NodeId, false),
        AttributeId::NodeClass | AttributeId::ValueRank => (BuiltinType::Int32, false),
        AttributeId::BrowseName => (BuiltinType::QualifiedName, false),
        AttributeId::DisplayName | AttributeId::Description | AttributeId::InverseName => {
            (BuiltinType::LocalizedText, false)
        }
        AttributeId::WriteMask | AttributeId::UserWriteMask | AttributeId::AccessLevelEx => {
            (BuiltinType::UInt32, false)
        }
        AttributeId::IsAbstract
        | AttributeId::Symmetric
        | AttributeId::ContainsNoLoops
        | AttributeId::Historizing
        | AttributeId::Executable
        | AttributeId::UserExecutable => (BuiltinType::Boolean, false),
        AttributeId::EventNotifier | AttributeId::AccessLevel | AttributeId::UserAccessLevel => {
            (BuiltinType::Byte, false)
        }
        AttributeId::ArrayDimensions => (BuiltinType::UInt32, true),
        AttributeId::MinimumSamplingInterval => (BuiltinType::Double, false),
        AttributeId::DataTypeDefinition => (BuiltinType::ExtensionObject, false),
        AttributeId::RolePermissions | AttributeId::UserRolePermissions => {
            (BuiltinType::ExtensionObject, true)
        }
        AttributeId::AccessRestrictions => (BuiltinType::UInt16, false),
        AttributeId::Value => return None,
    })
}

impl Edit {
    /// Writes over an attribute of a node, static or added. The Value of a Variable is none of them: it
    /// lives in a cell. Nor are the id and the class, which make the node what it is, nor those of a user.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown; Bad_AttributeIdInvalid for an attribute that the node does not have;
    /// Bad_WriteNotSupported for one that cannot be written over; Bad_TypeMismatch;
    /// Bad_BrowseNameInvalid; Bad_OutOfRange for a ValueRank or DataType that is none.
    pub fn set_attribute(
        &mut self,
        id: &NodeId,
        attribute: AttributeId,
        value: Variant,
    ) -> Result<(), StatusCode> {
        self.check_attribute(id, attribute, &value)?;
        let (attribute, value) = match (attribute, value) {
            // One is the low byte of the other.
            (AttributeId::AccessLevel, Variant::Byte(level)) => {
                let high = self.access_level_ex(id) & !0xFF;
                (AttributeId::AccessLevelEx, Variant::UInt32(high | u32::from(level)))
            }
            other => other,
        };
        self.override_attribute(id, attribute, value);
        Ok(())
    }

    fn access_level_ex(&self, id: &NodeId) -> u32 {
        let node = self.snapshot().node(id.as_ref());
        node.and_then(|node| node.value_type()).map_or(0, |value_type| value_type.access_level)
    }

    fn check_attribute(
        &self,
        id: &NodeId,
        attribute: AttributeId,
        value: &Variant,
    ) -> Result<(), StatusCode> {
        let node = self.snapshot().node(id.as_ref()).ok_or(status::BAD_NODE_ID_UNKNOWN)?;
        node.attribute(attribute)?;
        let Some((builtin, is_array)) = attribute_type(attribute) else {
            let is_type = node.class() == NodeClass::VariableType;
            return if is_type { Ok(()) } else { Err(status::BAD_WRITE_NOT_SUPPORTED) };
        };
        let no_dimensions = attribute == AttributeId::ArrayDimensions && value.is_null();
        if !no_dimensions && (value.builtin_type() != Some(builtin) || value.is_array() != is_array) {
            return Err(status::BAD_TYPE_MISMATCH);
        }
        match (attribute, value) {
            (
                AttributeId::NodeId
                | AttributeId::NodeClass
                | AttributeId::UserWriteMask
                | AttributeId::UserAccessLevel
                | AttributeId::UserExecutable
                | AttributeId::UserRolePermissions,
                _,
            ) => Err(status::BAD_WRITE_NOT_SUPPORTED),
            (AttributeId::BrowseName, Variant::QualifiedName(name)) if name.name.is_empty() => {
                Err(status::BAD_BROWSE_NAME_INVALID)
            }
            // ScalarOrOneDimension is the lowest one (OPC 10000-3 §5.6.2).
            (AttributeId::ValueRank, Variant::Int32(rank)) if *rank < -3 => Err(status::BAD_OUT_OF_RANGE),
            (AttributeId::DataType, Variant::NodeId(data_type)) => {
                let found = self.snapshot().node(data_type.as_ref());
                let is_one = found.is_some_and(|node| node.class() == NodeClass::DataType);
                if is_one { Ok(()) } else { Err(status::BAD_OUT_OF_RANGE) }
            }
            _ => Ok(()),
        }
    }
}
