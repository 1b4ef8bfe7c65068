//! Times in a settings file: seconds, whole or with a fraction.

use core::fmt;
use core::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Longest time that can be set: a hundred years.
const MOST: f64 = 100.0 * 366.0 * 86_400.0;

/// A time of at least nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seconds(pub(super) Duration);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in seconds, such as 10 or 0.5")
            }

            fn visit_i64<E: Error>(self, seconds: i64) -> Result<Seconds, E> {
                let seconds = u64::try_from(seconds).map_err(|_| E::custom("a time cannot be below zero"))?;
                self.visit_u64(seconds)
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Seconds, E> {
                let time = Duration::from_secs(seconds);
                if time.as_secs_f64() <= MOST { Ok(Seconds(time)) } else { Err(E::custom(too_long())) }
            }

            fn visit_f64<E: Error>(self, seconds: f64) -> Result<Seconds, E> {
                if seconds < 0.0 {
                    return Err(E::custom("a time cannot be below zero"));
                }
                if seconds > MOST {
                    return Err(E::custom(too_long()));
                }
                Duration::try_from_secs_f64(seconds).map(Seconds).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Number)
    }
}

fn too_long() -> &'static str {
    "a time cannot be longer than 100 years"
}
