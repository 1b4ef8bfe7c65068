//! The committed list of diagnostics that documents with a known contradiction have.

use super::pipeline::Outcome;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const LIST: &str = "models/expected-diagnostics.toml";

/// The list: by document, then by code.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Expected(BTreeMap<String, Entry>);

/// What is expected of one document.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The contradictions that are known of it.
    #[allow(dead_code, reason = "for the reader of the list; insisted on, never printed")]
    why: String,
    /// How many diagnostics of each code, with its severity, such as `"error UAF0101" = 3`.
    diagnostics: BTreeMap<String, usize>,
}

impl Expected {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let path = root.join(LIST);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{LIST} is not as expected"))
    }

    /// What of an outcome is not as expected; nothing if all is.
    pub(crate) fn judge(&self, outcome: &Outcome) -> Vec<String> {
        let entry = self.0.get(&outcome.name);
        let expected = entry.map(|entry| entry.diagnostics.clone()).unwrap_or_default();
        let found: BTreeMap<String, usize> = outcome
            .diagnostics
            .iter()
            .map(|((code, severity), count)| (format!("{severity} {code}"), *count))
            .collect();
        let mut differences = Vec::new();
        for (key, count) in &found {
            let wanted = expected.get(key).copied().unwrap_or_default();
            if wanted != *count {
                differences.push(format!("{count} {key}, expected {wanted}"));
            }
        }
        for (key, count) in expected.iter().filter(|(key, _)| !found.contains_key(*key)) {
            differences.push(format!("0 {key}, expected {count}"));
        }
        if let Some(failure) = outcome.failure.as_ref().filter(|failure| *failure != "errors") {
            differences.push(failure.clone());
        }
        differences
    }
}
