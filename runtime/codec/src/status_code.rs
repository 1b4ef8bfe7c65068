//! StatusCode (OPC 10000-4 §7.38, OPC 10000-6 §5.2.2.11).

use core::fmt;

/// A StatusCode: severity and reason in the upper half, flags in the lower (OPC 10000-4 §7.38).
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

/// So that `?` passes a bad status on as an error.
impl core::error::Error for StatusCode {}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08X}", self.0)
    }
}

crate::primitives::fixed_width! {
    StatusCode, 4: |status| status.0.to_le_bytes(), |bytes| StatusCode(u32::from_le_bytes(bytes));
}
