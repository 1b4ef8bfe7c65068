//! Responses that wait for deferred answers.

use core::task::{Context, Poll};
use std::sync::Arc;

use uaforge_codec::{Encoder, Now};
use uaforge_nodes::Snapshot;

use super::results::Unfinished;
use super::session::Session;
use crate::manager::{
    Deferred, Late, ReadSettings, encode_answer, put_answer, put_browse_status, put_call_status,
    put_read_status,
};
use crate::services::browse::{Page, late_references};
use crate::shared::Core;

/// A response some of whose results are on their way. Dropping it drops the futures.
pub(crate) struct Pending {
    /// Of the request message.
    pub(crate) request_id: u32,
    /// Of the request header.
    pub(crate) handle: u32,
    /// Binary encoding id of the response.
    pub(crate) response: u32,
    pub(crate) session: Arc<Session>,
    /// Of a Read.
    pub(crate) settings: Option<ReadSettings>,
    pub(crate) unfinished: Unfinished,
    pub(crate) deferred: Vec<Deferred>,
}

impl Pending {
    /// Takes what is ready; done when nothing is left to wait for.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        core: &Core,
        snapshot: &Snapshot,
        now: &dyn Fn() -> Now,
    ) -> Poll<()> {
        let mut at = 0;
        while let Some(deferred) = self.deferred.get_mut(at) {
            match deferred.poll(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(late) => {
                    let index = self.deferred.swap_remove(at).index;
                    self.take(index, late, core, snapshot, now());
                }
            }
        }
        if self.deferred.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn take(&mut self, index: usize, late: Late, core: &Core, snapshot: &Snapshot, now: Now) {
        let encode = core.encode_context();
        match late {
            Late::Value(value) => {
                let (value, target) = *value;
                let Some(settings) = self.settings.map(|settings| ReadSettings { now, ..settings }) else {
                    return;
                };
                self.unfinished.put(index, encode, put_read_status, |e| {
                    encode_answer(e, target.attribute, target.range(), &settings, &value);
                });
            }
            Late::Call(answer) => {
                self.unfinished.put(index, encode, put_call_status, |e| put_answer(e, &answer, snapshot));
            }
            Late::References(answer) => {
                let (query, answer) = *answer;
                match late_references(snapshot, &query, answer) {
                    Err(status) => {
                        self.unfinished
                            .put(index, encode, put_browse_status, |e| put_browse_status(e, status));
                    }
                    Ok(references) => {
                        let page = Page::of(&query, &references, 0);
                        let points = &mut self.session.lock().continuation;
                        let request = points.begin_request();
                        let point = page.keep(points, request);
                        self.unfinished.put(index, encode, put_browse_status, |e| page.put(e, point));
                    }
                }
            }
        }
    }

    /// Writes the results, once nothing is left to wait for.
    pub(crate) fn write(&self, e: &mut Encoder<'_>) {
        self.unfinished.write(e);
    }
}
