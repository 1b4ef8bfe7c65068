//! The head and the dimensions of a Variant in binary (OPC 10000-6 §5.2.2.16).

use alloc::vec::Vec;

use crate::{BuiltinType, DecodeError, DecodeReason, Decoder};

use super::{TextError, TextReason};

pub(crate) const ARRAY: u8 = 0x80;
pub(crate) const DIMENSIONS: u8 = 0x40;

/// The type in the first byte of a Variant; types beyond are read as ByteString (OPC 10000-6 §5.2.2.16).
pub(crate) fn variant_type(encoding: u8) -> Result<BuiltinType, TextError> {
    let ty = match encoding & !(ARRAY | DIMENSIONS) {
        26..=31 => Some(BuiltinType::ByteString),
        number => BuiltinType::from_number(number),
    };
    let scalar_variant = encoding & ARRAY == 0 && ty == Some(BuiltinType::Variant);
    let dimensions_alone = encoding & (ARRAY | DIMENSIONS) == DIMENSIONS;
    ty.filter(|_| !scalar_variant && !dimensions_alone)
        .ok_or_else(|| DecodeError::from(DecodeReason::BadEncodingByte).into())
}

/// The dimensions behind the elements of a Variant; none if it is no matrix.
pub(crate) fn variant_dimensions(encoding: u8, d: &mut Decoder<'_>) -> Result<Vec<u32>, TextError> {
    let mut dimensions = Vec::new();
    if encoding & DIMENSIONS == 0 {
        return Ok(dimensions);
    }
    let rank = d.array_len(4)?.unwrap_or_default();
    d.reserve(&mut dimensions, rank)?;
    for _ in 0..rank {
        dimensions.push(u32::try_from(d.i32()?).map_err(|_| TextReason::BadDimensions)?);
    }
    Ok(dimensions)
}
