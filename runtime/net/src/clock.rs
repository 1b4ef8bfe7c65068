//! Both clocks, and waiting.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::OnceLock;
use std::time::SystemTime;

use tokio::time::Instant;
use uaforge_codec::{DateTime, Now, Ticks};

/// Reads both clocks. Ticks count from the first reading in this process.
#[must_use]
pub fn clock() -> Now {
    let elapsed = start().elapsed();
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Now { ticks: Ticks(0) + elapsed, utc: DateTime::from_unix(unix) }
}

/// The instant that ticks count from, a second back so that zero is always in the past.
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(|| {
        let now = Instant::now();
        now.checked_sub(Duration::from_secs(1)).unwrap_or(now)
    })
}

/// The instant of a tick; `None` for a time that never comes.
pub(crate) fn instant(ticks: Ticks) -> Option<Instant> {
    if ticks == Ticks::NEVER {
        return None;
    }
    start().checked_add(ticks.since(Ticks(0)))
}

/// Waits until a time; for ever for [`Ticks::NEVER`].
pub async fn sleep_until(deadline: Ticks) {
    match instant(deadline) {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => core::future::pending().await,
    }
}

/// The time was over before the future was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over")
    }
}

impl core::error::Error for Elapsed {}

/// Waits for a future, but not longer than `limit`.
///
/// # Errors
/// The time was over first.
pub async fn timeout<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    tokio::time::timeout(limit, future).await.map_err(|_| Elapsed)
}
