//! How others reach a connection: today a request to close, wakes its task.

use core::task::{Context, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// One connection's box.
#[derive(Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closing: bool,
    waker: Option<Waker>,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the connection to close once it has answered what it is working on.
    pub(crate) fn close(&self) {
        let waker = {
            let mut state = self.lock();
            state.closing = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether the connection shall close; the task of `cx` is woken when that changes.
    pub(crate) fn poll_closing(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        if !state.closing && !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        state.closing
    }
}

/// The boxes of all connections.
#[derive(Default)]
pub(crate) struct Mailboxes {
    boxes: Mutex<Boxes>,
}

#[derive(Default)]
struct Boxes {
    open: Vec<Weak<Mailbox>>,
    closing: bool,
}

impl Mailboxes {
    /// A box for a new connection.
    pub(crate) fn add(&self) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        if boxes.closing {
            mailbox.close();
        }
        if boxes.open.len() == boxes.open.capacity() {
            boxes.open.retain(|open| open.strong_count() > 0);
        }
        boxes.open.push(Arc::downgrade(&mailbox));
        mailbox
    }

    /// Asks every connection to close, those too that come from now on.
    pub(crate) fn close_all(&self) {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.closing = true;
        for mailbox in boxes.open.drain(..).filter_map(|open| open.upgrade()) {
            mailbox.close();
        }
    }
}
