//! Boolean, the integers, Float and Double (OPC 10000-6 §5.2.2.1 to §5.2.2.3).

use crate::Encoder;

/// Bytes that are brought into wire form at a time, on the stack: of short arrays and of long ones, for
/// which fewer, larger copies count more than clearing the block.
const SHORT_BLOCK: usize = 512;
const LONG_BLOCK: usize = 4096;

/// Types of a fixed width: one element, and slices in bulk.
macro_rules! fixed_width {
    ($($ty:ty, $width:literal: $write:expr, $read:expr;)*) => {$(
        #[allow(clippy::redundant_closure_call, reason = "some conversions are paths, some closures")]
        impl $crate::Encode for $ty {
            #[inline]
            fn encode(&self, e: &mut $crate::Encoder<'_>) {
                let write: fn($ty) -> [u8; $width] = $write;
                e.put(&write(*self));
            }

            fn encode_items(items: &[Self], e: &mut $crate::Encoder<'_>) {
                let write: fn($ty) -> [u8; $width] = $write;
                $crate::primitives::put_items(items, write, e);
            }
        }

        #[allow(clippy::redundant_closure_call, reason = "some conversions are paths, some closures")]
        impl $crate::Decode for $ty {
            const MIN_SIZE: usize = $width;
            const IS_LEAF: bool = true;

            #[inline]
            fn decode_into(&mut self, d: &mut $crate::Decoder<'_>) -> Result<(), $crate::DecodeError> {
                let read: fn([u8; $width]) -> $ty = $read;
                *self = read(d.array()?);
                Ok(())
            }

            fn decode_items(
                items: &mut alloc::vec::Vec<Self>,
                len: usize,
                d: &mut $crate::Decoder<'_>,
            ) -> Result<(), $crate::DecodeError> {
                let read: fn([u8; $width]) -> $ty = $read;
                // The input holds every element, so that this reserves what it backs.
                let bytes = d.take(len.saturating_mul($width))?;
                items.clear();
                d.reserve(items, len)?;
                let (values, _) = bytes.as_chunks::<$width>();
                items.extend(values.iter().map(|value| read(*value)));
                Ok(())
            }
        }

        impl<'a> $crate::DecodeRef<'a> for $ty {
            const MIN_SIZE: usize = $width;

            #[inline]
            fn decode_ref(d: &mut $crate::Decoder<'a>) -> Result<Self, $crate::DecodeError> {
                let read: fn([u8; $width]) -> $ty = $read;
                d.array().map(read)
            }
        }
    )*};
}
pub(crate) use fixed_width;

/// Writes the items in bulk.
#[inline]
pub(crate) fn put_items<T: Copy, const WIDTH: usize>(
    items: &[T],
    write: fn(T) -> [u8; WIDTH],
    e: &mut Encoder<'_>,
) {
    if size_of_val(items) <= SHORT_BLOCK {
        put_blocks::<T, WIDTH, SHORT_BLOCK>(items, write, e);
    } else {
        put_blocks::<T, WIDTH, LONG_BLOCK>(items, write, e);
    }
}

/// Writes the items by blocks of `SIZE` bytes.
#[inline]
fn put_blocks<T: Copy, const WIDTH: usize, const SIZE: usize>(
    items: &[T],
    write: fn(T) -> [u8; WIDTH],
    e: &mut Encoder<'_>,
) {
    let mut block = [0_u8; SIZE];
    for group in items.chunks(SIZE / WIDTH) {
        let (slots, _) = block.as_chunks_mut::<WIDTH>();
        for (item, slot) in group.iter().zip(slots) {
            *slot = write(*item);
        }
        e.put(block.get(..group.len() * WIDTH).unwrap_or_default());
    }
}

fixed_width! {
    // Any byte but 0 is true.
    bool, 1: |value| [u8::from(value)], |[byte]| byte != 0;
    i8, 1: i8::to_le_bytes, i8::from_le_bytes;
    u8, 1: u8::to_le_bytes, u8::from_le_bytes;
    i16, 2: i16::to_le_bytes, i16::from_le_bytes;
    u16, 2: u16::to_le_bytes, u16::from_le_bytes;
    i32, 4: i32::to_le_bytes, i32::from_le_bytes;
    u32, 4: u32::to_le_bytes, u32::from_le_bytes;
    i64, 8: i64::to_le_bytes, i64::from_le_bytes;
    u64, 8: u64::to_le_bytes, u64::from_le_bytes;
    f32, 4: float_bytes, f32::from_le_bytes;
    f64, 8: double_bytes, f64::from_le_bytes;
}

/// Every NaN is written as the quiet NaN FFC00000 (OPC 10000-6 §5.2.2.3).
#[inline]
fn float_bytes(value: f32) -> [u8; 4] {
    if value.is_nan() { 0xFFC0_0000_u32.to_le_bytes() } else { value.to_le_bytes() }
}

/// Every NaN is written as the quiet NaN FFF8000000000000 (OPC 10000-6 §5.2.2.3).
#[inline]
fn double_bytes(value: f64) -> [u8; 8] {
    if value.is_nan() { 0xFFF8_0000_0000_0000_u64.to_le_bytes() } else { value.to_le_bytes() }
}
