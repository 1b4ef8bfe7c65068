//! Replacing parts of values.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::window::Window;
use super::{Bounds, NumericRange, RangeError, characters};
use crate::{ByteString, UaString, Variant, VariantArray};

impl NumericRange {
    /// Replaces the part of `value` that the range names. All of the range has to exist, and `part` has to be as
    /// long: an array for an array, were it of one element (OPC 10000-4 §5.11.4.2), a matrix for a matrix,
    /// characters for characters. The value stays as it was if anything of that does not hold.
    ///
    /// # Errors
    /// [`RangeError::NoData`], [`RangeError::DataMismatch`], [`RangeError::TypeMismatch`].
    pub fn replace(&self, value: &mut Variant, part: &Variant) -> Result<(), RangeError> {
        match (value, part) {
            (Variant::String(text), part) => {
                let bounds = self.only()?;
                let Variant::String(part) = part else { return Err(RangeError::TypeMismatch) };
                *text = replaced_text(text, part, bounds)?;
            }
            (Variant::ByteString(bytes), part) => {
                let bounds = self.only()?;
                let Variant::ByteString(part) = part else { return Err(RangeError::TypeMismatch) };
                *bytes = replaced_bytes(bytes, part, bounds)?;
            }
            (Variant::Array(array), part) => {
                let len = u32::try_from(array.len()).unwrap_or(u32::MAX);
                let new = match part {
                    Variant::Array(part) => Ok((&**part, None)),
                    Variant::Matrix(_) => Err(RangeError::DataMismatch),
                    _ => Err(RangeError::TypeMismatch),
                };
                let replacing = self.replacing(array, &[len], new)?;
                replacing.apply(Arc::make_mut(array));
            }
            (Variant::Matrix(matrix), part) => {
                let new = match part {
                    Variant::Matrix(part) => Ok((part.elements(), Some(part.dimensions()))),
                    Variant::Array(_) => Err(RangeError::DataMismatch),
                    _ => Err(RangeError::TypeMismatch),
                };
                let replacing = self.replacing(matrix.elements(), matrix.dimensions(), new)?;
                replacing.apply(Arc::make_mut(matrix).elements_mut());
            }
            _ => return Err(RangeError::NoData),
        }
        Ok(())
    }

    /// Bytes that replacing a part of a value copies beside the part: strings are made anew, and so is an array
    /// that somebody else holds too.
    #[must_use]
    pub fn replace_cost(value: &Variant) -> usize {
        let array = |array: &VariantArray| array.len().saturating_mul(size_of::<Variant>());
        match value {
            Variant::String(text) => text.as_str().map_or(0, str::len),
            Variant::ByteString(bytes) => bytes.bytes().len(),
            Variant::Array(own) if Arc::strong_count(own) > 1 => array(own),
            Variant::Matrix(own) if Arc::strong_count(own) > 1 => array(own.elements()),
            _ => 0,
        }
    }

    /// Checks everything that may be wrong with the elements.
    fn replacing<'p>(
        &self,
        old: &VariantArray,
        dimensions: &[u32],
        new: Result<(&'p VariantArray, Option<&[u32]>), RangeError>,
    ) -> Result<Replacing<'p>, RangeError> {
        let (outer, inner) = self.split(dimensions.len())?;
        let window = Window::new(outer, dimensions, Bounds::exactly).ok_or(RangeError::NoData)?;
        let (new, new_dimensions) = new?;
        if old.builtin_type() != new.builtin_type() {
            return Err(RangeError::TypeMismatch);
        }
        let same_shape = new_dimensions.is_none_or(|own| own == window.dimensions());
        if !same_shape || new.len() != window.count() {
            return Err(RangeError::DataMismatch);
        }
        match inner {
            None => Ok(Replacing { window, new: New::Whole(new) }),
            Some(inner) => inside(window, old, new, inner),
        }
    }
}

/// A replacement that nothing stands in the way of.
struct Replacing<'p> {
    window: Window,
    new: New<'p>,
}

enum New<'p> {
    Whole(&'p VariantArray),
    Own(VariantArray),
}

/// New elements of the window: the old ones with the inner part replaced.
fn inside<'p>(
    window: Window,
    old: &VariantArray,
    new: &VariantArray,
    inner: Bounds,
) -> Result<Replacing<'p>, RangeError> {
    let own = match (old, new) {
        (VariantArray::String(old), VariantArray::String(new)) => {
            VariantArray::String(each(&window, old, new, |old, new| replaced_text(old, new, inner))?.into())
        }
        (VariantArray::ByteString(old), VariantArray::ByteString(new)) => VariantArray::ByteString(
            each(&window, old, new, |old, new| replaced_bytes(old, new, inner))?.into(),
        ),
        _ => return Err(RangeError::NoData),
    };
    Ok(Replacing { window, new: New::Own(own) })
}

fn each<T>(
    window: &Window,
    old: &[T],
    new: &[T],
    replaced: impl Fn(&T, &T) -> Result<T, RangeError>,
) -> Result<Vec<T>, RangeError> {
    let mut old_ones = Vec::with_capacity(new.len());
    window.for_each_run(|run| old_ones.extend(old.get(run).unwrap_or_default()));
    old_ones.into_iter().zip(new).map(|(old, new)| replaced(old, new)).collect()
}

/// As many characters as the bounds name, in the place of those that are there.
fn replaced_text(text: &UaString, part: &UaString, bounds: Bounds) -> Result<UaString, RangeError> {
    let text = text.as_str().ok_or(RangeError::NoData)?;
    let range = bounds.exactly(text.chars().count()).ok_or(RangeError::NoData)?;
    let part = part.as_str().unwrap_or_default();
    if part.chars().count() != range.len() {
        return Err(RangeError::DataMismatch);
    }
    let place = characters(text, range);
    let mut replaced = String::with_capacity(text.len() + part.len());
    replaced.push_str(text.get(..place.start).unwrap_or_default());
    replaced.push_str(part);
    replaced.push_str(text.get(place.end..).unwrap_or_default());
    Ok(replaced.into())
}

fn replaced_bytes(bytes: &ByteString, part: &ByteString, bounds: Bounds) -> Result<ByteString, RangeError> {
    let bytes = bytes.as_bytes().ok_or(RangeError::NoData)?;
    let range = bounds.exactly(bytes.len()).ok_or(RangeError::NoData)?;
    let part = part.bytes();
    if part.len() != range.len() {
        return Err(RangeError::DataMismatch);
    }
    let mut replaced = bytes.to_vec();
    if let Some(place) = replaced.get_mut(range) {
        place.copy_from_slice(part);
    }
    Ok(replaced.into())
}

macro_rules! put_any {
    ($window:expr, $old:ident, $new:ident: $($type:ident)*) => {
        match ($old, $new) {
            $((VariantArray::$type(old), VariantArray::$type(new)) => put($window, old, new),)*
            // The types were compared.
            _ => {}
        }
    };
}

impl Replacing<'_> {
    fn apply(&self, old: &mut VariantArray) {
        let new = match &self.new {
            New::Whole(new) => *new,
            New::Own(new) => new,
        };
        put_any!(&self.window, old, new: Boolean SByte Byte Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double
            String DateTime Guid ByteString XmlElement NodeId ExpandedNodeId StatusCode QualifiedName
            LocalizedText ExtensionObject DataValue Variant DiagnosticInfo);
    }
}

fn put<T: Clone>(window: &Window, old: &mut [T], mut new: &[T]) {
    window.for_each_run(|run| {
        if let (Some(place), Some((head, tail))) = (old.get_mut(run.clone()), new.split_at_checked(run.len()))
        {
            place.clone_from_slice(head);
            new = tail;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::cut::tests::{ints, matrix, strings};
    use super::*;

    fn replace(range: &str, value: &Variant, part: &Variant) -> Result<Variant, RangeError> {
        let mut replaced = value.clone();
        let result = range.parse::<NumericRange>()?.replace(&mut replaced, part);
        if result.is_err() {
            assert_eq!(replaced, *value, "{range} changed the value");
        }
        result.map(|()| replaced)
    }

    #[test]
    fn arrays() {
        let a = ints(&[10, 20, 30]);
        assert_eq!(replace("1", &a, &ints(&[7])), Ok(ints(&[10, 7, 30])));
        assert_eq!(replace("1:2", &a, &ints(&[7, 8])), Ok(ints(&[10, 7, 8])));
        assert_eq!(replace("1:2", &a, &ints(&[7])), Err(RangeError::DataMismatch));
        assert_eq!(replace("1:3", &a, &ints(&[7, 8, 9])), Err(RangeError::NoData));
        assert_eq!(replace("0:4294967295", &a, &ints(&[7])), Err(RangeError::NoData));
        assert_eq!(replace("1", &a, &Variant::Int32(7)), Err(RangeError::TypeMismatch));
        let floats = VariantArray::Float(alloc::vec![1.0].into()).into();
        assert_eq!(replace("1", &a, &floats), Err(RangeError::TypeMismatch));
        assert_eq!(replace("0,0", &a, &ints(&[7])), Err(RangeError::NoData));
        assert_eq!(replace("0", &Variant::Int32(1), &ints(&[7])), Err(RangeError::NoData));
    }

    #[test]
    fn matrices() {
        let m = matrix(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let part = matrix(&[2, 2], &[20, 30, 50, 60]);
        assert_eq!(replace("0:1,1:2", &m, &part), Ok(matrix(&[2, 3], &[1, 20, 30, 4, 50, 60])));
        assert_eq!(replace("0,1", &m, &matrix(&[1, 1], &[9])), Ok(matrix(&[2, 3], &[1, 9, 3, 4, 5, 6])));
        assert_eq!(replace("0:1,1:2", &m, &matrix(&[1, 4], &[1, 2, 3, 4])), Err(RangeError::DataMismatch));
        assert_eq!(replace("0:1,1:3", &m, &part), Err(RangeError::NoData));
    }

    #[test]
    fn strings_and_bytes() {
        let text = |text: &str| Variant::String(text.into());
        assert_eq!(replace("1:2", &text("aäöd"), &text("ßx")), Ok(text("aßxd")));
        assert_eq!(replace("1:2", &text("abcd"), &text("x")), Err(RangeError::DataMismatch));
        assert_eq!(replace("3:4", &text("abcd"), &text("xy")), Err(RangeError::NoData));
        let bytes = |b: &[u8]| Variant::ByteString(ByteString::from(b));
        assert_eq!(replace("0", &bytes(&[1, 2]), &bytes(&[9])), Ok(bytes(&[9, 2])));
        assert_eq!(replace("0", &bytes(&[1, 2]), &text("a")), Err(RangeError::TypeMismatch));
        let list = strings(&[Some("abc"), Some("def"), None]);
        let part = strings(&[Some("x"), Some("y")]);
        assert_eq!(replace("0:1,1", &list, &part), Ok(strings(&[Some("axc"), Some("dyf"), None])));
        assert_eq!(replace("1:2,1", &list, &part), Err(RangeError::NoData));
        assert_eq!(replace("0:1,1:2", &list, &part), Err(RangeError::DataMismatch));
    }
}
