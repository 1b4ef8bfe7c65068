//! Derive macros that put user structures on the wire.
//!
//! They lower to the same IR and call the same emitter as the file generator (`uaforge_emit`).

use proc_macro::TokenStream;
use syn::DeriveInput;

/// Makes a struct a Structure DataType (OPC 10000-3 §5.8.3): binary coding and static description.
///
/// ```ignore
/// #[derive(Clone, Debug, Default, PartialEq, UaStructure)]
/// #[ua(namespace = "http://example.org/brew/", id = 3001, binary_id = 5001)]
/// struct Recipe {
///     name: String,
///     steps: Vec<Step>,
///     #[ua(optional)]
///     note: Option<String>,
/// }
/// ```
///
/// Fields are named in the model as in Rust, in PascalCase, unless `#[ua(name = "…")]` says otherwise.
/// An `Option` is an optional field, a `Vec` or `Array` an array, a `Matrix` a matrix (of `rank` 2 unless
/// that is given). `data_type = "i=290"` or `"nsu=http://example.org/;i=1"` names the DataType where the Rust
/// type does not say it; with `allow_subtypes` an `ExtensionObject` holds that structure or one that
/// derives from it, and `max_string_length` is what it says.
#[proc_macro_derive(UaStructure, attributes(ua))]
pub fn ua_structure(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    uaforge_emit::derive::ua_structure(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
