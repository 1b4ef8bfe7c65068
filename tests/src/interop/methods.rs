//! The Methods of a space file, as the servers in Rust have them.

use serde_json::Value;
use uaforge_codec::{FromVariant, IntoVariant as _, StatusCode, Variant};
use uaforge_types::{Argument, Range, status};

use super::Namespace;

/// An argument of a space file: `[name, data type, value rank]`.
///
/// # Errors
/// What is none.
pub fn argument(item: &Value) -> Result<Argument, String> {
    let part = |index: usize| item.get(index).and_then(Value::as_str).unwrap_or_default();
    let rank = item.get(2).and_then(Value::as_i64).and_then(|rank| i32::try_from(rank).ok());
    Ok(Argument {
        name: part(0).into(),
        data_type: Namespace(0).node(part(1))?,
        value_rank: rank.ok_or("an argument has no rank")?,
        ..Default::default()
    })
}

/// Does what the Method of that name does.
///
/// # Errors
/// The result of a call that fails.
pub fn run(name: &str, inputs: &[Variant]) -> Result<Vec<Variant>, StatusCode> {
    match (name, inputs) {
        ("Add", [a, b]) => Ok(vec![(from::<f64>(a)? + from::<f64>(b)?).into()]),
        ("Nothing", []) => Ok(Vec::new()),
        ("Reverse", [letters, numbers]) => {
            let letters: String = from::<String>(letters)?.chars().rev().collect();
            let mut numbers = from::<Vec<i32>>(numbers)?;
            numbers.reverse();
            Ok(vec![numbers.into_variant(), letters.into_variant()])
        }
        ("Widen", [range]) => {
            let range = from::<Range>(range)?;
            Ok(vec![Range { low: range.low - 1.0, high: range.high + 1.0 }.into_variant()])
        }
        ("Fail", []) => Err(status::BAD_INVALID_STATE),
        _ => Err(status::BAD_INTERNAL_ERROR),
    }
}

fn from<T: FromVariant>(value: &Variant) -> Result<T, StatusCode> {
    T::from_variant(value).map_err(|_| status::BAD_TYPE_MISMATCH)
}
