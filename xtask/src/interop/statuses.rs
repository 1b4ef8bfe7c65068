//! Names of status codes (OPC 10000-6 Annex A) for numbers, from the project's own table.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Both ways between names and numbers.
pub(super) struct Statuses {
    names: HashMap<u32, String>,
    numbers: HashMap<String, u32>,
}

impl Statuses {
    /// Reads the committed table.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let path = root.join("runtime/types/status_codes.csv");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut table = Self { names: HashMap::new(), numbers: HashMap::new() };
        for line in text.lines().skip(1) {
            let mut fields = line.split(',');
            let (Some(name), Some(number)) = (fields.next(), fields.next()) else { continue };
            let number = u32::from_str_radix(number.trim_start_matches("0x"), 16)
                .with_context(|| format!("status code {line}"))?;
            table.names.insert(number, name.to_owned());
            table.numbers.insert(name.to_owned(), number);
        }
        Ok(table)
    }

    /// The number of a name.
    pub(super) fn number(&self, name: &str) -> Result<u32> {
        self.numbers.get(name).copied().with_context(|| format!("there is no status code {name}"))
    }

    /// Replaces the numbers of fields `status` and of arrays `arguments` by names.
    pub(super) fn name_all(&self, outcome: &mut Value) {
        match outcome {
            Value::Array(items) => items.iter_mut().for_each(|item| self.name_all(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match (name.as_str(), &mut *field) {
                        ("status", status) => self.name(status),
                        ("arguments", Value::Array(statuses)) => {
                            statuses.iter_mut().for_each(|status| self.name(status));
                        }
                        _ => self.name_all(field),
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&self, status: &mut Value) {
        let Some(number) = status.as_u64().and_then(|number| u32::try_from(number).ok()) else { return };
        // The low 16 bits are flags of single values (OPC 10000-4 §7.39).
        let name = self.names.get(&(number & 0xFFFF_0000)).cloned();
        *status = name.unwrap_or_else(|| format!("0x{number:08X}")).into();
    }
}
