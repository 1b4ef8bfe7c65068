//! A program that serves any document of the corpus and browses it over the wire; its hashes against the NodeSet's.

use super::compile::folder;
use super::documents::Document;
use super::pipeline::{Outcome, crate_name};
use crate::progress::Progress;
use crate::workspace;
use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

/// The package and the program.
pub(crate) const PROGRAM: &str = "corpus_server";

/// Facts of some models, found by another reader.
const ORACLE: &str = "tests/oracle";

/// The package's manifest and source: every document with the models below it.
pub(crate) fn package(root: &Path, documents: &[Document], outcomes: &[Outcome]) -> (String, String) {
    let mut manifest = format!(
        "[package]\nname = \"{PROGRAM}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    for (name, path) in [("smoke", "tests/smoke"), ("nodes", "runtime/nodes"), ("ns0", "models/ns0")] {
        let _ = writeln!(manifest, "uaforge-{name} = {{ path = {:?} }}", root.join(path));
    }
    let mut arms = String::new();
    for (document, outcome) in documents.iter().zip(outcomes).filter(|(_, outcome)| outcome.failure.is_none())
    {
        let own = crate_name(&outcome.name);
        let _ = writeln!(
            manifest,
            "{own} = {{ path = \"../{}\", features = [\"client\", \"server\"] }}",
            outcome.name
        );
        let _ = writeln!(
            arms,
            "        {:?} => ({:?}, vec![{}]),",
            outcome.name,
            document.uri,
            models(document, outcome, outcomes).join(", ")
        );
    }
    let source = format!(
        "//! Serves a document of the corpus and prints the hash of what a client sees.\n\n\
         use uaforge_nodes::table::StaticModel;\n\n\
         fn main() {{\n    let name = std::env::args().nth(1).unwrap_or_default();\n    \
         let (uri, models) = models(&name);\n    \
         match uaforge_smoke::served(uri, &models) {{\n        \
         Ok(seen) if std::env::args().nth(2).is_some() => seen.lines().for_each(|line| println!(\"{{line}}\")),\n        \
         Ok(seen) => println!(\"{{}}\", seen.hash()),\n        \
         Err(error) => println!(\"{{error}}\"),\n    }}\n}}\n\n\
         fn models(name: &str) -> (&'static str, Vec<&'static StaticModel>) {{\n    match name {{\n{arms}        \
         _ => panic!(\"there is no document {{name:?}}\"),\n    }}\n}}\n"
    );
    (manifest, source)
}

/// The tables that serve a document.
fn models(document: &Document, outcome: &Outcome, outcomes: &[Outcome]) -> Vec<String> {
    let own = crate_name(&outcome.name);
    if outcome.is_base {
        return vec![format!("&{own}::MODEL")];
    }
    let mut models = vec!["uaforge_ns0::model()".to_owned()];
    // A document that is loaded beside it takes the place of that of another crate.
    let below = document.below.iter().filter_map(|at| outcomes.get(*at));
    let below = below.filter(|below| !outcome.beside.contains(&below.uri));
    models.extend(below.map(|below| format!("{}::model()", crate_name(&below.name))));
    models.extend((1..outcome.models).map(|at| format!("{own}::model_{at}::model()")));
    models.push(format!("{own}::model()"));
    models
}

/// Runs the program for each document that was compiled; what differs, by document.
pub(crate) fn run(
    root: &Path,
    outcomes: &[Outcome],
    compiled: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>> {
    let mut differences = BTreeMap::new();
    let program = folder(root).join("target/debug").join(PROGRAM);
    let progress = Progress::new("serve", outcomes.len());
    let mut served = 0;
    for outcome in outcomes.iter().filter(|outcome| compiled(&outcome.name)) {
        let output = workspace::output_of(Command::new(&program).arg(&outcome.name))?;
        let seen = output.trim();
        served += 1;
        if seen != outcome.served {
            differences.insert(outcome.name.clone(), format!("a client sees {seen}, not {}", outcome.served));
        } else if let Some(facts) = oracle(root, &outcome.name)?.filter(|facts| *facts != seen) {
            differences.insert(outcome.name.clone(), format!("the oracle has {facts}, a client sees {seen}"));
        }
        progress.step(&outcome.name);
    }
    progress.finish(&format!("{served} documents served, browsed and read"));
    Ok(differences)
}

/// The hash of a model's canonical form by another reader; that of ns0 has types that are never nodes.
fn oracle(root: &Path, name: &str) -> Result<Option<String>> {
    let path = root.join(ORACLE).join(format!("{name}.json"));
    let packed = path.with_extension("json.gz");
    let mut text = String::new();
    if name == "ns0" {
        return Ok(None);
    } else if path.is_file() {
        text = fs::read_to_string(&path)?;
    } else if packed.is_file() {
        let bytes = fs::read(&packed)?;
        GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .with_context(|| packed.display().to_string())?;
    } else {
        return Ok(None);
    }
    let facts: Value = serde_json::from_str(&text)?;
    Ok(facts["hash"]["model"].as_str().map(str::to_owned))
}
