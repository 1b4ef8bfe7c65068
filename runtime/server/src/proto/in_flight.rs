//! The requests of a connection that wait for late answers.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;

use uaforge_codec::Ticks;

use super::pending::{LateCx, Pending};
use super::session::Phase;
use super::tasks::Tasks;
use crate::cancellation::CancelReason;
use crate::manager::{Deferred, Late};
use crate::shared::Core;

/// Requests, and the futures that answer them.
#[derive(Default)]
pub(crate) struct InFlight {
    requests: Vec<Option<Waiting>>,
    free: Vec<usize>,
    jobs: Tasks<Job>,
    /// Requests whose last answer is there and whose response is not written yet.
    done: VecDeque<Pending>,
    /// Not later than the first deadline.
    earliest: Option<Ticks>,
}

/// A request that waits.
struct Waiting {
    pending: Pending,
    /// Places of its futures.
    jobs: Vec<u32>,
    missing: usize,
}

/// A future, and the request that it is for.
struct Job {
    request: usize,
    work: Work,
}

enum Work {
    Item(Deferred),
    Cancelled(Pin<Box<dyn Future<Output = CancelReason> + Send>>),
}

/// What a future gave.
enum Outcome {
    Answer(Late),
    Cancelled(CancelReason),
}

impl Job {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.work {
            Work::Item(deferred) => deferred.poll(cx).map(Outcome::Answer),
            Work::Cancelled(cancelled) => cancelled.as_mut().poll(cx).map(Outcome::Cancelled),
        }
    }
}

impl InFlight {
    /// Requests that are not answered.
    pub(crate) fn len(&self) -> usize {
        self.requests.len() - self.free.len() + self.done.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a request waits for its handlers.
    pub(crate) fn waits(&self) -> bool {
        self.requests.len() > self.free.len()
    }

    /// Answers that are waited for.
    pub(crate) fn operations(&self) -> usize {
        self.jobs.len()
    }

    /// Takes a request in.
    pub(crate) fn insert(&mut self, mut pending: Pending) {
        let request = self.free.pop().unwrap_or(self.requests.len());
        let deferred = core::mem::take(&mut pending.deferred);
        let missing = deferred.len();
        let mut jobs: Vec<u32> = Vec::with_capacity(missing + 1);
        for deferred in deferred {
            jobs.push(self.jobs.insert(Job { request, work: Work::Item(deferred) }));
        }
        let cancelled = Box::pin(pending.token.cancelled());
        jobs.push(self.jobs.insert(Job { request, work: Work::Cancelled(cancelled) }));
        let deadline = pending.token.deadline();
        self.earliest = Some(self.earliest.map_or(deadline, |earliest| earliest.min(deadline)));
        pending.session.outstanding.add(pending.handle, pending.token.clone());
        // It may have been closed while the handlers worked.
        if pending.session.lock().phase == Phase::Closed {
            pending.token.fire(CancelReason::SessionClosed);
        }
        let waiting = Some(Waiting { pending, jobs, missing });
        match self.requests.get_mut(request) {
            Some(slot) => *slot = waiting,
            None => self.requests.push(waiting),
        }
    }

    /// Polls what was woken, until a request has its last answer. `None`: there is none, and the task of `cx`
    /// is woken when there may be one; or the budget of polls and references is used up.
    pub(crate) fn poll_done(
        &mut self,
        cx: &Context<'_>,
        budget: &mut usize,
        late: &mut LateCx<'_>,
    ) -> Option<Pending> {
        while self.done.is_empty() {
            let (job, outcome) = self.jobs.poll_woken(cx, budget, Job::poll)?;
            match (job.work, outcome) {
                (Work::Item(deferred), Outcome::Answer(answer)) => {
                    let Some(Some(waiting)) = self.requests.get_mut(job.request) else { continue };
                    // What was cancelled is answered so, though a handler that was told was quick.
                    if let Some(reason) = waiting.pending.token.reason() {
                        self.finish(job.request, Some(reason), late.core);
                        continue;
                    }
                    let (next, spent) = waiting.pending.take(deferred.index, answer, late);
                    *budget = budget.saturating_sub(spent as usize);
                    if let Some(next) = next {
                        let job = Job { request: job.request, work: Work::Item(next) };
                        waiting.jobs.push(self.jobs.insert(job));
                        continue;
                    }
                    waiting.missing -= 1;
                    if waiting.missing == 0 {
                        self.finish(job.request, None, late.core);
                    }
                }
                (_, Outcome::Cancelled(reason)) => self.finish(job.request, Some(reason), late.core),
                (Work::Cancelled(_), Outcome::Answer(_)) => {}
            }
        }
        self.done.pop_front()
    }

    /// Lets a request be answered; handlers that still work on it and may not be dropped do so elsewhere.
    fn finish(&mut self, request: usize, ended: Option<CancelReason>, core: &Core) {
        let Some((mut pending, _)) = self.remove(request, core) else { return };
        if let Some(reason) = ended {
            pending.end(core, reason);
        }
        self.done.push_back(pending);
    }

    /// Takes a request out, and whether a handler works on.
    fn remove(&mut self, request: usize, core: &Core) -> Option<(Pending, bool)> {
        let Waiting { pending, jobs, .. } = self.requests.get_mut(request)?.take()?;
        self.free.push(request);
        pending.session.outstanding.remove(&pending.token);
        let mut lasts = false;
        for place in jobs {
            // The place of an answered item may belong to another request by now.
            let job = self.jobs.take_if(place, |job| job.request == request);
            if let Some(Job { work: Work::Item(deferred), .. }) = job
                && deferred.lasting
            {
                lasts = true;
                core.orphans.adopt(deferred, pending.token.clone());
            }
        }
        Some((pending, lasts))
    }

    /// When [`InFlight::expire`] is due.
    pub(crate) fn deadline(&self) -> Option<Ticks> {
        self.earliest
    }

    /// Ends the requests whose time is over.
    pub(crate) fn expire(&mut self, now: Ticks, core: &Core) {
        if self.earliest.is_none_or(|earliest| earliest > now) {
            return;
        }
        let deadline = |waiting: &Option<Waiting>| Some(waiting.as_ref()?.pending.token.deadline());
        for request in 0..self.requests.len() {
            if self.requests.get(request).and_then(deadline).is_some_and(|deadline| deadline <= now) {
                self.finish(request, Some(CancelReason::Timeout), core);
            }
        }
        self.earliest = self.requests.iter().filter_map(deadline).min();
    }

    /// Gives room back that no request needs now.
    pub(crate) fn trim(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Ends all requests.
    pub(crate) fn end_all(&mut self, reason: CancelReason, core: &Core) {
        for request in 0..self.requests.len() {
            self.finish(request, Some(reason), core);
        }
    }

    /// The connection is gone: nobody can be answered. Reads and browses end, writes and calls go on.
    pub(crate) fn abandon(&mut self, core: &Core) {
        for request in 0..self.requests.len() {
            if let Some((pending, false)) = self.remove(request, core) {
                pending.token.fire(CancelReason::Disconnected);
            }
        }
        self.done.clear();
    }
}
