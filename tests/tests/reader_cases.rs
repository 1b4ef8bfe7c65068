//! Acceptance cases of the NodeSet reader: what is taken, what is refused, and what a message must name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use uaforge_codegen::tables::{self, TableOptions};
use uaforge_codegen::{Paths, object_files, type_files};
use uaforge_model::resolved::{Id, Ident, Triple};
use uaforge_model::{Loaded, Loader};

fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(case)
}

fn expected(case: &str) -> Value {
    let text = fs::read_to_string(folder(case).join("expected.json")).expect("the case is there");
    serde_json::from_str(&text).expect("expected.json is JSON")
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Loads the files of one run; names in messages are the files' own.
fn load(case: &str, files: &[&str]) -> Loaded {
    let mut loader = Loader::new();
    for file in files {
        let bytes = fs::read(folder(case).join(file)).expect("the input is there");
        loader = loader.text(*file, bytes);
    }
    loader.load()
}

/// Everything that is generated from the documents of a run, by model and file.
fn generate(loaded: &Loaded) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for model in loaded.set.models.iter().filter(|model| !model.from_interface) {
        let (set, paths) = (&loaded.set, Paths::user());
        let mut files = type_files(set, model.ns, &paths).expect("types");
        files.extend(object_files(set, model.ns, &paths).expect("objects"));
        files.extend(tables::write(set, model.ns, &TableOptions::default()).expect("tables"));
        let uri = set.uri(model.ns);
        out.extend(files.into_iter().map(|(file, bytes)| (format!("{uri} {file}"), bytes)));
    }
    out
}

/// Checks one run and gives what was generated.
fn check(case: &str, files: &[&str], run: &Value) -> BTreeMap<String, Vec<u8>> {
    let loaded = load(case, files);
    let report = loaded.report(false);
    let (errors, warned) = (loaded.has_errors(), !loaded.diagnostics.is_empty());
    let outcome = run["outcome"].as_str().expect("an outcome");
    let right = match outcome {
        "accept" => !errors,
        "accept-with-warning" => !errors && warned,
        "reject" => errors,
        "reject-or-warning" | "accept-with-warning-or-reject" => warned,
        other => panic!("{case}: unknown outcome {other}"),
    };
    assert!(right, "{case} {files:?}: expected {outcome}\n{report}");
    for text in texts(&run["mention"]) {
        assert!(report.contains(text), "{case} {files:?}: nothing says `{text}`\n{report}");
    }
    for text in texts(&run["forbid"]) {
        assert!(!report.contains(text), "{case} {files:?}: `{text}` must not appear\n{report}");
    }
    if errors { BTreeMap::new() } else { generate(&loaded) }
}

/// Checks every run of a case with its file list.
fn check_runs(case: &str) {
    let expected = expected(case);
    let runs = expected["runs"].as_array().expect("runs");
    let outputs: Vec<_> = runs.iter().map(|run| check(case, &texts(&run["files"]), run)).collect();
    if expected["same_output"].as_bool() == Some(true) {
        for output in &outputs {
            assert_eq!(Some(output), outputs.first(), "{case}: the outputs of all runs are equal");
        }
    }
}

#[test]
fn case_021_two_models_one_file() {
    let case = "021-two-models-one-file";
    let output = check(case, &["nodeset.xml"], &expected(case));
    let models: std::collections::BTreeSet<_> =
        output.keys().filter_map(|key| key.split(' ').next()).collect();
    assert_eq!(models.len(), 2, "{models:?}");
}

#[test]
fn case_022_dependency_too_old() {
    check_runs("022-dependency-too-old");
}

/// OPC 10000-3 §4.3.4: a reference is one thing, at whichever end it is declared.
#[test]
fn case_023_references_one_direction() {
    let case = "023-references-one-direction";
    check(case, &["nodeset.xml"], &expected(case));
    let loaded = load(case, &["nodeset.xml"]);
    let own = loaded.set.models.iter().find(|model| !model.from_interface).expect("the model");
    let id = |text: &str| {
        let number = text.rsplit('=').next().and_then(|number| number.parse().ok()).expect("a numeric id");
        Id { ns: own.ns, ident: Ident::Numeric(number) }
    };
    let expected = expected(case);
    for row in expected["references"].as_array().expect("references") {
        let [source, name, target, count] = row.as_array().expect("a row").as_slice() else {
            panic!("{row}");
        };
        assert_eq!(name, "HasComponent");
        let (source, target) = (id(source.as_str().expect("id")), id(target.as_str().expect("id")));
        let wanted = Triple { source, reference_type: Id::ns0(47), target };
        let found = own.references.iter().filter(|triple| **triple == wanted).count();
        assert_eq!(found as u64, count.as_u64().expect("a count"), "{row}");
    }
}

#[test]
fn case_024_entity_expansion() {
    let case = "024-entity-expansion";
    check(case, &["nodeset.xml"], &expected(case));
}

#[test]
fn case_028_broken_files() {
    check_runs("028-broken-files");
}

#[test]
fn case_029_bom_and_crlf() {
    check_runs("029-bom-and-crlf");
}

/// A flat model of `count` variables below one object.
fn flat_model(count: u32) -> String {
    let mut text = String::from(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">\
         <NamespaceUris><Uri>urn:large</Uri></NamespaceUris>\
         <Models><Model ModelUri=\"urn:large\" Version=\"1.0.0\" PublicationDate=\"2026-01-01T00:00:00Z\">\
         <RequiredModel ModelUri=\"http://opcfoundation.org/UA/\"/></Model></Models>\
         <UAObject NodeId=\"ns=1;i=1\" BrowseName=\"1:Root\"><DisplayName>Root</DisplayName><References>\
         <Reference ReferenceType=\"i=40\">i=61</Reference>\
         <Reference ReferenceType=\"i=35\" IsForward=\"false\">i=85</Reference></References></UAObject>",
    );
    for id in 2..count + 2 {
        let _ = write!(
            text,
            "<UAVariable NodeId=\"ns=1;i={id}\" BrowseName=\"1:V{id}\" DataType=\"i=11\"><DisplayName>V{id}</DisplayName>\
             <References><Reference ReferenceType=\"i=40\">i=63</Reference>\
             <Reference ReferenceType=\"i=47\" IsForward=\"false\">ns=1;i=1</Reference></References></UAVariable>"
        );
    }
    text.push_str("</UANodeSet>");
    text
}

/// Ten times the nodes take about ten times as long, not a hundred times. The bound leaves room for
/// a busy machine.
#[test]
fn case_025_hundred_thousand_nodes() {
    let seconds = |count: u32| {
        let text = flat_model(count);
        let begun = Instant::now();
        let loaded = Loader::new().text("large.xml", text).load();
        assert!(!loaded.has_errors(), "{}", loaded.report(false));
        let ns = loaded.set.ns("urn:large").expect("the model");
        let nodes = loaded.set.model(ns).map(|model| model.nodes.len());
        assert_eq!(nodes, Some(count as usize + 1));
        tables::write(&loaded.set, ns, &TableOptions::default()).expect("tables");
        begun.elapsed().as_secs_f64()
    };
    let (small, large) = (seconds(10_000), seconds(100_000));
    assert!(large < 40.0 * small.max(0.05), "10,000 nodes: {small:.2} s, 100,000 nodes: {large:.2} s");
}
