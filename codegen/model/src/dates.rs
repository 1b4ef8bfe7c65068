//! xs:dateTime and xs:date texts to ticks of 100 ns since 1601-01-01 UTC (OPC 10000-6 §5.1.4).

const TICKS_PER_SECOND: i64 = 10_000_000;
/// Days from 1601-01-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 134_774;

/// Parses a date with optional time, fraction and zone; a missing zone means UTC.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text.strip_suffix('Z').unwrap_or(text), None),
    };
    let mut seconds = parse_day(date)?.checked_mul(86_400)?;
    let mut fraction = 0;
    if let Some(time) = time {
        let (clock, offset) = split_zone(time)?;
        let (part, ticks) = parse_clock(clock)?;
        seconds = seconds.checked_add(part - offset)?;
        fraction = ticks;
    }
    seconds.checked_mul(TICKS_PER_SECOND)?.checked_add(fraction)
}

fn parse_day(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?)?, digits(parts.next()?)?, digits(parts.next()?)?);
    if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) || year > 9999 {
        return None;
    }
    // Days of a civil date: years begin in March, so that the leap day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468 + DAYS_TO_1970)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn parse_clock(clock: &str) -> Option<(i64, i64)> {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = whole.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let second = digits(parts.next().unwrap_or("0"))?;
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ticks = fraction.bytes().chain(std::iter::repeat(b'0')).take(7);
    let ticks = ticks.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    Some((hour * 3600 + minute * 60 + second, ticks))
}

/// Splits off `Z`, `+hh:mm` or `-hh:mm`, as seconds east.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (clock, zone) = time.split_at_checked(at)?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some((clock, sign * (digits(hours)? * 3600 + digits(minutes)? * 60)))
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::parse_date;

    #[test]
    fn dates_compare_as_instants() {
        let plain = parse_date("2022-05-01T00:00:00Z");
        assert_eq!(plain, parse_date("2022-05-01T02:00:00+02:00"));
        assert_eq!(plain, parse_date("2022-05-01"));
        assert_eq!(parse_date("1970-01-01T00:00:00Z"), Some(116_444_736_000_000_000));
        assert_eq!(parse_date("1601-01-01T00:00:00"), Some(0));
        assert_eq!(parse_date("2024-02-30"), None);
        assert_eq!(parse_date("x"), None);
    }
}
