//! The command as scripts use it: exit statuses, and one JSON object a line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn run(arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let Output { status, stdout, .. } =
        Command::new(env!("CARGO_BIN_EXE_uaforge")).args(arguments).output().expect("the command runs");
    let text = String::from_utf8(stdout).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a JSON object"));
    (status.code(), lines.collect())
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/fixtures");
    folder.join(name).display().to_string()
}

fn written(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

const JSON: &str = "--message-format=json";

#[test]
fn lint_tells_by_its_status_what_it_found() {
    let (status, lines) = run(&["lint", JSON, &fixture("plain.xml")]);
    assert_eq!((status, lines.len()), (Some(0), 0), "{lines:?}");
    let (status, lines) = run(&["lint", JSON, &fixture("UAF0503.xml")]);
    assert_eq!((status, &lines[0]["code"]), (Some(0), &Value::from("UAF0503")), "warnings alone");
    let (status, lines) = run(&["lint", JSON, "--no-advice", &fixture("UAF0503.xml")]);
    assert_eq!((status, lines.len()), (Some(0), 0), "no advice");
    let (status, lines) = run(&["lint", JSON, &fixture("UAF0201.xml")]);
    assert_eq!((status, &lines[0]["severity"]), (Some(1), &Value::from("error")));
    for member in ["code", "severity", "message", "file", "line", "column", "node", "help", "labels"] {
        assert!(lines[0].get(member).is_some(), "{member} of {}", lines[0]);
    }
    let (status, lines) = run(&["lint", JSON, &fixture("plain.xml"), "no/such/file.xml"]);
    assert_eq!((status, &lines[0]["code"]), (Some(2), &Value::from("UAF0001")));
    assert_eq!(run(&["lint"]).0, Some(2), "wrong arguments");
}

#[test]
fn several_files_are_one_load() {
    let (alone, together) = (fixture("UAF0505.xml"), fixture("UAF0505.base.xml"));
    assert_eq!(run(&["lint", JSON, &alone]).0, Some(1), "a required model is missing");
    assert_eq!(run(&["lint", JSON, &alone, &together]).0, Some(0));
}

/// A table of identifiers given as such, and one among the files.
#[test]
fn a_table_of_identifiers_guards() {
    for code in ["UAF0612", "UAF0613"] {
        let (model, table) = (fixture(&format!("{code}.xml")), fixture(&format!("{code}.csv")));
        for arguments in
            [["lint", JSON, &model, "--identifiers", &table], ["lint", JSON, "--all", &model, &table]]
        {
            let (status, lines) = run(&arguments);
            assert_eq!((status, &lines[0]["code"]), (Some(1), &Value::from(code)), "{lines:?}");
        }
    }
    let (model, table) =
        (fixture("UAF0612.xml"), written("agrees.csv", "Plant,5001,Object\nPump,5002,Object\n"));
    assert_eq!(run(&["lint", JSON, &model, "--identifiers", &table]), (Some(0), Vec::new()));
    assert_eq!(run(&["lint", JSON, &model, "--identifiers", "no/such.csv"]).0, Some(2));
}

#[test]
fn diff_tells_by_its_status_what_the_change_needs() {
    let text = std::fs::read_to_string(fixture("UAF0523.xml")).expect("a fixture");
    let old = written("old.xml", &text);
    let more = text.replace(
        "<Field Name=\"Right\" Value=\"2\"/>",
        "<Field Name=\"Right\" Value=\"2\"/><Field Name=\"Both\" Value=\"3\"/>",
    );
    let more = written("more.xml", &more);
    let other = written("other.xml", &text.replace("Value=\"2\"", "Value=\"5\""));
    let summary = |lines: &[Value]| lines.last().map(|line| line["bump"].clone());
    let (status, lines) = run(&["diff", JSON, &old, &old]);
    assert_eq!((status, summary(&lines)), (Some(0), Some("none".into())));
    let (status, lines) = run(&["diff", JSON, &old, &more]);
    assert_eq!((status, summary(&lines)), (Some(0), Some("minor".into())));
    assert_eq!(run(&["diff", JSON, "--allow", "patch", &old, &more]).0, Some(1));
    let (status, lines) = run(&["diff", JSON, &old, &other]);
    assert_eq!((status, summary(&lines)), (Some(1), Some("major".into())));
    assert_eq!(lines[0]["kind"], "value-renumbered");
    assert_eq!(run(&["diff", JSON, "--allow", "major", &old, &other]).0, Some(0));
    assert_eq!(run(&["diff", JSON, &old, "no/such/file.xml"]).0, Some(2));
    assert_eq!(run(&["diff", JSON, &old, &fixture("UAF0201.xml")]).0, Some(2), "a broken file");
}

#[test]
fn inspect_shows_models_types_and_members() {
    let file = fixture("UAF0535.xml");
    let (status, lines) = run(&["inspect", JSON, &file]);
    assert_eq!((status, &lines[0]["uri"]), (Some(0), &Value::from("urn:fixture")));
    assert_eq!(lines[0]["classes"]["ObjectType"], 2);
    let (_, lines) = run(&["inspect", JSON, "--types", &file]);
    let names: Vec<&Value> = lines.iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["PumpType", "FastPumpType"]);
    let (_, lines) = run(&["inspect", JSON, "--type", "FastPumpType", &file]);
    assert_eq!(lines[0]["members"][0]["rule"], "Mandatory");
    assert_eq!(run(&["inspect", JSON, "--type", "NoType", &file]).0, Some(1));
    assert_eq!(run(&["inspect", JSON, "no/such/file.xml"]).0, Some(2));
}

#[test]
fn explain_has_a_page_for_each_code() {
    let (status, lines) = run(&["explain", JSON]);
    assert_eq!(status, Some(0));
    assert!(
        lines.len() > 80
            && lines.iter().all(|line| line["page"].as_str().is_some_and(|page| !page.is_empty()))
    );
    assert_eq!(run(&["explain", JSON, "UAF0101"]).1[0]["code"], "UAF0101");
    assert_eq!(run(&["explain", JSON, "UAF9999"]).0, Some(1));
}
