//! The generated code of all documents as a workspace of crates in the target folder, and cargo at it.

use super::documents::Document;
use super::pipeline::{Outcome, PREFIX, crate_name};
use super::serve;
use crate::progress::Progress;
use crate::{scaffold, workspace};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The types of the base model are compiled with the runtime, which is generated of them.
const TABLES_ONLY: &str = "//! The tables of the base model.\n\n\
    #[rustfmt::skip]\n#[path = \"generated/tables.rs\"]\nmod tables;\n\npub use tables::MODEL;\n";

/// What cargo is to do with the crates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// `cargo check` of types, ids and tables.
    Data,
    /// `cargo build` with clients and servers.
    All,
}

/// What the compiler said of each crate.
#[derive(Default)]
pub(crate) struct Compiled {
    /// The first error in each crate.
    errors: BTreeMap<String, String>,
    /// Crates that were made.
    made: BTreeSet<String>,
    /// Seconds that the compiler took for a crate, where it ran.
    seconds: BTreeMap<String, f64>,
}

/// The folder of the workspace.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("target/corpus")
}

/// Brings the workspace to the state of the outcomes; files that are as they should be stay untouched. Gives the number
/// of its crates.
pub(crate) fn write(
    root: &Path,
    documents: &[Document],
    outcomes: &[Outcome],
    depth: Depth,
) -> Result<usize> {
    let folder = folder(root);
    let mut wanted: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut crates = 0;
    let runtime = root.join("runtime");
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n\n".to_owned();
    manifest.push_str("[profile.dev]\ndebug = 0\nincremental = false\n");
    wanted.insert("Cargo.toml".into(), manifest.into_bytes());
    for (document, outcome) in documents.iter().zip(outcomes) {
        if outcome.failure.is_some() {
            continue;
        }
        crates += 1;
        let place = PathBuf::from("crates").join(&outcome.name);
        let below = document.below.iter().filter_map(|at| outcomes.get(*at));
        let below: Vec<&str> = below.map(|outcome| outcome.name.as_str()).collect();
        wanted.insert(place.join("Cargo.toml"), package(root, &runtime, &outcome.name, &below).into_bytes());
        let mut library = match outcome.is_base {
            true => TABLES_ONLY.to_owned(),
            false => scaffold::root_module(&outcome.name, &outcome.name, true, true),
        };
        for at in 1..outcome.models {
            let module =
                scaffold::root_module("A model that is loaded beside it", &outcome.name, false, true);
            wanted.insert(place.join(format!("src/model_{at}/mod.rs")), module.into_bytes());
            let _ = writeln!(library, "\n/// A model that is loaded beside it.\npub mod model_{at};");
        }
        wanted.insert(place.join("src/lib.rs"), library.into_bytes());
        for (path, bytes) in &outcome.files {
            wanted.insert(place.join("src").join(path), bytes.clone());
        }
    }
    if depth == Depth::All {
        let (manifest, source) = serve::package(root, documents, outcomes);
        let place = PathBuf::from("crates").join(serve::PROGRAM);
        wanted.insert(place.join("Cargo.toml"), manifest.into_bytes());
        wanted.insert(place.join("src/main.rs"), source.into_bytes());
        crates += 1;
    }
    for (path, bytes) in &wanted {
        let target = folder.join(path);
        if fs::read(&target).ok().as_ref() != Some(bytes) {
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&target, bytes).with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    remove_others(&folder.join("crates"), &folder, &wanted)?;
    Ok(crates)
}

/// Removes what an earlier run left.
fn remove_others(at: &Path, folder: &Path, wanted: &BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(at).with_context(|| format!("cannot read {}", at.display()))? {
        let path = entry?.path();
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        if path.is_dir() {
            if wanted.keys().any(|wanted| wanted.starts_with(relative)) {
                remove_others(&path, folder, wanted)?;
            } else {
                fs::remove_dir_all(&path)?;
            }
        } else if !wanted.contains_key(relative) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn package(root: &Path, runtime: &Path, name: &str, below: &[&str]) -> String {
    let mut text = format!(
        "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n",
        crate_name(name)
    );
    text.push_str("[lib]\ntest = false\ndoctest = false\n\n");
    text.push_str("[features]\n");
    for feature in ["client", "server"] {
        let mut list = format!("\"dep:uaforge-{feature}\", \"uaforge-ns0/{feature}\"");
        for name in below {
            let _ = write!(list, ", \"{}/{feature}\"", crate_name(name));
        }
        let _ = writeln!(text, "{feature} = [{list}]");
    }
    text.push_str("\n[dependencies]\n");
    for (name, optional) in
        [("types", ""), ("nodes", ""), ("client", ", optional = true"), ("server", ", optional = true")]
    {
        let _ = writeln!(text, "uaforge-{name} = {{ path = {:?}{optional} }}", runtime.join(name));
    }
    let _ = writeln!(text, "uaforge-ns0 = {{ path = {:?} }}", root.join("models/ns0"));
    for name in below {
        let _ = writeln!(text, "{} = {{ path = \"../{name}\", default-features = false }}", crate_name(name));
    }
    text
}

/// Runs cargo; what fails to compile is in the result.
pub(crate) fn run(root: &Path, depth: Depth, crates: usize) -> Result<Compiled> {
    let folder = folder(root);
    let mut command = workspace::cargo(&folder);
    command.arg(if depth == Depth::Data { "check" } else { "build" });
    command.args(["--workspace", "--keep-going", "--timings", "--message-format=json"]);
    if depth == Depth::All {
        command.arg("--all-features");
    }
    command.env("CARGO_TARGET_DIR", folder.join("target")).stdout(Stdio::piped()).stderr(Stdio::null());
    let progress = Progress::new(if depth == Depth::Data { "check" } else { "build" }, crates);
    let mut child = command.spawn().context("cannot run cargo")?;
    let mut compiled = Compiled::default();
    let output = child.stdout.take().context("cargo has no output")?;
    for line in BufReader::new(output).lines() {
        if let Ok(message) = serde_json::from_str::<Value>(&line?) {
            compiled.message(&message, &progress);
        }
    }
    let status = child.wait()?;
    progress.finish(&format!("{} of {crates} crates", compiled.made.len()));
    if !status.success() && compiled.errors.is_empty() {
        bail!("cargo failed in {} ({status}); run it there to see why", folder.display());
    }
    compiled.seconds = timings(&folder).unwrap_or_default();
    Ok(compiled)
}

impl Compiled {
    /// Why the crate of a document was not made; `None` if it was.
    pub(crate) fn failure(&self, document: &str) -> Option<String> {
        let name = crate_name(document);
        let unknown = || "not compiled, as something that it depends on was not".to_owned();
        (!self.made.contains(&name)).then(|| self.errors.get(&name).cloned().unwrap_or_else(unknown))
    }

    /// How long the compiler took for the crate of a document; `None` if nothing was to do.
    pub(crate) fn seconds(&self, document: &str) -> Option<f64> {
        self.seconds.get(&crate_name(document)).copied()
    }

    fn message(&mut self, message: &Value, progress: &Progress) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let Some(name) = message["target"]["name"].as_str().filter(|name| name.starts_with(PREFIX)) else {
            return;
        };
        match message["reason"].as_str() {
            Some("compiler-artifact") => {
                progress.step(name);
                self.made.insert(name.to_owned());
            }
            Some("compiler-message") if message["message"]["level"] == "error" => {
                self.errors.entry(name.to_owned()).or_insert_with(|| text(&message["message"]["rendered"]));
            }
            _ => {}
        }
    }
}

/// The seconds of each crate, from the report that cargo leaves.
fn timings(folder: &Path) -> Option<BTreeMap<String, f64>> {
    let report = fs::read_to_string(folder.join("target/cargo-timings/cargo-timing.html")).ok()?;
    let (_, data) = report.split_once("const UNIT_DATA = ")?;
    let (data, _) = data.split_once("];")?;
    let units: Vec<Value> = serde_json::from_str(&format!("{data}]")).ok()?;
    let times = units.iter().filter_map(|unit| {
        let name = unit["name"].as_str().filter(|name| name.starts_with(PREFIX))?;
        let seconds = unit["duration"].as_f64().filter(|seconds| *seconds > 0.0)?;
        Some((name.to_owned(), seconds))
    });
    Some(times.collect())
}
