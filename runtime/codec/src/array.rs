//! Arrays of structure fields: one-dimensional (OPC 10000-6 §5.2.5) and matrices (§5.3.1.17).

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::{Decode, DecodeError, DecodeReason, Decoder, Encode, EncodeError, Encoder};

/// A one-dimensional array that may be null. Null is the default and differs from empty; both
/// dereference to an empty slice (OPC 10000-6 §5.2.5).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Array<T>(Option<Vec<T>>);

impl<T> Array<T> {
    /// The null array.
    pub const NULL: Self = Self(None);

    /// Whether this is the null array.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// The elements; none for the null array.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The elements as a vector; empty for the null array.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0.unwrap_or_default()
    }

    /// The vector to fill; a null array becomes an empty one.
    pub fn make_mut(&mut self) -> &mut Vec<T> {
        self.0.get_or_insert_default()
    }

    /// Appends an element; a null array becomes one of length 1.
    pub fn push(&mut self, item: T) {
        self.make_mut().push(item);
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(items) => items.fmt(f),
            None => f.write_str("null"),
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Some(items))
    }
}

impl<T> From<Option<Vec<T>>> for Array<T> {
    fn from(items: Option<Vec<T>>) -> Self {
        Self(items)
    }
}

impl<T, const N: usize> From<[T; N]> for Array<T> {
    fn from(items: [T; N]) -> Self {
        Self(Some(items.into()))
    }
}

impl<T: Clone> From<&[T]> for Array<T> {
    fn from(items: &[T]) -> Self {
        Self(Some(items.to_vec()))
    }
}

impl<T> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(Some(items.into_iter().collect()))
    }
}

impl<T> IntoIterator for Array<T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Encode> Encode for Array<T> {
    fn encode(&self, e: &mut Encoder<'_>) {
        match &self.0 {
            Some(items) => e.put_slice(items),
            None => e.put_array_len(None),
        }
    }
}

impl<T: Decode> Decode for Array<T> {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = T::IS_LEAF;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        // Written out to keep the frame small: arrays of structures recurse.
        match d.array_len(T::MIN_SIZE) {
            Ok(Some(len)) => T::decode_items(self.make_mut(), len, d),
            Ok(None) => {
                self.0 = None;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// For user structures: the null array reads as an empty vector.
impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_slice(self);
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = T::IS_LEAF;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let len = d.array_len(T::MIN_SIZE)?.unwrap_or_default();
        T::decode_items(self, len, d)
    }
}

/// A field with two or more dimensions: their lengths, then the elements, the last dimension fastest
/// (OPC 10000-6 §5.2.5). The default has no dimensions and is written as a null array of dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matrix<T> {
    dimensions: Vec<u32>,
    elements: Vec<T>,
}

impl<T> Matrix<T> {
    /// A matrix; `None` unless the product of the dimensions is the number of elements.
    #[must_use]
    pub fn new(dimensions: Vec<u32>, elements: Vec<T>) -> Option<Self> {
        (product(&dimensions) == Some(elements.len())).then_some(Self { dimensions, elements })
    }

    /// Lengths of the dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[u32] {
        &self.dimensions
    }

    /// The elements, the last dimension fastest.
    #[must_use]
    pub fn elements(&self) -> &[T] {
        &self.elements
    }

    /// Dimensions and elements.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u32>, Vec<T>) {
        (self.dimensions, self.elements)
    }
}

impl<T> Default for Matrix<T> {
    fn default() -> Self {
        Self { dimensions: Vec::new(), elements: Vec::new() }
    }
}

/// Number of elements of a matrix; `None` if it does not fit. No dimensions hold no elements.
pub(crate) fn product(dimensions: &[u32]) -> Option<usize> {
    if dimensions.is_empty() || dimensions.contains(&0) {
        return Some(0);
    }
    dimensions
        .iter()
        .try_fold(1_usize, |product, dimension| product.checked_mul(usize::try_from(*dimension).ok()?))
}

impl<T: Encode> Encode for Matrix<T> {
    fn encode(&self, e: &mut Encoder<'_>) {
        if self.dimensions.is_empty() {
            return e.put_array_len(None);
        }
        e.put_array_len(Some(self.dimensions.len()));
        for dimension in &self.dimensions {
            match i32::try_from(*dimension) {
                Ok(dimension) => e.put_i32(dimension),
                Err(_) => e.fail(EncodeError::TooLarge),
            }
        }
        T::encode_items(&self.elements, e);
    }
}

impl<T: Decode> Decode for Matrix<T> {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = T::IS_LEAF;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let decoded = self.decode_parts(d);
        if decoded.is_err() {
            *self = Self::default();
        }
        decoded
    }
}

impl<T: Decode> Matrix<T> {
    fn decode_parts(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let rank = d.array_len(i32::MIN_SIZE)?.unwrap_or_default();
        self.dimensions.clear();
        d.reserve(&mut self.dimensions, rank)?;
        for _ in 0..rank {
            self.dimensions.push(u32::try_from(d.i32()?).map_err(|_| DecodeReason::BadDimensions)?);
        }
        let count = product(&self.dimensions).ok_or(DecodeReason::BadDimensions)?;
        d.check_elements(count, T::MIN_SIZE)?;
        T::decode_items(&mut self.elements, count, d)
    }
}
