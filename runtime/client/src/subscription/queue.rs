//! What came for a stream and was not taken from it yet: bounded, and it never makes the connection wait.

use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::task::AtomicWaker;

use crate::Error;

/// What a stream did not hand out before one of its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// So many elements were dropped here, the oldest first, as the stream was not read fast enough.
    pub dropped: u32,
    /// Notifications of the server were lost: it did not have them any more when they were asked for
    /// again (OPC 10000-4 §5.14.6), or the subscription had to be made anew.
    pub lost: bool,
}

impl Missed {
    /// Nothing was missed.
    pub const NONE: Self = Self { dropped: 0, lost: false };

    fn and(self, other: Self) -> Self {
        Self { dropped: self.dropped.saturating_add(other.dropped), lost: self.lost || other.lost }
    }
}

/// One element, with the place of its item among those of the stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry<T> {
    pub(crate) place: usize,
    pub(crate) content: T,
    pub(crate) missed: Missed,
}

/// The connection's and the reader's end at once.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    waker: AtomicWaker,
    capacity: usize,
}

struct State<T> {
    entries: VecDeque<Entry<T>>,
    /// Belongs to the next element that comes.
    missed: Missed,
    /// Items that still bring something.
    items: usize,
    ended: Option<Error>,
}

impl<T> Queue<T> {
    /// For so many items, and at least one element.
    pub(crate) fn new(capacity: usize, items: usize) -> Arc<Self> {
        let state = State { entries: VecDeque::new(), missed: Missed::NONE, items, ended: None };
        Arc::new(Self { state: Mutex::new(state), waker: AtomicWaker::new(), capacity: capacity.max(1) })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an element; the oldest goes if there is no room.
    pub(crate) fn push(&self, place: usize, content: T) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        let missed = core::mem::take(&mut state.missed);
        state.entries.push_back(Entry { place, content, missed });
        if state.entries.len() > self.capacity
            && let Some(oldest) = state.entries.pop_front()
        {
            let missed = oldest.missed.and(Missed { dropped: 1, lost: false });
            if let Some(next) = state.entries.front_mut() {
                next.missed = missed.and(next.missed);
            }
        }
        drop(state);
        self.waker.wake();
    }

    /// Notifications before the next element are lost.
    pub(crate) fn lost(&self) {
        self.state().missed.lost = true;
    }

    /// One of the items brings nothing any more; the stream ends with the last of them.
    pub(crate) fn item_ended(&self, reason: &Error) {
        let mut state = self.state();
        state.items = state.items.saturating_sub(1);
        if state.items > 0 || state.ended.is_some() {
            return;
        }
        state.ended = Some(reason.clone());
        drop(state);
        self.waker.wake();
    }

    /// The next element; after the last one why there are no more, once, and then the end.
    pub(crate) fn poll_next(&self, cx: &Context<'_>) -> Poll<Result<Entry<T>, Error>> {
        // Registered first: an element that comes between look and registration wakes too.
        self.waker.register(cx.waker());
        let mut state = self.state();
        match (state.entries.pop_front(), &state.ended) {
            (Some(entry), _) => Poll::Ready(Ok(entry)),
            (None, Some(reason)) => Poll::Ready(Err(reason.clone())),
            (None, None) => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::task::{Context, Poll};
    use std::task::Waker;

    use super::{Missed, Queue};
    use crate::Error;

    fn next(queue: &Queue<u32>) -> Option<(u32, u32, bool)> {
        match queue.poll_next(&Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(entry)) => Some((entry.content, entry.missed.dropped, entry.missed.lost)),
            _ => None,
        }
    }

    #[test]
    fn the_oldest_is_dropped_and_counted() {
        let queue = Queue::new(2, 1);
        for number in 1..=5 {
            queue.push(0, number);
        }
        assert_eq!(next(&queue), Some((4, 3, false)));
        assert_eq!(next(&queue), Some((5, 0, false)));
        assert_eq!(next(&queue), None);
        queue.push(0, 6);
        assert_eq!(next(&queue), Some((6, 0, false)));
    }

    #[test]
    fn a_loss_stays_with_what_came_after_it() {
        let queue = Queue::new(2, 1);
        queue.push(0, 1);
        queue.lost();
        queue.push(0, 2);
        queue.push(0, 3);
        queue.push(0, 4);
        assert_eq!(next(&queue), Some((3, 2, true)));
        assert_eq!(next(&queue), Some((4, 0, false)));
        assert_eq!(Missed::NONE.and(Missed::NONE), Missed::NONE);
    }

    #[test]
    fn the_last_item_ends_the_stream_after_what_is_there() {
        let queue = Queue::new(0, 2);
        let reason = Error::closed("by this client");
        queue.push(0, 1);
        queue.item_ended(&reason);
        queue.push(1, 2);
        queue.item_ended(&reason);
        queue.push(1, 3);
        assert_eq!(next(&queue), Some((2, 1, false)));
        let end = queue.poll_next(&Context::from_waker(Waker::noop()));
        assert!(matches!(end, Poll::Ready(Err(Error::Closed(_)))));
    }
}
