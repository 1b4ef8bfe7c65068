//! Reads values out of one message, within its budget.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Decode, DecodeContext, DecodeError, DecodeReason, HoldsStructures, TypeKey};

/// How many elements that may take no bytes an array may have beyond the bytes that are left.
const EMPTY_ELEMENTS: usize = 1 << 16;

/// Elements of an array take as much stack as two fields.
const ELEMENTS_WEIGHT: u32 = 2;

/// Reads from a slice. Every length is checked against what remains before anything is allocated,
/// and allocations are charged to the budget of the message (OPC 10000-6 §5.2).
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    cx: DecodeContext<'a>,
    depth: u32,
    in_place: u32,
    heap: usize,
}

impl<'a> Decoder<'a> {
    /// A decoder over the whole of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8], cx: DecodeContext<'a>) -> Self {
        Self { rest: bytes, cx, depth: 0, in_place: 0, heap: cx.limits.heap_budget(bytes.len()) }
    }

    /// What the decoder was made with.
    #[must_use]
    pub fn context(&self) -> DecodeContext<'a> {
        self.cx
    }

    /// Bytes that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The bytes that are left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// An error unless every byte was read.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeReason::TrailingBytes.into()) }
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(DecodeReason::Truncated.into()),
        }
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(DecodeReason::Truncated.into()),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes, little-endian.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_le_bytes)
    }

    /// The bytes of a String or ByteString; `None` for the null one. As with arrays, any negative
    /// length is null (OPC 10000-6 §5.2.2.4).
    #[inline]
    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, DecodeError> {
        let Ok(len) = usize::try_from(self.i32()?) else {
            return Ok(None);
        };
        if len > self.rest.len() {
            return Err(DecodeReason::BadLength.into());
        }
        if len > self.cx.limits.max_string_length {
            return Err(DecodeReason::LimitExceeded.into());
        }
        self.take(len).map(Some)
    }

    /// The length of an array whose elements take at least `min_size` bytes each (0 where unknown);
    /// `None` for the null array. Any negative length is the null array (OPC 10000-6 §5.2.5).
    #[inline]
    pub fn array_len(&mut self, min_size: usize) -> Result<Option<usize>, DecodeError> {
        let Ok(len) = usize::try_from(self.i32()?) else {
            return Ok(None);
        };
        self.check_elements(len, min_size)?;
        Ok(Some(len))
    }

    /// Checks a number of elements, of at least `min_size` bytes each, against what is left.
    pub(crate) fn check_elements(&self, len: usize, min_size: usize) -> Result<(), DecodeError> {
        let most = self.rest.len().checked_div(min_size);
        if len > most.unwrap_or(self.rest.len().saturating_add(EMPTY_ELEMENTS)) {
            return Err(DecodeReason::BadLength.into());
        }
        if len > self.cx.limits.max_array_length {
            return Err(DecodeReason::LimitExceeded.into());
        }
        Ok(())
    }

    /// Charges `bytes` of heap to the budget of the message.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), DecodeError> {
        match self.heap.checked_sub(bytes) {
            Some(left) => {
                self.heap = left;
                Ok(())
            }
            None => Err(DecodeReason::LimitExceeded.into()),
        }
    }

    /// Makes room for `len` elements in all, charged to the budget of the message.
    #[inline]
    pub fn reserve<T>(&mut self, items: &mut Vec<T>, len: usize) -> Result<(), DecodeError> {
        if items.capacity() < len {
            self.charge(len.saturating_mul(size_of::<T>()))?;
            items.reserve_exact(len - items.len());
        }
        Ok(())
    }

    /// Decodes `len` elements into `items`, reusing both its capacity and its elements.
    pub fn elements_into<T: Decode>(&mut self, items: &mut Vec<T>, len: usize) -> Result<(), DecodeError> {
        self.make_room(items, len)?;
        if T::IS_LEAF {
            return self.fill(items, len);
        }
        let filled = self.fill(items, len);
        self.in_place -= ELEMENTS_WEIGHT;
        filled
    }

    /// What comes before the elements.
    #[inline(never)]
    fn make_room<T: Decode>(&mut self, items: &mut Vec<T>, len: usize) -> Result<(), DecodeError> {
        items.truncate(len);
        self.reserve(items, len)?;
        if T::IS_LEAF { Ok(()) } else { self.enter_in_place(ELEMENTS_WEIGHT) }
    }

    /// Decodes the elements. Written out, as [`Decoder::field`] is: without optimisation `?` and closures
    /// would double the frames of what recurses.
    #[inline(always)]
    fn fill<T: Decode>(&mut self, items: &mut Vec<T>, len: usize) -> Result<(), DecodeError> {
        let mut index = 0;
        while index < len {
            if index == items.len() {
                push_default(items);
            }
            if let Some(item) = items.get_mut(index)
                && let Err(error) = item.decode_into(self)
            {
                return Err(error.at_index(index));
            }
            index += 1;
        }
        Ok(())
    }

    /// A field of a structure; an error says its name.
    #[inline]
    pub fn field<T: Decode>(&mut self, name: &'static str, value: &mut T) -> Result<(), DecodeError> {
        if T::IS_LEAF {
            return value.decode_into(self).map_err(|error| error.in_field(name));
        }
        self.enter_in_place(1)?;
        match value.decode_into(self) {
            Ok(()) => {
                self.in_place -= 1;
                Ok(())
            }
            Err(error) => Err(error.in_field(name)),
        }
    }

    /// Counts a field, or an array, that is decoded where it stands: what a structure holds in place is
    /// no level of nesting, but takes stack all the same.
    #[inline]
    pub(crate) fn enter_in_place(&mut self, weight: u32) -> Result<(), DecodeError> {
        self.in_place += weight;
        if self.in_place > self.cx.limits.max_in_place {
            return Err(DecodeReason::TooDeep.into());
        }
        Ok(())
    }

    /// Returns from what [`Decoder::enter_in_place`] counted.
    pub(crate) fn leave_in_place(&mut self, weight: u32) {
        self.in_place = self.in_place.saturating_sub(weight);
    }

    /// An optional field: present if `bit` is not zero (OPC 10000-6 §5.2.7).
    #[inline]
    pub fn optional_field<T: Decode>(
        &mut self,
        bit: u32,
        name: &'static str,
        value: &mut Option<T>,
    ) -> Result<(), DecodeError> {
        if bit == 0 {
            *value = None;
            return Ok(());
        }
        if value.is_none() {
            set_default(value);
        }
        match value {
            Some(value) => self.field(name, value),
            None => Ok(()),
        }
    }

    /// The switched field of a union.
    #[inline]
    pub fn union_field<T: Decode>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        // The value itself lies in the frames, more than once without optimisation.
        let weight = const { ELEMENTS_WEIGHT + size_of::<T>() as u32 / 64 };
        if !T::IS_LEAF {
            self.enter_in_place(weight)?;
        }
        match T::decode(self) {
            Ok(value) => {
                self.in_place = self.in_place.saturating_sub(if T::IS_LEAF { 0 } else { weight });
                Ok(value)
            }
            Err(error) => Err(error.in_field(name)),
        }
    }

    /// An error unless every structure of a known type in `value` is `base` or derives from it: the
    /// check of a field with AllowSubTypes (OPC 10000-3 §8.49).
    pub fn check_subtypes<T: HoldsStructures>(
        &self,
        name: &'static str,
        value: &T,
        base: &TypeKey,
    ) -> Result<(), DecodeError> {
        if value.hold_subtypes_of(base) {
            Ok(())
        } else {
            Err(DecodeError::from(DecodeReason::NotASubtype).in_field(name))
        }
    }

    /// The mask of a structure with optional fields; only the bits of `defined` may be set.
    #[inline]
    pub fn encoding_mask(&mut self, defined: u32) -> Result<u32, DecodeError> {
        let mask = self.u32()?;
        if mask & !defined != 0 {
            return Err(DecodeReason::BadEncodingByte.into());
        }
        Ok(mask)
    }

    /// Runs `read` one level deeper.
    #[inline]
    pub fn nested<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        self.enter()?;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Goes one level deeper; [`Decoder::leave`] returns.
    #[inline]
    pub fn enter(&mut self) -> Result<(), DecodeError> {
        if self.depth >= self.cx.limits.max_depth {
            return Err(DecodeReason::TooDeep.into());
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns one level.
    #[inline]
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A decoder over `bytes` (a part of this message) that shares depth and budget; give it back with
    /// [`Decoder::resume_after`].
    pub(crate) fn sub(&self, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, ..self.clone() }
    }

    /// Takes over the budget that `sub` has left.
    pub(crate) fn resume_after(&mut self, sub: &Self) {
        self.heap = sub.heap;
    }

    /// Goes a level deeper, into the body whose length comes next: cuts what is left to it and gives what
    /// is behind it, for [`Decoder::end_body`]. Without a length (−1, as old encoders write) nothing is cut.
    #[inline(never)]
    pub(crate) fn begin_body(&mut self) -> Result<Option<&'a [u8]>, DecodeError> {
        self.enter()?;
        let Ok(len) = usize::try_from(self.i32()?) else {
            return Ok(None);
        };
        match self.rest.split_at_checked(len) {
            Some((body, behind)) => {
                self.rest = body;
                Ok(Some(behind))
            }
            None => Err(DecodeReason::BadLength.into()),
        }
    }

    /// Goes on behind a body; an error unless it was read to its end.
    #[inline(never)]
    pub(crate) fn end_body(&mut self, behind: Option<&'a [u8]>) -> Result<(), DecodeError> {
        self.leave();
        match behind {
            None => Ok(()),
            Some(_) if !self.rest.is_empty() => Err(DecodeReason::BodyLength.into()),
            Some(behind) => {
                self.rest = behind;
                Ok(())
            }
        }
    }
}

/// Apart, so that the element is not in the frame of a decoder that recurses.
#[inline(never)]
fn push_default<T: Default>(items: &mut Vec<T>) {
    items.push(T::default());
}

/// Apart, as [`push_default`].
#[inline(never)]
pub(crate) fn shared_default<T: Default>() -> Arc<T> {
    Arc::default()
}

/// Apart, as [`push_default`].
#[inline(never)]
fn set_default<T: Default>(value: &mut Option<T>) {
    *value = Some(T::default());
}
