//! ObjectTypes of a model as Rust: markers, proxies and handles (D12).

pub(crate) use lower::object_types;

mod lower;
mod members;
mod methods;
mod names;

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use quote::quote;
use uaforge_emit::ir::Roots;
use uaforge_emit::objects::{self, ObjectType};

use uaforge_model::resolved::Ns;

use crate::crates::{Files, Paths};
use crate::data_types::Cx;
use crate::render::{self, Item, RenderError};

/// The modules `objects`, `client` and `server` of a model's generated code.
pub(crate) fn files(cx: &Cx<'_>, paths: &Paths) -> Result<Files, RenderError> {
    let types = lower::object_types(cx);
    let (client, server) = (quote!(client), quote!(server));
    let roots = Roots { codec: quote!(codec), types: cx.roots.types.clone(), nodes: quote!(nodes) };
    let mut files = Files::new();
    let register = register(cx);
    let mut write = |part: Part<'_>, emit: &dyn Fn(&ObjectType) -> TokenStream| {
        part.write(&types, emit, paths, &mut files)
    };
    let part = |module, title| Part { module, title, is_base: cx.ns == Ns(0), extra: "" };
    write(Part { extra: &register, ..part("objects", "ObjectTypes of the model") }, &|ir| {
        objects::marker(ir, &roots)
    })?;
    write(part("client", "Proxies of the model's ObjectTypes for clients"), &|ir| {
        objects::proxy(ir, &roots, &client)
    })?;
    write(part("server", "Handles of the model's ObjectTypes for servers"), &|ir| {
        objects::handle(ir, &roots, &server)
    })?;
    Ok(files)
}

/// One of the modules.
struct Part<'a> {
    module: &'a str,
    title: &'a str,
    /// The types of the base model are another crate's.
    is_base: bool,
    extra: &'a str,
}

impl Part<'_> {
    fn write(
        &self,
        types: &[ObjectType],
        emit: &dyn Fn(&ObjectType) -> TokenStream,
        paths: &Paths,
        files: &mut Files,
    ) -> Result<(), RenderError> {
        let mut items = Vec::new();
        for ir in types {
            let item = Item { name: ir.ident.to_string(), tokens: emit(ir) };
            items.push((item.name.clone(), render::item(&item)?));
        }
        items.sort();
        let uses = "#[allow(unused_imports, reason = \"not every file names every type\")]\nuse super::*;\n";
        let mut root = render::head(&format!("{}.", self.title));
        root.push_str(&self.root_uses(paths));
        for (group, items) in render::group(items) {
            let module = format!("{}_{group}", self.module);
            let title = format!("{} `{}…`.", self.title, group.to_uppercase());
            files.insert(format!("{module}.rs"), render::file(&title, uses, &items).into_bytes());
            let _ = writeln!(root, "#[path = \"{module}.rs\"]\nmod {module};\npub use {module}::*;");
        }
        root.push_str(self.extra);
        files.insert(format!("{}.rs", self.module), root.into_bytes());
        Ok(())
    }

    fn root_uses(&self, paths: &Paths) -> String {
        let types = if self.is_base { format!("{}::*", paths.types) } else { "super::types::*".to_owned() };
        let mut uses = vec![types, format!("{} as codec", paths.codec), format!("{} as nodes", paths.nodes)];
        match self.module {
            "client" => uses.extend(["super::objects::*".to_owned(), format!("{} as client", paths.client)]),
            "server" => uses.extend(["super::objects::*".to_owned(), format!("{} as server", paths.server)]),
            _ => {}
        }
        uses.sort();
        let mut text = String::new();
        for path in uses {
            let _ = writeln!(
                text,
                "#[allow(unused_imports, reason = \"not every model has every kind of type\")]\nuse {path};"
            );
        }
        text.push('\n');
        text
    }
}

/// What makes the structures of the model known, and those of the models that it requires.
fn register(cx: &Cx<'_>) -> String {
    let mut text =
        String::from("\n/// Make the structures of this model and of those that it requires known.\n");
    text.push_str("#[allow(dead_code, reason = \"a model may have no types\")]\n");
    text.push_str("const REGISTER: &[fn(&mut codec::TypeRegistry)] = &[\n");
    // Those of the base model are known everywhere.
    if cx.ns != Ns(0) {
        text.push_str("    super::types::register_types,\n");
    }
    for ns in crate::tables::slots(cx.set, cx.ns) {
        let model = cx.set.model(ns).filter(|model| ns != cx.ns && ns.0 != 0 && model.rust_path.is_some());
        if let Some(path) = model.and_then(|model| model.rust_path.as_deref()) {
            let _ = writeln!(text, "    {path}::register_types,");
        }
    }
    text.push_str("];\n");
    text
}
