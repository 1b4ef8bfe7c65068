//! Attributes of a node, and their way straight from the tables into an encoder.

use alloc::vec::Vec;

use uaforge_codec::{
    DateTime, Decode, DecodeContext, DecodeError, Decoder, Encode, EncodeContext, EncodedPiece, Encoder,
    NodeIdRef, NumericRange, RangeError, StatusCode, Variant, VariantArray,
};

use super::node::{At, BrowseName, Node, StaticNode, Text};
use crate::cell::ValueCell;
use crate::class::{AttributeId, NodeClass};
use crate::ids;
use crate::overlay::{ClassAttributes, NewNode, VariableAttributes};
use crate::status::BAD_ATTRIBUTE_ID_INVALID;
use crate::table::{ExtraRow, StaticValue, extra, kind, text};

/// The value of an attribute, borrowed. Encodes itself as a Variant.
#[derive(Clone, Copy, Debug)]
pub enum AttributeValue<'a> {
    /// No value.
    Null,
    /// A Boolean.
    Boolean(bool),
    /// A Byte.
    Byte(u8),
    /// A UInt16.
    UInt16(u16),
    /// An Int32.
    Int32(i32),
    /// A UInt32.
    UInt32(u32),
    /// A Double.
    Double(f64),
    /// A NodeId.
    NodeId(NodeIdRef<'a>),
    /// A QualifiedName.
    QualifiedName(BrowseName<'a>),
    /// A LocalizedText.
    LocalizedText(Text<'a>),
    /// ArrayDimensions.
    Dimensions(&'a [u32]),
    /// A value of the tables.
    Encoded(EncodedValue<'a>),
    /// A value of an added node.
    Variant(&'a Variant),
    /// RolePermissions.
    Roles(Roles<'a>),
    /// A live value with status and timestamps.
    Cell(&'a ValueCell),
}

/// A pre-encoded Variant, and what replaces the slots in it.
#[derive(Clone, Copy, Debug)]
pub struct EncodedValue<'a> {
    value: StaticValue,
    wire: &'a [u16],
}

/// RolePermissions of a static node (OPC 10000-3 §5.2.9).
#[derive(Clone, Copy, Debug)]
pub struct Roles<'a> {
    rows: &'static [ExtraRow],
    node: StaticNode<'a>,
}

/// RolePermissionType (OPC 10000-3 §8.55).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolePermission<'a> {
    /// The role.
    pub role: NodeIdRef<'a>,
    /// PermissionType bits.
    pub permissions: u32,
}

/// Which timestamps a DataValue gets (OPC 10000-4 §7.40).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The SourceTimestamp, of Value attributes only, if the source has one.
    pub source: bool,
    /// The ServerTimestamp for what has none of its own; `None` if it was not asked for.
    pub server: Option<DateTime>,
}

/// Bits of an encoded DataValue (OPC 10000-6 §5.2.2.17).
mod mask {
    pub(super) const VALUE: u8 = 0x01;
    pub(super) const SERVER: u8 = 0x08;
}

impl<'a> Node<'a> {
    /// The value of an attribute (OPC 10000-3 §5).
    ///
    /// # Errors
    /// Bad_AttributeIdInvalid if the class or this node does not have it.
    #[inline]
    pub fn attribute(&self, id: AttributeId) -> Result<AttributeValue<'a>, StatusCode> {
        if id == AttributeId::Value {
            if let Some(cell) = self.cell() {
                return Ok(AttributeValue::Cell(cell));
            }
            return self.value().ok_or(BAD_ATTRIBUTE_ID_INVALID);
        }
        self.other_attribute(id).ok_or(BAD_ATTRIBUTE_ID_INVALID)
    }

    /// Every attribute but the Value.
    fn other_attribute(&self, id: AttributeId) -> Option<AttributeValue<'a>> {
        if let Some(written) = self.overridden(id) {
            return Some(written.into());
        }
        Some(match id {
            AttributeId::NodeId => AttributeValue::NodeId(self.id()),
            AttributeId::NodeClass => AttributeValue::Int32(self.class().value() as i32),
            AttributeId::BrowseName => AttributeValue::QualifiedName(self.browse_name()),
            AttributeId::DisplayName => AttributeValue::LocalizedText(self.display_name()),
            // No user is known here: the server narrows these where it has to.
            AttributeId::UserWriteMask => return self.other_attribute(AttributeId::WriteMask),
            AttributeId::UserAccessLevel => return self.other_attribute(AttributeId::AccessLevel),
            AttributeId::UserExecutable => return self.other_attribute(AttributeId::Executable),
            AttributeId::AccessLevel => match self.other_attribute(AttributeId::AccessLevelEx)? {
                AttributeValue::UInt32(level) => AttributeValue::Byte(level as u8),
                other => other,
            },
            AttributeId::UserRolePermissions | AttributeId::Value => return None,
            id => match self.at() {
                At::Static(node) => return node.attribute(id),
                At::Dynamic(_, node) => return dynamic_attribute(node, id),
            },
        })
    }

    /// The Value that the model states; Null for a Variable without one.
    fn value(&self) -> Option<AttributeValue<'a>> {
        let class = self.class();
        let stated = match self.at() {
            At::Static(node) if matches!(class, NodeClass::Variable | NodeClass::VariableType) => {
                node.encoded().map(AttributeValue::Encoded)
            }
            _ => None,
        };
        let stated = self.overridden(AttributeId::Value).map(AttributeValue::from).or(stated);
        stated.or((class == NodeClass::Variable).then_some(AttributeValue::Null))
    }
}

impl<'a> StaticNode<'a> {
    fn encoded(&self) -> Option<EncodedValue<'a>> {
        let value = self.mounted.model.value(self.index.row)?;
        Some(EncodedValue { value, wire: &self.mounted.wire })
    }

    fn extra(&self, what: u8) -> Option<&'static ExtraRow> {
        self.mounted.model.extras(self.index.row, what).first()
    }

    fn has(&self, flag: u16) -> bool {
        self.row.1 & flag != 0
    }

    fn attribute(&self, id: AttributeId) -> Option<AttributeValue<'a>> {
        use AttributeValue as A;
        let model = self.mounted.model;
        let row = self.index.row;
        let class = NodeClass::from_kind(self.row.1);
        let number = |what| self.extra(what).map_or(0, |e| e.3);
        Some(match (id, class) {
            (AttributeId::Description, _) => {
                let stated = model.further_text(row, text::DESCRIPTION);
                A::LocalizedText(stated.map(Text::from).unwrap_or_default())
            }
            (AttributeId::WriteMask, _) => A::UInt32(number(extra::WRITE_MASK)),
            (AttributeId::IsAbstract, class) if class.is_type() => A::Boolean(self.has(kind::ABSTRACT)),
            (AttributeId::Symmetric, NodeClass::ReferenceType) => A::Boolean(self.has(kind::SYMMETRIC)),
            (AttributeId::InverseName, NodeClass::ReferenceType) => {
                A::LocalizedText(model.further_text(row, text::INVERSE_NAME)?.into())
            }
            (AttributeId::ContainsNoLoops, NodeClass::View) => {
                A::Boolean(self.extra(extra::NO_LOOPS).is_some())
            }
            (AttributeId::EventNotifier, NodeClass::Object | NodeClass::View) => {
                A::Byte(number(extra::EVENT_NOTIFIER) as u8)
            }
            (AttributeId::Executable, NodeClass::Method) => {
                A::Boolean(self.extra(extra::NOT_EXECUTABLE).is_none())
            }
            (AttributeId::DataTypeDefinition, NodeClass::DataType) => A::Encoded(self.encoded()?),
            (AttributeId::RolePermissions, _) => {
                let rows = model.extras(row, extra::ROLE);
                if rows.is_empty() {
                    return None;
                }
                A::Roles(Roles { rows, node: *self })
            }
            (AttributeId::AccessRestrictions, _) => A::UInt16(self.extra(extra::RESTRICTIONS)?.3 as u16),
            (id, NodeClass::Variable | NodeClass::VariableType) => return self.variable(id, class),
            _ => return None,
        })
    }

    fn variable(&self, id: AttributeId, class: NodeClass) -> Option<AttributeValue<'a>> {
        use AttributeValue as A;
        let (variable, dimensions) = self.mounted.model.variable(self.index.row)?;
        Some(match id {
            AttributeId::DataType => A::NodeId(self.mounted.id(variable.0, variable.1)),
            AttributeId::ValueRank => A::Int32(variable.2),
            AttributeId::ArrayDimensions if dimensions.is_empty() => A::Null,
            AttributeId::ArrayDimensions => A::Dimensions(dimensions),
            _ if class == NodeClass::VariableType => return None,
            AttributeId::AccessLevelEx => A::UInt32(variable.3),
            AttributeId::MinimumSamplingInterval => {
                let bits = self.extra(extra::SAMPLING);
                A::Double(bits.map_or(0.0, |e| f64::from_bits(u64::from(e.3) << 32 | u64::from(e.4))))
            }
            AttributeId::Historizing => A::Boolean(self.extra(extra::HISTORIZING).is_some()),
            _ => return None,
        })
    }
}

fn dynamic_attribute(node: &NewNode, id: AttributeId) -> Option<AttributeValue<'_>> {
    use AttributeValue as A;
    use ClassAttributes as C;
    Some(match (id, &node.attributes) {
        (AttributeId::Description, _) => A::LocalizedText((&node.description).into()),
        (AttributeId::WriteMask, _) => A::UInt32(node.write_mask),
        (
            AttributeId::IsAbstract,
            C::ObjectType { is_abstract }
            | C::VariableType { is_abstract, .. }
            | C::ReferenceType { is_abstract, .. }
            | C::DataType { is_abstract, .. },
        ) => A::Boolean(*is_abstract),
        (AttributeId::Symmetric, C::ReferenceType { symmetric, .. }) => A::Boolean(*symmetric),
        (AttributeId::InverseName, C::ReferenceType { symmetric: false, inverse_name, .. }) => {
            A::LocalizedText((&**inverse_name).into())
        }
        (AttributeId::ContainsNoLoops, C::View { contains_no_loops, .. }) => A::Boolean(*contains_no_loops),
        (AttributeId::EventNotifier, C::Object { event_notifier } | C::View { event_notifier, .. }) => {
            A::Byte(*event_notifier)
        }
        (AttributeId::Executable, C::Method { executable }) => A::Boolean(*executable),
        (AttributeId::DataTypeDefinition, C::DataType { definition, .. }) => match &**definition {
            Variant::Null => return None,
            definition => A::Variant(definition),
        },
        (id, C::Variable(variable)) => return dynamic_variable(variable, id, NodeClass::Variable),
        (id, C::VariableType { variable, .. }) => {
            return dynamic_variable(variable, id, NodeClass::VariableType);
        }
        _ => return None,
    })
}

fn dynamic_variable(
    variable: &VariableAttributes,
    id: AttributeId,
    class: NodeClass,
) -> Option<AttributeValue<'_>> {
    use AttributeValue as A;
    Some(match id {
        AttributeId::DataType => A::NodeId(variable.data_type.as_ref()),
        AttributeId::ValueRank => A::Int32(variable.value_rank),
        AttributeId::ArrayDimensions if variable.array_dimensions.is_empty() => A::Null,
        AttributeId::ArrayDimensions => A::Dimensions(&variable.array_dimensions),
        _ if class == NodeClass::VariableType => return None,
        AttributeId::AccessLevelEx => A::UInt32(variable.access_level),
        AttributeId::MinimumSamplingInterval => A::Double(variable.minimum_sampling_interval),
        AttributeId::Historizing => A::Boolean(variable.historizing),
        _ => return None,
    })
}

impl EncodedValue<'_> {
    /// Appends the part that a range names, as an encoded Variant with wire indexes. Nothing else of the value is
    /// decoded.
    ///
    /// # Errors
    /// [`RangeError::NoData`].
    pub fn cut(&self, range: &NumericRange, out: &mut Vec<u8>) -> Result<(), RangeError> {
        let start = out.len();
        let cut = range.cut_encoded(self.value.bytes, &mut |piece| match piece {
            EncodedPiece::New(bytes) => out.extend_from_slice(bytes),
            EncodedPiece::Same(at) => self.put(at, &mut |bytes| out.extend_from_slice(bytes)),
        });
        if cut.is_err() {
            out.truncate(start);
        }
        cut
    }

    /// Bytes that [`cut`](Self::cut) may have to look at beside those that it gives.
    pub fn cut_cost(&self) -> usize {
        NumericRange::cost_encoded(self.value.bytes)
    }

    /// Gives the bytes at these positions, with wire indexes in place of slots.
    fn put(&self, at: core::ops::Range<usize>, put: &mut dyn FnMut(&[u8])) {
        let bytes = self.value.bytes;
        let relocations = self.value.relocations;
        let first = relocations.partition_point(|place| (*place as usize) < at.start);
        let mut done = at.start;
        for place in relocations.iter().skip(first).map(|place| *place as usize) {
            if place + 2 > at.end {
                break;
            }
            let slot = bytes.get(place).copied().unwrap_or(0);
            put(bytes.get(done..place).unwrap_or_default());
            put(&self.wire.get(usize::from(slot)).copied().unwrap_or_default().to_le_bytes());
            done = place + 2;
        }
        put(bytes.get(done..at.end).unwrap_or_default());
    }

    /// The encoded Variant as it stands in the table: with slots in place of namespace indexes.
    pub(crate) fn bytes(&self) -> &'static [u8] {
        self.value.bytes
    }
}

impl Encode for EncodedValue<'_> {
    fn encode(&self, e: &mut Encoder<'_>) {
        self.put(0..self.value.bytes.len(), &mut |bytes| e.put(bytes));
    }
}

impl<'a> Roles<'a> {
    /// Role by role.
    pub fn iter(&self) -> impl Iterator<Item = RolePermission<'a>> + use<'a> {
        let node = self.node;
        self.rows
            .iter()
            .map(move |row| RolePermission { role: node.mounted.id(row.2, row.3), permissions: row.4 })
    }
}

/// Default Binary encoding of RolePermissionType.
const ROLE_PERMISSION_BINARY: u32 = 128;

impl Encode for Roles<'_> {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u8(22 | 0x80);
        e.put_array_len(Some(self.rows.len()));
        for role in self.iter() {
            ids::ns0(ROLE_PERMISSION_BINARY).encode(e);
            e.put_u8(1);
            e.put_sized(|e| {
                role.role.encode(e);
                e.put_u32(role.permissions);
            });
        }
    }
}

fn encode_text(text: Text<'_>, e: &mut Encoder<'_>) {
    let locale = !text.locale.is_empty();
    let words = !text.text.is_empty();
    e.put_u8(u8::from(locale) | u8::from(words) << 1);
    if locale {
        e.put_str(Some(text.locale));
    }
    if words {
        e.put_str(Some(text.text));
    }
}

impl Encode for BrowseName<'_> {
    /// As a QualifiedName.
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u16(self.namespace);
        e.put_str(Some(self.name));
    }
}

impl Encode for Text<'_> {
    /// As a LocalizedText.
    fn encode(&self, e: &mut Encoder<'_>) {
        encode_text(*self, e);
    }
}

impl<'a> From<&'a Variant> for AttributeValue<'a> {
    fn from(value: &'a Variant) -> Self {
        match value {
            Variant::Null => Self::Null,
            Variant::Boolean(v) => Self::Boolean(*v),
            Variant::Byte(v) => Self::Byte(*v),
            Variant::UInt16(v) => Self::UInt16(*v),
            Variant::Int32(v) => Self::Int32(*v),
            Variant::UInt32(v) => Self::UInt32(*v),
            Variant::Double(v) => Self::Double(*v),
            Variant::NodeId(id) => Self::NodeId(id.as_ref()),
            Variant::QualifiedName(name) => Self::QualifiedName((&**name).into()),
            Variant::Array(array) => match &**array {
                VariantArray::UInt32(dimensions) => Self::Dimensions(dimensions),
                _ => Self::Variant(value),
            },
            // A written LocalizedText too: it tells null from empty, which a `Text` does not.
            _ => Self::Variant(value),
        }
    }
}

impl Encode for AttributeValue<'_> {
    /// As a Variant.
    fn encode(&self, e: &mut Encoder<'_>) {
        match self {
            Self::Null => e.put_u8(0),
            Self::Boolean(v) => {
                e.put_u8(1);
                e.put_u8((*v).into());
            }
            Self::Byte(v) => {
                e.put_u8(3);
                e.put_u8(*v);
            }
            Self::UInt16(v) => {
                e.put_u8(5);
                e.put_u16(*v);
            }
            Self::Int32(v) => {
                e.put_u8(6);
                e.put_i32(*v);
            }
            Self::UInt32(v) => {
                e.put_u8(7);
                e.put_u32(*v);
            }
            Self::Double(v) => {
                e.put_u8(11);
                v.encode(e);
            }
            Self::NodeId(id) => {
                e.put_u8(17);
                id.encode(e);
            }
            Self::QualifiedName(name) => {
                e.put_u8(20);
                name.encode(e);
            }
            Self::LocalizedText(text) => {
                e.put_u8(21);
                encode_text(*text, e);
            }
            Self::Dimensions(dimensions) => {
                e.put_u8(7 | 0x80);
                e.put_array_len(Some(dimensions.len()));
                dimensions.iter().for_each(|d| e.put_u32(*d));
            }
            Self::Encoded(value) => value.encode(e),
            Self::Variant(value) => value.encode(e),
            Self::Roles(roles) => roles.encode(e),
            Self::Cell(cell) => cell.value().encode(e),
        }
    }
}

impl AttributeValue<'_> {
    /// Encodes a DataValue with this value (OPC 10000-6 §5.2.2.17).
    #[inline]
    pub fn encode_data_value(&self, e: &mut Encoder<'_>, timestamps: Timestamps) {
        match self {
            Self::Cell(cell) => cell.encode_data_value(e, timestamps),
            other => other.encode_without_source(e, timestamps.server),
        }
    }

    fn encode_without_source(&self, e: &mut Encoder<'_>, server: Option<DateTime>) {
        let has_value = !matches!(self, Self::Null);
        let value = if has_value { mask::VALUE } else { 0 };
        e.put_u8(value | server.map_or(0, |_| mask::SERVER));
        if has_value {
            self.encode(e);
        }
        if let Some(server) = server {
            e.put_i64(server.0);
        }
    }

    /// The value as a Variant of its own.
    ///
    /// # Errors
    /// If the bytes of a table are no Variant within the context's limits.
    pub fn to_variant(&self, cx: DecodeContext<'_>) -> Result<Variant, DecodeError> {
        match self {
            Self::Variant(value) => return Ok((*value).clone()),
            Self::Cell(cell) => return Ok(cell.value()),
            _ => {}
        }
        let mut bytes = Vec::new();
        let encode = EncodeContext { namespaces: cx.namespaces };
        self.encode(&mut Encoder::new(&mut bytes, encode));
        Variant::decode(&mut Decoder::new(&bytes, cx))
    }
}
