//! Responses that wait for deferred answers.

use std::sync::Arc;

use uaforge_codec::{Encoder, NodeIdRef, Now, StatusCode};
use uaforge_nodes::Snapshot;

use super::buffers::WalkBuffers;
use super::results::Unfinished;
use super::session::Session;
use crate::cancellation::{CancelReason, Cancellation, Scope};
use crate::manager::{Deferred, Late, ReadSettings, encode_answer, put_answer};
use crate::services::browse::{Page, late_references};
use crate::services::late_walk::{LateEnd, LateWalk};
use crate::services::translate::put_targets;
use crate::services::walk::Walker;
use crate::shared::Core;

/// References that a browse path may look at after each wait for a manager.
const LATE_BUDGET: u32 = 20_000;

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
    /// Takes a late answer; `Some` if the item waits for a further one.
    pub(crate) fn take(
        &mut self,
        index: usize,
        late: Late,
        core: &Core,
        snapshot: &Snapshot,
        now: Now,
    ) -> Option<Deferred> {
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
                match late_references(core, snapshot, &query, answer) {
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
            Late::Walk(walk) => return self.walk_on(index, *walk, core, snapshot, now),
        }
        None
    }

    /// Goes on along a browse path.
    fn walk_on(
        &mut self,
        index: usize,
        (walk, step): (LateWalk, StatusCode),
        core: &Core,
        snapshot: &Snapshot,
        now: Now,
    ) -> Option<Deferred> {
        let scope = Scope::of(self.token.clone());
        let (mut budget, mut buffers) = (LATE_BUDGET, WalkBuffers::default());
        let access = self.session.lock().access;
        let walker =
            Walker { core, snapshot, access, now, scope: &scope, budget: &mut budget, buffers: &mut buffers };
        match walk.resume(walker, step) {
            LateEnd::Waits(walk) => return Some(walk.deferred(index, NodeIdRef::NULL)),
            LateEnd::Over(Err(status)) => self.unfinished.status(index, core.encode_context(), status),
            LateEnd::Over(Ok((targets, remaining))) => {
                self.unfinished.put(index, core.encode_context(), |e| put_targets(e, &targets, remaining));
            }
        }
        None
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
