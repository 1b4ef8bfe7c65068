//! Facts and canonical hashes of public models, found by an independent reader, against the resolved model.

mod facts;
mod members;
mod types;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use uaforge_model::resolved::{ModelSet, Ns};
use uaforge_model::{Loaded, Loader, NS0_URI, Severity, canonical, interface};

use facts::Facts;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A fetched NodeSet, or `None` (with a line) where none was fetched and none is required.
fn fetched(model: &str) -> Option<PathBuf> {
    let path = root().join(".nodesets").join(format!("{model}.xml"));
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var("UAFORGE_REQUIRE_NODESETS").as_deref() != Ok("1"),
        "{} is missing: run `cargo xtask fetch-nodesets`",
        path.display()
    );
    println!("skipped: {} is not fetched (cargo xtask fetch-nodesets)", path.display());
    None
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The facts of a model.
fn expected(model: &str) -> Map<String, Value> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/oracle"));
    let plain = folder.join(format!("{model}.json"));
    let text = if plain.exists() {
        read(&plain)
    } else {
        let mut text = Vec::new();
        let packed = read(&folder.join(format!("{model}.json.gz")));
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text)
            .expect("a gzip file");
        text
    };
    match serde_json::from_slice(&text).expect("JSON") {
        Value::Object(map) => map,
        _ => panic!("facts of {model} are no object"),
    }
}

fn load(paths: &[PathBuf]) -> Loaded {
    without_errors(paths.iter().fold(Loader::new(), |loader, path| loader.file(path)).load())
}

fn without_errors(loaded: Loaded) -> Loaded {
    let errors: Vec<&str> = loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| diagnostic.message.as_str())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    loaded
}

/// Compares everything that the facts say of a model.
fn compare(model: &str, set: &ModelSet) {
    let expected = expected(model);
    let uri = expected["model"]["uri"].as_str().expect("a URI");
    let ns = set.ns(uri).expect("the model is loaded");
    compare_hashes(model, &expected["hash"], set, ns);
    let facts = Facts::new(set, ns, &expected["namespaces"]);
    let mut differences = Vec::new();
    for (section, found) in facts.sections() {
        differ(section, &expected[section], &found, &mut differences);
    }
    assert!(differences.is_empty(), "{model}: {} differences\n{}", differences.len(), differences.join("\n"));
}

fn compare_hashes(model: &str, expected: &Value, set: &ModelSet, ns: Ns) {
    let hashes = canonical::hashes(set, ns);
    assert_eq!(expected["nodes"], hashes.nodes, "{model}: nodes");
    assert_eq!(expected["references"], hashes.references, "{model}: references");
    assert_eq!(expected["attributes"], hashes.attributes, "{model}: attributes");
    assert_eq!(expected["model"], hashes.model, "{model}: model");
    for (class, hash) in expected["nodes_by_class"].as_object().expect("an object") {
        assert_eq!(
            Some(hash.as_str().expect("a text")),
            hashes.nodes_by_class.get(class.as_str()).map(String::as_str)
        );
    }
}

/// Lists where two values differ, entry by entry for lists with ids.
fn differ(path: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in found {
                differ(
                    &format!("{path}.{key}"),
                    expected.get(key).unwrap_or(&Value::Null),
                    value,
                    differences,
                );
            }
            for key in expected.keys().filter(|key| !found.contains_key(*key) && !path.starts_with("counts"))
            {
                differences.push(format!("{path}.{key} is missing"));
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                let name = expected.get("name").map_or_else(|| index.to_string(), Value::to_string);
                differ(&format!("{path}[{name}]"), expected, found, differences);
            }
        }
        _ if expected != found => differences.push(format!("{path}: expected {expected}, found {found}")),
        _ => {}
    }
}

/// Files of a model and all that it needs, by the facts' load order.
fn files(model: &str) -> Option<Vec<PathBuf>> {
    let order = expected(model)["load_order"].clone();
    let names = order.as_array().expect("a list").iter().filter_map(Value::as_str).map(str::to_owned);
    names.map(|name| fetched(&name)).collect()
}

#[test]
fn ns0_is_as_expected() {
    let Some(files) = files("ns0") else { return };
    compare("ns0", &load(&files).set);
}

#[test]
fn ns0_core_is_as_expected() {
    let Some(path) = fetched("ns0_core") else {
        return;
    };
    compare("ns0_core", &load(&[path]).set);
}

#[test]
fn di_on_the_embedded_base_is_as_expected() {
    let Some(path) = fetched("di") else { return };
    compare("di", &load(&[path]).set);
}

#[test]
fn example_is_as_expected() {
    let Some(di) = fetched("di") else { return };
    let tiny = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/oracle/Tiny.NodeSet2.xml"));
    // Dependents first: the order of the files does not matter.
    compare("tiny", &load(&[tiny, di]).set);
}

/// The address space of the base model: types that are never nodes are not in it. One property came with a later
/// publication than that of `ns0_core`.
#[test]
fn base_address_space_is_ns0_core() {
    let loaded = Loader::new().load();
    let mut lines = canonical::address_space(&loaded.set, Ns::UA);
    for group in [&mut lines.nodes, &mut lines.references, &mut lines.attributes] {
        group.retain(|line| !line.split('\t').any(|field| field == "i=19309"));
    }
    assert_eq!(expected("ns0_core")["hash"]["model"], lines.hashes().model, "{NS0_URI}");
}

/// A model on its own, all that it needs as interfaces, as the crates of other people hand them on.
fn load_on_interfaces(model: &str, files: &[PathBuf]) -> Loaded {
    let mut interfaces: Vec<String> = Vec::new();
    let mut last = Loaded::default();
    for file in files {
        let loader = interfaces
            .iter()
            .fold(Loader::new().file(file), |loader, text| loader.interface(text.clone(), None));
        last = without_errors(loader.load());
        let own = last.documents.first().and_then(|document| document.models.first());
        interfaces.push(interface::write(&last.set, *own.unwrap_or_else(|| panic!("{model}: no model"))));
    }
    last
}

/// All that the facts say, with documents and with interfaces of what the model needs. What a server shows is the whole
/// model, and that is what the test of the model's crate insists on.
fn check(model: &str) {
    let Some(files) = files(model) else { return };
    let loaded = load(&files);
    compare(model, &loaded.set);
    let expected = expected(model);
    let hash = expected["hash"]["model"].as_str().expect("a hash");
    let ns = loaded.set.ns(expected["model"]["uri"].as_str().expect("a URI")).expect("the model");
    assert_eq!(hash, canonical::served(&loaded.set, ns).hashes().model, "{model}: what is served");
    if let Ok(test) = std::fs::read_to_string(root().join("models").join(model).join("tests/served.rs")) {
        assert!(test.contains(hash), "{model}: the test of its crate has another hash");
    }
    compare(model, &load_on_interfaces(model, &files).set);
}

macro_rules! models {
    ($($test:ident: $model:literal;)*) => {$(
        #[test]
        fn $test() {
            check($model);
        }
    )*};
}

models! {
    amb_is_as_expected: "amb";
    di_is_as_expected: "di";
    gds_is_as_expected: "gds";
    ia_is_as_expected: "ia";
    ijt_base_is_as_expected: "ijt_base";
    isa95_jobcontrol_v2_is_as_expected: "isa95_jobcontrol_v2";
    lads_is_as_expected: "lads";
    machine_vision_is_as_expected: "machine_vision";
    machinery_is_as_expected: "machinery";
    pack_ml_is_as_expected: "pack_ml";
    robotics_is_as_expected: "robotics";
}
