//! Monotonic time, as an argument of every machine.

use core::ops::Add;
use core::time::Duration;

use crate::DateTime;

/// Nanoseconds of a monotonic clock since an arbitrary start. Lasts for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

impl Ticks {
    /// A time that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// Time since `earlier`; zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Ticks {
    type Output = Self;

    /// Saturates at [`Ticks::NEVER`].
    fn add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

/// One reading of both clocks, taken once per batch of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time, for deadlines.
    pub ticks: Ticks,
    /// Wall-clock time, for timestamps.
    pub utc: DateTime,
}
