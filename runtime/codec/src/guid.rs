//! Guid (OPC 10000-6 §5.2.2.6).

use core::fmt;
use core::str::FromStr;

/// A Guid, as 16 bytes in the order of its text form (OPC 10000-6 §5.2.2.6).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The Guid of zeros.
    pub const NULL: Self = Self([0; 16]);

    /// On the wire the first three groups are little-endian numbers.
    const fn swap(b: [u8; 16]) -> [u8; 16] {
        [b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a Guid such as `0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9` (OPC 10000-6 §5.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a Guid")]
pub struct ParseGuidError;

impl FromStr for Guid {
    type Err = ParseGuidError;

    fn from_str(text: &str) -> Result<Self, ParseGuidError> {
        let bytes = text.as_bytes();
        if bytes.len() != 36 {
            return Err(ParseGuidError);
        }
        let mut out = [0_u8; 16];
        let mut digits = 0;
        for (index, &byte) in bytes.iter().enumerate() {
            if matches!(index, 8 | 13 | 18 | 23) {
                if byte != b'-' {
                    return Err(ParseGuidError);
                }
                continue;
            }
            let digit = char::from(byte).to_digit(16).ok_or(ParseGuidError)?;
            let slot = out.get_mut(digits / 2).ok_or(ParseGuidError)?;
            *slot = (*slot << 4) | u8::try_from(digit).map_err(|_| ParseGuidError)?;
            digits += 1;
        }
        Ok(Self(out))
    }
}

crate::primitives::fixed_width! {
    Guid, 16: |guid| Guid::swap(guid.0), |bytes| Guid(Guid::swap(bytes));
}
