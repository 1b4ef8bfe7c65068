//! Numeric ranges (OPC 10000-4 §7.27): the one place that cuts arrays, matrices, strings and byte strings.

use std::sync::Arc;

use uaforge_codec::{Array, ByteString, StatusCode, StrRef, UaString, Variant, VariantArray, VariantMatrix};
use uaforge_types::status;

/// Dimensions that a range may name; no value has more in practice.
const MAX_DIMENSIONS: usize = 16;

/// Bounds in each dimension, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumericRange {
    bounds: Vec<Bounds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    low: u32,
    high: u32,
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
}

impl core::str::FromStr for NumericRange {
    type Err = StatusCode;

    /// Bad_IndexRangeInvalid for what is no range.
    fn from_str(text: &str) -> Result<Self, StatusCode> {
        let bounds: Option<Vec<Bounds>> =
            text.split(',').take(MAX_DIMENSIONS + 1).map(Bounds::parse).collect();
        match bounds {
            Some(bounds) if bounds.len() <= MAX_DIMENSIONS => Ok(Self { bounds }),
            _ => Err(status::BAD_INDEX_RANGE_INVALID),
        }
    }
}

impl NumericRange {
    /// The range in a request; not for the null or empty one, which stands for the whole value.
    pub(crate) fn from_wire(text: StrRef<'_>) -> Result<Self, StatusCode> {
        text.as_str().ok_or(status::BAD_INDEX_RANGE_INVALID)?.parse()
    }

    /// The part of `value` that the range names. What runs past the end is cut.
    ///
    /// # Errors
    /// Bad_IndexRangeNoData if the range starts past the end or the value has no such dimension.
    pub fn cut(&self, value: &Variant) -> Result<Variant, StatusCode> {
        match value {
            Variant::String(text) => {
                let part = cut_text(text, self.only()?).ok_or(status::BAD_INDEX_RANGE_NO_DATA)?;
                Ok(Variant::String(part))
            }
            Variant::ByteString(bytes) => {
                let part = cut_bytes(bytes, self.only()?).ok_or(status::BAD_INDEX_RANGE_NO_DATA)?;
                Ok(Variant::ByteString(part))
            }
            Variant::Array(array) => {
                let len = u32::try_from(array.len()).unwrap_or(u32::MAX);
                let (part, _) = self.cut_elements(array, &[len])?;
                Ok(Variant::Array(Arc::new(part)))
            }
            Variant::Matrix(matrix) => {
                let (part, dimensions) = self.cut_elements(matrix.elements(), matrix.dimensions())?;
                let part = VariantMatrix::new(dimensions, part).ok_or(status::BAD_INTERNAL_ERROR)?;
                Ok(Variant::Matrix(Arc::new(part)))
            }
            _ => Err(status::BAD_INDEX_RANGE_NO_DATA),
        }
    }

    fn only(&self) -> Result<Bounds, StatusCode> {
        match self.bounds.as_slice() {
            [bounds] => Ok(*bounds),
            _ => Err(status::BAD_INDEX_RANGE_NO_DATA),
        }
    }

    /// Cuts the elements; one dimension more than there are cuts inside each string or byte string.
    fn cut_elements(
        &self,
        elements: &VariantArray,
        dimensions: &[u32],
    ) -> Result<(VariantArray, Vec<u32>), StatusCode> {
        let no_data = status::BAD_INDEX_RANGE_NO_DATA;
        let (outer, inner) = self.bounds.split_at_checked(dimensions.len()).ok_or(no_data)?;
        let window = Window::new(outer, dimensions).ok_or(no_data)?;
        let part = match inner {
            [] => window.pick_array(elements),
            [inner] => match elements {
                VariantArray::String(items) => {
                    let cut = |text: UaString| cut_text(&text, *inner).unwrap_or(UaString::NULL);
                    VariantArray::String(window.pick(items).into_iter().map(cut).collect::<Vec<_>>().into())
                }
                VariantArray::ByteString(items) => {
                    let cut = |bytes: ByteString| cut_bytes(&bytes, *inner).unwrap_or(ByteString::NULL);
                    VariantArray::ByteString(
                        window.pick(items).into_iter().map(cut).collect::<Vec<_>>().into(),
                    )
                }
                _ => return Err(no_data),
            },
            _ => return Err(no_data),
        };
        Ok((part, window.dimensions()))
    }
}

/// Ranges of indexes in each dimension, all of them within the value.
struct Window {
    ranges: Vec<core::ops::Range<usize>>,
    lengths: Vec<usize>,
}

macro_rules! pick_any {
    ($window:ident, $array:ident: $($type:ident)*) => {
        match $array {
            $(VariantArray::$type(items) => VariantArray::$type(Array::from($window.pick(items))),)*
        }
    };
}

impl Window {
    fn new(bounds: &[Bounds], dimensions: &[u32]) -> Option<Self> {
        let lengths: Vec<usize> =
            dimensions.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX)).collect();
        let ranges = bounds.iter().zip(&lengths).map(|(bounds, len)| bounds.within(*len));
        Some(Self { ranges: ranges.collect::<Option<_>>()?, lengths })
    }

    fn dimensions(&self) -> Vec<u32> {
        self.ranges.iter().map(|range| u32::try_from(range.len()).unwrap_or(u32::MAX)).collect()
    }

    fn pick_array(&self, array: &VariantArray) -> VariantArray {
        pick_any!(self, array: Boolean SByte Byte Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double
            String DateTime Guid ByteString XmlElement NodeId ExpandedNodeId StatusCode QualifiedName
            LocalizedText ExtensionObject DataValue Variant DiagnosticInfo)
    }

    /// The elements inside the window, the last dimension fastest.
    fn pick<T: Clone>(&self, items: &[T]) -> Vec<T> {
        let mut picked = Vec::with_capacity(self.ranges.iter().map(ExactSizeIterator::len).product());
        self.pick_into(items, 0, 0, &mut picked);
        picked
    }

    fn pick_into<T: Clone>(&self, items: &[T], dimension: usize, offset: usize, picked: &mut Vec<T>) {
        let Some(range) = self.ranges.get(dimension) else { return };
        let stride: usize = self.lengths.iter().skip(dimension + 1).product();
        if dimension + 1 == self.ranges.len() {
            let run = offset.saturating_add(range.start)..offset.saturating_add(range.end);
            picked.extend_from_slice(items.get(run).unwrap_or_default());
            return;
        }
        for index in range.clone() {
            self.pick_into(items, dimension + 1, offset + index * stride, picked);
        }
    }
}

/// Characters of a string; `None` if it is too short.
fn cut_text(text: &UaString, bounds: Bounds) -> Option<UaString> {
    let text = text.as_str()?;
    let range = bounds.within(text.chars().count())?;
    let part: String = text.chars().skip(range.start).take(range.len()).collect();
    Some(UaString::from(part))
}

/// Bytes of a byte string; `None` if it is too short.
fn cut_bytes(bytes: &ByteString, bounds: Bounds) -> Option<ByteString> {
    let bytes = bytes.as_bytes()?;
    Some(ByteString::from(bytes.get(bounds.within(bytes.len())?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(range: &str, value: &Variant) -> Result<Variant, StatusCode> {
        range.parse::<NumericRange>()?.cut(value)
    }

    fn ints(items: &[i32]) -> Variant {
        VariantArray::Int32(items.to_vec().into()).into()
    }

    fn matrix(dimensions: &[u32], items: &[i32]) -> Variant {
        VariantMatrix::new(dimensions.to_vec(), VariantArray::Int32(items.to_vec().into())).unwrap().into()
    }

    fn strings(items: &[Option<&str>]) -> Variant {
        let items: Vec<UaString> = items.iter().map(|i| i.map_or(UaString::NULL, UaString::from)).collect();
        VariantArray::String(items.into()).into()
    }

    #[test]
    fn arrays() {
        let a = ints(&[10, 20, 30, 40, 50]);
        assert_eq!(cut("1", &a), Ok(ints(&[20])));
        assert_eq!(cut("1:3", &a), Ok(ints(&[20, 30, 40])));
        assert_eq!(cut("3:9", &a), Ok(ints(&[40, 50])));
        assert_eq!(cut("5", &a), Err(status::BAD_INDEX_RANGE_NO_DATA));
        assert_eq!(cut("0,0", &a), Err(status::BAD_INDEX_RANGE_NO_DATA));
        for bad in ["2:1", "2:2", "-1", "a", "1:", ":1", "+1", "1,", "99999999999999999999", " 1"] {
            assert_eq!(cut(bad, &a), Err(status::BAD_INDEX_RANGE_INVALID), "{bad}");
        }
        assert_eq!(cut(&"1,".repeat(1_000_000), &a), Err(status::BAD_INDEX_RANGE_INVALID));
    }

    #[test]
    fn matrices() {
        let m = matrix(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        assert_eq!(cut("0,1", &m), Ok(matrix(&[1, 1], &[2])));
        assert_eq!(cut("0:1,1:2", &m), Ok(matrix(&[2, 2], &[2, 3, 5, 6])));
        assert_eq!(cut("0", &m), Err(status::BAD_INDEX_RANGE_NO_DATA));
        let cube = matrix(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(cut("1,0:1,1", &cube), Ok(matrix(&[1, 2, 1], &[6, 8])));
    }

    #[test]
    fn strings_and_bytes() {
        assert_eq!(cut("1:2", &Variant::String("ABCDE".into())), Ok(Variant::String("BC".into())));
        assert_eq!(cut("9", &Variant::String("ABCDE".into())), Err(status::BAD_INDEX_RANGE_NO_DATA));
        assert_eq!(cut("1", &Variant::String("äöü".into())), Ok(Variant::String("ö".into())));
        let bytes = |b: &[u8]| Variant::ByteString(ByteString::from(b));
        assert_eq!(cut("3:4", &bytes(&[1, 2, 3, 4, 5])), Ok(bytes(&[4, 5])));
        let list = strings(&[Some("TestString"), Some("Test"), Some("String")]);
        assert_eq!(cut("1", &list), Ok(strings(&[Some("Test")])));
        assert_eq!(cut("0:2,7:9", &list), Ok(strings(&[Some("ing"), None, None])));
        assert_eq!(cut("0", &Variant::Int32(7)), Err(status::BAD_INDEX_RANGE_NO_DATA));
        assert_eq!(cut("0", &Variant::Null), Err(status::BAD_INDEX_RANGE_NO_DATA));
    }
}
