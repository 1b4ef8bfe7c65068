//! Where handlers of Write and Call work on when their request is over: it was answered with Bad_Timeout, or
//! the connection is gone. They are not dropped in the middle of their work, but not kept for ever either.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uaforge_codec::Ticks;

use super::tasks::Tasks;
use crate::cancellation::{CancelReason, Cancellation};
use crate::manager::Deferred;

/// Futures that are polled before other tasks have their turn.
const POLLS: usize = 256;

/// Hands handlers over to their home.
#[derive(Default)]
pub(crate) struct Orphans {
    inbox: Mutex<Inbox>,
    count: AtomicUsize,
}

#[derive(Default)]
struct Inbox {
    new: Vec<Orphan>,
    /// The server stops.
    stopping: bool,
    waker: Option<Waker>,
}

/// A handler whose request is over.
struct Orphan {
    deferred: Deferred,
    token: Cancellation,
    /// When it is dropped, once its token is fired.
    until: Option<Ticks>,
}

impl Orphans {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a handler over.
    pub(crate) fn adopt(&self, deferred: Deferred, token: Cancellation) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let waker = {
            let mut inbox = self.lock();
            inbox.new.push(Orphan { deferred, token, until: None });
            inbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Handlers that work on.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The server stops: handlers are told so, and their home ends with the last of them.
    pub(crate) fn stop(&self) {
        let waker = {
            let mut inbox = self.lock();
            inbox.stopping = true;
            inbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The handlers that came since the last call, and whether the server stops; the task of `cx` is woken when
    /// that changes.
    fn take_new(&self, cx: &Context<'_>) -> (Vec<Orphan>, bool) {
        let mut inbox = self.lock();
        if !inbox.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            inbox.waker = Some(cx.waker().clone());
        }
        (core::mem::take(&mut inbox.new), inbox.stopping)
    }
}

/// The home: one task of the server polls it.
pub(crate) struct Home<'o> {
    orphans: &'o Orphans,
    tasks: Tasks<Orphan>,
    /// How long a handler may go on once its token is fired.
    grace: Duration,
    /// Not later than the first time something is due.
    next: Ticks,
    stopping: bool,
}

impl<'o> Home<'o> {
    pub(crate) fn new(orphans: &'o Orphans, grace: Duration) -> Self {
        Self { orphans, tasks: Tasks::default(), grace, next: Ticks::NEVER, stopping: false }
    }

    /// When the home has to be polled at the latest.
    pub(crate) fn deadline(&self) -> Ticks {
        self.next
    }

    /// Whether the server stops and no handler works any more.
    pub(crate) fn is_over(&self) -> bool {
        self.stopping && self.orphans.len() == 0
    }

    /// Lets the handlers work. Ready when there is more to do at once.
    pub(crate) fn poll(&mut self, cx: &Context<'_>, now: Ticks) -> Poll<()> {
        let (new, stopping) = self.orphans.take_new(cx);
        for orphan in new {
            self.next =
                if orphan.token.is_cancelled() { now } else { self.next.min(orphan.token.deadline()) };
            self.tasks.insert(orphan);
        }
        if stopping != self.stopping {
            self.stopping = stopping;
            self.next = now;
        }
        let mut budget = POLLS;
        while self.tasks.poll_woken(cx, &mut budget, |orphan, cx| orphan.deferred.poll(cx)).is_some() {
            self.orphans.count.fetch_sub(1, Ordering::Relaxed);
        }
        if self.next <= now {
            self.expire(now);
        }
        if budget == 0 || self.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Fires the tokens whose time is over, and drops the handlers that had their grace too.
    fn expire(&mut self, now: Ticks) {
        let (grace, stopping) = (self.grace, self.stopping);
        let mut next = Ticks::NEVER;
        let dropped = self.tasks.retain(|orphan| {
            if stopping {
                orphan.token.fire(CancelReason::Shutdown);
            } else if orphan.token.deadline() <= now {
                orphan.token.fire(CancelReason::Timeout);
            }
            if orphan.until.is_none() && orphan.token.is_cancelled() {
                orphan.until = Some(now + grace);
            }
            let due = orphan.until.unwrap_or(orphan.token.deadline());
            let stays = due > now;
            if stays {
                next = next.min(due);
            }
            stays
        });
        self.orphans.count.fetch_sub(dropped, Ordering::Relaxed);
        self.next = next;
    }
}
