//! Binary encoding of Variant (OPC 10000-6 §5.2.2.16).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::array::product;
use crate::decoder::shared_default;
use crate::string::ARC_HEADER;
use crate::variant::with_items;
use crate::{
    BuiltinType, DataValue, Decode, DecodeError, DecodeReason, Decoder, DiagnosticInfo, Encode, EncodeError,
    Encoder, ExpandedNodeId, ExtensionObject, LocalizedText, QualifiedName, Variant, VariantArray,
    VariantMatrix,
};

const ARRAY: u8 = 0x80;
const DIMENSIONS: u8 = 0x40;
const TYPE: u8 = 0x3F;

impl Encode for Variant {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        match self {
            Self::Double(value) => {
                e.put_u8(11);
                value.encode(e);
            }
            _ => encode_any(self, e),
        }
    }
}

fn encode_any(value: &Variant, e: &mut Encoder<'_>) {
    let builtin = value.builtin_type().map_or(0, |builtin| builtin as u8);
    match value {
        Variant::Null => e.put_u8(0),
        Variant::Array(array) => e.nested(|e| encode_array(builtin | ARRAY, array, e)),
        Variant::Matrix(matrix) => e.nested(|e| encode_matrix(builtin, matrix, e)),
        _ => {
            e.put_u8(builtin);
            encode_scalar(value, e);
        }
    }
}

fn encode_scalar(value: &Variant, e: &mut Encoder<'_>) {
    match value {
        Variant::Null | Variant::Array(_) | Variant::Matrix(_) => {}
        Variant::Boolean(value) => value.encode(e),
        Variant::SByte(value) => value.encode(e),
        Variant::Byte(value) => value.encode(e),
        Variant::Int16(value) => value.encode(e),
        Variant::UInt16(value) => value.encode(e),
        Variant::Int32(value) => value.encode(e),
        Variant::UInt32(value) => value.encode(e),
        Variant::Int64(value) => value.encode(e),
        Variant::UInt64(value) => value.encode(e),
        Variant::Float(value) => value.encode(e),
        Variant::Double(value) => value.encode(e),
        Variant::String(value) => value.encode(e),
        Variant::DateTime(value) => value.encode(e),
        Variant::Guid(value) => value.encode(e),
        Variant::ByteString(value) => value.encode(e),
        Variant::XmlElement(value) => value.encode(e),
        Variant::NodeId(value) => value.encode(e),
        Variant::ExpandedNodeId(value) => value.encode(e),
        Variant::StatusCode(value) => value.encode(e),
        Variant::QualifiedName(value) => value.encode(e),
        Variant::LocalizedText(value) => value.encode(e),
        Variant::ExtensionObject(value) => value.encode(e),
        Variant::DataValue(value) => e.nested(|e| value.encode(e)),
        Variant::DiagnosticInfo(value) => value.encode(e),
    }
}

/// Reads what comes next as a value, or an array, of this type: what a Variant of that type holds.
pub(crate) fn decode_as(
    builtin: BuiltinType,
    is_array: bool,
    d: &mut Decoder<'_>,
) -> Result<Variant, DecodeError> {
    let mut value = Variant::Null;
    let encoding = builtin as u8;
    if is_array {
        decode_array(&mut value, encoding | ARRAY, d)?;
    } else if builtin == BuiltinType::Variant {
        d.nested(|d| value.decode_into(d))?;
    } else if let Some(inline) = inline_value(encoding, d)? {
        value = inline;
    } else {
        decode_shared(&mut value, encoding, d)?;
    }
    Ok(value)
}

/// Writes a value, or an array, of this type without the head of a Variant.
pub(crate) fn encode_as(value: &Variant, builtin: BuiltinType, is_array: bool, e: &mut Encoder<'_>) {
    match value {
        Variant::Array(array) if is_array && array.builtin_type() == builtin => {
            with_items!(&**array, items => items.encode(e));
        }
        value if !is_array && builtin == BuiltinType::Variant => e.nested(|e| value.encode(e)),
        value if !is_array && !value.is_array() && value.builtin_type() == Some(builtin) => {
            encode_scalar(value, e);
        }
        _ => e.fail(EncodeError::Inconsistent),
    }
}

fn encode_array(encoding: u8, array: &VariantArray, e: &mut Encoder<'_>) {
    e.put_u8(encoding);
    with_items!(array, items => items.encode(e));
}

fn encode_matrix(builtin: u8, matrix: &VariantMatrix, e: &mut Encoder<'_>) {
    encode_array(builtin | ARRAY | DIMENSIONS, matrix.elements(), e);
    e.put_array_len(Some(matrix.dimensions().len()));
    for dimension in matrix.dimensions() {
        match i32::try_from(*dimension) {
            Ok(dimension) => e.put_i32(dimension),
            Err(_) => e.fail(EncodeError::TooLarge),
        }
    }
}

impl Decode for Variant {
    const MIN_SIZE: usize = 1;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let encoding = d.u8()?;
        if encoding & ARRAY != 0 {
            return decode_array(self, encoding, d);
        }
        if encoding & DIMENSIONS != 0 {
            return Err(DecodeReason::BadEncodingByte.into());
        }
        match inline_value(encoding, d)? {
            Some(value) => {
                *self = value;
                Ok(())
            }
            None => decode_shared(self, encoding, d),
        }
    }
}

/// Types that need no allocation of their own; `None` if `builtin` is none of them.
#[inline]
pub(crate) fn inline_value(builtin: u8, d: &mut Decoder<'_>) -> Result<Option<Variant>, DecodeError> {
    Ok(Some(match builtin {
        0 => Variant::Null,
        1 => Variant::Boolean(d.u8()? != 0),
        2 => Variant::SByte(i8::decode(d)?),
        3 => Variant::Byte(d.u8()?),
        4 => Variant::Int16(i16::decode(d)?),
        5 => Variant::UInt16(d.u16()?),
        6 => Variant::Int32(d.i32()?),
        7 => Variant::UInt32(d.u32()?),
        8 => Variant::Int64(d.i64()?),
        9 => Variant::UInt64(u64::decode(d)?),
        10 => Variant::Float(f32::decode(d)?),
        11 => Variant::Double(f64::decode(d)?),
        13 => Variant::DateTime(Decode::decode(d)?),
        14 => Variant::Guid(Decode::decode(d)?),
        19 => Variant::StatusCode(Decode::decode(d)?),
        _ => return Ok(None),
    }))
}

/// A value behind a pointer to decode into, one level deeper: the old one when nobody else has it, else a
/// new one.
#[inline(never)]
fn unique<'v, T: Default>(value: &'v mut Arc<T>, d: &mut Decoder<'_>) -> Result<&'v mut T, DecodeError> {
    d.enter()?;
    if Arc::get_mut(value).is_none() {
        d.charge(size_of::<T>() + ARC_HEADER)?;
        *value = shared_default();
    }
    // It is unique now.
    Arc::get_mut(value).ok_or_else(|| DecodeReason::LimitExceeded.into())
}

/// Decodes into the value of an arm, keeping what it has allocated if the arm is the same.
macro_rules! into_arm {
    ($value:ident, $d:ident, $arm:ident) => {
        if let Variant::$arm(value) = $value {
            value.decode_into($d)
        } else {
            *$value = Variant::$arm(Decode::decode($d)?);
            Ok(())
        }
    };
}

/// As `into_arm`, for an arm behind a pointer. It is a level of nesting, and a function of its own, so
/// that the frames of what recurses are as small as they can be.
macro_rules! shared_arm {
    ($name:ident, $arm:ident) => {
        #[inline(never)]
        fn $name(value: &mut Variant, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
            if !matches!(value, Variant::$arm(_)) {
                d.charge(size_of::<$arm>() + ARC_HEADER)?;
                *value = Variant::$arm(shared_default());
            }
            let Variant::$arm(value) = value else {
                return Ok(());
            };
            match unique(value, d) {
                Ok(value) => {
                    let decoded = value.decode_into(d);
                    d.leave();
                    decoded
                }
                Err(error) => Err(error),
            }
        }
    };
}
shared_arm!(decode_expanded_node_id, ExpandedNodeId);
shared_arm!(decode_qualified_name, QualifiedName);
shared_arm!(decode_localized_text, LocalizedText);
shared_arm!(decode_extension_object, ExtensionObject);
shared_arm!(decode_data_value, DataValue);
shared_arm!(decode_diagnostic_info, DiagnosticInfo);

#[inline(never)]
fn decode_text(value: &mut Variant, builtin: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    match builtin {
        12 => into_arm!(value, d, String),
        16 => into_arm!(value, d, XmlElement),
        17 => into_arm!(value, d, NodeId),
        // Types 26 to 31 are read as ByteString (§5.2.2.16).
        _ => into_arm!(value, d, ByteString),
    }
}

#[cold]
#[inline(never)]
fn decode_shared(value: &mut Variant, builtin: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    match builtin {
        12 | 15..=17 | 26..=31 => decode_text(value, builtin, d),
        18 => decode_expanded_node_id(value, d),
        20 => decode_qualified_name(value, d),
        21 => decode_localized_text(value, d),
        22 => decode_extension_object(value, d),
        23 => decode_data_value(value, d),
        25 => decode_diagnostic_info(value, d),
        // A Variant holds arrays of Variants, never a Variant (§5.1.9).
        _ => Err(DecodeReason::BadEncodingByte.into()),
    }
}

#[inline(never)]
fn decode_array(value: &mut Variant, encoding: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let decoded = match array_of(value, encoding, d) {
        Ok(array) => with_items!(array, items => items.decode_into(d)),
        Err(error) => return Err(error),
    };
    d.leave();
    if decoded.is_ok() && encoding & DIMENSIONS != 0 { finish_matrix(value, d) } else { decoded }
}

/// The array to decode into, one level deeper.
#[inline(never)]
fn array_of<'v>(
    value: &'v mut Variant,
    encoding: u8,
    d: &mut Decoder<'_>,
) -> Result<&'v mut VariantArray, DecodeError> {
    let builtin = match encoding & TYPE {
        26..=31 => BuiltinType::ByteString,
        number => BuiltinType::from_number(number).ok_or(DecodeReason::BadEncodingByte)?,
    };
    if !matches!(value, Variant::Array(_)) {
        d.charge(size_of::<VariantArray>() + ARC_HEADER)?;
        *value = Variant::Array(shared_default());
    }
    let Variant::Array(array) = value else {
        return Err(DecodeReason::BadEncodingByte.into());
    };
    let array = unique(array, d)?;
    if array.builtin_type() != builtin {
        *array = VariantArray::null(builtin);
    }
    Ok(array)
}

/// Makes a matrix of the array just decoded, if its dimensions say more than its length.
#[inline(never)]
fn finish_matrix(value: &mut Variant, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let dimensions = decode_dimensions(d)?;
    let Variant::Array(array) = value else {
        return Ok(());
    };
    match dimensions.len() {
        0 => return Ok(()),
        1 if dimensions.first().copied() == u32::try_from(array.len()).ok() => return Ok(()),
        _ if product(&dimensions) != Some(array.len()) => return Err(DecodeReason::BadDimensions.into()),
        _ => {}
    }
    let elements = core::mem::take(unique(array, d)?);
    d.leave();
    d.charge(size_of::<VariantMatrix>() + ARC_HEADER)?;
    *value = VariantMatrix::new(dimensions, elements).ok_or(DecodeReason::BadDimensions)?.into();
    Ok(())
}

fn decode_dimensions(d: &mut Decoder<'_>) -> Result<Vec<u32>, DecodeError> {
    let mut dimensions = Vec::new();
    if let Some(len) = d.array_len(4)? {
        d.reserve(&mut dimensions, len)?;
        for _ in 0..len {
            dimensions.push(u32::try_from(d.i32()?).map_err(|_| DecodeReason::BadDimensions)?);
        }
    }
    Ok(dimensions)
}
