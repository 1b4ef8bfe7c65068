//! The files of a generated crate: data types, ids and registration.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quote::quote;
use uaforge_emit::ir::{Roots, Service};
use uaforge_emit::{enumeration, structure, view};
use uaforge_model::resolved::{ModelSet, Ns};

use crate::data_types::{Cx, DataTypes, TypeNames, lower};
use crate::names::Ledgers;
use crate::render::{self, Item, RenderError};
use crate::{ids, tables};

/// Where generated code finds the runtime, as Rust paths.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The codec crate.
    pub codec: String,
    /// The base types crate.
    pub types: String,
    /// The address space crate.
    pub nodes: String,
    /// The client crate.
    pub client: String,
    /// The server crate.
    pub server: String,
    /// The crate of the base model's nodes and ObjectTypes.
    pub ns0: String,
}

impl Paths {
    /// Paths for `runtime/types` itself.
    #[must_use]
    pub fn base_types() -> Self {
        Self { codec: "::uaforge_codec".into(), types: "crate".into(), ..Self::model_crate() }
    }

    /// Paths for model crates.
    #[must_use]
    pub fn model_crate() -> Self {
        Self {
            codec: "::uaforge_types::__private::codec".into(),
            types: "::uaforge_types".into(),
            nodes: "::uaforge_nodes".into(),
            client: "::uaforge_client".into(),
            server: "::uaforge_server".into(),
            ns0: "::uaforge_ns0".into(),
        }
    }

    /// Paths for a user's crate, which depends on the façade alone.
    #[must_use]
    pub fn user() -> Self {
        Self {
            codec: "::uaforge::__private::codec".into(),
            types: "::uaforge::__private::types".into(),
            nodes: "::uaforge::__private::nodes".into(),
            client: "::uaforge::__private::client".into(),
            server: "::uaforge::__private::server".into(),
            ns0: "::uaforge::__private::ns0".into(),
        }
    }
}

/// Generated text by file name, relative to the crate's folder of generated code.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The ObjectTypes of a model: the modules `objects`, `client` and `server` of its generated code.
///
/// # Errors
/// The generator has a defect that shows in this model.
pub fn object_files(set: &ModelSet, ns: Ns, paths: &Paths) -> Result<Files, RenderError> {
    let ledgers = Ledgers::new(set);
    crate::objects::files(&context(set, ns, paths, &ledgers), paths)
}

/// The data types, ids and registration of a model: the module `types` of its generated code.
///
/// # Errors
/// The generator has a defect that shows in this model.
pub fn type_files(set: &ModelSet, ns: Ns, paths: &Paths) -> Result<Files, RenderError> {
    let ledgers = Ledgers::new(set);
    let cx = context(set, ns, paths, &ledgers);
    let types = lower::data_types(&cx);
    let uses = uses(paths);
    let mut files = Files::new();
    let mut modules = Vec::new();
    for (group, items) in render::group(formatted(&cx, &types)?) {
        let module = format!("types_{group}");
        let text = render::file(&format!("Data types `{}…`.", group.to_uppercase()), &uses, &items);
        files.insert(format!("{module}.rs"), text.into_bytes());
        modules.push(module);
    }
    files.insert("types.rs".into(), root_module(&cx, &types, &modules, paths).into_bytes());
    for (module, lines) in ids::modules(&cx) {
        files.insert(format!("ids_{module}.rs"), id_module(module, &lines).into_bytes());
    }
    files.insert("ids.rs".into(), id_root(&cx).into_bytes());
    Ok(files)
}

pub(crate) fn context<'a>(set: &'a ModelSet, ns: Ns, paths: &Paths, ledgers: &'a Ledgers) -> Cx<'a> {
    let path = |text: &str| text.parse().unwrap_or_default();
    let roots = Roots { codec: quote!(codec), types: path(&paths.types), nodes: path(&paths.nodes) };
    let names = TypeNames::new(set, ledgers);
    Cx { set, ns, ledgers, names, roots, ns0: path(&paths.ns0) }
}

/// The head of every file of types. Types of the model are found by a glob import of the root module.
fn uses(paths: &Paths) -> String {
    format!(
        "#[allow(unused_imports, reason = \"not every file names every type\")]\nuse super::*;\nuse {} as codec;\n",
        paths.codec
    )
}

fn formatted(cx: &Cx<'_>, types: &DataTypes) -> Result<Vec<(String, String)>, RenderError> {
    let mut items = Vec::new();
    for ir in &types.structures {
        let name = ir.ident.to_string();
        let mut tokens = structure::structure(ir, &cx.roots);
        if types.views.contains(&name) {
            tokens.extend(view::view(ir, &cx.roots, types));
        }
        items.push(Item { name, tokens });
    }
    for ir in &types.enumerations {
        items.push(Item { name: ir.ident.to_string(), tokens: enumeration::enumeration(ir, &cx.roots) });
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    items.into_iter().map(|item| Ok((item.name.clone(), render::item(&item)?))).collect()
}

fn root_module(cx: &Cx<'_>, types: &DataTypes, modules: &[String], paths: &Paths) -> String {
    let mut text = render::head("Data types of the model, and what registers them.");
    let _ = writeln!(text, "use {} as codec;\n", paths.codec);
    for module in modules {
        let _ = writeln!(text, "mod {module};");
    }
    text.push('\n');
    for module in modules {
        let _ = writeln!(text, "pub use {module}::*;");
    }
    let slots = tables::slots(cx.set, cx.ns).into_iter().map(|ns| cx.set.uri(ns).to_string());
    text.push_str("\n/// The namespaces that constants of this model refer to by slot.\n");
    text.push_str("#[derive(Clone, Copy, Debug)]\npub struct Namespaces;\n\n");
    text.push_str(
        "impl codec::ModelNamespaces for Namespaces {\n    const SLOTS: &'static [&'static str] = &[\n",
    );
    let mut seen = Vec::new();
    for uri in slots.filter(|uri| {
        let new = !seen.contains(uri);
        seen.push(uri.clone());
        new
    }) {
        let _ = writeln!(text, "        {uri:?},");
    }
    text.push_str("    ];\n}\n");
    text.push_str("\n/// Makes the structures of the model known to a registry.\n");
    text.push_str("pub fn register_types(registry: &mut codec::TypeRegistry) {\n");
    text.push_str("    for register in REGISTER {\n        register(registry);\n    }\n}\n\n");
    text.push_str("const REGISTER: &[fn(&mut codec::TypeRegistry)] = &[\n");
    for ir in &types.structures {
        if ir.binary_encoding.is_some() && matches!(ir.service, Service::No) {
            let _ = writeln!(text, "    codec::TypeRegistry::register::<{}>,", ir.ident);
        }
    }
    text.push_str("];\n");
    text
}

fn id_root(cx: &Cx<'_>) -> String {
    let mut text = render::head("Ids of the model's nodes, by node class.");
    for module in ids::modules(cx).keys() {
        let _ = writeln!(text, "#[path = \"ids_{module}.rs\"]\npub mod {module};");
    }
    text
}

fn id_module(module: &str, lines: &[String]) -> String {
    let mut text = render::head(&format!("Ids of the model's nodes: {}.", module.replace('_', " ")));
    text.push_str(
        "#[allow(unused_imports, reason = \"not every class has values\")]\nuse super::super::types::*;\n",
    );
    text.push_str(
        "#[allow(unused_imports, reason = \"not every class has values\")]\nuse super::super::codec;\n\n",
    );
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The status codes: constants and a table of names, from rows of symbolic name and number.
#[must_use]
pub fn status_file(rows: &[(String, u32)]) -> String {
    let mut text = render::head("Status codes by name (OPC 10000-6 Annex A).");
    text.push_str("use ::uaforge_codec::StatusCode;\n\n");
    let mut scope = crate::names::Scope::default();
    let mut names = Vec::new();
    for (name, number) in rows {
        let ident = scope.screaming(name, name, &number.to_string());
        let _ = writeln!(text, "/// `{name}`\npub const {ident}: StatusCode = StatusCode(0x{number:08X});");
        names.push((number, name));
    }
    names.sort();
    text.push_str("\n/// Names by number, sorted.\npub(crate) static NAMES: &[(u32, &str)] = &[\n");
    for (number, name) in names {
        let _ = writeln!(text, "    (0x{number:08X}, {name:?}),");
    }
    text.push_str("];\n");
    text
}
