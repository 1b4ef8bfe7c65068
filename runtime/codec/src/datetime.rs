//! DateTime: the 64-bit tick (OPC 10000-6 §5.1.4, §5.2.2.5).

use core::fmt;
use core::time::Duration;

/// Ticks of 100 ns since 1601-01-01 00:00 UTC. Zero means "no time" (OPC 10000-6 §5.2.2.5).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(pub i64);

const TICKS_PER_SECOND: i64 = 10_000_000;
const UNIX_EPOCH: i64 = 11_644_473_600 * TICKS_PER_SECOND;
/// 9999-12-31 23:59:59: this and anything later is written as the largest tick.
const LAST_SECOND: i64 = 2_650_467_743_990_000_000;

impl DateTime {
    /// No time (1601-01-01 or earlier).
    pub const NULL: Self = Self(0);
    /// 9999-12-31 23:59:59 or later.
    pub const MAX: Self = Self(i64::MAX);

    /// From a time since 1970-01-01 UTC.
    #[must_use]
    pub fn from_unix(since_epoch: Duration) -> Self {
        let ticks = since_epoch.as_nanos() / 100;
        i64::try_from(ticks).map_or(Self::MAX, |ticks| Self(ticks.saturating_add(UNIX_EPOCH)).clamped())
    }

    /// Time since 1970-01-01 UTC; `None` before that.
    #[must_use]
    pub fn to_unix(self) -> Option<Duration> {
        let ticks = u64::try_from(self.0.checked_sub(UNIX_EPOCH)?).ok()?;
        let (seconds, rest) = (ticks / 10_000_000, ticks % 10_000_000);
        Some(Duration::new(seconds, u32::try_from(rest * 100).unwrap_or(0)))
    }

    /// From a date and a time of day in UTC, by the proleptic Gregorian calendar, brought into the
    /// range of the wire (§5.2.2.5): before 1601 zero, from 9999-12-31 23:59:59 on the largest tick.
    #[must_use]
    pub fn from_utc(year: i32, month: u32, day: u32, seconds_of_day: u32, ticks: u32) -> Self {
        Self::from_utc_shifted(year, month, day, 0, seconds_of_day, ticks)
    }

    /// As [`DateTime::from_utc`], some days later.
    pub(crate) fn from_utc_shifted(
        year: i32,
        month: u32,
        day: u32,
        days_later: i64,
        seconds_of_day: u32,
        ticks: u32,
    ) -> Self {
        let days = days_from_civil(i64::from(year), i64::from(month), i64::from(day)) + days_later;
        let seconds = days * 86_400 + i64::from(seconds_of_day);
        let ticks = i128::from(seconds) * i128::from(TICKS_PER_SECOND) + i128::from(ticks);
        i64::try_from(ticks).map_or(Self::MAX, Self).clamped()
    }

    fn clamped(self) -> Self {
        if self.0 <= 0 {
            Self::NULL
        } else if self.0 >= LAST_SECOND {
            Self::MAX
        } else {
            self
        }
    }
}

/// Days since 1601-01-01.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year;
    // Days from 0000-03-01 to 1601-01-01.
    days - 584_694
}

/// Year, month and day of a day count since 1601-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 584_694;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl fmt::Display for DateTime {
    /// ISO 8601 in UTC, such as `2024-02-29T23:59:59.5Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(TICKS_PER_SECOND);
        let mut fraction = self.0.rem_euclid(TICKS_PER_SECOND);
        let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if fraction > 0 {
            let mut width = 7;
            while fraction % 10 == 0 {
                fraction /= 10;
                width -= 1;
            }
            write!(f, ".{fraction:0width$}")?;
        }
        f.write_str("Z")
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// Ticks before 1601 are written and read as 0, those of the last second of 9999 and later as the
// largest.
crate::primitives::fixed_width! {
    DateTime, 8: |time| time.clamped().0.to_le_bytes(), |bytes| DateTime(i64::from_le_bytes(bytes)).clamped();
}
