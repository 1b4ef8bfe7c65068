//! The life of a server: built, serving, stopping, stopped.

use tokio::sync::watch;

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It listens, and nobody serves yet.
    #[default]
    Built,
    Serving,
    /// Clients are told, no session begins any more.
    Stopping,
    Stopped,
}

/// The phase of a server; it only goes on.
#[derive(Debug, Default)]
pub(crate) struct Life(watch::Sender<Phase>);

impl Life {
    pub(crate) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    pub(crate) fn set(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let goes_on = *now < phase;
            *now = phase.max(*now);
            goes_on
        });
    }

    /// Waits until the server has come at least to a phase; the phase it is in then.
    pub(crate) async fn reach(&self, phase: Phase) -> Phase {
        let mut seen = self.0.subscribe();
        // The sender lives as long as this future.
        seen.wait_for(|now| *now >= phase).await.map_or(Phase::Stopped, |now| *now)
    }
}
