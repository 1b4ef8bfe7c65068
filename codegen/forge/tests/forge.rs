//! The library of build scripts, run on files and interface files as Cargo would.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use uaforge_codegen::Forge;

const LINE: &str = "http://example.org/forge/line/";
const PARTS: &str = "http://example.org/forge/parts";
const NS0: &str = "http://opcfoundation.org/UA/";

/// A NodeSet of some models; `types` are ObjectTypes by NodeId, browse name and supertype.
fn nodeset(uris: &[&str], models: &[(&str, &[&str])], types: &[(&str, &str, &str)]) -> String {
    let mut text = "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">".to_owned();
    let uris: String = uris.iter().map(|uri| format!("<Uri>{uri}</Uri>")).collect();
    let _ = write!(text, "<NamespaceUris>{uris}</NamespaceUris>\n<Models>");
    let date = "Version=\"1.0.0\" PublicationDate=\"2024-01-01T00:00:00Z\"";
    for (uri, required) in models {
        let _ = write!(text, "<Model ModelUri=\"{uri}\" {date}>");
        for uri in *required {
            let _ = write!(text, "<RequiredModel ModelUri=\"{uri}\"/>");
        }
        text.push_str("</Model>\n");
    }
    text.push_str("</Models>\n");
    for (id, name, supertype) in types {
        let _ = writeln!(
            text,
            "<UAObjectType NodeId=\"{id}\" BrowseName=\"{name}\"><DisplayName>{name}</DisplayName><References>\
             <Reference ReferenceType=\"i=45\" IsForward=\"false\">{supertype}</Reference></References></UAObjectType>"
        );
    }
    text + "</UANodeSet>"
}

/// Two models in one file; the first uses a type of the second.
fn two_models() -> String {
    let types = [("ns=1;i=1001", "1:LineType", "ns=2;i=1001"), ("ns=2;i=1001", "2:PartType", "i=58")];
    nodeset(&[LINE, PARTS], &[(LINE, &[NS0, PARTS]), (PARTS, &[NS0])], &types)
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// All files below a folder, sorted.
fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(all(&path));
        } else {
            let bytes = fs::read(&path).expect("a file");
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn models_of_one_file_are_named_by_their_uris() {
    let folder = folder("two_models");
    let file = folder.join("Both.NodeSet2.xml");
    fs::write(&file, two_models()).expect("written");
    let out = folder.join("out");
    Forge::new().nodeset(&file).out_dir(&out).build().expect("generated");
    let line = fs::read_to_string(out.join("line/objects_l.rs")).expect("the first model");
    assert!(line.contains("crate::parts::PartType"), "the second is found in its module:\n{line}");
    assert!(out.join("parts/objects_p.rs").is_file() && out.join("line.rs").is_file());
    let first = all(&out);
    Forge::new().nodeset(&file).out_dir(&out).build().expect("generated");
    assert_eq!(first, all(&out), "the second run gives the same");
}

#[test]
fn a_model_of_one_file_is_named_by_the_file() {
    let folder = folder("one_model");
    let file = folder.join("Parts of 2.NodeSet2.xml");
    let text = nodeset(&[PARTS], &[(PARTS, &[NS0])], &[("ns=1;i=1001", "1:PartType", "i=58")]);
    fs::write(&file, text).expect("written");
    let outcome = Forge::new().nodeset(&file).out_dir(folder.join("out")).build();
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(folder.join("out/parts_of_2.rs").is_file());
}

/// Two files whose models would be one module of the crate.
#[test]
fn models_of_one_name_are_an_error_that_says_what_to_do() {
    let folder = folder("same_name");
    let types = [("ns=1;i=1001", "1:PartType", "i=58")];
    let (first, second) = (folder.join("a/Parts.xml"), folder.join("b/Parts.xml"));
    for (file, uri) in [(&first, PARTS), (&second, LINE)] {
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, nodeset(&[uri], &[(uri, &[NS0])], &types)).expect("written");
    }
    let forge = Forge::new().nodeset(&first).nodeset(&second).out_dir(folder.join("out"));
    let error = forge.clone().build().expect_err("one name").to_string();
    assert!(error.contains("Forge::name") && error.contains(PARTS) && error.contains(LINE), "{error}");
    forge.name(LINE, "line").build().expect("generated");
    assert!(folder.join("out/line.rs").is_file() && folder.join("out/parts.rs").is_file());
}

/// A published id that another node has now ends the build.
#[test]
fn a_table_of_identifiers_guards_the_build() {
    let folder = folder("identifiers");
    let (file, table) = (folder.join("Parts.xml"), folder.join("Parts.csv"));
    let text = nodeset(&[PARTS], &[(PARTS, &[NS0])], &[("ns=1;i=1001", "1:PartType", "i=58")]);
    fs::write(&file, text).expect("written");
    let build = |ids: &str| {
        fs::write(&table, ids).expect("written");
        Forge::new().nodeset(&file).identifiers(PARTS, &table).out_dir(folder.join("out")).build()
    };
    build("PartType,1001,ObjectType\n").expect("the ids agree");
    let error = build("PartType,1002,ObjectType\n").expect_err("the id is another one").to_string();
    assert!(error.contains("1 error"), "{error}");
}
