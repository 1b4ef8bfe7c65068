//! How a client comes back after its connection was lost (OPC 10000-4 §6.7).

use core::time::Duration;

use crate::Error;

/// When to try again, and when no more; see [`ClientBuilder::reconnect`](crate::ClientBuilder::reconnect).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconnect {
    pub(crate) first_wait: Duration,
    pub(crate) longest_wait: Duration,
    pub(crate) most_refusals: u32,
}

impl Default for Reconnect {
    /// The first wait is 200 ms, the longest 30 s, and three refusals in a row are enough.
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(30),
            most_refusals: 3,
        }
    }
}

impl Reconnect {
    /// Wait before the first attempt; each wait is twice the one before, shortened at random by up to a half, so that
    /// not all clients of a server come back at once. At least 1 ms.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait.max(Duration::from_millis(1));
        self
    }

    /// Longest wait between two attempts. At least 1 ms.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait.max(Duration::from_millis(1));
        self
    }

    /// After so many attempts in a row that were refused for reasons that no attempt will mend, such as a certificate
    /// that is not trusted or a user who is not let in, the session ends with the reason. At least 1.
    #[must_use]
    pub fn most_refusals(mut self, attempts: u32) -> Self {
        self.most_refusals = attempts.max(1);
        self
    }

    /// The wait before an attempt, counted from 0; `random` is anything.
    pub(crate) fn wait(&self, attempt: u32, random: u32) -> Duration {
        let whole = self.first_wait.saturating_mul(1 << attempt.min(20)).min(self.longest_wait);
        let half = whole / 2;
        whole - half.mul_f64(f64::from(random) / f64::from(u32::MAX))
    }
}

/// What there is of a session's connection now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The session can be used.
    Connected,
    /// The connection was lost; it is made anew. Calls fail at once meanwhile, subscriptions stay.
    Reconnecting {
        /// Attempts that have failed since it was lost.
        failed: u32,
        /// Why it was lost, or why the last attempt failed.
        reason: Error,
    },
    /// The session has ended, and does not come back.
    Ended(Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_differ() {
        let policy = Reconnect::default();
        let waits = |random| (0..12).map(move |attempt| policy.wait(attempt, random).as_millis());
        let longest: Vec<u128> = waits.clone()(0).collect();
        assert_eq!(longest[..9], [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
        assert_eq!(longest[11], 30_000);
        assert!(waits(u32::MAX).zip(longest).all(|(short, long)| short == long / 2));
    }
}
