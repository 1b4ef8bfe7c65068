//! Values that follow a function of time, for demonstrations and tests of clients.
//!
//! Each is a function of the time since the server's start and of nothing else, so that a test knows its
//! value at every moment. A closure is one too:
//!
//! ```
//! use core::time::Duration;
//! use uaforge_server::simulation::{Simulation, Sine};
//!
//! let sine = Sine { mean: 20.0, amplitude: 5.0, period: Duration::from_secs(4) };
//! assert_eq!(sine.at(Duration::from_secs(1)), 25.0);
//! let minutes = |since: Duration| since.as_secs() / 60;
//! assert_eq!(minutes.at(Duration::from_secs(150)), 2);
//! ```

use core::f64::consts::TAU;
use core::time::Duration;

/// A function of the time since the server's start.
pub trait Simulation<T>: Send + Sync + 'static {
    /// The value at a time.
    fn at(&self, since_start: Duration) -> T;
}

impl<T, F: Fn(Duration) -> T + Send + Sync + 'static> Simulation<T> for F {
    fn at(&self, since_start: Duration) -> T {
        self(since_start)
    }
}

/// A sine around a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sine {
    /// The value at the start.
    pub mean: f64,
    /// The largest distance from it.
    pub amplitude: f64,
    /// The time of one wave; zero stands still.
    pub period: Duration,
}

impl Simulation<f64> for Sine {
    fn at(&self, since_start: Duration) -> f64 {
        self.mean + self.amplitude * (TAU * phase(since_start, self.period)).sin()
    }
}

/// A straight line from one value to another, again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// The value at the start of each period.
    pub from: f64,
    /// The value that is reached at its end, and never shown: there it begins again.
    pub to: f64,
    /// The time of one ramp; zero stands still.
    pub period: Duration,
}

impl Simulation<f64> for Ramp {
    fn at(&self, since_start: Duration) -> f64 {
        self.from + (self.to - self.from) * phase(since_start, self.period)
    }
}

/// Steps up and down at random between two bounds, at which it turns back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWalk {
    /// The lower bound.
    pub low: f64,
    /// The upper bound; the walk begins in the middle.
    pub high: f64,
    /// How far one step goes.
    pub step: f64,
    /// The time of one step; zero stands still.
    pub every: Duration,
    /// Walks with the same seed are the same.
    pub seed: u64,
}

impl Simulation<f64> for RandomWalk {
    fn at(&self, since_start: Duration) -> f64 {
        let middle = f64::midpoint(self.low, self.high);
        let steps = whole(since_start, self.every);
        #[expect(clippy::cast_precision_loss, reason = "a walk that far away has long forgotten its steps")]
        let walked = middle + self.step * balance(self.seed, steps) as f64;
        fold(walked, self.low, self.high)
    }
}

/// True and false in turn, beginning with false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toggle {
    /// How long each of the two lasts; zero stays false.
    pub every: Duration,
}

impl Simulation<bool> for Toggle {
    fn at(&self, since_start: Duration) -> bool {
        whole(since_start, self.every) % 2 == 1
    }
}

/// Counts up by one, from 0; behind the largest number of its type it begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The time of one count; zero stays 0.
    pub every: Duration,
}

macro_rules! counters {
    ($($number:ty)*) => {$(
        impl Simulation<$number> for Counter {
            fn at(&self, since_start: Duration) -> $number {
                // Modulo one more than the largest number, which fits into 128 bits.
                let largest = u128::try_from(<$number>::MAX).unwrap_or(u128::MAX);
                let count = u128::from(whole(since_start, self.every)) % (largest + 1);
                <$number>::try_from(count).unwrap_or_default()
            }
        }
    )*};
}

counters!(u8 u16 u32 u64 i8 i16 i32 i64);

/// How much of the current period is over, from 0 to less than 1.
fn phase(time: Duration, period: Duration) -> f64 {
    let nanos = time.as_nanos().checked_rem(period.as_nanos()).unwrap_or_default();
    let rest = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    if rest.is_zero() { 0.0 } else { rest.as_secs_f64() / period.as_secs_f64() }
}

/// Whole periods that are over.
fn whole(time: Duration, period: Duration) -> u64 {
    let periods = time.as_nanos().checked_div(period.as_nanos()).unwrap_or_default();
    u64::try_from(periods).unwrap_or(u64::MAX)
}

/// Steps up less steps down: one random bit a step, 64 of them at a time.
fn balance(seed: u64, steps: u64) -> i64 {
    let up = |word: u64| i64::from(word.count_ones());
    let blocks = (0..steps / 64).map(|block| 2 * up(random(seed, block)) - 64).sum::<i64>();
    let rest = steps % 64;
    let mask = (1u64 << rest) - 1;
    blocks + 2 * up(random(seed, steps / 64) & mask) - i64::try_from(rest).unwrap_or_default()
}

/// Random bits that depend on the arguments alone.
fn random(seed: u64, index: u64) -> u64 {
    let mut bits = seed ^ index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Turns back at the bounds as often as need be.
fn fold(value: f64, low: f64, high: f64) -> f64 {
    let width = high - low;
    if width <= 0.0 {
        return low;
    }
    let place = (value - low).rem_euclid(2.0 * width);
    low + if place > width { 2.0 * width - place } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waves_begin_again() {
        let sine = Sine { mean: 1.0, amplitude: 2.0, period: SECOND * 4 };
        let at = [0, 1, 2, 3, 4, 4_001].map(|seconds| sine.at(SECOND * seconds));
        for (value, expected) in at.into_iter().zip([1.0, 3.0, 1.0, -1.0, 1.0, 3.0]) {
            assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
        }
        let ramp = Ramp { from: 10.0, to: -10.0, period: SECOND * 4 };
        assert_eq!([0, 1, 3, 4, 5].map(|seconds| ramp.at(SECOND * seconds)), [10.0, 5.0, -5.0, 10.0, 5.0]);
        assert_eq!(Ramp { period: Duration::ZERO, ..ramp }.at(SECOND), 10.0);
    }

    #[test]
    fn a_walk_goes_one_step_at_a_time_within_its_bounds() {
        let walk = RandomWalk { low: -3.0, high: 3.0, step: 1.0, every: SECOND, seed: 7 };
        let values: Vec<f64> = (0..10_000).map(|step| walk.at(SECOND * step)).collect();
        assert_eq!(values[0], 0.0);
        assert!(values.windows(2).all(|pair| (pair[1] - pair[0]).abs() == 1.0));
        assert!(values.iter().all(|value| (-3.0..=3.0).contains(value)));
        assert!(values.contains(&-3.0) && values.contains(&3.0));
        let other = RandomWalk { seed: 8, ..walk };
        assert!((0..100).any(|step| other.at(SECOND * step) != walk.at(SECOND * step)));
        // Between two steps it stands.
        assert_eq!(walk.at(Duration::from_millis(7_999)), walk.at(SECOND * 7));
    }

    #[test]
    fn counts_and_toggles() {
        let counter = Counter { every: SECOND / 10 };
        let counts: [u8; 3] = [0, 1, 26].map(|seconds| counter.at(SECOND * seconds));
        assert_eq!(counts, [0, 10, 4]);
        let signed: i8 = counter.at(Duration::from_millis(12_800));
        assert_eq!(signed, 0);
        let toggle = Toggle { every: SECOND };
        assert_eq!([0, 1, 2, 3].map(|seconds| toggle.at(SECOND * seconds)), [false, true, false, true]);
    }
}
