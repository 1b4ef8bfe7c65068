//! What a Variable says about its values, in one look.

use uaforge_codec::NodeIdRef;

use super::attribute::AttributeValue;
use super::node::{At, Node};
use crate::class::{AttributeId, NodeClass};
use crate::overlay::ClassAttributes;

/// The attributes that bound the Value of a Variable or VariableType (OPC 10000-3 §5.6.2, §5.6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueType<'a> {
    /// DataType.
    pub data_type: NodeIdRef<'a>,
    /// ValueRank.
    pub value_rank: i32,
    /// ArrayDimensions: the longest length of each dimension, 0 where it is not bounded; empty if not given.
    pub array_dimensions: &'a [u32],
    /// AccessLevelEx, whose low byte is AccessLevel; 0 for a VariableType.
    pub access_level: u32,
}

impl<'a> Node<'a> {
    /// The attributes that bound the Value; `None` if the class has no Value.
    #[inline]
    pub fn value_type(&self) -> Option<ValueType<'a>> {
        let mut value_type = match self.at() {
            At::Static(node) => {
                let (variable, array_dimensions) = node.mounted.model.variable(node.index.row)?;
                ValueType {
                    data_type: node.mounted.id(variable.0, variable.1),
                    value_rank: variable.2,
                    array_dimensions,
                    access_level: if self.class() == NodeClass::VariableType { 0 } else { variable.3 },
                }
            }
            At::Dynamic(_, node) => {
                let (variable, access_level) = match &node.attributes {
                    ClassAttributes::Variable(variable) => (variable, variable.access_level),
                    ClassAttributes::VariableType { variable, .. } => (&**variable, 0),
                    _ => return None,
                };
                ValueType {
                    data_type: variable.data_type.as_ref(),
                    value_rank: variable.value_rank,
                    array_dimensions: &variable.array_dimensions,
                    access_level,
                }
            }
        };
        if self.has_overrides() {
            self.narrow(&mut value_type);
        }
        Some(value_type)
    }

    /// AccessLevelEx of a Variable, whose low byte is AccessLevel; `None` for other classes.
    #[inline]
    pub fn access_level(&self) -> Option<u32> {
        if self.has_overrides() {
            return self.narrowed_access_level();
        }
        match self.at() {
            At::Static(node) => {
                let level =
                    || node.mounted.model.variable(node.index.row).map_or(0, |(variable, _)| variable.3);
                (self.class() == NodeClass::Variable).then(level)
            }
            At::Dynamic(_, node) => match &node.attributes {
                ClassAttributes::Variable(variable) => Some(variable.access_level),
                _ => None,
            },
        }
    }

    #[cold]
    fn narrowed_access_level(&self) -> Option<u32> {
        let value_type = self.value_type().filter(|_| self.class() == NodeClass::Variable)?;
        Some(value_type.access_level)
    }

    #[cold]
    fn narrow(&self, value_type: &mut ValueType<'a>) {
        let written = |id| self.overridden(id).map(AttributeValue::from);
        if let Some(AttributeValue::NodeId(data_type)) = written(AttributeId::DataType) {
            value_type.data_type = data_type;
        }
        if let Some(AttributeValue::Int32(rank)) = written(AttributeId::ValueRank) {
            value_type.value_rank = rank;
        }
        match written(AttributeId::ArrayDimensions) {
            Some(AttributeValue::Dimensions(dimensions)) => value_type.array_dimensions = dimensions,
            Some(_) => value_type.array_dimensions = &[],
            None => {}
        }
        if let Some(AttributeValue::UInt32(level)) = written(AttributeId::AccessLevelEx) {
            value_type.access_level = level;
        }
    }
}
