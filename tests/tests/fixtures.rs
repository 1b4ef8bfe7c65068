//! The committed tables of the test models are what the generator writes today.

use std::path::{Path, PathBuf};

use uaforge_codegen::tables::{self, TableOptions};
use uaforge_model::Loader;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The fetched NodeSet of DI, or `None` (with a line) where none was fetched and none is required.
fn fetched_di() -> Option<PathBuf> {
    let path = here().join("../.nodesets/di.xml");
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("UAFORGE_REQUIRE_NODESETS").as_deref() == Ok("1");
    assert!(!required, "{} is missing: run `cargo xtask fetch-nodesets`", path.display());
    println!("skipped: {} is not fetched (cargo xtask fetch-nodesets)", path.display());
    None
}

/// With UAFORGE_BLESS=1 the files are written instead of compared.
fn compare(model: &str, files: Vec<(String, Vec<u8>)>) {
    let bless = std::env::var("UAFORGE_BLESS").as_deref() == Ok("1");
    for (name, bytes) in files {
        let path = here().join("fixtures").join(model).join(name);
        if bless {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            std::fs::write(&path, bytes).expect("writable");
        } else {
            let committed = std::fs::read(&path).unwrap_or_default();
            assert!(committed == bytes, "{}: run with UAFORGE_BLESS=1", path.display());
        }
    }
}

#[test]
fn tables_are_up_to_date() {
    let Some(di) = fetched_di() else { return };
    let loaded = Loader::new()
        .file(di)
        .file(here().join("oracle/Tiny.NodeSet2.xml"))
        .file(here().join("fixtures/rows/Rows.NodeSet2.xml"))
        .load();
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    for (model, uri) in [("tiny", "urn:example:tiny"), ("rows", "urn:example:rows")] {
        let ns = loaded.set.ns(uri).expect("loaded");
        let files = tables::write(&loaded.set, ns, &TableOptions::default()).expect("it fits");
        let again = tables::write(&loaded.set, ns, &TableOptions::default()).expect("it fits");
        assert!(files == again, "the same bytes each time");
        compare(model, files);
    }
}

/// One more node changes a handful of lines, not all that follow.
#[test]
fn a_new_node_changes_few_lines() {
    let Some(di) = fetched_di() else { return };
    let xml = std::fs::read_to_string(here().join("fixtures/rows/Rows.NodeSet2.xml")).expect("readable");
    let node = r#"<UAVariable NodeId="ns=1;i=5000" BrowseName="1:New" DataType="Double"><DisplayName>New</DisplayName><References>
        <Reference ReferenceType="HasComponent" IsForward="false">i=85</Reference>
        <Reference ReferenceType="HasTypeDefinition">i=63</Reference></References>
        <Value><uax:Double>1.5</uax:Double></Value></UAVariable>"#;
    let more = xml.replace("</UANodeSet>", &format!("{node}</UANodeSet>"));
    let lines = |xml: &str| {
        let loaded = Loader::new()
            .file(&di)
            .file(here().join("oracle/Tiny.NodeSet2.xml"))
            .text("Rows.NodeSet2.xml", xml)
            .load();
        let ns = loaded.set.ns("urn:example:rows").expect("loaded");
        let files = tables::write(&loaded.set, ns, &TableOptions::default()).expect("it fits");
        let text = files.into_iter().filter(|(name, _)| name.ends_with(".rs") && name != "tables.rs");
        let text = text.map(|(_, bytes)| String::from_utf8(bytes).expect("text"));
        text.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let (before, after) = (lines(&xml), lines(&more));
    let new = after.iter().filter(|line| !before.contains(line)).count();
    assert!((5..25).contains(&new), "{new} lines are new");
}
