//! The one line of a model crate's build script: hands its interface to dependents (D2).
//!
//! Cargo gives the metadata of a crate with a `links` key to the build scripts of its direct
//! dependents alone, so each model hands on what its own dependencies handed to it.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

/// Version of the text that is handed on.
pub const FORMAT: &str = "1";

/// Name of the metadata key; dependents see `DEP_<LINKS>_UAFORGE`.
pub const KEY: &str = "uaforge";

/// Publishes the interface file of this crate, relative to its manifest, and those of its dependencies.
///
/// `rust_path` is how dependents write the crate, such as `::uaforge_di`.
pub fn publish(interface: &str, rust_path: &str) {
    println!("cargo::rerun-if-changed={interface}");
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&folder).join(interface);
    let mut entries = BTreeSet::from([format!("{FORMAT}|{rust_path}|{}", path.display())]);
    for published in inherited() {
        entries.insert(published.to_string());
    }
    let entries: Vec<String> = entries.into_iter().collect();
    println!("cargo::metadata={KEY}={}", entries.join(";"));
}

/// An interface file that a dependency published.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published {
    /// Version of the entry's format.
    pub format: String,
    /// Rust path of the crate.
    pub rust_path: String,
    /// The interface file.
    pub path: String,
}

impl std::fmt::Display for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}|{}|{}", self.format, self.rust_path, self.path)
    }
}

/// What the dependencies of the crate whose build script is running have published.
#[must_use]
pub fn inherited() -> Vec<Published> {
    let mut published = BTreeSet::new();
    let suffix = format!("_{}", KEY.to_uppercase());
    for (name, value) in env::vars() {
        if name.starts_with("DEP_") && name.ends_with(&suffix) {
            published.extend(value.split(';').filter_map(parse));
        }
    }
    published.into_iter().collect()
}

fn parse(entry: &str) -> Option<Published> {
    let mut parts = entry.splitn(3, '|').map(str::to_owned);
    Some(Published { format: parts.next()?, rust_path: parts.next()?, path: parts.next()? })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn entries_round_trip() {
        let entry = "1|::uaforge_di|models/di/interface.txt";
        assert_eq!(parse(entry).map(|published| published.to_string()).as_deref(), Some(entry));
        assert_eq!(parse("1|only two"), None);
    }
}
