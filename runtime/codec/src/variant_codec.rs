//! Binary encoding of Variant (OPC 10000-6 §5.2.2.16).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::array::product;
use crate::string::ARC_HEADER;
use crate::variant::with_items;
use crate::{
    Array, Decode, DecodeError, DecodeReason, Decoder, Encode, EncodeError, Encoder, Variant, VariantArray,
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
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let encoding = d.u8()?;
        if encoding & ARRAY != 0 {
            d.enter()?;
            let array = decode_array(encoding & TYPE, d)?;
            d.leave();
            return finish_array(self, array, encoding & DIMENSIONS != 0, d);
        }
        if encoding & DIMENSIONS != 0 {
            return Err(DecodeReason::BadEncodingByte.into());
        }
        if decode_inline(self, encoding, d)? { Ok(()) } else { decode_shared(self, encoding, d) }
    }
}

/// Types that need no allocation of their own; false if `builtin` is none of them.
fn decode_inline(value: &mut Variant, builtin: u8, d: &mut Decoder<'_>) -> Result<bool, DecodeError> {
    *value = match builtin {
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
        _ => return Ok(false),
    };
    Ok(true)
}

#[cold]
fn decode_shared(value: &mut Variant, builtin: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    *value = match builtin {
        12 => Variant::String(Decode::decode(d)?),
        // Types 26 to 31 are read as ByteString (§5.2.2.16).
        15 | 26..=31 => Variant::ByteString(Decode::decode(d)?),
        16 => Variant::XmlElement(Decode::decode(d)?),
        17 => Variant::NodeId(Decode::decode(d)?),
        18 => Variant::ExpandedNodeId(shared(d)?),
        20 => Variant::QualifiedName(shared(d)?),
        21 => Variant::LocalizedText(shared(d)?),
        22 => Variant::ExtensionObject(shared(d)?),
        23 => Variant::DataValue(shared(d)?),
        25 => Variant::DiagnosticInfo(shared(d)?),
        // A Variant holds arrays of Variants, never a Variant (§5.1.9).
        _ => return Err(DecodeReason::BadEncodingByte.into()),
    };
    Ok(())
}

fn shared<T: Decode>(d: &mut Decoder<'_>) -> Result<Arc<T>, DecodeError> {
    d.charge(size_of::<T>() + ARC_HEADER)?;
    let mut value = Arc::new(T::default());
    if let Some(value) = Arc::get_mut(&mut value) {
        d.enter()?;
        value.decode_into(d)?;
        d.leave();
    }
    Ok(value)
}

fn decode_array(builtin: u8, d: &mut Decoder<'_>) -> Result<VariantArray, DecodeError> {
    match builtin {
        1..=11 => decode_numbers(builtin, d),
        12..=16 | 26..=31 => decode_texts(builtin, d),
        _ => decode_others(builtin, d),
    }
}

fn decode_numbers(builtin: u8, d: &mut Decoder<'_>) -> Result<VariantArray, DecodeError> {
    Ok(match builtin {
        1 => VariantArray::Boolean(Array::decode(d)?),
        2 => VariantArray::SByte(Array::decode(d)?),
        3 => VariantArray::Byte(Array::decode(d)?),
        4 => VariantArray::Int16(Array::decode(d)?),
        5 => VariantArray::UInt16(Array::decode(d)?),
        6 => VariantArray::Int32(Array::decode(d)?),
        7 => VariantArray::UInt32(Array::decode(d)?),
        8 => VariantArray::Int64(Array::decode(d)?),
        9 => VariantArray::UInt64(Array::decode(d)?),
        10 => VariantArray::Float(Array::decode(d)?),
        _ => VariantArray::Double(Array::decode(d)?),
    })
}

fn decode_texts(builtin: u8, d: &mut Decoder<'_>) -> Result<VariantArray, DecodeError> {
    Ok(match builtin {
        12 => VariantArray::String(Array::decode(d)?),
        13 => VariantArray::DateTime(Array::decode(d)?),
        14 => VariantArray::Guid(Array::decode(d)?),
        16 => VariantArray::XmlElement(Array::decode(d)?),
        _ => VariantArray::ByteString(Array::decode(d)?),
    })
}

fn decode_others(builtin: u8, d: &mut Decoder<'_>) -> Result<VariantArray, DecodeError> {
    Ok(match builtin {
        17 => VariantArray::NodeId(Array::decode(d)?),
        18 => VariantArray::ExpandedNodeId(Array::decode(d)?),
        19 => VariantArray::StatusCode(Array::decode(d)?),
        20 => VariantArray::QualifiedName(Array::decode(d)?),
        21 => VariantArray::LocalizedText(Array::decode(d)?),
        22 => VariantArray::ExtensionObject(Array::decode(d)?),
        23 => VariantArray::DataValue(Array::decode(d)?),
        24 => VariantArray::Variant(Array::decode(d)?),
        25 => VariantArray::DiagnosticInfo(Array::decode(d)?),
        _ => return Err(DecodeReason::BadEncodingByte.into()),
    })
}

fn finish_array(
    value: &mut Variant,
    array: VariantArray,
    has_dimensions: bool,
    d: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    d.charge(size_of::<VariantMatrix>() + ARC_HEADER)?;
    let dimensions = if has_dimensions { decode_dimensions(d)? } else { Vec::new() };
    *value = match dimensions.len() {
        // One dimension says no more than the length does.
        0 => array.into(),
        1 if dimensions.first().copied() == u32::try_from(array.len()).ok() => array.into(),
        _ if product(&dimensions) == Some(array.len()) => {
            VariantMatrix::new(dimensions, array).ok_or(DecodeReason::BadDimensions)?.into()
        }
        _ => return Err(DecodeReason::BadDimensions.into()),
    };
    Ok(())
}

fn decode_dimensions(d: &mut Decoder<'_>) -> Result<Vec<u32>, DecodeError> {
    let mut dimensions = Vec::new();
    if let Some(len) = d.array_len(4)? {
        d.charge(len.saturating_mul(4))?;
        dimensions.reserve_exact(len);
        for _ in 0..len {
            dimensions.push(u32::try_from(d.i32()?).map_err(|_| DecodeReason::BadDimensions)?);
        }
    }
    Ok(dimensions)
}
