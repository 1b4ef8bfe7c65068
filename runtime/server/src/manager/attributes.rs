//! The attributes that all nodes of a manager have, answered from their description.

use uaforge_codec::{DecodeContext, Encode as _};
use uaforge_nodes::{AttributeId, AttributeValue, NodeClass, Text, ValueType};
use uaforge_types::status;

use super::browse::Description;
use super::read::{ReadCx, ReadItem};
use crate::encode::{put_data_status, put_data_value};

impl ReadCx<'_, '_> {
    /// Answers any attribute but the Value of a Variable as the node's description and, for Variables and
    /// VariableTypes, its bounds say (OPC 10000-3 §5). Attributes that they say nothing about have their
    /// defaults; such that the class does not have are Bad_AttributeIdInvalid.
    pub fn attribute(&mut self, item: &ReadItem<'_>, node: &Description<'_>, value: Option<&ValueType<'_>>) {
        let Some(found) = attribute(item, node, value) else {
            return self.status(item, status::BAD_ATTRIBUTE_ID_INVALID);
        };
        if !item.range.is_empty() {
            let cut = found.to_variant(DecodeContext::default()).map_err(|_| status::BAD_INTERNAL_ERROR);
            return match cut.and_then(|whole| self.cut_value(item, &whole, None)) {
                Ok(()) => {}
                Err(status) => self.status(item, status),
            };
        }
        let parts = self.settings.parts(item.attribute, None);
        match found {
            AttributeValue::Null => self.results.put(item.index, |e| put_data_status(e, &parts)),
            found => self.results.put(item.index, |e| put_data_value(e, &parts, |e| found.encode(e))),
        }
    }
}

fn attribute<'a>(
    item: &ReadItem<'a>,
    node: &Description<'a>,
    value: Option<&ValueType<'a>>,
) -> Option<AttributeValue<'a>> {
    use AttributeId as A;
    let class = node.class;
    Some(match AttributeId::from_u32(item.attribute)? {
        A::NodeId => AttributeValue::NodeId(item.node),
        A::NodeClass => AttributeValue::Int32(class.value().cast_signed()),
        A::BrowseName => AttributeValue::QualifiedName(node.browse_name),
        A::DisplayName => AttributeValue::LocalizedText(node.display_name),
        A::Description => AttributeValue::LocalizedText(Text::default()),
        A::WriteMask | A::UserWriteMask => AttributeValue::UInt32(0),
        A::IsAbstract if class.is_type() => AttributeValue::Boolean(false),
        A::Symmetric if class == NodeClass::ReferenceType => AttributeValue::Boolean(false),
        A::ContainsNoLoops if class == NodeClass::View => AttributeValue::Boolean(false),
        A::EventNotifier if matches!(class, NodeClass::Object | NodeClass::View) => AttributeValue::Byte(0),
        A::Executable | A::UserExecutable if class == NodeClass::Method => AttributeValue::Boolean(true),
        other => return bounds(other, class, value?),
    })
}

fn bounds<'a>(id: AttributeId, class: NodeClass, value: &ValueType<'a>) -> Option<AttributeValue<'a>> {
    use AttributeId as A;
    Some(match id {
        A::DataType => AttributeValue::NodeId(value.data_type),
        A::ValueRank => AttributeValue::Int32(value.value_rank),
        A::ArrayDimensions if value.array_dimensions.is_empty() => AttributeValue::Null,
        A::ArrayDimensions => AttributeValue::Dimensions(value.array_dimensions),
        _ if class != NodeClass::Variable => return None,
        A::AccessLevel | A::UserAccessLevel => AttributeValue::Byte(value.access_level as u8),
        A::AccessLevelEx => AttributeValue::UInt32(value.access_level),
        A::MinimumSamplingInterval => AttributeValue::Double(0.0),
        A::Historizing => AttributeValue::Boolean(false),
        _ => return None,
    })
}
