//! Deadbands: how far numbers have to move to be reported (OPC 10000-4 §7.22.2, OPC 10000-8 §7.2).

/// Bits of a Variant's first byte (OPC 10000-6 §5.2.2.16).
const IS_ARRAY: u8 = 0x80;
const HAS_DIMENSIONS: u8 = 0x40;

/// A number as it is compared: integers exactly, others as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i128),
    Real(f64),
}

impl Number {
    /// Whether two numbers are further apart than `band`. One NaN is as far from another as from itself, and
    /// further from every number than any band.
    fn is_beyond(self, other: Self, band: f64) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => (a - b).unsigned_abs() as f64 > band,
            (Self::Real(a), Self::Real(b)) => a.is_nan() != b.is_nan() || (a != b && (a - b).abs() > band),
            _ => true,
        }
    }
}

/// Bytes of a number by its builtin type (OPC 10000-6 §5.1.2); `None` for what is no number.
fn width(builtin: u8) -> Option<usize> {
    Some(match builtin {
        2 | 3 => 1,
        4 | 5 => 2,
        6 | 7 | 10 => 4,
        8 | 9 | 11 => 8,
        _ => return None,
    })
}

fn number(builtin: u8, bytes: &[u8]) -> Option<Number> {
    Some(match builtin {
        2 => Number::Integer(i8::from_le_bytes(bytes.try_into().ok()?).into()),
        3 => Number::Integer(u8::from_le_bytes(bytes.try_into().ok()?).into()),
        4 => Number::Integer(i16::from_le_bytes(bytes.try_into().ok()?).into()),
        5 => Number::Integer(u16::from_le_bytes(bytes.try_into().ok()?).into()),
        6 => Number::Integer(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        7 => Number::Integer(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        8 => Number::Integer(i64::from_le_bytes(bytes.try_into().ok()?).into()),
        9 => Number::Integer(u64::from_le_bytes(bytes.try_into().ok()?).into()),
        10 => Number::Real(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        11 => Number::Real(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}

/// The numbers of an encoded Variant: type, elements, and what stands around them.
struct Numbers<'a> {
    builtin: u8,
    width: usize,
    elements: &'a [u8],
    /// Flags, length and dimensions: arrays that differ in these are different.
    shape: (u8, &'a [u8]),
}

impl<'a> Numbers<'a> {
    fn of(variant: &'a [u8]) -> Option<Self> {
        let (&first, rest) = variant.split_first()?;
        let builtin = first & 0x3F;
        let width = width(builtin)?;
        if first & IS_ARRAY == 0 {
            let elements = Some(rest).filter(|rest| rest.len() == width)?;
            return Some(Self { builtin, width, elements, shape: (first, &[]) });
        }
        let (length, rest) = rest.split_first_chunk()?;
        let count = usize::try_from(i32::from_le_bytes(*length)).unwrap_or_default();
        let (elements, dimensions) = rest.split_at_checked(count.checked_mul(width)?)?;
        if dimensions.is_empty() != (first & HAS_DIMENSIONS == 0) {
            return None;
        }
        Some(Self { builtin, width, elements, shape: (first, dimensions) })
    }

    fn iter(&self) -> impl Iterator<Item = Option<Number>> {
        self.elements.chunks_exact(self.width).map(|bytes| number(self.builtin, bytes))
    }
}

/// Whether a value, or one of its elements, is further than `band` from the one that was reported last. What is no
/// number, and arrays of another form, count as beyond when they differ.
pub(crate) fn is_beyond(reported: &[u8], value: &[u8], band: f64) -> bool {
    let (Some(old), Some(new)) = (Numbers::of(reported), Numbers::of(value)) else {
        return reported != value;
    };
    if old.shape != new.shape || old.elements.len() != new.elements.len() {
        return true;
    }
    old.iter().zip(new.iter()).any(|(old, new)| match (old, new) {
        (Some(old), Some(new)) => new.is_beyond(old, band),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use uaforge_codec::{Encode as _, EncodeContext, Encoder, IntoVariant, UaString, Variant};

    use super::*;

    fn beyond(reported: impl IntoVariant, value: impl IntoVariant, band: f64) -> bool {
        let encoded = |value: Variant| {
            let mut bytes = Vec::new();
            value.encode(&mut Encoder::new(&mut bytes, EncodeContext::default()));
            bytes
        };
        is_beyond(&encoded(reported.into_variant()), &encoded(value.into_variant()), band)
    }

    #[test]
    fn a_difference_of_exactly_the_band_is_within() {
        assert!(!beyond(100.0f64, 105.0f64, 5.0) && beyond(100.0f64, 105.5f64, 5.0));
        assert!(!beyond(100.0f64, 95.0f64, 5.0) && beyond(100.0f64, 94.9f64, 5.0));
        assert!(!beyond(7i32, 7i32, 0.0) && beyond(7i32, 8i32, 0.0));
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        assert!(beyond(u64::MAX, u64::MAX - 2, 1.0) && !beyond(u64::MAX, u64::MAX - 1, 1.0));
        assert!(beyond(i64::MIN, i64::MAX, 1e18));
        for band in [0.0, 254.0] {
            assert!(beyond(i8::MIN, i8::MAX, band));
            assert!(beyond(0u8, u8::MAX, band));
        }
        assert!(beyond(0u16, 2u16, 1.0) && beyond(0i16, -2i16, 1.0));
        assert!(beyond(0u32, 2u32, 1.0) && beyond(0f32, 2f32, 1.0));
    }

    #[test]
    fn not_a_number() {
        assert!(!beyond(f64::NAN, f64::NAN, 0.0));
        assert!(beyond(1.0f64, f64::NAN, 1e300) && beyond(f64::NAN, 1.0f64, 1e300));
        assert!(!beyond(f64::INFINITY, f64::INFINITY, 0.0));
        assert!(beyond(f64::INFINITY, f64::NEG_INFINITY, 1e308));
    }

    #[test]
    fn arrays_by_their_elements() {
        assert!(!beyond(vec![0.0f64, 0.0], vec![0.5f64, 0.0], 1.0));
        assert!(beyond(vec![0.0f64, 0.0], vec![0.5f64, 2.0], 1.0));
        assert!(beyond(vec![0.0f64, 0.0], vec![0.0f64, 0.0, 0.0], 1.0));
    }

    #[test]
    fn other_types() {
        assert!(beyond(1i32, 1i64, 10.0));
        assert!(beyond(UaString::from("a"), UaString::from("b"), 10.0));
        assert!(!beyond(UaString::from("a"), UaString::from("a"), 10.0));
        assert!(is_beyond(&[], &[6, 0, 0, 0, 0], 1.0) && !is_beyond(&[], &[], 1.0));
        let is_number = |variant: &[u8]| Numbers::of(variant).is_some();
        assert!(
            !is_number(&[6, 0, 0, 0]) && !is_number(&[0x86, 1, 0, 0, 0]) && !is_number(&[12, 0, 0, 0, 0])
        );
        assert!(is_number(&[0x86, 0xFF, 0xFF, 0xFF, 0xFF]));
    }
}
