//! Whether the server is still there, and whether it hears of us often enough to keep the session.

use core::time::Duration;

use uaforge_codec::Ticks;

/// A session that a server grants for less time than twice this is not kept alive any faster.
const SHORTEST: Duration = Duration::from_millis(100);

/// When the peer was heard and spoken to last.
#[derive(Debug)]
pub(crate) struct Liveness {
    /// Silence of the server after which it is asked.
    keep_alive: Duration,
    /// Silence of ours after which the server is asked; the session would time out otherwise.
    refresh: Option<Duration>,
    heard: Ticks,
    said: Ticks,
    /// It was asked and has not answered.
    asked: bool,
}

impl Liveness {
    pub(crate) fn new(keep_alive: Duration, now: Ticks) -> Self {
        Self { keep_alive, refresh: None, heard: now, said: now, asked: false }
    }

    /// The server has revised the session's timeout; 0 is none that could be kept.
    pub(crate) fn session_timeout(&mut self, timeout: Duration) {
        self.refresh = (!timeout.is_zero()).then(|| (timeout / 2).max(SHORTEST));
    }

    pub(crate) fn heard(&mut self, now: Ticks) {
        self.heard = now;
    }

    pub(crate) fn said(&mut self, now: Ticks) {
        self.said = now;
    }

    pub(crate) fn asked(&mut self) {
        self.asked = true;
    }

    pub(crate) fn answered(&mut self) {
        self.asked = false;
    }

    /// When the server is to be asked; `None` while it owes an answer.
    pub(crate) fn due(&self) -> Option<Ticks> {
        if self.asked {
            return None;
        }
        let silent = self.heard + self.keep_alive;
        Some(self.refresh.map_or(silent, |refresh| silent.min(self.said + refresh)))
    }
}
