//! A name once given stays (D2): what is added to a model later takes no name of what was there.

use std::fmt::Write as _;

use uaforge_codegen::{Files, Paths, keep_names, object_files, type_files};
use uaforge_model::resolved::ModelSet;
use uaforge_model::{Loader, interface};

const URI: &str = "http://example.org/ledger/";

const HEAD: &str = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>http://example.org/ledger/</Uri></NamespaceUris>
  <Models><Model ModelUri="http://example.org/ledger/" Version="1.0.0" PublicationDate="2024-01-01T00:00:00Z">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05.02" PublicationDate="2022-10-01T00:00:00Z"/>
  </Model></Models>
"#;

/// A node with references, each a type, a direction and an end.
fn node(out: &mut String, class: &str, id: u32, name: &str, references: &[(&str, &str)], inner: &str) {
    let _ = write!(out, "<{class} NodeId=\"ns=1;i={id}\" BrowseName=\"1:{name}\"");
    if class == "UAVariable" {
        out.push_str(" DataType=\"i=11\"");
    }
    let _ = write!(out, "><DisplayName>{name}</DisplayName><References>");
    for (reference_type, end) in references {
        let forward = matches!(*reference_type, "i=40" | "i=37");
        let _ = write!(
            out,
            "<Reference ReferenceType=\"{reference_type}\" IsForward=\"{forward}\">{end}</Reference>"
        );
    }
    let _ = writeln!(out, "</References>{inner}</{class}>");
}

fn structure(out: &mut String, id: u32, name: &str, fields: &[&str]) {
    let fields: String =
        fields.iter().map(|field| format!("<Field Name=\"{field}\" DataType=\"i=6\"/>")).collect();
    let definition = format!("<Definition Name=\"1:{name}\">{fields}</Definition>");
    node(out, "UADataType", id, name, &[("i=45", "i=22")], &definition);
}

fn enumeration(out: &mut String, id: u32, name: &str, members: &[(&str, i32)]) {
    let member = |(name, value): &(&str, i32)| format!("<Field Name=\"{name}\" Value=\"{value}\"/>");
    let members: String = members.iter().map(member).collect();
    let definition = format!("<Definition Name=\"1:{name}\">{members}</Definition>");
    node(out, "UADataType", id, name, &[("i=45", "i=29")], &definition);
}

fn member(out: &mut String, id: u32, name: &str, owner: &str, rule: &str) {
    let references = [("i=40", "i=63"), ("i=37", rule), ("i=47", owner)];
    node(out, "UAVariable", id, name, &references, "");
}

/// The model as it was; with `later` things of the same names, whose ids or places come first.
fn nodeset(later: bool) -> String {
    let mut out = HEAD.to_owned();
    let first = |name: &'static str| later.then_some(name);
    let names = |names: [Option<&'static str>; 2]| names.into_iter().flatten().collect::<Vec<_>>();
    structure(&mut out, 3001, "Pump", &names([first("maxSpeed"), Some("MaxSpeed")]));
    let members = [first("on").map(|name| (name, 1)), Some(("On", 2))];
    enumeration(&mut out, 3002, "Switch", &members.into_iter().flatten().collect::<Vec<_>>());
    node(&mut out, "UAObjectType", 1001, "Valve", &[("i=45", "i=58")], "");
    member(&mut out, 6001, "Speed", "ns=1;i=1001", "i=78");
    member(&mut out, 6002, "Level", "ns=1;i=1001", "i=80");
    member(&mut out, 6003, "&lt;Sensor&gt;", "ns=1;i=1001", "i=11508");
    node(&mut out, "UAObject", 5001, "Motor", &[("i=40", "i=58"), ("i=35", "i=85")], "");
    if later {
        structure(&mut out, 30, "pump", &["A"]);
        structure(&mut out, 31, "Valve", &["A"]);
        structure(&mut out, 32, "ValveProxy", &["A"]);
        node(&mut out, "UAObjectType", 10, "valve", &[("i=45", "i=58")], "");
        member(&mut out, 60, "speed", "ns=1;i=1001", "i=78");
        member(&mut out, 61, "level", "ns=1;i=1001", "i=80");
        member(&mut out, 62, "Sensors", "ns=1;i=1001", "i=78");
        member(&mut out, 63, "add Sensor", "ns=1;i=1001", "i=78");
        node(&mut out, "UAObject", 50, "Motor", &[("i=40", "i=58"), ("i=35", "i=85")], "");
    }
    out.push_str("</UANodeSet>");
    out
}

fn load(xml: String) -> ModelSet {
    let loaded = Loader::new().text("Ledger.NodeSet2.xml", xml).load();
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.report(false));
    loaded.set
}

fn generate(set: &ModelSet) -> Files {
    let ns = set.ns(URI).expect("the model");
    let mut files = type_files(set, ns, &Paths::model_crate()).expect("it can be written");
    files.extend(object_files(set, ns, &Paths::model_crate()).expect("it can be written"));
    files
}

/// The name of the first item, field or constant after a line of documentation.
fn after(files: &Files, file: &str, docs: &str) -> String {
    let texts = files.iter().filter(|(name, _)| name.starts_with(file));
    let text: String = texts.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != format!("/// {docs}"));
    let line = lines.find_map(|line| line.strip_prefix("pub ")).unwrap_or_else(|| panic!("no {docs}"));
    let keywords = ["struct ", "enum ", "const ", "async fn ", "fn "];
    let rest = keywords.iter().find_map(|keyword| line.strip_prefix(keyword)).unwrap_or(line);
    rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// The constant of an id.
fn constant(files: &Files, id: u32) -> String {
    let texts = files.iter().filter(|(name, _)| name.starts_with("ids_"));
    let text: String = texts.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    let line = text.lines().find(|line| line.contains(&format!("numeric(0, {id});"))).expect("the id");
    line.trim_start_matches("pub const ").split(':').next().unwrap_or_default().to_owned()
}

/// Every name of the first version.
fn names(files: &Files) -> Vec<String> {
    vec![
        after(files, "types_", "`Pump` (i=3001)"),
        after(files, "types_", "`MaxSpeed`"),
        after(files, "types_", "`On`"),
        after(files, "objects_", "`Valve` (i=1001)"),
        after(files, "objects_", "The optional member `Level`."),
        after(files, "objects_", "The placeholder `<Sensor>`."),
        after(files, "client_", "`Speed`"),
        after(files, "client_", "`Level`"),
        after(files, "client_", "`<Sensor>`"),
        after(files, "client_", "Everything that stands for `<Sensor>`, browsed."),
        after(files, "server_", "Adds one for `<Sensor>`."),
        constant(files, 3001),
        constant(files, 1001),
        constant(files, 6001),
        constant(files, 5001),
    ]
}

/// Names of everything that can be named, in order.
fn everything(files: &Files) -> Vec<String> {
    let texts = files.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let lines = texts.flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>());
    lines.filter(|line| line.starts_with("pub ")).collect()
}

#[test]
fn later_nodes_take_no_names() {
    let old = load(nodeset(false));
    let before = names(&generate(&old));
    let previous = interface::write(&old, old.ns(URI).expect("the model"));
    assert!(!previous.contains("\nname\t"), "the rules alone give these names");

    let mut new = load(nodeset(true));
    let ns = new.ns(URI).expect("the model");
    assert_ne!(names(&generate(&new)), before, "without a ledger names would move");
    keep_names(&mut new, ns, &previous).expect("it can be read");
    let files = generate(&new);
    assert_eq!(names(&files), before);

    // A dependent, who has the new interface alone, comes to the same names.
    let text = interface::write(&new, ns);
    let seen = Loader::new().interface(text.as_str(), Some("::ledger")).load();
    assert!(seen.diagnostics.is_empty(), "{}", seen.report(false));
    assert_eq!(everything(&generate(&seen.set)), everything(&files));

    // And so does the next generation.
    let mut next = load(nodeset(true));
    keep_names(&mut next, ns, &text).expect("it can be read");
    assert!(generate(&next) == files);
    assert_eq!(interface::write(&next, ns), text);
}

/// What the rules decided between two names stays so when one of the two is removed.
#[test]
fn names_stay_when_others_are_removed() {
    let old = load(nodeset(true));
    let before = names(&generate(&old));
    let previous = interface::write(&old, old.ns(URI).expect("the model"));
    let mut less = load(nodeset(false));
    let ns = less.ns(URI).expect("the model");
    assert_ne!(names(&generate(&less)), before, "without a ledger names would move");
    keep_names(&mut less, ns, &previous).expect("it can be read");
    assert_eq!(names(&generate(&less)), before);
    // And when what was removed comes back.
    let text = interface::write(&less, ns);
    let mut again = load(nodeset(true));
    keep_names(&mut again, ns, &text).expect("it can be read");
    assert_eq!(names(&generate(&again)), before);
}

/// The order of nodes in a file has no influence, with or without a ledger.
#[test]
fn names_stay_when_nodes_are_reordered() {
    let text = nodeset(true);
    let (head, rest) = text.split_once("</Models>\n").expect("a head");
    let nodes: Vec<&str> = rest.trim_end_matches("</UANodeSet>").lines().collect();
    let first = generate(&load(text.clone()));
    for shift in [1, nodes.len() / 2] {
        let (front, back) = nodes.split_at(shift);
        let moved: Vec<&str> = back.iter().rev().chain(front).copied().collect();
        let set = load(format!("{head}</Models>\n{}</UANodeSet>", moved.join("\n")));
        assert!(generate(&set) == first, "a shift by {shift}");
    }
}

/// The ledger says what the rules do not, and nothing else.
#[test]
fn the_ledger_is_short() {
    let old = load(nodeset(false));
    let ns = old.ns(URI).expect("the model");
    let previous = interface::write(&old, ns);
    let mut same = load(nodeset(false));
    keep_names(&mut same, ns, &previous).expect("it can be read");
    assert_eq!(interface::write(&same, ns), previous);
}

#[test]
fn a_broken_ledger_is_an_error() {
    let mut set = load(nodeset(false));
    let ns = set.ns(URI).expect("the model");
    assert!(keep_names(&mut set, ns, "no interface").is_err());
}
