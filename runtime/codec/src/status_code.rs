//! StatusCode (OPC 10000-4 §7.38, OPC 10000-6 §5.2.2.11).

use core::fmt;

use crate::{Decode, DecodeError, DecodeRef, Decoder, Encode, Encoder};

/// A StatusCode: severity and reason in the upper half, flags in the lower.
///
/// All names stand in `uaforge_types::status`; here are those that coding itself needs.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatusCode(pub u32);

impl StatusCode {
    /// Good.
    pub const GOOD: Self = Self(0);
    /// Bad_EncodingError.
    pub const BAD_ENCODING_ERROR: Self = Self(0x8006_0000);
    /// Bad_DecodingError.
    pub const BAD_DECODING_ERROR: Self = Self(0x8007_0000);
    /// Bad_EncodingLimitsExceeded.
    pub const BAD_ENCODING_LIMITS_EXCEEDED: Self = Self(0x8008_0000);
    /// Bad_ResponseTooLarge.
    pub const BAD_RESPONSE_TOO_LARGE: Self = Self(0x80B9_0000);

    /// Severity Good.
    #[must_use]
    pub const fn is_good(self) -> bool {
        self.0 >> 30 == 0
    }

    /// Severity Uncertain.
    #[must_use]
    pub const fn is_uncertain(self) -> bool {
        self.0 >> 30 == 1
    }

    /// Severity Bad.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        self.0 >> 31 == 1
    }
}

impl fmt::Debug for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatusCode(0x{:08X})", self.0)
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08X}", self.0)
    }
}

impl Encode for StatusCode {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u32(self.0);
    }
}

impl Decode for StatusCode {
    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.0 = d.u32()?;
        Ok(())
    }
}

impl<'a> DecodeRef<'a> for StatusCode {
    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        d.u32().map(Self)
    }
}
