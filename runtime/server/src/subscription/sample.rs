//! A sampled value: encoded once, compared as bytes, shared by all items that report it.

use std::sync::Arc;

use uaforge_codec::{DateTime, StatusCode};
use uaforge_types::{DataChangeTrigger, TimestampsToReturn};

/// Bits of an encoded DataValue (OPC 10000-6 §5.2.2.17).
mod mask {
    pub(super) const VALUE: u8 = 0x01;
    pub(super) const STATUS: u8 = 0x02;
    pub(super) const SOURCE: u8 = 0x04;
    pub(super) const SERVER: u8 = 0x08;
    pub(super) const SOURCE_PICOSECONDS: u8 = 0x10;
    pub(super) const SERVER_PICOSECONDS: u8 = 0x20;
}

/// Info bits of a StatusCode (OPC 10000-4 §7.39): the type DataValue, and Overflow.
const OVERFLOW: u32 = 0x0400 | 0x0080;

/// SemanticsChanged of a StatusCode (OPC 10000-4 §7.39).
const SEMANTICS_CHANGED: u32 = 0x4000;

/// Bytes of an encoded Variant that need no memory of their own.
const INLINE: usize = 22;

/// An encoded Variant; nothing stands for no value.
#[derive(Clone, Debug)]
enum Encoded {
    Inline { len: u8, bytes: [u8; INLINE] },
    Shared(Arc<[u8]>),
}

impl Encoded {
    fn new(variant: &[u8]) -> Self {
        let mut bytes = [0; INLINE];
        match (bytes.get_mut(..variant.len()), u8::try_from(variant.len())) {
            (Some(room), Ok(len)) => {
                room.copy_from_slice(variant);
                Self::Inline { len, bytes }
            }
            _ => Self::Shared(variant.into()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Inline { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A DataValue as it was sampled, without picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    value: Encoded,
    status: StatusCode,
    /// Which of the timestamps there are: bits of `mask`.
    times: u8,
    source: DateTime,
    server: DateTime,
}

/// What differs between two samples of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) status: bool,
    pub(crate) value: bool,
    pub(crate) timestamp: bool,
}

impl Change {
    /// Whatever a trigger looks at.
    pub(crate) const ALL: Self = Self { status: true, value: true, timestamp: true };

    /// Whether there is anything to report to anybody.
    pub(crate) fn is_any(self) -> bool {
        self.status || self.value || self.timestamp
    }

    /// Whether the change is one that the trigger of a filter looks at (OPC 10000-4 §7.22.2).
    pub(crate) fn triggers(self, trigger: DataChangeTrigger) -> bool {
        match trigger {
            DataChangeTrigger::STATUS => self.status,
            DataChangeTrigger::STATUS_VALUE_TIMESTAMP => self.is_any(),
            _ => self.status || self.value,
        }
    }
}

impl Sample {
    /// Takes an encoded DataValue apart; `None` if it is none.
    pub(crate) fn parse(data_value: &[u8]) -> Option<Self> {
        let (&mask, rest) = data_value.split_first()?;
        let width = |bit: u8, width: usize| if mask & bit == 0 { 0 } else { width };
        let behind = width(mask::STATUS, 4)
            + width(mask::SOURCE, 8)
            + width(mask::SOURCE_PICOSECONDS, 2)
            + width(mask::SERVER, 8)
            + width(mask::SERVER_PICOSECONDS, 2);
        let (variant, mut rest) = rest.split_at_checked(rest.len().checked_sub(behind)?)?;
        if (mask & mask::VALUE == 0) != variant.is_empty() {
            return None;
        }
        let mut sample = Self {
            value: Encoded::new(variant),
            status: StatusCode::GOOD,
            times: mask & (mask::SOURCE | mask::SERVER),
            source: DateTime::NULL,
            server: DateTime::NULL,
        };
        if mask & mask::STATUS != 0 {
            sample.status = StatusCode(u32::from_le_bytes(take(&mut rest)?));
        }
        if mask & mask::SOURCE != 0 {
            sample.source = DateTime(i64::from_le_bytes(take(&mut rest)?));
        }
        if mask & mask::SOURCE_PICOSECONDS != 0 {
            let _: [u8; 2] = take(&mut rest)?;
        }
        if mask & mask::SERVER != 0 {
            sample.server = DateTime(i64::from_le_bytes(take(&mut rest)?));
        }
        Some(sample)
    }

    /// A status and no value, as of `now`.
    pub(crate) fn from_status(status: StatusCode, now: DateTime) -> Self {
        Self { value: Encoded::new(&[]), status, times: mask::SERVER, source: DateTime::NULL, server: now }
    }

    /// The fields of an event, an encoded array of Variants, as it is queued by event items.
    pub(crate) fn of_event(fields: &[u8]) -> Self {
        Self {
            value: Encoded::new(fields),
            status: StatusCode::GOOD,
            times: 0,
            source: DateTime::NULL,
            server: DateTime::NULL,
        }
    }

    /// The encoded Variant; empty if there is no value. Of an event, its fields.
    pub(crate) fn value(&self) -> &[u8] {
        self.value.bytes()
    }

    /// Gives the sample a ServerTimestamp if its source has none of its own.
    pub(crate) fn stamp(&mut self, now: DateTime) {
        if self.times & mask::SERVER == 0 {
            self.times |= mask::SERVER;
            self.server = now;
        }
    }

    /// Forgets a ServerTimestamp that only stands for one.
    pub(crate) fn unstamp(&mut self, placeholder: DateTime) {
        if self.server == placeholder {
            self.times &= !mask::SERVER;
        }
    }

    /// What differs from an earlier sample. Values are compared as they are encoded: one NaN equals another.
    pub(crate) fn change_since(&self, earlier: &Self) -> Change {
        Change {
            status: self.status != earlier.status,
            value: self.value() != earlier.value(),
            timestamp: (self.times & mask::SOURCE, self.source)
                != (earlier.times & mask::SOURCE, earlier.source),
        }
    }

    /// Marks that values after or before this one were lost (OPC 10000-4 §7.39).
    pub(crate) fn mark_overflow(&mut self) {
        self.status.0 |= OVERFLOW;
    }

    /// The sample, with a mark that the meaning of values has changed, such as their range (OPC 10000-8 §5.2).
    pub(crate) fn with_semantics_changed(&self) -> Self {
        let status = StatusCode(self.status.0 | SEMANTICS_CHANGED);
        Self { status, ..self.clone() }
    }

    /// Bytes that the sample keeps.
    pub(crate) fn weight(&self) -> usize {
        let shared = match &self.value {
            Encoded::Inline { .. } => 0,
            Encoded::Shared(bytes) => bytes.len(),
        };
        size_of::<Self>() + shared
    }

    /// Appends a DataValue with the timestamps that the client wants. A value of more than `most` bytes is left
    /// out: its status is Bad_EncodingLimitsExceeded.
    pub(crate) fn put(&self, out: &mut Vec<u8>, timestamps: TimestampsToReturn, most: usize) {
        let wanted = match timestamps {
            TimestampsToReturn::SOURCE => mask::SOURCE,
            TimestampsToReturn::SERVER => mask::SERVER,
            TimestampsToReturn::BOTH => mask::SOURCE | mask::SERVER,
            _ => 0,
        };
        let times = self.times & wanted;
        let (value, status) = if self.value().len() > most {
            (&[][..], uaforge_types::status::BAD_ENCODING_LIMITS_EXCEEDED)
        } else {
            (self.value(), self.status)
        };
        let has_value = if value.is_empty() { 0 } else { mask::VALUE };
        let has_status = if status == StatusCode::GOOD { 0 } else { mask::STATUS };
        out.push(times | has_value | has_status);
        out.extend_from_slice(value);
        if has_status != 0 {
            out.extend_from_slice(&status.0.to_le_bytes());
        }
        if times & mask::SOURCE != 0 {
            out.extend_from_slice(&self.source.0.to_le_bytes());
        }
        if times & mask::SERVER != 0 {
            out.extend_from_slice(&self.server.0.to_le_bytes());
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use uaforge_codec::{
        DataValue, Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder,
    };
    use uaforge_codec::{UaString, Variant};
    use uaforge_types::status;

    use super::*;

    fn encoded(value: &DataValue) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.encode(&mut Encoder::new(&mut bytes, EncodeContext::default()));
        bytes
    }

    fn decoded(sample: &Sample, timestamps: TimestampsToReturn) -> DataValue {
        let mut bytes = Vec::new();
        sample.put(&mut bytes, timestamps, usize::MAX);
        DataValue::decode(&mut Decoder::new(&bytes, DecodeContext::default())).expect("a DataValue")
    }

    #[test]
    fn takes_apart_and_puts_together() {
        for value in [Variant::Int32(5), Variant::from(UaString::from("a text that does not fit inline"))] {
            let whole = DataValue::new(value)
                .with_status(Some(status::UNCERTAIN))
                .with_source_timestamp(Some(DateTime(5)))
                .with_server_timestamp(Some(DateTime(6)));
            let sample = Sample::parse(&encoded(&whole)).expect("a sample");
            assert_eq!(decoded(&sample, TimestampsToReturn::BOTH), whole);
            let source = decoded(&sample, TimestampsToReturn::SOURCE);
            assert_eq!((source.source_timestamp(), source.server_timestamp()), (Some(DateTime(5)), None));
            let neither = decoded(&sample, TimestampsToReturn::NEITHER);
            assert_eq!((neither.source_timestamp(), neither.server_timestamp()), (None, None));
        }
    }

    #[test]
    fn what_is_no_data_value_is_none() {
        assert!(Sample::parse(&[]).is_none());
        assert!(Sample::parse(&[mask::STATUS, 1, 2]).is_none());
        assert!(Sample::parse(&[mask::VALUE]).is_none());
        assert!(Sample::parse(&[0, 7]).is_none());
    }

    #[test]
    fn changes() {
        let sample = |value: f64, status, source| {
            let value = DataValue::new(Variant::Double(value))
                .with_status(Some(status))
                .with_source_timestamp(Some(DateTime(source)));
            Sample::parse(&encoded(&value)).expect("a sample")
        };
        let first = sample(1.0, status::UNCERTAIN, 1);
        let since = |later: &Sample| later.change_since(&first);
        assert_eq!(since(&first.clone()), Change::default());
        assert_eq!(since(&sample(2.0, status::UNCERTAIN, 1)), Change { value: true, ..Change::default() });
        assert_eq!(since(&sample(1.0, status::BAD, 1)), Change { status: true, ..Change::default() });
        let later = since(&sample(1.0, status::UNCERTAIN, 2));
        assert_eq!(later, Change { timestamp: true, ..Change::default() });
        assert!(!later.triggers(DataChangeTrigger::STATUS_VALUE));
        assert!(later.triggers(DataChangeTrigger::STATUS_VALUE_TIMESTAMP));
        let nan = sample(f64::NAN, status::UNCERTAIN, 1);
        assert!(since(&nan).value);
        assert!(!sample(-f64::NAN, status::UNCERTAIN, 1).change_since(&nan).value);
    }

    #[test]
    fn a_value_that_is_too_large_is_a_status() {
        let text = DataValue::new(Variant::from(UaString::from("x".repeat(100))));
        let sample = Sample::parse(&encoded(&text)).expect("a sample");
        let mut bytes = Vec::new();
        sample.put(&mut bytes, TimestampsToReturn::NEITHER, 99);
        let value = DataValue::decode(&mut Decoder::new(&bytes, DecodeContext::default())).expect("a value");
        assert_eq!((value.value(), value.status()), (None, Some(status::BAD_ENCODING_LIMITS_EXCEEDED)));
    }

    #[test]
    fn overflow_is_a_bit_of_a_data_value() {
        let mut sample = Sample::from_status(status::BAD_NO_COMMUNICATION, DateTime(1));
        sample.mark_overflow();
        assert_eq!(sample.status.0, status::BAD_NO_COMMUNICATION.0 | 0x480);
    }
}
