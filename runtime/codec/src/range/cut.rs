//! Cutting parts out of values.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::window::Window;
use super::{Bounds, NumericRange, RangeError, part_of_bytes, part_of_text};
use crate::{Array, ByteString, UaString, Variant, VariantArray, VariantMatrix};

impl NumericRange {
    /// The part of `value` that the range names: always an array for an array, were it of one element. What
    /// runs past the end is cut; strings that are too short for the last dimension are null.
    ///
    /// # Errors
    /// [`RangeError::NoData`] if the range starts past the end or the value has no such dimension.
    pub fn cut(&self, value: &Variant) -> Result<Variant, RangeError> {
        match value {
            Variant::String(text) => {
                let text = text.as_str().ok_or(RangeError::NoData)?;
                part_of_text(text, self.only()?).map(|part| Variant::String(part.into()))
            }
            Variant::ByteString(bytes) => {
                let bytes = bytes.as_bytes().ok_or(RangeError::NoData)?;
                part_of_bytes(bytes, self.only()?).map(|part| Variant::ByteString(part.into()))
            }
            Variant::Array(array) => {
                let len = u32::try_from(array.len()).unwrap_or(u32::MAX);
                let (part, _) = self.cut_elements(array, &[len])?;
                Some(Variant::Array(Arc::new(part)))
            }
            Variant::Matrix(matrix) => {
                let (part, dimensions) = self.cut_elements(matrix.elements(), matrix.dimensions())?;
                VariantMatrix::new(dimensions, part).map(Variant::from)
            }
            _ => None,
        }
        .ok_or(RangeError::NoData)
    }

    fn cut_elements(
        &self,
        elements: &VariantArray,
        dimensions: &[u32],
    ) -> Result<(VariantArray, Vec<u32>), RangeError> {
        let (outer, inner) = self.split(dimensions.len())?;
        let window = Window::new(outer, dimensions, Bounds::within).ok_or(RangeError::NoData)?;
        let part = match inner {
            None => pick_array(&window, elements),
            Some(inner) => cut_inside(&window, elements, inner)?,
        };
        Ok((part, window.dimensions()))
    }
}

macro_rules! pick_any {
    ($window:ident, $array:ident: $($type:ident)*) => {
        match $array {
            $(VariantArray::$type(items) => VariantArray::$type(pick($window, items)),)*
        }
    };
}

fn pick_array(window: &Window, array: &VariantArray) -> VariantArray {
    pick_any!(window, array: Boolean SByte Byte Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double
        String DateTime Guid ByteString XmlElement NodeId ExpandedNodeId StatusCode QualifiedName
        LocalizedText ExtensionObject DataValue Variant DiagnosticInfo)
}

fn pick<T: Clone>(window: &Window, items: &[T]) -> Array<T> {
    let mut picked = Vec::with_capacity(window.count().min(items.len()));
    window.for_each_run(|run| picked.extend_from_slice(items.get(run).unwrap_or_default()));
    picked.into()
}

/// Cuts inside each string or byte string; there has to be something in one of them.
fn cut_inside(window: &Window, elements: &VariantArray, inner: Bounds) -> Result<VariantArray, RangeError> {
    let mut found = false;
    let part = match elements {
        VariantArray::String(items) => {
            let cut = |text: &UaString| {
                let part = text.as_str().and_then(|text| part_of_text(text, inner));
                found |= part.is_some();
                UaString::from(part)
            };
            VariantArray::String(pick(window, items).iter().map(cut).collect())
        }
        VariantArray::ByteString(items) => {
            let cut = |bytes: &ByteString| {
                let part = bytes.as_bytes().and_then(|bytes| part_of_bytes(bytes, inner));
                found |= part.is_some();
                part.map_or(ByteString::NULL, ByteString::from)
            };
            VariantArray::ByteString(pick(window, items).iter().map(cut).collect())
        }
        _ => return Err(RangeError::NoData),
    };
    if found { Ok(part) } else { Err(RangeError::NoData) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn cut(range: &str, value: &Variant) -> Result<Variant, RangeError> {
        range.parse::<NumericRange>()?.cut(value)
    }

    pub(in crate::range) fn ints(items: &[i32]) -> Variant {
        VariantArray::Int32(items.to_vec().into()).into()
    }

    pub(in crate::range) fn matrix(dimensions: &[u32], items: &[i32]) -> Variant {
        let elements = VariantArray::Int32(items.to_vec().into());
        VariantMatrix::new(dimensions.to_vec(), elements).expect("as many as the dimensions say").into()
    }

    pub(in crate::range) fn strings(items: &[Option<&str>]) -> Variant {
        let items: Vec<UaString> = items.iter().map(|i| i.map_or(UaString::NULL, UaString::from)).collect();
        VariantArray::String(items.into()).into()
    }

    #[test]
    fn arrays() {
        let a = ints(&[10, 20, 30, 40, 50]);
        assert_eq!(cut("1", &a), Ok(ints(&[20])));
        assert_eq!(cut("1:3", &a), Ok(ints(&[20, 30, 40])));
        assert_eq!(cut("3:9", &a), Ok(ints(&[40, 50])));
        assert_eq!(cut("0:4294967295", &a), Ok(a.clone()));
        assert_eq!(cut("5", &a), Err(RangeError::NoData));
        assert_eq!(cut("0,0", &a), Err(RangeError::NoData));
        assert_eq!(cut("0", &ints(&[])), Err(RangeError::NoData));
    }

    #[test]
    fn matrices() {
        let m = matrix(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        assert_eq!(cut("0,1", &m), Ok(matrix(&[1, 1], &[2])));
        assert_eq!(cut("0:1,1:2", &m), Ok(matrix(&[2, 2], &[2, 3, 5, 6])));
        assert_eq!(cut("0", &m), Err(RangeError::NoData));
        assert_eq!(cut("0,3", &m), Err(RangeError::NoData));
        assert_eq!(cut("0,0,0", &m), Err(RangeError::NoData));
        let cube = matrix(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(cut("1,0:1,1", &cube), Ok(matrix(&[1, 2, 1], &[6, 8])));
    }

    #[test]
    fn strings_and_bytes() {
        assert_eq!(cut("1:2", &Variant::String("ABCDE".into())), Ok(Variant::String("BC".into())));
        assert_eq!(cut("9", &Variant::String("ABCDE".into())), Err(RangeError::NoData));
        assert_eq!(cut("0", &Variant::String(UaString::NULL)), Err(RangeError::NoData));
        let bytes = |b: &[u8]| Variant::ByteString(ByteString::from(b));
        assert_eq!(cut("3:4", &bytes(&[1, 2, 3, 4, 5])), Ok(bytes(&[4, 5])));
        let list = strings(&[Some("TestString"), Some("Test"), Some("String")]);
        assert_eq!(cut("1", &list), Ok(strings(&[Some("Test")])));
        assert_eq!(cut("0:2,7:9", &list), Ok(strings(&[Some("ing"), None, None])));
        assert_eq!(cut("0:1,10:15", &list), Err(RangeError::NoData));
        assert_eq!(cut("0", &Variant::Int32(7)), Err(RangeError::NoData));
        assert_eq!(cut("0", &Variant::Null), Err(RangeError::NoData));
    }
}
