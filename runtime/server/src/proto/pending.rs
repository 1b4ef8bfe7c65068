//! Responses that wait for deferred answers.

use std::sync::Arc;

use uaforge_codec::{Encoder, Now, StatusCode};
use uaforge_nodes::Snapshot;

use super::results::Unfinished;
use super::session::Session;
use crate::cancellation::{CancelReason, Cancellation};
use crate::manager::{Deferred, Late, ReadSettings, encode_answer, put_answer};
use crate::services::browse::{Page, late_references};
use crate::shared::Core;

/// A response some of whose results are on their way.
pub(crate) struct Pending {
    /// Of the request message.
    pub(crate) request_id: u32,
    /// Of the request header.
    pub(crate) handle: u32,
    /// Binary encoding id of the response.
    pub(crate) response: u32,
    pub(crate) session: Arc<Session>,
    pub(crate) token: Cancellation,
    pub(crate) unfinished: Unfinished,
    /// Who answers, until they are polled by the connection.
    pub(crate) deferred: Vec<Deferred>,
    /// Why the request ended before its handlers did.
    pub(crate) ended: Option<CancelReason>,
}

impl Pending {
    /// Takes a late answer.
    pub(crate) fn take(&mut self, index: usize, late: Late, core: &Core, snapshot: &Snapshot, now: Now) {
        let encode = core.encode_context();
        match late {
            Late::Status(status) => self.unfinished.status(index, encode, status),
            Late::Value(value) => {
                let (value, target) = *value;
                let settings = ReadSettings { now, ..target.settings };
                self.unfinished.put(index, encode, |e| {
                    encode_answer(e, target.attribute, target.range(), &settings, &value);
                });
            }
            Late::Call(answer) => {
                self.unfinished.put(index, encode, |e| put_answer(e, &answer, snapshot));
            }
            Late::References(answer) => {
                let (query, answer) = *answer;
                match late_references(snapshot, &query, answer) {
                    Err(status) => self.unfinished.status(index, encode, status),
                    Ok(references) => {
                        let page = Page::of(&query, &references, 0);
                        let points = &mut *self.session.points();
                        let request = points.begin_request();
                        let point = page.keep(points, request);
                        self.unfinished.put(index, encode, |e| page.put(e, point));
                    }
                }
            }
        }
    }

    /// Ends the request before its handlers did.
    pub(crate) fn end(&mut self, core: &Core, reason: CancelReason) {
        self.token.fire(reason);
        self.ended = Some(reason);
        // What is there is worth something when time is over; else the client does not want it.
        if reason == CancelReason::Timeout {
            self.unfinished.fill(core.encode_context(), reason.status());
        }
    }

    /// The status of the ServiceFault that answers the request, if one does.
    pub(crate) fn fault(&self) -> Option<StatusCode> {
        self.ended.filter(|reason| *reason != CancelReason::Timeout).map(CancelReason::status)
    }

    /// Writes the results, once nothing is left to wait for.
    pub(crate) fn write(&self, e: &mut Encoder<'_>) {
        self.unfinished.write(e);
    }
}
