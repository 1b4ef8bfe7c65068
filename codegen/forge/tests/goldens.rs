//! One NodeSet per feature: what the generator writes for it is committed, compared and compiled.
//!
//! They are compiled as the crate `uaforge-goldens`, which this test does not need, so that output which
//! does not compile can be replaced. With `UAFORGE_BLESS=1` the files are written instead of compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use uaforge_codegen::tables::{self, TableOptions};
use uaforge_codegen::{Paths, object_files, type_files};
use uaforge_model::{Loader, interface};

/// Name, NodeSet and NodeSets that it requires, each with the golden that carries it.
struct Golden {
    name: &'static str,
    nodeset: &'static str,
    requires: &'static [(&'static str, &'static str)],
    /// Table of identifiers of a type dictionary.
    identifiers: Option<&'static str>,
}

const fn golden(name: &'static str, nodeset: &'static str) -> Golden {
    Golden { name, nodeset, requires: &[], identifiers: None }
}

const GOLDENS: &[Golden] = &[
    golden("struct_optional_fields", "cases/011-struct-optional-fields/nodeset.xml"),
    golden("union_basic", "cases/012-union-basic/nodeset.xml"),
    golden("recursive_structure", "cases/013-recursive-structure/nodeset.xml"),
    golden("enum_negative_and_gaps", "cases/014-enum-negative-and-gaps/nodeset.xml"),
    golden("option_set_byte", "cases/015-option-set-byte/nodeset.xml"),
    golden("reserved_words", "cases/016-reserved-words/nodeset.xml"),
    golden("case_collisions", "cases/017-case-collisions/nodeset.xml"),
    golden("value_ranks_and_dimensions", "cases/018-value-ranks-and-dimensions/nodeset.xml"),
    golden("allow_subtypes", "cases/019-allow-subtypes/nodeset.xml"),
    Golden {
        identifiers: Some("goldens/bsd_switch_and_length_fields/ids.csv"),
        ..golden("bsd_switch_and_length_fields", "cases/026-bsd-switch-and-length-fields/types.bsd")
    },
    golden("typed_client_method_call", "cases/027-typed-client-method-call/nodeset.xml"),
    golden("xml_values", "cases/020-xml-values-every-builtin/nodeset.xml"),
    golden("abstract_types", "goldens/abstract_types/AbstractTypes.NodeSet2.xml"),
    golden("awkward_names", "goldens/awkward_names/AwkwardNames.NodeSet2.xml"),
    golden("base_types", "goldens/base_types/BaseTypes.NodeSet2.xml"),
    golden("inheritance", "goldens/inheritance/Inheritance.NodeSet2.xml"),
    golden("matrices", "goldens/matrices/Matrices.NodeSet2.xml"),
    golden("methods", "goldens/methods/Methods.NodeSet2.xml"),
    Golden {
        name: "methods_derived",
        nodeset: "goldens/methods_derived/MethodsDerived.NodeSet2.xml",
        requires: &[("methods", "goldens/methods/Methods.NodeSet2.xml")],
        identifiers: None,
    },
    Golden {
        name: "node_attributes",
        nodeset: "goldens/node_attributes/NodeAttributes.NodeSet2.xml",
        requires: &[("two_models_base", "goldens/two_models_base/Base.NodeSet2.xml")],
        identifiers: None,
    },
    golden("option_set_structure", "goldens/option_set_structure/OptionSetStructure.NodeSet2.xml"),
    golden("option_sets", "goldens/option_sets/OptionSets.NodeSet2.xml"),
    golden("recursion", "goldens/recursion/Recursion.NodeSet2.xml"),
    golden("simple_types", "goldens/simple_types/SimpleTypes.NodeSet2.xml"),
    golden("two_models_base", "goldens/two_models_base/Base.NodeSet2.xml"),
    Golden {
        name: "two_models_derived",
        nodeset: "goldens/two_models_derived/Derived.NodeSet2.xml",
        requires: &[("two_models_base", "goldens/two_models_base/Base.NodeSet2.xml")],
        identifiers: None,
    },
    golden("unions", "goldens/unions/Unions.NodeSet2.xml"),
    golden("shapes", "goldens/shapes/Shapes.NodeSet2.xml"),
    golden("object_names", "goldens/object_names/ObjectNames.NodeSet2.xml"),
    golden("node_ids", "goldens/node_ids/NodeIds.NodeSet2.xml"),
    golden("vectors", "goldens/vectors/Vec.NodeSet2.xml"),
];

/// The tests' folder; the goldens are compiled there.
fn here() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests"))
}

type Files = BTreeMap<String, Vec<u8>>;

fn generate(golden: &Golden) -> Files {
    let mut loader = Loader::new().file(here().join(golden.nodeset));
    for (_, nodeset) in golden.requires {
        loader = loader.file(here().join(nodeset));
    }
    if let Some(table) = golden.identifiers {
        loader = loader.identifiers_file(Some(&uri_of(golden.nodeset)), here().join(table));
    }
    let mut loaded = loader.load();
    let problems: Vec<String> = loaded.diagnostics.iter().map(|one| one.message.clone()).collect();
    assert!(problems.is_empty(), "{}: {problems:#?}", golden.name);
    for (name, nodeset) in golden.requires {
        let ns = loaded.set.ns(&uri_of(nodeset)).expect("the required model");
        let model = loaded.set.models.iter_mut().find(|model| model.ns == ns).expect("it is loaded");
        model.rust_path = Some(format!("crate::{name}"));
    }
    let ns = loaded.set.ns(&uri_of(golden.nodeset)).expect("the model");
    let mut files = type_files(&loaded.set, ns, &Paths::model_crate()).expect("it can be generated");
    files.extend(object_files(&loaded.set, ns, &Paths::model_crate()).expect("it can be generated"));
    let options = TableOptions { descriptions: false, dictionaries: false, ..TableOptions::default() };
    files.extend(tables::write(&loaded.set, ns, &options).expect("it fits"));
    let has_objects = files.keys().any(|name| name.starts_with("objects_"));
    files.insert("mod.rs".into(), root_file(golden.name, has_objects).into_bytes());
    files
}

/// The namespace URI that a NodeSet or a type dictionary defines.
fn uri_of(nodeset: &str) -> String {
    let text = fs::read_to_string(here().join(nodeset)).expect("a fixture");
    let named = ["ModelUri=\"", "TargetNamespace=\""].iter().find_map(|name| text.split_once(name));
    let (_, rest) = named.expect("a model");
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// What the hand-written `lib.rs` of a model crate says.
fn root_file(name: &str, has_objects: bool) -> String {
    let mut text =
        String::from("// @generated by `UAFORGE_BLESS=1 cargo test -p uaforge-codegen --test goldens`\n");
    let _ = writeln!(text, "//! Golden: {}.\n", name.replace('_', " "));
    text.push_str("use ::uaforge_types::__private::codec;\n\n");
    for module in
        ["pub mod client", "pub mod ids", "mod objects", "pub mod server", "mod tables", "mod types"]
    {
        let file = module.rsplit(' ').next().unwrap_or_default();
        let _ = writeln!(text, "#[path = \"{file}.rs\"]\n{module};");
    }
    text.push_str(if has_objects { "\npub use objects::*;\n" } else { "\n" });
    text.push_str("pub use tables::MODEL;\npub use types::*;\n");
    text
}

fn committed(folder: &Path) -> Files {
    let mut files = Files::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !name.ends_with(".xml") && !name.ends_with(".csv") {
            files.insert(name, fs::read(&path).expect("readable"));
        }
    }
    files
}

fn bless(folder: &Path, files: &Files, old: &Files) {
    fs::create_dir_all(folder).expect("writable");
    for name in old.keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(folder.join(name)).expect("writable");
    }
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("writable");
    }
}

#[test]
fn output_is_as_committed() {
    let bless_now = std::env::var("UAFORGE_BLESS").as_deref() == Ok("1");
    let mut differing = Vec::new();
    for golden in GOLDENS {
        let folder: PathBuf = here().join("goldens").join(golden.name);
        let (files, old) = (generate(golden), committed(&folder));
        if bless_now {
            bless(&folder, &files, &old);
        } else {
            let names = files.keys().chain(old.keys());
            let changed = names.filter(|name| files.get(*name) != old.get(*name));
            differing.extend(changed.map(|name| format!("{}/{name}", golden.name)));
        }
    }
    differing.dedup();
    assert!(differing.is_empty(), "run with UAFORGE_BLESS=1 and look at the diff: {differing:#?}");
}

/// A dependent of a crate sees its interface file, not its NodeSet; what is generated is the same.
#[test]
fn the_interface_of_a_model_says_as_much_as_its_nodeset() {
    for golden in GOLDENS.iter().filter(|golden| !golden.requires.is_empty()) {
        let mut loader = Loader::new().file(here().join(golden.nodeset));
        for (name, nodeset) in golden.requires {
            let required = Loader::new().file(here().join(nodeset)).load();
            let ns = required.set.ns(&uri_of(nodeset)).expect("the required model");
            let path = format!("crate::{name}");
            loader = loader.interface(interface::write(&required.set, ns), Some(&path));
        }
        let loaded = loader.load();
        let ns = loaded.set.ns(&uri_of(golden.nodeset)).expect("the model");
        let files = object_files(&loaded.set, ns, &Paths::model_crate()).expect("it can be generated");
        let from_nodesets = generate(golden);
        for (name, bytes) in &files {
            assert!(from_nodesets.get(name) == Some(bytes), "{}/{name}", golden.name);
        }
    }
}

#[test]
fn a_second_run_gives_the_same_bytes() {
    for golden in GOLDENS {
        assert!(generate(golden) == generate(golden), "{}", golden.name);
    }
}

#[test]
fn files_are_short_and_headed() {
    for golden in GOLDENS {
        for (name, bytes) in generate(golden).iter().filter(|(name, _)| name.ends_with(".rs")) {
            let text = std::str::from_utf8(bytes).expect("text");
            assert!(text.starts_with("// @generated by "), "{}/{name}", golden.name);
            assert!(text.lines().count() <= 2_000, "{}/{name}", golden.name);
        }
    }
}
