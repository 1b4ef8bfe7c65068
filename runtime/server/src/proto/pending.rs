//! Responses that wait for deferred answers.

use std::sync::Arc;

use uaforge_codec::{Encoder, NodeIdRef, Now, StatusCode};
use uaforge_nodes::Snapshot;

use super::buffers::Buffers;
use super::results::Unfinished;
use super::session::Session;
use crate::access::Access;
use crate::cancellation::{CancelReason, Cancellation, Scope};
use crate::manager::{Deferred, Late, ReadSettings, encode_answer, put_answer};
use crate::services::ServiceCx;
use crate::services::browse::{self, Page, late_references};
use crate::services::late_walk::{LateEnd, LateWalk};
use crate::services::translate::put_targets;
use crate::services::walk::{BUDGET, Walker};
use crate::shared::Core;

/// What late answers are taken with: the connection's parts, borrowed.
pub(crate) struct LateCx<'l> {
    pub(crate) core: &'l Core,
    pub(crate) snapshot: &'l Snapshot,
    pub(crate) buffers: &'l mut Buffers,
    pub(crate) now: Now,
}

/// A response some of whose results are on their way.
pub(crate) struct Pending {
    /// Of the request message.
    pub(crate) request_id: u32,
    /// Of the request header.
    pub(crate) handle: u32,
    /// Of the request header.
    pub(crate) diagnostics: u32,
    /// Binary encoding id of the response.
    pub(crate) response: u32,
    pub(crate) session: Arc<Session>,
    pub(crate) access: Access,
    pub(crate) token: Cancellation,
    pub(crate) unfinished: Unfinished,
    /// Who answers, until they are polled by the connection.
    pub(crate) deferred: Vec<Deferred>,
    /// Why the request ended before its handlers did.
    pub(crate) ended: Option<CancelReason>,
}

impl Pending {
    /// Takes a late answer: a further one that the item waits for, and the references that were looked at.
    pub(crate) fn take(&mut self, index: usize, late: Late, cx: &mut LateCx<'_>) -> (Option<Deferred>, u32) {
        let LateCx { core, snapshot, now, .. } = *cx;
        let encode = core.encode_context();
        match late {
            Late::Browse(postponed) => {
                let scope = Scope::of(self.token.clone());
                let locales = self.session.lock().locales.clone();
                let mut cx = ServiceCx {
                    core,
                    snapshot,
                    buffers: cx.buffers,
                    session: &self.session,
                    scope: &scope,
                    access: self.access,
                    locales: locales.as_deref().unwrap_or_default(),
                    now,
                    spent: 0,
                };
                browse::postponed(&mut cx, *postponed, index, &mut self.unfinished);
                return (None, cx.spent);
            }
            Late::Status(status) => self.unfinished.status(index, encode, status),
            Late::Value(value) => {
                let (value, target) = *value;
                let settings = ReadSettings { now, ..target.settings };
                match target.check(&value) {
                    Err(status) => self.unfinished.status(index, encode, status),
                    Ok(()) => self.unfinished.put(index, encode, |e| {
                        encode_answer(e, target.attribute, target.range(), &settings, &value);
                    }),
                }
            }
            Late::Call(answer) => {
                self.unfinished.put(index, encode, |e| put_answer(e, &answer, snapshot));
            }
            Late::References(answer) => {
                let (query, answer) = *answer;
                let locales = self.session.lock().locales.clone();
                let locales = locales.as_deref().unwrap_or_default();
                match late_references(core, snapshot, &query, locales, answer) {
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
            Late::Walk(walk) => return self.walk_on(index, *walk, cx),
        }
        (None, 0)
    }

    /// Goes on along a browse path.
    fn walk_on(
        &mut self,
        index: usize,
        (walk, step): (LateWalk, StatusCode),
        cx: &mut LateCx<'_>,
    ) -> (Option<Deferred>, u32) {
        let LateCx { core, snapshot, now, .. } = *cx;
        let scope = Scope::of(self.token.clone());
        let mut budget = BUDGET;
        let walker = Walker {
            core,
            snapshot,
            access: self.access,
            now,
            scope: &scope,
            budget: &mut budget,
            buffers: &mut cx.buffers.walk,
        };
        let end = walk.resume(walker, step);
        let spent = BUDGET.saturating_sub(budget);
        match end {
            LateEnd::Waits(walk) => return (Some(walk.deferred(index, NodeIdRef::NULL)), spent),
            LateEnd::Over(Err(status)) => self.unfinished.status(index, core.encode_context(), status),
            LateEnd::Over(Ok((targets, remaining))) => {
                self.unfinished.put(index, core.encode_context(), |e| put_targets(e, &targets, remaining));
            }
        }
        (None, spent)
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
