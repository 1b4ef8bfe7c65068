//! Cutting parts out of values that stay encoded: what is not wanted is walked over, not built.

use super::window::Window;
use super::{Bounds, NumericRange, RangeError, part_of_bytes, part_of_text};
use crate::data_value_ref::{builtin, fixed_width, skip_item};
use crate::{BuiltinType, DecodeContext, DecodeLimits, Decoder};

/// A piece of the part of an encoded Variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodedPiece<'p> {
    /// Bytes of the whole, at these positions.
    Same(core::ops::Range<usize>),
    /// Bytes that are not so in the whole: lengths, and parts of strings.
    New(&'p [u8]),
}

/// What stands in memory already is not too long.
static IN_MEMORY: DecodeLimits =
    DecodeLimits { max_array_length: usize::MAX, max_string_length: usize::MAX, ..DecodeLimits::DEFAULT };

const ARRAY: u8 = 0x80;
const DIMENSIONS: u8 = 0x40;

impl NumericRange {
    /// As [`cut`](Self::cut), out of an encoded Variant into the pieces of another one. Takes time for what lies
    /// before the end of the range, and no memory for it. What was put before an error is to be forgotten.
    ///
    /// # Errors
    /// [`RangeError::NoData`], for bytes that are no Variant too.
    pub fn cut_encoded(
        &self,
        variant: &[u8],
        put: &mut dyn FnMut(EncodedPiece<'_>),
    ) -> Result<(), RangeError> {
        let cx = DecodeContext { limits: &IN_MEMORY, ..DecodeContext::default() };
        let mut d = Decoder::new(variant, cx);
        let encoding = d.u8().map_err(no_data)?;
        let of = builtin(encoding & 0x3F).map_err(no_data)?;
        if encoding & ARRAY == 0 {
            let bytes = d.bytes().map_err(no_data)?;
            let part = part(of, bytes, self.only()?).ok_or(RangeError::NoData)?;
            put(EncodedPiece::New(&[encoding]));
            put_bytes(Some(part), put);
            return Ok(());
        }
        let elements = Elements::read(of, encoding, d, variant.len()).ok_or(RangeError::NoData)?;
        let dimensions = elements.dimensions.as_slice();
        let (outer, inner) = self.split(dimensions.len())?;
        let window = Window::new(outer, dimensions, Bounds::within).ok_or(RangeError::NoData)?;
        put(EncodedPiece::New(&[encoding]));
        put(EncodedPiece::New(&length(window.count())));
        match inner {
            None => elements.put_runs(&window, put)?,
            Some(inner) => elements.put_parts(&window, inner, put)?,
        }
        if encoding & DIMENSIONS != 0 {
            put(EncodedPiece::New(&length(dimensions.len())));
            window.dimensions().iter().for_each(|len| put(EncodedPiece::New(&len.to_le_bytes())));
        }
        Ok(())
    }
}

/// Bytes that cutting an encoded Variant may have to look at beside those that it gives.
pub(super) fn cost(variant: &[u8]) -> usize {
    let of =
        variant.first().and_then(|encoding| Some((encoding & ARRAY != 0, builtin(encoding & 0x3F).ok()?)));
    match of {
        Some((false, BuiltinType::ByteString)) => 0,
        Some((_, of)) if fixed_width(of).is_some() => 0,
        _ => variant.len(),
    }
}

fn no_data<E>(_: E) -> RangeError {
    RangeError::NoData
}

fn length(len: usize) -> [u8; 4] {
    i32::try_from(len).unwrap_or(i32::MAX).to_le_bytes()
}

fn put_bytes(bytes: Option<&[u8]>, put: &mut dyn FnMut(EncodedPiece<'_>)) {
    match bytes {
        None => put(EncodedPiece::New(&(-1i32).to_le_bytes())),
        Some(bytes) => {
            put(EncodedPiece::New(&length(bytes.len())));
            put(EncodedPiece::New(bytes));
        }
    }
}

/// A part of a String or ByteString; `None` if it is too short, or of another type.
fn part(of: BuiltinType, bytes: Option<&[u8]>, bounds: Bounds) -> Option<&[u8]> {
    match of {
        BuiltinType::String => part_of_text(core::str::from_utf8(bytes?).ok()?, bounds).map(str::as_bytes),
        BuiltinType::ByteString => part_of_bytes(bytes?, bounds),
        _ => None,
    }
}

/// The elements of an encoded array.
struct Elements<'a> {
    of: BuiltinType,
    /// At the first one.
    at: Decoder<'a>,
    /// Length of the whole Variant.
    end: usize,
    dimensions: alloc::vec::Vec<u32>,
}

impl<'a> Elements<'a> {
    fn read(of: BuiltinType, encoding: u8, mut d: Decoder<'a>, end: usize) -> Option<Self> {
        let count = d.array_len(1).ok()??;
        let at = d.clone();
        let mut dimensions = alloc::vec![u32::try_from(count).ok()?];
        if encoding & DIMENSIONS != 0 {
            skip(of, count, &mut d)?;
            dimensions.clear();
            for _ in 0..d.array_len(4).ok()?? {
                dimensions.push(u32::try_from(d.i32().ok()?).ok()?);
            }
        }
        let product = crate::array::product(&dimensions);
        (product == Some(count)).then_some(Self { of, at, end, dimensions })
    }

    /// Elements as they are.
    fn put_runs(&self, window: &Window, put: &mut dyn FnMut(EncodedPiece<'_>)) -> Result<(), RangeError> {
        let (mut d, mut index) = (self.at.clone(), 0);
        let mut whole = Some(());
        window.for_each_run(|run| {
            whole = whole.and_then(|()| {
                skip(self.of, run.start.checked_sub(index)?, &mut d)?;
                let start = self.end - d.remaining();
                skip(self.of, run.len(), &mut d)?;
                put(EncodedPiece::Same(start..self.end - d.remaining()));
                index = run.end;
                Some(())
            });
        });
        whole.ok_or(RangeError::NoData)
    }

    /// Parts of strings and byte strings.
    fn put_parts(
        &self,
        window: &Window,
        inner: Bounds,
        put: &mut dyn FnMut(EncodedPiece<'_>),
    ) -> Result<(), RangeError> {
        let (mut d, mut index, mut found) = (self.at.clone(), 0, false);
        let mut whole = Some(());
        window.for_each_run(|run| {
            whole = whole.and_then(|()| {
                skip(self.of, run.start.checked_sub(index)?, &mut d)?;
                for _ in run.clone() {
                    let part = part(self.of, d.bytes().ok()?, inner);
                    found |= part.is_some();
                    put_bytes(part, put);
                }
                index = run.end;
                Some(())
            });
        });
        if whole.is_some() && found { Ok(()) } else { Err(RangeError::NoData) }
    }
}

/// Walks over elements.
fn skip(of: BuiltinType, count: usize, d: &mut Decoder<'_>) -> Option<()> {
    match fixed_width(of) {
        Some(width) => d.take(count.checked_mul(width)?).ok().map(|_| ()),
        None => (0..count).try_for_each(|_| skip_item(of, d)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::cut::tests::{ints, matrix, strings};
    use super::*;
    use crate::{ByteString, Decode as _, Encode as _, EncodeContext, Encoder, LocalizedText, Variant};
    use crate::{VariantArray, VariantMatrix};

    fn cut_encoded(range: &NumericRange, value: &Variant) -> Result<Variant, RangeError> {
        let (mut bytes, mut part) = (Vec::new(), Vec::new());
        value.encode(&mut Encoder::new(&mut bytes, EncodeContext::default()));
        range.cut_encoded(&bytes, &mut |piece| match piece {
            EncodedPiece::Same(at) => part.extend_from_slice(&bytes[at]),
            EncodedPiece::New(new) => part.extend_from_slice(new),
        })?;
        let mut d = Decoder::new(&part, DecodeContext::default());
        let value = Variant::decode(&mut d).expect("a Variant");
        d.finish().expect("nothing more");
        Ok(value)
    }

    #[test]
    fn gives_what_cutting_the_decoded_value_gives() {
        let texts =
            ["a", "bc", "def"].map(|text| LocalizedText { text: text.into(), ..LocalizedText::default() });
        let texts = VariantArray::LocalizedText(texts.to_vec().into());
        let grid = VariantMatrix::new(alloc::vec![1, 3], texts.clone()).map(Variant::from);
        let values = [
            ints(&[1, 2, 3, 4]),
            matrix(&[2, 3], &[1, 2, 3, 4, 5, 6]),
            matrix(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]),
            strings(&[Some("TestString"), None, Some("Öffner")]),
            Variant::String("äbcd".into()),
            Variant::ByteString(ByteString::from([1, 2, 3])),
            Variant::ByteString(ByteString::NULL),
            texts.into(),
            grid.expect("one row of three"),
            VariantArray::Int32(crate::Array::NULL).into(),
            Variant::Int32(7),
            Variant::Null,
        ];
        let ranges =
            ["0", "1", "1:2", "2:9", "9", "0,0", "0,1:2", "1,0:1", "0:2,1:3", "0:1,20", "1,0:1,1", "0,0,0,0"];
        for (value, range) in values.iter().flat_map(|value| ranges.map(|range| (value, range))) {
            let range: NumericRange = range.parse().expect("a range");
            assert_eq!(cut_encoded(&range, value), range.cut(value), "{range} of {value:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_variant_have_no_data() {
        let range: NumericRange = "0:1".parse().expect("a range");
        let mut bytes = Vec::new();
        strings(&[Some("a"), Some("b"), Some("c")])
            .encode(&mut Encoder::new(&mut bytes, EncodeContext::default()));
        for end in 0..15 {
            let cut = range.cut_encoded(&bytes[..end], &mut |_| {});
            assert_eq!(cut, Err(RangeError::NoData), "cut at {end}");
        }
    }
}
