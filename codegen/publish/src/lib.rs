//! The one line of a model crate's build script: hands its interface to dependents (D2).
//!
//! Cargo gives the metadata of a crate with a `links` key to the build scripts of its direct
//! dependents alone, so each model hands on what its own dependencies handed to it. Their crates are
//! reached through the model's own, which has them in the module `__models`: a dependent need not name
//! what its dependencies need.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

/// Version of the text that is handed on.
pub const FORMAT: &str = "1";

/// Name of the metadata key; dependents see `DEP_<LINKS>_UAFORGE`.
pub const KEY: &str = "uaforge";

/// The module of a model's crate that has the crates of the models that it requires.
pub const MODULE: &str = "__models";

/// Publishes the interface file of this crate, relative to its manifest, and those of its dependencies.
///
/// `rust_path` is how dependents write the crate, such as `::uaforge_di`.
pub fn publish(interface: &str, rust_path: &str) {
    println!("cargo::rerun-if-changed={interface}");
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&folder).join(interface);
    let own = Published {
        format: FORMAT.to_owned(),
        rust_path: rust_path.to_owned(),
        path: path.display().to_string(),
    };
    let handed_on = inherited().into_iter().map(|published| through(rust_path, published));
    let mut entries: Vec<Published> = handed_on.chain([own]).collect();
    entries.sort();
    let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
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

/// A dependency's dependency, reached through the dependency.
fn through(rust_path: &str, published: Published) -> Published {
    Published { rust_path: format!("{rust_path}::{MODULE}{}", published.rust_path), ..published }
}

/// What the dependencies of the crate whose build script is running have published, each interface once, by the
/// shortest path to its crate.
#[must_use]
pub fn inherited() -> Vec<Published> {
    let suffix = format!("_{}", KEY.to_uppercase());
    let published = env::vars().filter(|(name, _)| name.starts_with("DEP_") && name.ends_with(&suffix));
    let values: Vec<String> = published.map(|(_, value)| value).collect();
    nearest(values.iter().flat_map(|value| value.split(';')).filter_map(parse))
}

fn nearest(published: impl Iterator<Item = Published>) -> Vec<Published> {
    let mut by_path: BTreeMap<String, Published> = BTreeMap::new();
    let rank = |published: &Published| {
        let rust_path = published.rust_path.clone();
        (rust_path.matches("::").count(), rust_path)
    };
    for published in published {
        let known = by_path.get(&published.path);
        if known.is_none_or(|known| rank(&published) < rank(known)) {
            by_path.insert(published.path.clone(), published);
        }
    }
    by_path.into_values().collect()
}

fn parse(entry: &str) -> Option<Published> {
    let mut parts = entry.splitn(3, '|').map(str::to_owned);
    Some(Published { format: parts.next()?, rust_path: parts.next()?, path: parts.next()? })
}

#[cfg(test)]
mod tests {
    use super::{Published, nearest, parse, through};

    #[test]
    fn entries_round_trip() {
        let entry = "1|::uaforge_di|models/di/interface.txt";
        assert_eq!(parse(entry).map(|published| published.to_string()).as_deref(), Some(entry));
        assert_eq!(parse("1|only two"), None);
    }
    #[test]
    fn the_nearest_way_to_a_crate_is_taken() {
        let di = Published {
            format: "1".into(),
            rust_path: "::uaforge_di".into(),
            path: "di/interface.txt".into(),
        };
        let by_machinery = through("::uaforge_machinery", di.clone());
        assert_eq!(by_machinery.rust_path, "::uaforge_machinery::__models::uaforge_di");
        let by_ia = through("::uaforge_ia", di.clone());
        assert_eq!(nearest([by_machinery.clone(), by_ia.clone()].into_iter()), std::slice::from_ref(&by_ia));
        assert_eq!(nearest([by_machinery, di.clone(), by_ia].into_iter()), [di]);
    }
}
