//! DataValue: a value with status and timestamps (OPC 10000-6 §5.2.2.17).

use core::fmt;

use crate::debug::{Inner, Parts};
use crate::{DateTime, Decode, DecodeError, DecodeReason, Decoder, Encode, Encoder, StatusCode, Variant};

/// A value with its status and timestamps. 56 bytes; a mask says which parts are
/// present (OPC 10000-6 §5.2.2.17).
#[derive(Clone, Default, PartialEq)]
pub struct DataValue {
    value: Variant,
    source_timestamp: DateTime,
    server_timestamp: DateTime,
    status: StatusCode,
    source_picoseconds: u16,
    server_picoseconds: u16,
    mask: u8,
}

const _: () = assert!(size_of::<DataValue>() == 56);

/// Bits of the mask (OPC 10000-6 §5.2.2.17).
pub(crate) mod mask {
    pub(crate) const VALUE: u8 = 0x01;
    pub(crate) const STATUS: u8 = 0x02;
    pub(crate) const SOURCE_TIMESTAMP: u8 = 0x04;
    pub(crate) const SERVER_TIMESTAMP: u8 = 0x08;
    pub(crate) const SOURCE_PICOSECONDS: u8 = 0x10;
    pub(crate) const SERVER_PICOSECONDS: u8 = 0x20;
    pub(crate) const DEFINED: u8 = 0x3F;
}
use mask::{
    DEFINED, SERVER_PICOSECONDS, SERVER_TIMESTAMP, SOURCE_PICOSECONDS, SOURCE_TIMESTAMP, STATUS, VALUE,
};

macro_rules! parts {
    ($($get:ident, $with:ident, $field:ident: $ty:ty = $bit:ident, $doc:literal;)*) => {$(
        #[doc = concat!($doc, "; `None` if absent.")]
        #[must_use]
        pub const fn $get(&self) -> Option<$ty> {
            if self.mask & $bit != 0 { Some(self.$field) } else { None }
        }

        #[doc = concat!("Sets or removes: ", $doc, ".")]
        #[must_use]
        pub fn $with(mut self, part: impl Into<Option<$ty>>) -> Self {
            let part = part.into();
            self.mask = if part.is_some() { self.mask | $bit } else { self.mask & !$bit };
            self.$field = part.unwrap_or_default();
            self
        }
    )*};
}

impl DataValue {
    /// A value alone.
    #[must_use]
    pub fn new(value: impl Into<Variant>) -> Self {
        Self { value: value.into(), mask: VALUE, ..Self::default() }
    }

    /// A status alone.
    #[must_use]
    pub fn from_status(status: StatusCode) -> Self {
        Self { status, mask: STATUS, ..Self::default() }
    }

    /// The value; `None` if absent.
    #[must_use]
    pub const fn value(&self) -> Option<&Variant> {
        if self.mask & VALUE != 0 { Some(&self.value) } else { None }
    }

    /// The value, if there is nothing beside it: no status, no timestamps.
    #[inline]
    #[must_use]
    pub const fn value_alone(&self) -> Option<&Variant> {
        if self.mask == VALUE { Some(&self.value) } else { None }
    }

    /// The value; Null if absent.
    #[must_use]
    pub fn into_value(self) -> Variant {
        self.value
    }

    /// Sets or removes the value.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<Option<Variant>>) -> Self {
        let value = value.into();
        self.mask = if value.is_some() { self.mask | VALUE } else { self.mask & !VALUE };
        self.value = value.unwrap_or_default();
        self
    }

    /// The status; Good if absent (OPC 10000-4 §7.11).
    #[must_use]
    pub const fn status_or_good(&self) -> StatusCode {
        self.status
    }

    parts! {
        status, with_status, status: StatusCode = STATUS, "The status";
        source_timestamp, with_source_timestamp, source_timestamp: DateTime = SOURCE_TIMESTAMP, "The time of the source";
        server_timestamp, with_server_timestamp, server_timestamp: DateTime = SERVER_TIMESTAMP, "The time of the server";
        source_picoseconds, with_source_picoseconds, source_picoseconds: u16 = SOURCE_PICOSECONDS, "Units of 10 ps after the source timestamp";
        server_picoseconds, with_server_picoseconds, server_picoseconds: u16 = SERVER_PICOSECONDS, "Units of 10 ps after the server timestamp";
    }
}

impl fmt::Debug for DataValue {
    /// The parts that are present.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Parts::of("DataValue", f)
            .part("value", self.value().map(|value| Inner(value)))
            .part("status", self.status())
            .part("source_timestamp", self.source_timestamp())
            .part("source_picoseconds", self.source_picoseconds())
            .part("server_timestamp", self.server_timestamp())
            .part("server_picoseconds", self.server_picoseconds())
            .finish()
    }
}

impl Encode for DataValue {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u8(self.mask);
        if self.mask & VALUE != 0 {
            self.value.encode(e);
        }
        if self.mask & STATUS != 0 {
            self.status.encode(e);
        }
        if self.mask & SOURCE_TIMESTAMP != 0 {
            self.source_timestamp.encode(e);
        }
        if self.mask & SOURCE_PICOSECONDS != 0 {
            e.put_u16(self.source_picoseconds);
        }
        if self.mask & SERVER_TIMESTAMP != 0 {
            self.server_timestamp.encode(e);
        }
        if self.mask & SERVER_PICOSECONDS != 0 {
            e.put_u16(self.server_picoseconds);
        }
    }
}

impl Decode for DataValue {
    const MIN_SIZE: usize = 1;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let mask = d.u8()?;
        if mask & !DEFINED != 0 {
            return Err(DecodeReason::BadEncodingByte.into());
        }
        self.mask = mask;
        if mask & VALUE != 0 {
            d.enter()?;
            self.value.decode_into(d)?;
            d.leave();
        } else {
            self.value = Variant::Null;
        }
        self.status = if mask & STATUS != 0 { Decode::decode(d)? } else { StatusCode::GOOD };
        self.source_timestamp = optional(mask & SOURCE_TIMESTAMP, d)?;
        self.source_picoseconds = picoseconds(mask & SOURCE_PICOSECONDS, d)?;
        self.server_timestamp = optional(mask & SERVER_TIMESTAMP, d)?;
        self.server_picoseconds = picoseconds(mask & SERVER_PICOSECONDS, d)?;
        Ok(())
    }
}

/// Larger values are read as 9999 (OPC 10000-6 §5.2.2.17).
#[inline]
fn picoseconds(bit: u8, d: &mut Decoder<'_>) -> Result<u16, DecodeError> {
    optional(bit, d).map(|value: u16| value.min(9999))
}

#[inline]
fn optional<T: Decode>(bit: u8, d: &mut Decoder<'_>) -> Result<T, DecodeError> {
    if bit != 0 { T::decode(d) } else { Ok(T::default()) }
}
