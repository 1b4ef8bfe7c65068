//! What a model crate consists of beside its generated code.

/// The modules of the generated code, and the feature that each stands behind.
const MODULES: [(&str, &str, Option<&str>); 6] = [
    ("pub mod", "client", Some("client")),
    ("pub mod", "ids", None),
    ("mod", "objects", None),
    ("pub mod", "server", Some("server")),
    ("mod", "tables", None),
    ("mod", "types", None),
];

/// A root module over the folder `generated` beside it: `lib.rs` with `#![no_std]`, or a module of a library. A model
/// without ObjectTypes has none to hand out.
pub(crate) fn root_module(title: &str, name: &str, is_library: bool, has_object_types: bool) -> String {
    let mut text = format!("//! {title} as typed Rust.\n");
    if is_library {
        text.push_str("#![no_std]\n");
    }
    text.push_str("\nuse uaforge_types::__private::codec;\n\n");
    for (keyword, module, feature) in MODULES {
        if let Some(feature) = feature {
            text.push_str(&format!("#[cfg(feature = \"{feature}\")]\n"));
        }
        text.push_str(&format!(
            "#[rustfmt::skip]\n#[path = \"generated/{module}.rs\"]\n{keyword} {module};\n"
        ));
    }
    text.push_str(if has_object_types { "\npub use objects::*;\n" } else { "\n" });
    text.push_str("pub use tables::MODEL;\npub use types::*;\n\n");
    text.push_str(&format!("/// The model: every node of {name}.\n#[must_use]\n"));
    text.push_str("pub fn model() -> &'static uaforge_nodes::table::StaticModel {\n    &MODEL\n}\n");
    text
}
