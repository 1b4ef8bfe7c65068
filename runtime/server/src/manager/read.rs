//! The batch of a Read: items, and the context that takes their answers.

use core::future::Future;
use core::time::Duration;

use uaforge_codec::{
    BuiltinType, DataValue, DateTime, Encode as _, Encoder, NodeIdRef, Now, NumericRange, QualifiedNameRef,
    StatusCode, StrRef, Ticks, UaString, Variant,
};
use uaforge_nodes::{EncodedValue, Timestamps, ValueCell};
use uaforge_types::{ReadValueIdRef, TimestampsToReturn, status};

use super::defer::{Deferred, Late, LateTarget};
use crate::access::Access;
use crate::attribute;
use crate::binding::HandlerCx;
use crate::blocking::BlockingPool;
use crate::cancellation::{Cancellation, Scope};
use crate::encode::{ValueParts, put_data_status, put_data_value};
use crate::proto::results::Results;

/// One attribute to read (ReadValueId, OPC 10000-4 §7.29). What a manager gets was checked for form.
#[derive(Clone, Copy, Debug)]
pub struct ReadItem<'a> {
    /// Position in the request.
    pub(crate) index: usize,
    /// The node.
    pub node: NodeIdRef<'a>,
    /// The attribute (OPC 10000-6 §A.1).
    pub attribute: u32,
    /// The index range as text; the context cuts the answer, a manager may use it to fetch less.
    pub range: StrRef<'a>,
    /// The data encoding that was asked for; null is the server's choice.
    pub encoding: QualifiedNameRef<'a>,
}

/// What a Read asks for as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSettings {
    pub(crate) access: Access,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) max_age: f64,
    pub(crate) now: Now,
}

impl<'a> ReadItem<'a> {
    pub(crate) fn new(index: usize, node: &ReadValueIdRef<'a>) -> Self {
        Self {
            index,
            node: node.node_id,
            attribute: node.attribute_id,
            range: node.index_range,
            encoding: node.data_encoding,
        }
    }

    /// What can be said of an item without looking at its node.
    ///
    /// # Errors
    /// Bad_AttributeIdInvalid, Bad_IndexRangeInvalid.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), StatusCode> {
        if !(1..=attribute::LAST).contains(&self.attribute) {
            return Err(status::BAD_ATTRIBUTE_ID_INVALID);
        }
        if !self.range.is_empty() {
            NumericRange::from_wire(self.range)?;
        }
        Ok(())
    }

    /// Whether the whole value is wanted as it is: no range, no encoding of the client's choice.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.range.is_empty() && self.encoding.name.is_empty()
    }

    pub(crate) fn wanted(&self) -> Wanted {
        Wanted::of(self.encoding)
    }
}

/// Which encoding of structures a client wants (ReadValueId dataEncoding, OPC 10000-4 §7.29).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whatever the server has.
    Any,
    /// Default Binary, the only one there is.
    Binary,
    /// Another one.
    Other,
}

impl Wanted {
    fn of(encoding: QualifiedNameRef<'_>) -> Self {
        match encoding.name.0 {
            None | Some([]) => Self::Any,
            Some(b"Default Binary") if encoding.namespace_index == 0 => Self::Binary,
            Some(_) => Self::Other,
        }
    }

    /// Whether the encoding can be had of a node whose value is or is not a structure.
    ///
    /// # Errors
    /// Bad_DataEncodingInvalid for what is no Value of a structure; Bad_DataEncodingUnsupported for encodings
    /// that this server does not have (OPC 10000-4 §7.38.2).
    pub(crate) fn of_structure(self, is_structure: bool) -> Result<(), StatusCode> {
        match self {
            Self::Any => Ok(()),
            _ if !is_structure => Err(status::BAD_DATA_ENCODING_INVALID),
            Self::Binary => Ok(()),
            Self::Other => Err(status::BAD_DATA_ENCODING_UNSUPPORTED),
        }
    }

    /// As [`Self::of_structure`], for a value of which no more is known. One that is not there is none of another
    /// type.
    pub(crate) fn check(self, attribute: u32, value: Option<&Variant>) -> Result<(), StatusCode> {
        if self == Self::Any {
            return Ok(());
        }
        let builtin = value.and_then(Variant::builtin_type);
        let is_structure = builtin.is_none_or(|builtin| builtin == BuiltinType::ExtensionObject);
        self.of_structure(attribute == attribute::VALUE && is_structure)
    }
}

fn takes_age(max_age: f64, age: Duration) -> bool {
    max_age >= f64::from(i32::MAX) || (max_age > 0.0 && age.as_secs_f64() * 1e3 <= max_age)
}

/// Takes the answers of a batch and encodes them into the response.
pub struct ReadCx<'r, 'e> {
    pub(crate) results: Results<'r, 'e>,
    pub(crate) settings: ReadSettings,
    /// What the client wants texts in.
    pub(crate) locales: &'r [UaString],
    /// What the settings mean for what a cell holds.
    pub(crate) timestamps: Timestamps,
    /// Bytes that index ranges may still look at in vain.
    pub(crate) walk_left: usize,
    pub(crate) pool: &'r BlockingPool,
    pub(crate) scope: &'r Scope,
    pub(crate) deferred: &'r mut Vec<Deferred>,
}

impl ReadCx<'_, '_> {
    /// Who reads.
    #[must_use]
    pub fn access(&self) -> Access {
        self.settings.access
    }

    /// The time of this batch.
    #[must_use]
    pub fn now(&self) -> Now {
        self.settings.now
    }

    /// Until when the client waits for the answer.
    #[must_use]
    pub fn deadline(&self) -> Ticks {
        self.scope.deadline()
    }

    /// A token that is fired when the client does not wait any more; for futures and jobs.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.scope.token().clone()
    }

    /// What a handler is told of the request.
    pub(crate) fn handler(&self) -> HandlerCx {
        HandlerCx { access: self.access(), now: self.now(), cancellation: self.cancellation() }
    }

    /// The oldest value the client takes, in milliseconds (OPC 10000-4 §5.11.2.2, maxAge).
    #[must_use]
    pub fn max_age(&self) -> f64 {
        self.settings.max_age
    }

    /// Whether a value that was read from its source so long ago will do. 0 asks for a new one, the largest
    /// Int32 and more for any that is at hand (OPC 10000-4 §5.11.2.2).
    #[must_use]
    pub fn takes_age(&self, age: Duration) -> bool {
        takes_age(self.settings.max_age, age)
    }

    /// The timestamps the client wants (OPC 10000-4 §7.40).
    #[must_use]
    pub fn timestamps(&self) -> TimestampsToReturn {
        self.settings.timestamps
    }

    /// Answers with a value; the index range is applied here, and timestamps that nobody asked for are
    /// dropped.
    pub fn answer(&mut self, item: &ReadItem<'_>, value: &DataValue) {
        let cost = if item.range.is_empty() { 0 } else { value.value().map_or(0, NumericRange::cost) };
        let taken = self.walk(cost).and_then(|()| item.wanted().check(item.attribute, value.value()));
        if let Err(status) = taken {
            return self.status(item, status);
        }
        let settings = self.settings;
        self.results.put(item.index, |e| encode_answer(e, item.attribute, item.range, &settings, value));
    }

    /// Answers with a good value and its source timestamp.
    pub fn value(&mut self, item: &ReadItem<'_>, value: &Variant, source: DateTime) {
        if let Err(status) = item.wanted().check(item.attribute, Some(value)) {
            self.status(item, status);
        } else if item.range.is_empty() {
            let parts = self.settings.parts(item.attribute, Some(source));
            self.results.put(item.index, |e| put_data_value(e, &parts, |e| value.encode(e)));
        } else if let Err(status) = self.cut_value(item, value, Some(source)) {
            self.status(item, status);
        }
    }

    /// Answers with all that a cell holds.
    #[inline]
    pub(crate) fn cell(&mut self, item: &ReadItem<'_>, cell: &ValueCell) {
        let timestamps = self.timestamps;
        self.results.put(item.index, |e| cell.encode_data_value(e, timestamps));
    }

    /// Answers with the part of a value that the item's index range names.
    pub(crate) fn cut_value(
        &mut self,
        item: &ReadItem<'_>,
        value: &Variant,
        source: Option<DateTime>,
    ) -> Result<(), StatusCode> {
        let range = NumericRange::from_wire(item.range)?;
        self.walk(NumericRange::cost(value))?;
        let part = range.cut(value)?;
        let parts = self.settings.parts(item.attribute, source);
        self.results.put(item.index, |e| put_data_value(e, &parts, |e| part.encode(e)));
        Ok(())
    }

    /// As [`Self::cut_value`], for a value of the tables, which stays encoded.
    pub(crate) fn cut_encoded(
        &mut self,
        item: &ReadItem<'_>,
        value: &EncodedValue<'_>,
        source: Option<DateTime>,
    ) -> Result<(), StatusCode> {
        let range = NumericRange::from_wire(item.range)?;
        self.walk(value.cut_cost())?;
        let mut part = Vec::new();
        value.cut(&range, &mut part)?;
        let parts = self.settings.parts(item.attribute, source);
        self.results.put(item.index, |e| put_data_value(e, &parts, |e| e.put(&part)));
        Ok(())
    }

    /// Index ranges make a small answer of a large value: what a request may ask of that kind has a bound.
    fn walk(&mut self, cost: usize) -> Result<(), StatusCode> {
        self.walk_left = self.walk_left.checked_sub(cost).ok_or(status::BAD_RESOURCE_UNAVAILABLE)?;
        Ok(())
    }

    /// Answers with a status and no value.
    pub fn status(&mut self, item: &ReadItem<'_>, status: StatusCode) {
        self.results.status(item.index, status);
    }

    /// Hands the answer over to a future; the response waits for it, other requests do not.
    pub fn defer(&mut self, item: &ReadItem<'_>, future: impl Future<Output = DataValue> + Send + 'static) {
        if self.results.defer(item.index) {
            let target = LateTarget::new(item, self.settings);
            let late = async move { Late::Value(Box::new((future.await, target))) };
            self.deferred.push(Deferred::new(item.index, item.node, false, late));
        }
    }

    /// Hands the answer over to a job that may block, on a bounded pool; Bad_ResourceUnavailable if the
    /// pool's queue is full, Bad_InternalError if the job panics.
    pub fn blocking(&mut self, item: &ReadItem<'_>, job: impl FnOnce() -> DataValue + Send + 'static) {
        let result = self.pool.run(self.cancellation(), job);
        self.defer(item, async move { result.await.unwrap_or_else(DataValue::from_status) });
    }
}

impl ReadSettings {
    /// The fields of a good answer.
    pub(crate) fn parts(&self, attribute: u32, source: Option<DateTime>) -> ValueParts {
        ValueParts {
            status: StatusCode::GOOD,
            source: source.filter(|_| attribute == attribute::VALUE && self.wants_source()),
            server: self.wants_server().then_some(self.now.utc),
        }
    }

    /// The timestamps that go with what a cell holds.
    pub(crate) fn of_cell(&self) -> Timestamps {
        Timestamps { source: self.wants_source(), server: self.wants_server().then_some(self.now.utc) }
    }

    fn wants_source(&self) -> bool {
        matches!(self.timestamps, TimestampsToReturn::SOURCE | TimestampsToReturn::BOTH)
    }

    fn wants_server(&self) -> bool {
        matches!(self.timestamps, TimestampsToReturn::SERVER | TimestampsToReturn::BOTH)
    }
}

/// Encodes a whole answer: cut by the range, with the timestamps that were asked for.
pub(crate) fn encode_answer(
    e: &mut Encoder<'_>,
    attribute: u32,
    range: StrRef<'_>,
    settings: &ReadSettings,
    value: &DataValue,
) {
    let mut parts = settings.parts(attribute, value.source_timestamp());
    parts.status = value.status().unwrap_or(StatusCode::GOOD);
    if parts.server.is_some() {
        parts.server = value.server_timestamp().or(parts.server);
    }
    let Some(variant) = value.value() else {
        return put_data_status(e, &parts);
    };
    if range.is_empty() {
        return put_data_value(e, &parts, |e| variant.encode(e));
    }
    match NumericRange::from_wire(range).and_then(|range| range.cut(variant)) {
        Ok(part) => put_data_value(e, &parts, |e| part.encode(e)),
        // A bad value need not have the data.
        Err(_) if parts.status.is_bad() => put_data_status(e, &parts),
        Err(error) => put_read_status(e, error.status()),
    }
}

/// Writes a DataValue that is a status alone.
pub(crate) fn put_read_status(e: &mut Encoder<'_>, status: StatusCode) {
    put_data_status(e, &ValueParts { status, source: None, server: None });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let takes = |max_age, milliseconds| takes_age(max_age, Duration::from_millis(milliseconds));
        assert!(!takes(0.0, 0));
        assert!(takes(500.0, 500) && !takes(500.0, 501));
        assert!(takes(2_147_483_647.0, 1 << 50) && takes(f64::INFINITY, 1 << 50));
        assert!(!takes(2_147_483_646.0, 1 << 50));
    }

    #[test]
    fn encodings() {
        let wanted = |namespace_index, name: &'static str| {
            Wanted::of(QualifiedNameRef { namespace_index, name: name.into() })
        };
        let object = Variant::from(uaforge_codec::ExtensionObject::NULL);
        let check = |wanted: Wanted, attribute, value: &Variant| wanted.check(attribute, Some(value));
        assert_eq!(wanted(3, ""), Wanted::Any);
        assert_eq!(check(wanted(0, ""), 4, &Variant::Int32(1)), Ok(()));
        assert_eq!(check(wanted(0, "Default Binary"), 13, &object), Ok(()));
        let unsupported = Err(status::BAD_DATA_ENCODING_UNSUPPORTED);
        assert_eq!(check(wanted(1, "Default Binary"), 13, &object), unsupported);
        assert_eq!(check(wanted(0, "Default XML"), 13, &object), unsupported);
        let invalid = Err(status::BAD_DATA_ENCODING_INVALID);
        assert_eq!(check(wanted(0, "Default Binary"), 13, &Variant::Int32(1)), invalid);
        assert_eq!(check(wanted(0, "Default Binary"), 4, &object), invalid);
    }
}
