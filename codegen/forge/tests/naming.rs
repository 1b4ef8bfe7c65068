//! The table of names in `docs/naming.md`: each row is a model, and what is generated for it has the names of the row.

use std::fmt::Write as _;
use std::path::Path;

use uaforge_codegen::{Paths, object_files, type_files};
use uaforge_model::Loader;

const URI: &str = "http://example.org/naming/";

/// A row of the table.
struct Row {
    what: String,
    names: Vec<String>,
    rust: Vec<String>,
}

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/naming.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let lines = page.lines().skip_while(|line| !line.starts_with("|---"));
    let cells = lines.skip(1).map(|line| line.split('|').map(str::to_owned).collect::<Vec<_>>());
    let row = |cells: Vec<String>| match cells.as_slice() {
        [_, what, names, rust, _] => {
            Row { what: what.trim().to_owned(), names: quoted(names), rust: quoted(rust) }
        }
        _ => panic!("a row has three cells: {cells:?}"),
    };
    cells.map(row).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// BrowseName, and SymbolicName if there is one.
fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once(" as ").map_or((name, None), |(name, symbolic)| (name, Some(symbolic)))
}

/// The attributes of a named thing.
fn named(attribute: &str, prefix: &str, name: &str) -> String {
    let (name, symbolic) = split(name);
    let symbolic = symbolic.map(|name| format!(" SymbolicName=\"{name}\"")).unwrap_or_default();
    format!("{attribute}=\"{prefix}{}\"{symbolic}", escaped(name))
}

/// A node; each reference is a type and an end, forward for those to types and rules.
fn node(class: &str, id: u32, name: &str, references: &[(u32, &str)], inner: &str) -> String {
    let name = named("BrowseName", "1:", name);
    let mut text = format!("<{class} NodeId=\"ns=1;i={id}\" {name}><DisplayName>x</DisplayName><References>");
    for (of, end) in references {
        let forward = matches!(of, 37 | 40);
        let _ = write!(text, "<Reference ReferenceType=\"i={of}\" IsForward=\"{forward}\">{end}</Reference>");
    }
    text + &format!("</References>{inner}</{class}>")
}

/// A data type with fields, each with more attributes.
fn data_type(base: &str, fields: &[String], more: impl Fn(usize) -> String) -> String {
    let mut inner = "<Definition Name=\"1:Holder\">".to_owned();
    for (at, name) in fields.iter().enumerate() {
        let _ = write!(inner, "<Field {} {}/>", named("Name", "", name), more(at));
    }
    node("UADataType", 3001, "Holder", &[(45, base)], &(inner + "</Definition>"))
}

fn nodes(row: &Row) -> String {
    let holder = || node("UAObjectType", 1001, "Holder", &[(45, "i=58")], "");
    let each = |make: &dyn Fn(u32, &str) -> String| -> String {
        (1u32..).zip(&row.names).map(|(at, name)| make(at, name)).collect()
    };
    let owner = "ns=1;i=1001";
    match row.what.as_str() {
        "data type" => each(&|at, name| {
            let inner = format!(
                "<Definition {}><Field Name=\"A\" DataType=\"i=6\"/></Definition>",
                named("Name", "1:", name)
            );
            node("UADataType", 3000 + at, name, &[(45, "i=22")], &inner)
        }),
        "field" => data_type("i=22", &row.names, |_| "DataType=\"i=6\"".to_owned()),
        "value" => data_type("i=29", &row.names, |at| format!("Value=\"{at}\"")),
        "object type" => each(&|at, name| node("UAObjectType", 1000 + at, name, &[(45, "i=58")], "")),
        "member" => {
            let member = |at, name: &str| {
                node("UAVariable", 6000 + at, name, &[(40, "i=63"), (37, "i=78"), (47, owner)], "")
            };
            holder() + &each(&member)
        }
        "placeholder" => {
            let member = |at, name: &str| {
                node("UAVariable", 6000 + at, name, &[(40, "i=63"), (37, "i=11508"), (47, owner)], "")
            };
            holder() + &each(&member)
        }
        "method" => {
            holder() + &each(&|at, name| node("UAMethod", 7000 + at, name, &[(37, "i=78"), (47, owner)], ""))
        }
        "id" => each(&|at, name| node("UAObject", 5000 + at, name, &[(40, "i=58"), (35, "i=85")], "")),
        other => panic!("the table has rows of `{other}`"),
    }
}

/// All generated files whose names begin so, as lines.
fn generate(row: &Row) -> impl Fn(&str) -> Vec<String> {
    let text = format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"><NamespaceUris><Uri>{URI}</Uri></NamespaceUris>\
         <Models><Model ModelUri=\"{URI}\" Version=\"1.0.0\" PublicationDate=\"2024-01-01T00:00:00Z\"/></Models>{}</UANodeSet>",
        nodes(row)
    );
    let loaded = Loader::new().text("naming.xml", text).load();
    assert!(!loaded.has_errors(), "{}", loaded.report(false));
    let ns = loaded.set.ns(URI).expect("the model");
    let mut files = type_files(&loaded.set, ns, &Paths::model_crate()).expect("it can be generated");
    files.extend(object_files(&loaded.set, ns, &Paths::model_crate()).expect("it can be generated"));
    move |prefix| {
        let texts = files.iter().filter(|(name, _)| name.starts_with(prefix));
        let texts = texts.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        texts.flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()).collect()
    }
}

/// The name that an item, field or constant introduces.
fn introduced(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let words = ["struct ", "enum ", "const ", "fn "];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    Some(rest.chars().take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '#')).collect())
}

/// What is introduced after each documentation line that is one of these.
fn after(lines: &[String], docs: &[String]) -> Vec<String> {
    let name = |docs: &String| {
        let at = lines.iter().position(|line| line == docs);
        let at = at.unwrap_or_else(|| panic!("nothing is documented as {docs}"));
        lines[at..].iter().find_map(|line| introduced(line)).expect("something is introduced")
    };
    docs.iter().map(name).collect()
}

/// The Rust names of a row's things.
fn names(row: &Row) -> Vec<String> {
    let lines = generate(row);
    let numbered = |first: u32| {
        let docs = |(id, name): (u32, &String)| format!("/// `{}` (i={id})", split(name).0);
        (first..).zip(&row.names).map(docs).collect::<Vec<_>>()
    };
    let plain = || row.names.iter().map(|name| format!("/// `{}`", split(name).0)).collect::<Vec<_>>();
    match row.what.as_str() {
        "data type" => after(&lines("types_"), &numbered(3001)),
        "object type" => after(&lines("objects_"), &numbered(1001)),
        "field" | "value" => {
            let all = lines("types_");
            let declared = if row.what == "field" { "pub struct Holder {" } else { "impl Holder {" };
            let body = all.into_iter().skip_while(|line| line != declared).skip(1);
            body.filter_map(|line| introduced(&line)).take(row.names.len()).collect()
        }
        "id" => {
            let id = |at: usize| format!("numeric(0, {});", 5001 + at);
            let find = |at| lines("ids_object").into_iter().find(|line| line.contains(&id(at)));
            (0..row.names.len()).filter_map(|at| introduced(&find(at)?)).collect()
        }
        "placeholder" => {
            let name = split(&row.names[0]).0;
            let mut found = after(
                &lines("client_h"),
                &[format!("/// `{name}`"), format!("/// Everything that stands for `{name}`, browsed.")],
            );
            found.extend(after(&lines("server_h"), &[format!("/// Adds one for `{name}`.")]));
            found
        }
        "method" => {
            let mut found = after(&lines("client_h"), &plain());
            let server = lines("server_h").into_iter().filter_map(|line| introduced(&line));
            found.extend(server.filter(|name| name.starts_with("on_")));
            found
        }
        _ => after(&lines("client_h"), &plain()),
    }
}

#[test]
fn the_table_holds() {
    let rows = rows();
    assert!(rows.len() > 30, "the table is there");
    let mut wrong = String::new();
    for row in &rows {
        let found = names(row);
        if found != row.rust {
            let _ = writeln!(
                wrong,
                "{} {:?}: the page says {:?}, generated is {found:?}",
                row.what, row.names, row.rust
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
