//! Boolean, the integers, Float and Double (OPC 10000-6 §5.2.2.1 to §5.2.2.3).

use alloc::vec::Vec;

use crate::{Decode, DecodeError, DecodeRef, Decoder, Encode, Encoder};

impl Encode for bool {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u8(u8::from(*self));
    }
}

impl Decode for bool {
    /// Any non-zero byte is true.
    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *self = d.u8()? != 0;
        Ok(())
    }
}

impl<'a> DecodeRef<'a> for bool {
    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(d.u8()? != 0)
    }
}

/// Elements that are brought into wire form at a time, on the stack.
const BLOCK: usize = 64;

macro_rules! little_endian {
    ($($ty:ty: $bytes:expr),*) => {$(
        impl Encode for $ty {
            #[inline]
            fn encode(&self, e: &mut Encoder<'_>) {
                e.put(&$bytes(*self));
            }

            fn encode_items(items: &[Self], e: &mut Encoder<'_>) {
                const WIDTH: usize = size_of::<$ty>();
                let mut block = [0_u8; BLOCK * WIDTH];
                for group in items.chunks(BLOCK) {
                    for (item, slot) in group.iter().zip(block.chunks_exact_mut(WIDTH)) {
                        slot.copy_from_slice(&$bytes(*item));
                    }
                    e.put(&block[..group.len() * WIDTH]);
                }
            }
        }

        impl Decode for $ty {
            #[inline]
            fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
                *self = Self::from_le_bytes(d.array()?);
                Ok(())
            }

            fn decode_items(items: &mut Vec<Self>, len: usize, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
                const WIDTH: usize = size_of::<$ty>();
                let bytes = d.take(len.saturating_mul(WIDTH))?;
                items.clear();
                if items.capacity() < len {
                    // The input holds every element, so that this reserves what it backs.
                    d.charge(bytes.len().saturating_mul(2))?;
                    items.reserve_exact(len);
                }
                let (values, _) = bytes.as_chunks::<WIDTH>();
                items.extend(values.iter().map(|value| Self::from_le_bytes(*value)));
                Ok(())
            }
        }

        impl<'a> DecodeRef<'a> for $ty {
            #[inline]
            fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
                d.array().map(Self::from_le_bytes)
            }
        }
    )*};
}

little_endian! {
    i8: i8::to_le_bytes,
    u8: u8::to_le_bytes,
    i16: i16::to_le_bytes,
    u16: u16::to_le_bytes,
    i32: i32::to_le_bytes,
    u32: u32::to_le_bytes,
    i64: i64::to_le_bytes,
    u64: u64::to_le_bytes,
    f32: float_bytes,
    f64: double_bytes
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
