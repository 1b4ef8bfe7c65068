//! Futures of many handlers in one task: polled is only what was woken.

use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

/// A set of futures, each at a place that does not change. The set's task is woken when one of them is.
pub(crate) struct Tasks<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    woken: Arc<Woken>,
    /// Places that were woken and are not polled yet.
    batch: VecDeque<u32>,
}

struct Place<T> {
    task: Option<T>,
    signal: Arc<Signal>,
}

/// What wakers write to.
#[derive(Default)]
struct Woken {
    state: Mutex<WokenState>,
}

#[derive(Default)]
struct WokenState {
    places: Vec<u32>,
    waker: Option<Waker>,
}

/// Wakes one place. It outlives the future there; a later one is then polled once too often.
struct Signal {
    woken: Arc<Woken>,
    place: u32,
    queued: AtomicBool,
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, WokenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let waker = {
            let mut state = self.woken.lock();
            state.places.push(self.place);
            // Whoever queued the first one woke the task for all.
            if state.places.len() == 1 { state.waker.take() } else { None }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Default for Tasks<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), woken: Arc::default(), batch: VecDeque::new() }
    }
}

impl<T> Tasks<T> {
    /// Futures in the set.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Adds a future, to be polled soon; its place.
    pub(crate) fn insert(&mut self, task: T) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let signal = Signal { woken: Arc::clone(&self.woken), place, queued: AtomicBool::new(false) };
            self.places.push(Place { task: None, signal: Arc::new(signal) });
            place
        });
        if let Some(slot) = self.places.get_mut(place as usize) {
            slot.task = Some(task);
            slot.signal.wake_by_ref();
        }
        place
    }

    /// Takes a future out.
    pub(crate) fn take(&mut self, place: u32) -> Option<T> {
        let task = self.places.get_mut(place as usize)?.task.take()?;
        self.free.push(place);
        Some(task)
    }

    /// Takes a future out if it is the one meant.
    pub(crate) fn take_if(&mut self, place: u32, meant: impl FnOnce(&T) -> bool) -> Option<T> {
        let task = self.places.get(place as usize)?.task.as_ref()?;
        if meant(task) { self.take(place) } else { None }
    }

    /// Drops the futures that are not to stay; how many there were.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&mut T) -> bool) -> usize {
        let before = self.len();
        for (place, number) in self.places.iter_mut().zip(0..) {
            if place.task.as_mut().is_some_and(|task| !stays(task)) {
                place.task = None;
                self.free.push(number);
            }
        }
        before - self.len()
    }

    /// Polls woken futures, at most `budget`, until one is ready. `None`: there is none now, and the task of
    /// `cx` is woken when there may be one; or the budget is used up.
    pub(crate) fn poll_woken<R>(
        &mut self,
        cx: &Context<'_>,
        budget: &mut usize,
        mut poll: impl FnMut(&mut T, &mut Context<'_>) -> Poll<R>,
    ) -> Option<(T, R)> {
        while *budget > 0 {
            let place = self.next_woken(cx)?;
            let Some(slot) = self.places.get_mut(place as usize) else { continue };
            slot.signal.queued.store(false, Ordering::Release);
            let Some(task) = &mut slot.task else { continue };
            *budget -= 1;
            let waker = Waker::from(Arc::clone(&slot.signal));
            if let Poll::Ready(result) = poll(task, &mut Context::from_waker(&waker)) {
                return self.take(place).map(|task| (task, result));
            }
        }
        None
    }

    fn next_woken(&mut self, cx: &Context<'_>) -> Option<u32> {
        if self.batch.is_empty() {
            let mut state = self.woken.lock();
            if state.places.is_empty() {
                if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    state.waker = Some(cx.waker().clone());
                }
                return None;
            }
            self.batch.extend(state.places.drain(..));
        }
        self.batch.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// Polls all that is woken; the futures that were ready.
    fn run(tasks: &mut Tasks<(u32, Option<Waker>)>, polls: &Cell<usize>, ready: &[u32]) -> Vec<u32> {
        let cx = Context::from_waker(Waker::noop());
        let mut done = Vec::new();
        let mut budget = 1_000;
        while let Some((task, ())) = tasks.poll_woken(&cx, &mut budget, |task, cx| {
            polls.set(polls.get() + 1);
            task.1 = Some(cx.waker().clone());
            if ready.contains(&task.0) { Poll::Ready(()) } else { Poll::Pending }
        }) {
            done.push(task.0);
        }
        done
    }

    #[test]
    fn only_what_was_woken_is_polled() {
        let (mut tasks, polls) = (Tasks::default(), Cell::new(0));
        let places: Vec<u32> = (0..100).map(|n| tasks.insert((n, None))).collect();
        assert!(run(&mut tasks, &polls, &[]).is_empty());
        assert_eq!(polls.replace(0), 100);
        let waker = tasks.places[7].task.as_ref().and_then(|task| task.1.clone()).unwrap();
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(run(&mut tasks, &polls, &[7, 8]), [7]);
        assert_eq!((polls.replace(0), tasks.len()), (1, 99));
        // A waker of a future that is gone harms nobody, also when its place is taken again.
        waker.wake_by_ref();
        assert!(run(&mut tasks, &polls, &[]).is_empty());
        assert_eq!(polls.replace(0), 0);
        assert_eq!(tasks.insert((200, None)), places[7]);
        assert!(tasks.take(places[8]).is_some() && tasks.take(places[8]).is_none());
        assert_eq!(run(&mut tasks, &polls, &[200]), [200]);
        assert_eq!(tasks.retain(|task| task.0 % 2 == 0), 49);
        assert_eq!(tasks.len(), 49);
        tasks.retain(|_| false);
        assert_eq!(tasks.len(), 0);
    }

    #[test]
    fn the_budget_bounds_a_turn_and_loses_nothing() {
        let mut tasks = Tasks::default();
        for n in 0..10 {
            tasks.insert(n);
        }
        let cx = Context::from_waker(Waker::noop());
        let mut polled = 0;
        for turn in 1..=4 {
            let mut budget = 3;
            let ready = tasks.poll_woken(&cx, &mut budget, |_, _| {
                polled += 1;
                Poll::<()>::Pending
            });
            assert!(ready.is_none());
            assert_eq!(polled, (3 * turn).min(10));
        }
    }
}
