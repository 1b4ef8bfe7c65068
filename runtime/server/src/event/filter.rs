//! EventFilter (OPC 10000-4 §7.22.3): what it may say, which events it lets through and with which fields.

use uaforge_codec::{Array, Encode as _, Encoder, ExtensionObject, StatusCode, Variant};
use uaforge_types::{ContentFilterResult, EventFilter, EventFilterResult, status};

use super::condition::Condition;
pub(crate) use super::field::EventTypes;
use super::field::Field;
use super::occurrence::Occurrence;
use crate::config::SubscriptionLimits;

/// A filter of events as an item uses it.
#[derive(Debug)]
pub(crate) struct EventItemFilter {
    /// Nothing for a field that no event has.
    select: Box<[Option<Field>]>,
    condition: Condition,
}

/// Why there is no such item, and what is wrong with which part of its filter.
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) result: ExtensionObject,
}

impl From<StatusCode> for Refused {
    fn from(status: StatusCode) -> Self {
        Self { status, result: ExtensionObject::default() }
    }
}

impl EventItemFilter {
    /// Checks a filter, and says what is wrong with single fields: those are null in every event.
    ///
    /// # Errors
    /// Bad_EventFilterInvalid without a field or with a where clause that is wrong, Bad_TooManyOperations.
    pub(crate) fn check(
        filter: &EventFilter,
        types: &EventTypes<'_>,
        limits: &SubscriptionLimits,
    ) -> Result<(Self, ExtensionObject), Refused> {
        let elements = filter.where_clause.elements.len();
        if filter.select_clauses.is_empty() {
            return Err(status::BAD_EVENT_FILTER_INVALID.into());
        }
        if filter.select_clauses.len() > limits.max_select_clauses as usize
            || elements > limits.max_where_elements as usize
        {
            return Err(status::BAD_TOO_MANY_OPERATIONS.into());
        }
        let select: Vec<Result<Field, StatusCode>> =
            filter.select_clauses.iter().map(|clause| Field::check(clause, types)).collect();
        let of_field = |field: &Result<Field, StatusCode>| field.as_ref().err().copied().unwrap_or_default();
        let results: Vec<StatusCode> = select.iter().map(of_field).collect();
        let all_are_good = results.iter().all(|result| *result == StatusCode::GOOD);
        let result = |where_clause_result: ContentFilterResult| {
            ExtensionObject::new(EventFilterResult {
                select_clause_results: Array::from(results.clone()),
                select_clause_diagnostic_infos: Array::default(),
                where_clause_result,
            })
        };
        let condition = Condition::check(&filter.where_clause, types).map_err(|where_clause_result| {
            Refused { status: status::BAD_EVENT_FILTER_INVALID, result: result(where_clause_result) }
        })?;
        let told = if all_are_good { ExtensionObject::default() } else { result(Default::default()) };
        let select = select.into_iter().map(Result::ok).collect();
        Ok((Self { select, condition }, told))
    }

    /// Whether the where clause is true for an event (OPC 10000-4 §7.7.1).
    pub(crate) fn lets_through(&self, occurrence: &Occurrence<'_>) -> bool {
        self.condition.is_true(occurrence)
    }

    /// The fields of an event as an encoded array of Variants.
    pub(crate) fn fields(
        &self,
        occurrence: &Occurrence<'_>,
        encode: uaforge_codec::EncodeContext<'_>,
    ) -> Vec<u8> {
        let fields: Vec<Variant> = self
            .select
            .iter()
            .map(|field| field.as_ref().map_or(Variant::Null, |field| occurrence.value(field)))
            .collect();
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, encode);
        Array::from(fields).encode(&mut e);
        if e.error().is_some() { self.unencodable() } else { bytes }
    }

    /// What stands for the fields of an event that cannot be sent: the same number of Bad_EncodingLimitsExceeded.
    pub(crate) fn unencodable(&self) -> Vec<u8> {
        let why = Variant::StatusCode(status::BAD_ENCODING_LIMITS_EXCEEDED);
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, uaforge_codec::EncodeContext::default());
        Array::from(vec![why; self.select.len()]).encode(&mut e);
        bytes
    }
}
