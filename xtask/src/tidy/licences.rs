//! The licences of all dependencies stand in the allow list of deny.toml.

use super::Findings;
use super::metadata::Metadata;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

pub(super) fn check(root: &Path, metadata: &Metadata, findings: &mut Findings) -> Result<()> {
    let text = fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
    let deny: Deny = toml::from_str(&text).context("deny.toml is not as expected")?;
    for package in metadata.foreign() {
        let Some(licence) = &package.license else {
            findings.general(format!("{} {}: names no licence", package.name, package.version));
            continue;
        };
        let exceptions = deny.licenses.exceptions.iter().filter(|e| e.name == package.name);
        let allowed: Vec<&str> = (deny.licenses.allow.iter())
            .chain(exceptions.flat_map(|exception| &exception.allow))
            .map(String::as_str)
            .collect();
        if !is_allowed(licence, &allowed) {
            findings.general(format!(
                "{} {}: licence {licence} is not in the list of deny.toml",
                package.name, package.version
            ));
        }
    }
    Ok(())
}

/// Whether an SPDX expression can be fulfilled with the `allowed` licences.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let fulfilled = alternatives(&mut words, allowed);
    fulfilled && words.peek().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn alternatives(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut fulfilled = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        fulfilled |= all_of(words, allowed);
    }
    fulfilled
}

fn all_of(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut fulfilled = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        fulfilled &= one(words, allowed);
    }
    fulfilled
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let fulfilled = alternatives(words, allowed);
        return words.next_if_eq(&")").is_some() && fulfilled;
    }
    let Some(name) = words.next() else {
        return false;
    };
    if words.next_if_eq(&"WITH").is_some() {
        let exception = words.next().unwrap_or_default();
        return allowed.contains(&format!("{name} WITH {exception}").as_str());
    }
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn spdx_expressions() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        assert!(is_allowed("MIT OR Apache-2.0", &allowed));
        assert!(is_allowed("Apache-2.0/MIT", &allowed));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception", &allowed));
        assert!(!is_allowed("Apache-2.0", &allowed));
        assert!(!is_allowed("MIT AND GPL-3.0", &allowed));
        assert!(!is_allowed("(MIT", &allowed));
    }
}
