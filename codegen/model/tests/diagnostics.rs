//! Each diagnostic has a fixture that provokes it and a snapshot of what is printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use uaforge_model::diagnostic::{REGISTRY, explain, json, render};
use uaforge_model::{Code, Loaded, Loader};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Advice is given on request.
fn is_advice(code: Code) -> bool {
    code.0.starts_with("UAF05") || code.0 == "UAF0604"
}

/// Loads all fixtures of a code, by file name.
fn load(code: Code) -> Loaded {
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .expect("the folder of fixtures")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.split('.').next() == Some(code.0))
        .collect();
    names.sort();
    let mut loader = Loader::new().lints(is_advice(code));
    if code.0 == "UAF0001" {
        return loader.file("no/such/file.xml").load();
    }
    assert!(!names.is_empty(), "{} has no fixture", code.0);
    for name in names {
        let bytes = std::fs::read(fixtures().join(&name)).expect("a fixture");
        let text = || String::from_utf8(bytes.clone()).expect("UTF-8");
        loader = match name.rsplit('.').next() {
            Some("txt") => loader.interface(text(), None),
            Some("csv") => loader.identifiers(None, name, bytes),
            Some("repair") => loader.repair(name, text()),
            _ => loader.text(name, bytes),
        };
    }
    if code.0 == "UAF0003" {
        loader = loader.max_bytes(100);
    }
    loader.load()
}

#[test]
fn every_code_has_a_fixture_and_a_snapshot() {
    for entry in REGISTRY {
        let loaded = load(entry.code);
        let found = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.code == entry.code);
        assert!(found.count() > 0, "{} does not appear:\n{}", entry.code.0, loaded.report(false));
        insta::assert_snapshot!(entry.code.0, loaded.report(false).trim_end());
    }
}

/// A fixture provokes its own code and no other error.
#[test]
fn fixtures_have_one_defect() {
    for entry in REGISTRY {
        let codes: BTreeSet<&str> = load(entry.code).diagnostics.iter().map(|found| found.code.0).collect();
        let others: Vec<&str> = codes.iter().copied().filter(|code| *code != entry.code.0).collect();
        let expected: &[&str] = match entry.code.0 {
            // Documents that differ are several documents.
            "UAF0125" => &["UAF0123"],
            // The default of a structure is as large as its type.
            "UAF0308" => &["UAF0213"],
            _ => &[],
        };
        assert!(others.iter().all(|code| expected.contains(code)), "{}: {others:?}", entry.code.0);
    }
}

#[test]
fn every_constant_is_in_the_registry() {
    let source = include_str!("../src/diagnostic/codes.rs");
    let constants: BTreeSet<&str> =
        source.split("Code(\"").skip(1).filter_map(|rest| rest.get(..7)).collect();
    let registered: Vec<&str> = REGISTRY.iter().map(|entry| entry.code.0).collect();
    assert_eq!(constants.into_iter().collect::<Vec<_>>(), registered, "in order, each once");
    for entry in REGISTRY {
        assert!(entry.page.len() > 80 && !entry.title.is_empty(), "{}", entry.code.0);
    }
}

#[test]
fn codes_are_explained() {
    for text in ["UAF0102", "uaf0102", "102", " 0102 "] {
        assert_eq!(explain(text).map(|entry| entry.code.0), Some("UAF0102"));
    }
    assert!(explain("UAF9999").is_none());
    assert!(explain("é").is_none());
}

#[test]
fn json_lines_are_one_object_each() {
    let loaded = load(Code("UAF0107"));
    let lines: Vec<String> =
        loaded.diagnostics.iter().map(|diagnostic| json(diagnostic, &loaded.sources)).collect();
    insta::assert_snapshot!("json", lines.join("\n"));
}

#[test]
fn all_findings_come_in_one_run() {
    let bytes = std::fs::read(fixtures().join("several.xml")).expect("a fixture");
    let loaded = Loader::new().text("several.xml", bytes).load();
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|found| found.code.0).collect();
    assert_eq!(codes, ["UAF0201", "UAF0302", "UAF0103", "UAF0109"], "in the order of the file");
    for found in &loaded.diagnostics {
        assert!(found.span.is_some() && found.help.is_some(), "{}", found.message);
    }
    let first = loaded.diagnostics.first().expect("a diagnostic");
    assert!(render(first, &loaded.sources, true).contains('\u{1b}'), "colours on request");
}
