//! What a client asks for and what it gets (OPC 10000-4 §5.13.2, §5.14.2): every number within the limits.

use core::time::Duration;

use crate::config::SubscriptionLimits;

/// Parameters of a subscription after revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Revised {
    pub(crate) interval: Duration,
    pub(crate) keep_alive: u32,
    pub(crate) lifetime: u32,
    pub(crate) max_notifications: u32,
}

/// Keep-alive count of a client that asks for 0.
const DEFAULT_KEEP_ALIVE: u32 = 10;

/// A time in milliseconds from the wire; nothing for what is no positive number.
fn milliseconds(value: f64) -> Option<Duration> {
    if value.is_nan() || value <= 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(value / 1_000.0).unwrap_or(Duration::MAX))
}

/// Milliseconds for the wire.
pub(crate) fn to_milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

/// Revises the parameters of a subscription.
pub(crate) fn subscription(
    limits: &SubscriptionLimits,
    interval: f64,
    lifetime: u32,
    keep_alive: u32,
    max_notifications: u32,
) -> Revised {
    let shortest = limits.min_publishing_interval.max(Duration::from_millis(1));
    let longest = limits.max_publishing_interval.max(shortest);
    let interval = milliseconds(interval).map_or(shortest, |interval| interval.clamp(shortest, longest));
    let most = limits.max_lifetime.as_nanos() / interval.as_nanos().max(1);
    let most = u32::try_from(most).unwrap_or(u32::MAX).max(3);
    let keep_alive = if keep_alive == 0 { DEFAULT_KEEP_ALIVE } else { keep_alive };
    let keep_alive = keep_alive.clamp(1, most / 3);
    // "The lifetime count shall be a minimum of three times the keep-alive count."
    let lifetime = lifetime.clamp(keep_alive * 3, most);
    let limit = limits.max_notifications_per_publish.max(1);
    let max_notifications = if max_notifications == 0 { limit } else { max_notifications.min(limit) };
    Revised { interval, keep_alive, lifetime, max_notifications }
}

/// Revises a sampling interval: a negative one is the publishing interval, 0 means every change where changes are
/// told. The result is in whole milliseconds, so that items share their times.
pub(crate) fn sampling(
    limits: &SubscriptionLimits,
    requested: f64,
    publishing: Duration,
    tells_changes: bool,
    minimum: Option<f64>,
) -> Duration {
    let minimum = minimum.and_then(milliseconds);
    let requested = match requested {
        _ if requested.is_nan() || requested < 0.0 => publishing,
        _ => milliseconds(requested).unwrap_or_default(),
    };
    if requested.is_zero() && tells_changes && minimum.is_none() {
        return Duration::ZERO;
    }
    let shortest = limits.min_sampling_interval.max(Duration::from_millis(1));
    let longest = limits.max_sampling_interval.max(shortest);
    let revised = requested.clamp(shortest, longest).max(minimum.unwrap_or_default().min(longest));
    let whole = revised.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(whole).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn revise(interval: f64, lifetime: u32, keep_alive: u32) -> Revised {
        subscription(&SubscriptionLimits::default(), interval, lifetime, keep_alive, 0)
    }

    #[test]
    fn intervals_are_within_the_limits() {
        let limits = SubscriptionLimits::default();
        for fastest in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, 1e-9] {
            assert_eq!(revise(fastest, 0, 0).interval, limits.min_publishing_interval);
        }
        for slowest in [365.25 * 86_400_000.0, f64::INFINITY, f64::MAX] {
            assert_eq!(revise(slowest, 0, 0).interval, limits.max_publishing_interval);
        }
        assert_eq!(revise(1_000.0, 0, 0).interval, SECOND);
    }

    #[test]
    fn a_lifetime_is_three_keep_alives_at_least() {
        let revised = revise(1_000.0, 0, 20);
        assert_eq!((revised.keep_alive, revised.lifetime), (20, 60));
        let revised = revise(1_000.0, 100, 20);
        assert_eq!((revised.keep_alive, revised.lifetime), (20, 100));
        let revised = revise(1_000.0, u32::MAX, u32::MAX);
        assert_eq!((revised.keep_alive, revised.lifetime), (1_200, 3_600));
        let revised = revise(3_600_000.0, u32::MAX, u32::MAX);
        assert_eq!((revised.keep_alive, revised.lifetime), (1, 3));
        assert_eq!(revise(1_000.0, 0, 0).keep_alive, DEFAULT_KEEP_ALIVE);
    }

    #[test]
    fn notifications_per_publish() {
        let limits = SubscriptionLimits { max_notifications_per_publish: 7, ..Default::default() };
        let revised = |most| subscription(&limits, 1_000.0, 0, 0, most).max_notifications;
        assert_eq!([revised(0), revised(3), revised(7), revised(u32::MAX)], [7, 3, 7, 7]);
    }

    #[test]
    fn sampling_intervals() {
        let limits = SubscriptionLimits::default();
        let revise = |requested, tells, minimum| sampling(&limits, requested, SECOND, tells, minimum);
        assert_eq!(revise(0.0, true, None), Duration::ZERO);
        assert_eq!(revise(0.0, false, None), limits.min_sampling_interval);
        assert_eq!(revise(0.0, true, Some(500.0)), Duration::from_millis(500));
        for default in [-1.0, -7.0, f64::NAN] {
            assert_eq!(revise(default, true, None), SECOND);
        }
        assert_eq!(revise(1.0, true, None), limits.min_sampling_interval);
        assert_eq!(revise(10.2, true, None), Duration::from_millis(11));
        assert_eq!(revise(f64::INFINITY, true, None), limits.max_sampling_interval);
        assert_eq!(revise(1.0, true, Some(f64::MAX)), limits.max_sampling_interval);
    }
}
