//! Text forms that JSON and XML share: numbers, times, Base64, enumerations.

use alloc::vec::Vec;

use crate::{DateTime, EnumerationType};

use super::TextReason;

/// `Name_1`, `Name` or `1` (OPC 10000-6 §5.3.1.6, §5.4.4); a name of an unknown value counts by its number.
pub(crate) fn enumeration(text: &str, ty: EnumerationType<'_>) -> Result<i128, TextReason> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    if let Some(value) = ty.value_of(text) {
        return Ok(value.into());
    }
    // The value may be negative, as in `Low_-1`.
    let number = text.rsplit_once('_').and_then(|(_, number)| number.parse().ok());
    number.ok_or(TextReason::UnknownMember)
}

/// A whole number, which may be written as one with a fraction of zeros or an exponent.
pub(crate) fn integer(text: &str) -> Result<i128, TextReason> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let number: f64 = text.parse().map_err(|_| TextReason::Expected("a whole number"))?;
    if !number.is_finite() || number.abs() > EXACT {
        return Err(TextReason::OutOfRange);
    }
    // No larger than 2^53, so that the conversion is exact unless there is a fraction.
    let whole = number as i64;
    if whole as f64 == number { Ok(whole.into()) } else { Err(TextReason::Expected("a whole number")) }
}

/// ISO 8601 with a zone or, without one, in UTC; brought into the range of the wire (OPC 10000-6 §5.1.4).
pub(crate) fn date_time(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00:00Z"));
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let year = digits(year, 4, 4)?;
    let (month, day) = (digits(month, 2, 2)?, digits(day, 2, 2)?);
    if !(1..=12).contains(&month) || day == 0 || day > days_of(year, month) {
        return None;
    }
    let (time, zone_minutes) = zone(time)?;
    let (clock, fraction) = time.split_once(['.', ',']).unwrap_or((time, "0"));
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2, 2)?, digits(parts.next()?, 2, 2)?);
    let second = digits(parts.next().unwrap_or("00"), 2, 2)?;
    // 24:00:00 is the end of a day, :60 a leap second.
    if hour > 24 || minute > 59 || second > 60 || (hour == 24 && minute + second > 0) {
        return None;
    }
    let ticks = fraction_ticks(fraction)?;
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second) - zone_minutes * 60;
    let year = i32::try_from(year).ok()?;
    let (day_shift, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    Some(DateTime::from_utc_shifted(year, month, day, day_shift, u32::try_from(of_day).ok()?, ticks))
}

/// Digits beyond the tick of 100 ns are cut.
fn fraction_ticks(fraction: &str) -> Option<u32> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(
        fraction
            .bytes()
            .chain(core::iter::repeat(b'0'))
            .take(7)
            .fold(0, |ticks, digit| ticks * 10 + u32::from(digit - b'0')),
    )
}

fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(position) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, zone) = time.split_at_checked(position)?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone.get(1..)?;
    let (hours, minutes) = zone.split_once(':').or_else(|| zone.split_at_checked(2))?;
    let minutes = if minutes.is_empty() { "00" } else { minutes };
    let (hours, minutes) = (digits(hours, 2, 2)?, digits(minutes, 2, 2)?);
    (hours <= 14 && minutes <= 59).then_some((time, sign * i64::from(hours * 60 + minutes)))
}

fn digits(text: &str, least: usize, most: usize) -> Option<u32> {
    let right = (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The text of a time: its null is the year 1, its end the last second of 9999 (OPC 10000-6 §5.1.4).
pub(crate) fn write_date_time(time: DateTime, out: &mut alloc::string::String) {
    use core::fmt::Write as _;
    let _ = match time {
        time if time.0 <= 0 => out.write_str("0001-01-01T00:00:00Z"),
        DateTime::MAX => out.write_str("9999-12-31T23:59:59Z"),
        time => write!(out, "{time}"),
    };
}

/// Base64 with white space (OPC 10000-6 §5.3.1.8).
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let dense: alloc::string::String = text.split_ascii_whitespace().collect();
        return crate::node_id_text::read_base64(&dense);
    }
    crate::node_id_text::read_base64(text)
}

/// Whether a type has a null value (OPC 10000-6 §5.1.2).
pub(crate) fn is_nullable(ty: crate::BuiltinType) -> bool {
    use crate::BuiltinType as B;
    !matches!(
        ty,
        B::Boolean
            | B::SByte
            | B::Byte
            | B::Int16
            | B::UInt16
            | B::Int32
            | B::UInt32
            | B::Int64
            | B::UInt64
            | B::Float
            | B::Double
            | B::StatusCode
    )
}
