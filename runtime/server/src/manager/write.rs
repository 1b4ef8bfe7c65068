//! The batch of a Write: items, and the context that takes their answers.

use core::future::Future;
use std::borrow::Cow;

use uaforge_codec::{DataValue, Encoder, NodeIdRef, Now, StatusCode, StrRef, Ticks, Variant};
use uaforge_nodes::{Snapshot, ValueType};
use uaforge_types::status;

use super::defer::{Deferred, Late};
use crate::access::Access;
use crate::binding::HandlerCx;
use crate::blocking::BlockingPool;
use crate::cancellation::{Cancellation, Scope};
use crate::proto::results::Results;
use crate::space::check;

/// One attribute to write (WriteValue, OPC 10000-4 §5.11.4.2). The range was checked for form.
#[derive(Clone, Copy, Debug)]
pub struct WriteItem<'a> {
    /// Position in the request.
    pub(crate) index: usize,
    /// The node.
    pub node: NodeIdRef<'a>,
    /// The attribute (OPC 10000-6 §A.1).
    pub attribute: u32,
    /// The index range as text; null or empty for the whole value.
    pub range: StrRef<'a>,
    /// The value, and the status and timestamps that the client wants to have stored with it.
    pub value: &'a DataValue,
}

/// An item that is wrong whatever its node is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Malformed {
    pub(crate) index: usize,
    pub(crate) status: StatusCode,
}

/// Takes the answers of a batch.
pub struct WriteCx<'r, 'e> {
    pub(crate) results: Results<'r, 'e>,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) snapshot: &'r Snapshot,
    /// Bytes that index ranges may still copy beside what they write.
    pub(crate) copy_left: usize,
    pub(crate) pool: &'r BlockingPool,
    pub(crate) scope: &'r Scope,
    pub(crate) deferred: &'r mut Vec<Deferred>,
}

impl WriteCx<'_, '_> {
    /// Who writes.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// The time of this batch.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
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

    /// Answers an item: Good, or why nothing was written (OPC 10000-4 §5.11.4.4).
    #[inline]
    pub fn status(&mut self, item: &WriteItem<'_>, status: StatusCode) {
        self.results.put(item.index, |e| put_write_status(e, status));
    }

    /// Hands the answer over to a future. It runs to its end even if the client goes away.
    pub fn defer(&mut self, item: &WriteItem<'_>, future: impl Future<Output = StatusCode> + Send + 'static) {
        if self.results.defer(item.index) {
            let late = async move { Late::Status(future.await) };
            self.deferred.push(Deferred::new(item.index, item.node, true, late));
        }
    }

    /// Hands the answer over to a job that may block, on a bounded pool; Bad_ResourceUnavailable if the pool's
    /// queue is full.
    pub fn blocking(&mut self, item: &WriteItem<'_>, job: impl FnOnce() -> StatusCode + Send + 'static) {
        let result = self.pool.run(self.cancellation(), job);
        self.defer(item, async move { result.await.unwrap_or_else(|status| status) });
    }

    /// The checks of a written Value that need no device, for nodes that are not in the address space: access
    /// level, status and timestamps, data type, rank and dimensions. `user_access_level` is AccessLevel as far as
    /// this user has it. Gives the value to store, `None` if the client writes only status or timestamps.
    ///
    /// # Errors
    /// Bad_NotWritable, Bad_UserAccessDenied, Bad_WriteNotSupported, Bad_TypeMismatch, Bad_OutOfRange.
    pub fn check(
        &self,
        item: &WriteItem<'_>,
        value_type: &ValueType<'_>,
        user_access_level: u8,
    ) -> Result<Option<Variant>, StatusCode> {
        Ok(self.checked(item, value_type, user_access_level)?.map(Cow::into_owned))
    }

    /// As [`Self::check`], without a copy of a value that may be stored as it is.
    pub(crate) fn checked<'v>(
        &self,
        item: &WriteItem<'v>,
        value_type: &ValueType<'_>,
        user_access_level: u8,
    ) -> Result<Option<Cow<'v, Variant>>, StatusCode> {
        check_level(value_type.access_level, user_access_level)?;
        check_parts(item, value_type.access_level)?;
        let Some(value) = written_value(item.value) else { return Ok(None) };
        let ValueType { data_type, value_rank, array_dimensions, .. } = *value_type;
        // A part has the rank that its range says.
        let whole = item.range.is_empty();
        let (value_rank, array_dimensions) =
            if whole { (value_rank, array_dimensions) } else { (-2, &[][..]) };
        let converted = check::value(self.snapshot, value, data_type, value_rank, array_dimensions)?;
        Ok(Some(converted.map_or(Cow::Borrowed(value), Cow::Owned)))
    }
}

/// Bits of AccessLevelEx (OPC 10000-3 §8.58); the low byte is AccessLevel (§8.57).
pub(crate) mod level {
    pub(crate) const CURRENT_READ: u32 = 1;
    pub(crate) const CURRENT_WRITE: u32 = 1 << 1;
    pub(crate) const STATUS_WRITE: u32 = 1 << 5;
    pub(crate) const TIMESTAMP_WRITE: u32 = 1 << 6;
    pub(crate) const WRITE_FULL_ARRAY_ONLY: u32 = 1 << 10;
}

/// Whether the Value may be written at all, and by this user.
pub(crate) fn check_level(access_level: u32, user_access_level: u8) -> Result<(), StatusCode> {
    if access_level & level::CURRENT_WRITE == 0 {
        return Err(status::BAD_NOT_WRITABLE);
    }
    if u32::from(user_access_level) & level::CURRENT_WRITE == 0 {
        return Err(status::BAD_USER_ACCESS_DENIED);
    }
    Ok(())
}

/// Whether the combination of value, status, timestamps and range may be written (OPC 10000-4 §5.11.4.4,
/// Bad_WriteNotSupported). A Good status is what a write without one has.
pub(crate) fn check_parts(item: &WriteItem<'_>, access_level: u32) -> Result<(), StatusCode> {
    let value = item.value;
    let status = value.status_or_good() != StatusCode::GOOD;
    let timestamp = value.source_timestamp().is_some() || value.server_timestamp().is_some();
    let refused = (status && access_level & level::STATUS_WRITE == 0)
        || (timestamp && access_level & level::TIMESTAMP_WRITE == 0)
        || (!item.range.is_empty() && access_level & level::WRITE_FULL_ARRAY_ONLY != 0);
    if refused { Err(status::BAD_WRITE_NOT_SUPPORTED) } else { Ok(()) }
}

/// The value that is written; `None` if it stays and only status or timestamps are written.
pub(crate) fn written_value(written: &DataValue) -> Option<&Variant> {
    let parts = written.status().is_some()
        || written.source_timestamp().is_some()
        || written.server_timestamp().is_some();
    match written.value() {
        None if parts => None,
        None => Some(&Variant::Null),
        value => value,
    }
}

/// Writes a result of Write.
#[inline]
pub(crate) fn put_write_status(e: &mut Encoder<'_>, status: StatusCode) {
    e.put_u32(status.0);
}
