//! What a closure that is read may give: a value, a value with status and time, or a failure.

use uaforge_codec::{DataValue, DateTime, IntoVariant, StatusCode};

/// A value with its status and the time at which the source had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<T> {
    /// The value.
    pub value: T,
    /// The status, such as Uncertain_LastUsableValue.
    pub status: StatusCode,
    /// The SourceTimestamp.
    pub source: DateTime,
}

/// What a closure gives for a Variable with values of type `T`: a `T`, a [`Sample`] of one, or a `Result`
/// of either with the status that tells why there is no value.
pub trait Reading<T>: Send + 'static {
    /// The value as it is sent; `now` is its time unless it knows better.
    fn into_data_value(self, now: DateTime) -> DataValue;
}

impl<T: IntoVariant + Send + 'static> Reading<T> for T {
    fn into_data_value(self, now: DateTime) -> DataValue {
        DataValue::new(self.into_variant()).with_source_timestamp(Some(now))
    }
}

impl<T: IntoVariant + Send + 'static> Reading<T> for Sample<T> {
    fn into_data_value(self, _: DateTime) -> DataValue {
        let status = (self.status != StatusCode::GOOD).then_some(self.status);
        DataValue::new(self.value.into_variant()).with_status(status).with_source_timestamp(Some(self.source))
    }
}

impl<T: IntoVariant + Send + 'static> Reading<T> for Result<T, StatusCode> {
    fn into_data_value(self, now: DateTime) -> DataValue {
        self.map_or_else(|status| failure(status, now), |value| value.into_data_value(now))
    }
}

impl<T: IntoVariant + Send + 'static> Reading<T> for Result<Sample<T>, StatusCode> {
    fn into_data_value(self, now: DateTime) -> DataValue {
        self.map_or_else(|status| failure(status, now), |sample| sample.into_data_value(now))
    }
}

fn failure(status: StatusCode, now: DateTime) -> DataValue {
    DataValue::from_status(status).with_source_timestamp(Some(now))
}
