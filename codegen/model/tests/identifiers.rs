//! Identifier tables: what drifts is told, what tables and NodeSets spell differently is not.

use std::fmt::Write as _;

use uaforge_model::{Diagnostic, Loaded, Loader, Severity};

const URI: &str = "urn:drift";

/// A NodeSet; `more` are nodes after a type with a Method and its arguments.
fn nodeset(more: &str) -> String {
    let head = format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"><NamespaceUris><Uri>{URI}</Uri></NamespaceUris>\
         <Models><Model ModelUri=\"{URI}\" Version=\"1.0.0\" PublicationDate=\"2024-01-01T00:00:00Z\"/></Models>"
    );
    let node = |class: &str, id: u32, name: &str, references: &[(&str, bool, &str)]| {
        let mut text = format!(
            "<{class} NodeId=\"ns=1;i={id}\" BrowseName=\"1:{name}\"><DisplayName>x</DisplayName><References>"
        );
        for (of, forward, end) in references {
            let _ =
                write!(text, "<Reference ReferenceType=\"{of}\" IsForward=\"{forward}\">{end}</Reference>");
        }
        text + &format!("</References></{class}>")
    };
    // The arguments stand before their Method and name no parent, as in PackML.
    head + &node(
        "UAVariable",
        6001,
        "InputArguments",
        &[("i=46", false, "ns=1;i=7001"), ("i=40", true, "i=68")],
    ) + &node("UAObjectType", 1001, "PumpType", &[("i=45", false, "i=58")])
        + &node("UAMethod", 7001, "Start", &[("i=47", false, "ns=1;i=1001"), ("i=37", true, "i=78")])
        + &node(
            "UAObject",
            5001,
            "&lt;Motor&gt;",
            &[("i=47", false, "ns=1;i=1001"), ("i=40", true, "i=58"), ("i=37", true, "i=11508")],
        )
        + more
        + "</UANodeSet>"
}

fn load(table: &str) -> Loaded {
    Loader::new().text("drift.xml", nodeset("")).identifiers(Some(URI), "ids.csv", table).load()
}

fn drift(loaded: &Loaded) -> Vec<&Diagnostic> {
    loaded.diagnostics.iter().filter(|found| found.code.0.starts_with("UAF061")).collect()
}

fn codes(table: &str) -> Vec<&'static str> {
    drift(&load(table)).iter().map(|found| found.code.0).collect()
}

const TABLE: &str = "PumpType,1001,ObjectType\nPumpType_Start,7001,Method\n\
                     PumpType_Start_InputArguments,6001,Variable\nPumpType_Motor_Placeholder,5001,Object\n";

#[test]
fn a_table_that_agrees_says_nothing() {
    for table in [
        TABLE.to_owned(),
        TABLE.replace(',', "\t"),
        TABLE.replace('\n', "\r\n"),
        format!("\u{feff}{TABLE}"),
        format!("Name,Id,Class\n\n{TABLE}\n"),
        TABLE.replace("1001", "i=1001"),
        TABLE.replace(",Method", "").replace("PumpType_Start,7001", "\"PumpType_Start\",\"7001\""),
    ] {
        assert_eq!(codes(&table), [""; 0], "{table:?}");
    }
}

#[test]
fn what_drifts_is_told() {
    let rows: [(&str, &str, &[&str]); 6] = [
        // Two ids that changed places.
        ("PumpType_Start,7001,Method", "PumpType_Start,7002,Method", &["UAF0612"]),
        ("PumpType,1001,ObjectType", "PumpType,1001,DataType", &["UAF0613"]),
        ("PumpType_Start,", "PumpType_Begin,", &["UAF0614"]),
        ("PumpType,1001,ObjectType", "PumpType,1001,ObjectType\nTank,1002,ObjectType", &["UAF0615"]),
        ("PumpType,1001,ObjectType\n", "", &["UAF0616"]),
        ("PumpType,1001,ObjectType", "PumpType,4294967296,ObjectType\nX", &["UAF0610", "UAF0616"]),
    ];
    for (line, drifted, expected) in rows {
        let table = format!("Name,Id,Class\n{}", TABLE.replace(line, drifted));
        let mut found = codes(&table);
        found.sort_unstable();
        assert_eq!(found, expected, "{table}");
    }
    let loaded = load(&TABLE.replace("1001", "9").replace("7001", "1001").replace(",9,", ",7001,"));
    assert_eq!(drift(&loaded).len(), 2, "ids that changed places: {}", loaded.report(false));
    assert!(loaded.has_errors() && drift(&loaded).iter().all(|found| found.help.is_some()));
}

#[test]
fn types_that_are_gone_weigh_more_than_members() {
    let severity = |line: &str| drift(&load(&format!("{TABLE}{line}\n"))).first().map(|found| found.severity);
    assert_eq!(severity("PumpType_Level,6002,Variable"), Some(Severity::Note));
    assert_eq!(severity("TankType,1002,ObjectType"), Some(Severity::Warning));
}

/// However many lines have one defect, there is one finding with a count.
#[test]
fn repetitions_are_folded() {
    let broken: String = (0..50).map(|at| format!("broken {at}\n")).collect();
    let gone: String = (0..50).map(|at| format!("Gone{at},{},Variable\n", 8000 + at)).collect();
    let loaded = load(&format!("{TABLE}{broken}{gone}"));
    let found = drift(&loaded);
    assert_eq!(found.iter().map(|found| found.code.0).collect::<Vec<_>>(), ["UAF0610", "UAF0615"]);
    assert!(found.iter().all(|found| found.message.contains("49 more")), "{}", loaded.report(false));
}

/// Among the files of a load a table is found by its content, and guards the document that it fits.
#[test]
fn a_table_finds_its_model() {
    let other = nodeset("").replace(URI, "urn:aaa").replace("PumpType", "TankType");
    let load = |table: &str| {
        Loader::new()
            .text("other.xml", other.clone())
            .text("ids.csv", table)
            .text("drift.xml", nodeset(""))
            .load()
    };
    assert!(drift(&load(TABLE)).is_empty(), "{}", load(TABLE).report(false));
    assert_eq!(drift(&load(&TABLE.replace("6001", "6009"))).len(), 1);
    let missing =
        Loader::new().text("drift.xml", nodeset("")).identifiers(Some("urn:none"), "ids.csv", TABLE).load();
    assert_eq!(drift(&missing).first().map(|found| found.code.0), Some("UAF0611"));
}

/// A dictionary has no ids, its table has.
#[test]
fn types_of_a_dictionary_get_their_ids() {
    let dictionary = format!(
        "<opc:TypeDictionary xmlns:opc=\"http://opcfoundation.org/BinarySchema/\" TargetNamespace=\"{URI}\">\
         <opc:StructuredType Name=\"Recipe\"><opc:Field Name=\"Level\" TypeName=\"opc:Double\"/></opc:StructuredType>\
         <opc:StructuredType Name=\"Other\"><opc:Field Name=\"Level\" TypeName=\"opc:Double\"/></opc:StructuredType></opc:TypeDictionary>"
    );
    let load = |table: &str| {
        Loader::new().text("types.bsd", dictionary.clone()).identifiers(Some(URI), "ids.csv", table).load()
    };
    let all = "Recipe,3001,DataType\nRecipe_Encoding_DefaultBinary,5001,Object\nOther,3002,DataType\n\
               Other_Encoding_DefaultBinary,5002,Object\n";
    let loaded = load(all);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.report(false));
    let id = |text: &str| loaded.set.parse_id(&format!("nsu={URI};{text}")).expect("an id");
    assert_eq!(loaded.set.encodings(&id("i=3001")).binary, Some(&id("i=5001")));
    // What the table lacks keeps its name; an id that is taken is not given twice.
    let partly = load("Recipe,3001,DataType\nOther,3001,DataType\n");
    assert!(partly.set.node(&id("i=3001")).is_some() && partly.set.node(&id("s=Other")).is_some());
    assert!(partly.diagnostics.iter().any(|found| found.code.0 == "UAF0603"), "{}", partly.report(false));
}
