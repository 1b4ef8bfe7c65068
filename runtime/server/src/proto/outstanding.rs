//! The requests of a session that are not answered yet, so that others can cancel them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cancellation::{CancelReason, Cancellation};

/// Handle and token of each request that waits for a late answer.
#[derive(Default)]
pub(crate) struct Outstanding {
    requests: Mutex<Vec<(u32, Cancellation)>>,
}

impl Outstanding {
    fn lock(&self) -> MutexGuard<'_, Vec<(u32, Cancellation)>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, handle: u32, token: Cancellation) {
        self.lock().push((handle, token));
    }

    pub(crate) fn remove(&self, token: &Cancellation) {
        let mut requests = self.lock();
        if let Some(at) = requests.iter().position(|(_, known)| known.is(token)) {
            requests.swap_remove(at);
        }
    }

    /// Cancels the requests with a handle (Cancel, OPC 10000-4 §5.7.5); how many there were.
    pub(crate) fn cancel(&self, handle: u32) -> u32 {
        let tokens: Vec<_> = self
            .lock()
            .iter()
            .filter(|(known, _)| *known == handle)
            .map(|(_, token)| token.clone())
            .collect();
        let fired = tokens.iter().filter(|token| token.fire(CancelReason::CancelledByClient));
        u32::try_from(fired.count()).unwrap_or(u32::MAX)
    }

    /// Cancels all requests.
    pub(crate) fn cancel_all(&self, reason: CancelReason) {
        let tokens: Vec<_> = self.lock().iter().map(|(_, token)| token.clone()).collect();
        for token in tokens {
            token.fire(reason);
        }
    }
}
