//! A line in which the writes of one Variable stand: each begins when the one before is over.

use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// The end of the line.
#[derive(Default)]
pub(crate) struct Line {
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// A place in the line; dropping it lets the next one begin.
pub(crate) struct Place {
    before: Option<oneshot::Receiver<()>>,
    _over: oneshot::Sender<()>,
}

impl Line {
    /// Takes the last place.
    pub(crate) fn join(&self) -> Place {
        let (over, last) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(last);
        Place { before, _over: over }
    }
}

impl Place {
    /// Waits until whoever stands before is over, however it ended.
    pub(crate) async fn turn(&mut self) {
        if let Some(before) = self.before.take() {
            let _ = before.await;
        }
    }
}
