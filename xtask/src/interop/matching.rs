//! Compares an outcome with what is expected of it.
//!
//! An expectation is a value of the same form, of which objects name only the fields that matter.
//! `{"any": […]}` takes one of several, `{"contains": […], "count": n}` some elements of an array in
//! any order and its length, `{"at_least": n}` a number.

use serde_json::{Map, Value};

/// Adds what differs to `found`, each with its place.
pub(super) fn compare(expected: &Value, outcome: &Value, place: &str, found: &mut Vec<String>) {
    match expected {
        Value::Object(fields) if is_special(fields) => {
            if !special(fields, outcome) {
                found.push(format!("{place}: {} expected, got {}", short(expected), short(outcome)));
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let actual = outcome.get(name).unwrap_or(&Value::Null);
                compare(field, actual, &format!("{place}.{name}"), found);
            }
        }
        Value::Array(items) => match outcome.as_array() {
            Some(actual) if actual.len() == items.len() => {
                for (number, (item, actual)) in items.iter().zip(actual).enumerate() {
                    compare(item, actual, &format!("{place}[{number}]"), found);
                }
            }
            Some(actual) => {
                let counts = (items.len(), actual.len());
                found.push(format!(
                    "{place}: {} elements expected, got {}: {}",
                    counts.0,
                    counts.1,
                    short(outcome)
                ));
            }
            None => found.push(format!("{place}: an array expected, got {}", short(outcome))),
        },
        _ if expected == outcome => {}
        _ => found.push(format!("{place}: {} expected, got {}", short(expected), short(outcome))),
    }
}

fn is_special(fields: &Map<String, Value>) -> bool {
    ["any", "contains", "count", "at_least"].into_iter().any(|name| fields.contains_key(name))
}

fn special(fields: &Map<String, Value>, outcome: &Value) -> bool {
    let items = || outcome.as_array().map(Vec::as_slice).unwrap_or_default();
    fields.iter().all(|(name, wanted)| match (name.as_str(), wanted) {
        ("any", Value::Array(wanted)) => wanted.iter().any(|wanted| matches(wanted, outcome)),
        ("contains", Value::Array(wanted)) => {
            wanted.iter().all(|wanted| items().iter().any(|item| matches(wanted, item)))
        }
        ("count", wanted) => outcome.is_array() && wanted.as_u64() == u64::try_from(items().len()).ok(),
        ("at_least", wanted) => outcome.as_f64().is_some_and(|number| wanted.as_f64() <= Some(number)),
        _ => false,
    })
}

fn matches(expected: &Value, outcome: &Value) -> bool {
    let mut found = Vec::new();
    compare(expected, outcome, "", &mut found);
    found.is_empty()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;
    use serde_json::json;

    #[test]
    fn fields_that_are_not_named_do_not_matter() {
        assert!(matches(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!matches(&json!({"a": 1}), &json!({"a": 2})));
        assert!(!matches(&json!({"a": 1}), &json!({})));
        assert!(matches(&json!({"a": null}), &json!({})));
    }

    #[test]
    fn arrays_have_the_same_length() {
        assert!(matches(&json!([1, {"a": 2}]), &json!([1, {"a": 2, "b": 3}])));
        assert!(!matches(&json!([1]), &json!([1, 2])));
        assert!(!matches(&json!([]), &json!(null)));
    }

    #[test]
    fn special_expectations() {
        assert!(matches(&json!({"any": ["x", "y"]}), &json!("y")));
        assert!(!matches(&json!({"any": ["x", "y"]}), &json!("z")));
        assert!(matches(&json!({"contains": [3, 1], "count": 3}), &json!([1, 2, 3])));
        assert!(!matches(&json!({"contains": [3, 4]}), &json!([1, 2, 3])));
        assert!(!matches(&json!({"count": 2}), &json!([1, 2, 3])));
        assert!(!matches(&json!({"count": 0}), &json!(null)));
        assert!(matches(&json!({"at_least": 1}), &json!(10_000.0)));
        assert!(!matches(&json!({"at_least": 1}), &json!(0.5)));
        assert!(!matches(&json!({"at_least": 1}), &json!(null)));
    }
}
