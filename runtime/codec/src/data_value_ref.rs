//! A DataValue in a message: walked over when the message is read, decoded when it is wanted.

use crate::data_value::mask;
use crate::variant_codec::inline_value;
use crate::{
    BuiltinType, DataValue, Decode as _, DecodeError, DecodeReason, DecodeRef, Decoder, ExpandedNodeIdRef,
    LocalizedTextRef, NodeIdRef, QualifiedNameRef, StatusCode, diagnostic_info,
};

/// A DataValue in a message, not decoded yet (OPC 10000-6 §5.2.2.17). Its form was checked, but for the
/// bodies of ExtensionObjects: an error in one of those costs this value, not the message.
#[derive(Clone, Debug)]
pub struct DataValueRef<'a> {
    at: Decoder<'a>,
}

impl<'a> DataValueRef<'a> {
    /// Decodes it, as [`Self::decode_into`] does.
    ///
    /// # Errors
    /// As [`Self::decode_into`].
    #[inline]
    pub fn decode(&self, d: &mut Decoder<'a>) -> Result<DataValue, DecodeError> {
        // What is written most takes no heap: a scalar of one width, and nothing beside it.
        if let Some((&[mask::VALUE, encoding], _)) = self.at.rest().split_first_chunk()
            && SCALAR_WIDTHS.get(usize::from(encoding)).is_some_and(|width| *width > 0)
        {
            let mut own = self.at.clone();
            own.take(2)?;
            return inline_value(encoding, &mut own).map(|value| DataValue::new(value.unwrap_or_default()));
        }
        let mut value = DataValue::default();
        self.decode_into(&mut value, d).map(|()| value)
    }

    /// Decodes it into `value`. The heap that it takes is charged to `d`, a decoder of the same message.
    ///
    /// # Errors
    /// The body of an ExtensionObject is not what its type says, dimensions do not fit their elements, or
    /// the budget of the message is used up.
    pub fn decode_into(&self, value: &mut DataValue, d: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let mut own = d.sub(self.at.rest());
        let decoded = value.decode_into(&mut own);
        d.resume_after(&own);
        decoded
    }
}

impl DataValueRef<'_> {
    /// The status; Good if absent (OPC 10000-4 §7.11).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        // Checked once already: an error cannot happen.
        read_status(&mut self.at.clone()).unwrap_or(StatusCode::GOOD)
    }
}

fn read_status(d: &mut Decoder<'_>) -> Result<StatusCode, DecodeError> {
    let parts = d.u8()?;
    if parts & mask::VALUE != 0 {
        d.nested(skip_variant)?;
    }
    if parts & mask::STATUS != 0 { StatusCode::decode(d) } else { Ok(StatusCode::GOOD) }
}

impl<'a> DecodeRef<'a> for DataValueRef<'a> {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let at = d.clone();
        skip_data_value(d)?;
        Ok(Self { at })
    }
}

#[inline]
fn skip_data_value(d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let parts = d.u8()?;
    if parts & !mask::DEFINED != 0 {
        return Err(DecodeReason::BadEncodingByte.into());
    }
    if parts & mask::VALUE != 0 {
        d.nested(skip_variant)?;
    }
    let width = |bit, width: usize| if parts & bit == 0 { 0 } else { width };
    let bytes = width(mask::STATUS, 4)
        + width(mask::SOURCE_TIMESTAMP, 8)
        + width(mask::SOURCE_PICOSECONDS, 2)
        + width(mask::SERVER_TIMESTAMP, 8)
        + width(mask::SERVER_PICOSECONDS, 2);
    d.take(bytes)?;
    Ok(())
}

/// Bytes of a scalar in a Variant by its encoding byte; 0 for what is not of one width.
const SCALAR_WIDTHS: [u8; 32] = {
    let mut widths = [0; 32];
    let mut index = 0;
    while index < BuiltinType::ALL.len() {
        let builtin = BuiltinType::ALL[index];
        if let Some(width) = fixed_width(builtin) {
            widths[builtin as usize] = width as u8;
        }
        index += 1;
    }
    widths
};

/// Walks over a Variant (OPC 10000-6 §5.2.2.16).
#[inline]
fn skip_variant(d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let encoding = d.rest().first().copied().unwrap_or_default();
    match SCALAR_WIDTHS.get(usize::from(encoding)) {
        Some(width) if *width > 0 => d.take(1 + usize::from(*width)).map(|_| ()),
        _ => skip_any_variant(d),
    }
}

fn skip_any_variant(d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    const ARRAY: u8 = 0x80;
    const DIMENSIONS: u8 = 0x40;
    let encoding = d.u8()?;
    let number = encoding & 0x3F;
    if encoding & (ARRAY | DIMENSIONS) == 0 {
        return match number {
            0 => Ok(()),
            // As in the decoder, what lies behind a pointer is a level of nesting.
            18 | 20..=23 | 25 => d.nested(|d| skip_item(builtin(number)?, d)),
            // A Variant holds arrays of Variants, never a Variant (§5.1.9).
            24 => Err(DecodeReason::BadEncodingByte.into()),
            number => skip_item(builtin(number)?, d),
        };
    }
    if encoding & ARRAY == 0 {
        return Err(DecodeReason::BadEncodingByte.into());
    }
    d.nested(|d| skip_array(builtin(number)?, d))?;
    if encoding & DIMENSIONS != 0 {
        skip_array(BuiltinType::Int32, d)?;
    }
    Ok(())
}

/// Types 26 to 31 are read as ByteString (OPC 10000-6 §5.2.2.16).
pub(crate) fn builtin(number: u8) -> Result<BuiltinType, DecodeError> {
    match number {
        26..=31 => Ok(BuiltinType::ByteString),
        number => BuiltinType::from_number(number).ok_or_else(|| DecodeReason::BadEncodingByte.into()),
    }
}

fn skip_array(builtin: BuiltinType, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let width = fixed_width(builtin);
    let Some(len) = d.array_len(width.unwrap_or(1))? else {
        return Ok(());
    };
    match width {
        Some(width) => d.take(len.saturating_mul(width)).map(|_| ()),
        None => (0..len)
            .try_for_each(|index| skip_item(builtin, d).map_err(|error: DecodeError| error.at_index(index))),
    }
}

/// Bytes of a type that always takes the same number.
pub(crate) const fn fixed_width(builtin: BuiltinType) -> Option<usize> {
    Some(match builtin {
        BuiltinType::Boolean | BuiltinType::SByte | BuiltinType::Byte => 1,
        BuiltinType::Int16 | BuiltinType::UInt16 => 2,
        BuiltinType::Int32 | BuiltinType::UInt32 | BuiltinType::Float | BuiltinType::StatusCode => 4,
        BuiltinType::Int64 | BuiltinType::UInt64 | BuiltinType::Double | BuiltinType::DateTime => 8,
        BuiltinType::Guid => 16,
        _ => return None,
    })
}

/// Walks over a value of a builtin type.
pub(crate) fn skip_item(builtin: BuiltinType, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    if let Some(width) = fixed_width(builtin) {
        return d.take(width).map(|_| ());
    }
    match builtin {
        BuiltinType::NodeId => NodeIdRef::decode_ref(d).map(|_| ()),
        BuiltinType::ExpandedNodeId => ExpandedNodeIdRef::decode_ref(d).map(|_| ()),
        BuiltinType::QualifiedName => QualifiedNameRef::decode_ref(d).map(|_| ()),
        BuiltinType::LocalizedText => LocalizedTextRef::decode_ref(d).map(|_| ()),
        BuiltinType::ExtensionObject => skip_extension_object(d),
        BuiltinType::DataValue => skip_data_value(d),
        BuiltinType::Variant => skip_variant(d),
        BuiltinType::DiagnosticInfo => diagnostic_info::skip(d),
        _ => d.bytes().map(|_| ()),
    }
}

/// Old encoders write −1 for a body whose length they do not know; its end is where its structure ends.
fn skip_extension_object(d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let start = d.clone();
    NodeIdRef::decode_ref(d)?;
    match d.u8()? {
        0 => Ok(()),
        1 if d.rest().first_chunk().is_some_and(|len| i32::from_le_bytes(*len) < 0) => {
            *d = start;
            crate::ExtensionObject::decode(d).map(|_| ())
        }
        1 | 2 => d.bytes().map(|_| ()),
        _ => Err(DecodeReason::BadEncodingByte.into()),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::{DecodeContext, DiagnosticInfo, Encode as _, EncodeContext, Encoder, Variant};
    use crate::{VariantArray, VariantMatrix};

    fn bytes_of(value: &DataValue) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.encode(&mut Encoder::new(&mut bytes, EncodeContext::default()));
        bytes
    }

    fn samples() -> Vec<DataValue> {
        let info = DiagnosticInfo {
            symbolic_id: Some(1),
            locale: Some(2),
            additional_info: "text".into(),
            inner_status_code: Some(StatusCode(3)),
            inner_diagnostic_info: Some(DiagnosticInfo::default().into()),
            ..DiagnosticInfo::default()
        };
        let inner = DataValue::new(Variant::Double(1.0)).with_status(StatusCode(5));
        let variants = vec![Variant::Null, Variant::Byte(1), Variant::String("a".into())];
        let matrix = VariantMatrix::new(vec![2, 1], VariantArray::Int16(vec![1, 2].into()));
        vec![
            DataValue::default(),
            DataValue::from_status(StatusCode(7)),
            DataValue::new(Variant::Int64(-1)).with_source_timestamp(crate::DateTime(9)),
            DataValue::new(Variant::DiagnosticInfo(info.into())).with_server_picoseconds(8),
            DataValue::new(Variant::DataValue(inner.into())),
            DataValue::new(Variant::from(VariantArray::Variant(variants.into()))),
            DataValue::new(matrix.map_or(Variant::Null, Variant::from)),
            DataValue::new(VariantArray::null(BuiltinType::LocalizedText)),
        ]
    }

    #[test]
    fn walks_as_far_as_the_decoder_reads() {
        for value in samples() {
            let mut bytes = bytes_of(&value);
            for end in 0..bytes.len() {
                let mut d = Decoder::new(&bytes[..end], DecodeContext::default());
                assert!(DataValueRef::decode_ref(&mut d).is_err(), "{value:?} cut at {end}");
            }
            bytes.extend([0xEE; 3]);
            let mut d = Decoder::new(&bytes, DecodeContext::default());
            let view = DataValueRef::decode_ref(&mut d).expect("well-formed");
            assert_eq!(d.remaining(), 3, "{value:?}");
            assert_eq!(view.status(), value.status_or_good());
            let mut decoded = DataValue::new(Variant::Boolean(true));
            view.decode_into(&mut decoded, &mut d).expect("decodes");
            assert_eq!(decoded, value);
        }
    }

    #[test]
    fn takes_as_many_levels_as_the_decoder() {
        let nested = |levels: usize| {
            let inner = DataValue::new(Variant::Byte(1));
            (0..levels).fold(inner, |inner, _| DataValue::new(Variant::DataValue(inner.into())))
        };
        for levels in 0..60 {
            let bytes = bytes_of(&nested(levels));
            let decoded = DataValue::decode(&mut Decoder::new(&bytes, DecodeContext::default()));
            let view = DataValueRef::decode_ref(&mut Decoder::new(&bytes, DecodeContext::default()));
            assert_eq!(view.is_ok(), decoded.is_ok(), "{levels} levels");
        }
    }
}
