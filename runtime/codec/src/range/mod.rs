//! Numeric ranges (OPC 10000-4 §7.27): the one place that cuts and replaces parts of arrays, matrices,
//! strings and byte strings, for Read, Write and MonitoredItems alike.

mod cut;
mod encoded;
mod merge;
mod window;

use core::fmt;

use crate::{StatusCode, StrRef, Variant, VariantArray};

pub use encoded::EncodedPiece;

/// Dimensions that a range may name; no value has more in practice.
const MAX_DIMENSIONS: usize = 16;

/// Bounds in each dimension, both inclusive. `Copy`: it holds no memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NumericRange {
    bounds: [Bounds; MAX_DIMENSIONS],
    len: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    low: u32,
    high: u32,
}

/// Why a range does not name a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RangeError {
    /// The text is no range.
    #[error("the text is no numeric range")]
    Invalid,
    /// The value has nothing there, or not as many dimensions.
    #[error("the value has no data in the range")]
    NoData,
    /// A part to write is not as long as the range.
    #[error("the part is not as long as the range")]
    DataMismatch,
    /// A part to write has elements of another type.
    #[error("the part has elements of another type than the value")]
    TypeMismatch,
}

impl RangeError {
    /// The status that says so (OPC 10000-4 §7.38.2).
    #[must_use]
    pub const fn status(self) -> StatusCode {
        StatusCode(match self {
            Self::Invalid => 0x8036_0000,
            Self::NoData => 0x8037_0000,
            Self::TypeMismatch => 0x8074_0000,
            Self::DataMismatch => 0x80EA_0000,
        })
    }
}

impl From<RangeError> for StatusCode {
    fn from(error: RangeError) -> Self {
        error.status()
    }
}

impl Bounds {
    /// `a` or `a:b` with a < b, digits only.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| -> Option<u32> {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok())?
        };
        match text.split_once(':') {
            None => number(text).map(|at| Self { low: at, high: at }),
            Some((low, high)) => {
                let (low, high) = (number(low)?, number(high)?);
                (low < high).then_some(Self { low, high })
            }
        }
    }

    /// The indexes of these bounds that exist; `None` if the range starts past the end.
    fn within(self, len: usize) -> Option<core::ops::Range<usize>> {
        let low = usize::try_from(self.low).ok().filter(|low| *low < len)?;
        let high = usize::try_from(self.high).map_or(len, |high| high.saturating_add(1).min(len));
        Some(low..high)
    }

    /// All indexes of these bounds; `None` if one of them does not exist.
    fn exactly(self, len: usize) -> Option<core::ops::Range<usize>> {
        let range = self.within(len)?;
        (u32::try_from(range.len()).ok()? == (self.high - self.low).checked_add(1)?).then_some(range)
    }
}

impl core::str::FromStr for NumericRange {
    type Err = RangeError;

    /// [`RangeError::Invalid`] for what is no range.
    fn from_str(text: &str) -> Result<Self, RangeError> {
        let mut range = Self { bounds: [Bounds::default(); MAX_DIMENSIONS], len: 0 };
        for part in text.split(',') {
            let bounds = range.bounds.get_mut(usize::from(range.len)).ok_or(RangeError::Invalid)?;
            *bounds = Bounds::parse(part).ok_or(RangeError::Invalid)?;
            range.len += 1;
        }
        Ok(range)
    }
}

impl NumericRange {
    /// The range in a request; not for the null or empty one, which stands for the whole value.
    ///
    /// # Errors
    /// [`RangeError::Invalid`].
    pub fn from_wire(text: StrRef<'_>) -> Result<Self, RangeError> {
        text.as_str().ok_or(RangeError::Invalid)?.parse()
    }

    /// Bytes that cutting a value may have to look at beside those that it gives: characters are counted from the
    /// start of their string.
    #[must_use]
    pub fn cost(value: &Variant) -> usize {
        match value {
            Variant::String(text) => text.as_str().map_or(0, str::len),
            Variant::Array(array) if matches!(**array, VariantArray::String(_)) => array.len(),
            Variant::Matrix(matrix) if matches!(matrix.elements(), VariantArray::String(_)) => {
                matrix.elements().len()
            }
            _ => 0,
        }
    }

    /// As [`cost`](Self::cost), for an encoded Variant: elements without a fixed width are walked over.
    #[must_use]
    pub fn cost_encoded(variant: &[u8]) -> usize {
        encoded::cost(variant)
    }

    fn bounds(&self) -> &[Bounds] {
        self.bounds.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The bounds of a value with one dimension.
    fn only(&self) -> Result<Bounds, RangeError> {
        match self.bounds() {
            [bounds] => Ok(*bounds),
            _ => Err(RangeError::NoData),
        }
    }

    /// The bounds of each dimension, and those inside each string or byte string if the range names one
    /// dimension more than there are.
    fn split(&self, dimensions: usize) -> Result<(&[Bounds], Option<Bounds>), RangeError> {
        match self.bounds().split_at_checked(dimensions) {
            Some((outer, [])) => Ok((outer, None)),
            Some((outer, [inner])) => Ok((outer, Some(*inner))),
            _ => Err(RangeError::NoData),
        }
    }
}

impl fmt::Display for NumericRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, bounds) in self.bounds().iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}", bounds.low)?;
            if bounds.high > bounds.low {
                write!(f, ":{}", bounds.high)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for NumericRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NumericRange({self})")
    }
}

/// The bytes of a part of a text, counted in characters.
fn characters(text: &str, range: core::ops::Range<usize>) -> core::ops::Range<usize> {
    let mut places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
    let start = places.nth(range.start).unwrap_or(text.len());
    let end = match range.len() {
        0 => start,
        more => places.nth(more - 1).unwrap_or(text.len()),
    };
    start..end
}

/// The part of a text that bounds name, in characters; `None` if it is too short.
fn part_of_text(text: &str, bounds: Bounds) -> Option<&str> {
    // As many as there are up to the end of the range: the rest need not be counted.
    let most = usize::try_from(bounds.high).unwrap_or(usize::MAX).saturating_add(1);
    let range = bounds.within(text.chars().take(most).count())?;
    text.get(characters(text, range))
}

/// The part of a byte string that bounds name; `None` if it is too short.
fn part_of_bytes(bytes: &[u8], bounds: Bounds) -> Option<&[u8]> {
    bytes.get(bounds.within(bytes.len())?)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn grammar() {
        for good in ["0", "1:3", "0:1,7", "4294967294:4294967295"] {
            assert_eq!(good.parse::<NumericRange>().map(|range| range.to_string()), Ok(good.to_string()));
        }
        let bad =
            ["", "2:1", "2:2", "-1", "a", "1:", ":1", "+1", "1,", ",", "99999999999999999999", " 1", "1:2:3"];
        for bad in bad {
            assert_eq!(bad.parse::<NumericRange>(), Err(RangeError::Invalid), "{bad}");
        }
        assert_eq!("1,".repeat(1_000_000).parse::<NumericRange>(), Err(RangeError::Invalid));
    }

    #[test]
    fn characters_are_not_bytes() {
        let bounds = |low, high| Bounds { low, high };
        assert_eq!(part_of_text("äöü", bounds(1, 1)), Some("ö"));
        assert_eq!(part_of_text("äöü", bounds(1, 9)), Some("öü"));
        assert_eq!(part_of_text("äöü", bounds(3, 3)), None);
        assert_eq!(part_of_text("", bounds(0, 0)), None);
    }
}
