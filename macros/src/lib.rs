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

/// Makes an enum an Enumeration DataType (OPC 10000-3 §8.14): an Int32 on the wire, and static description.
///
/// ```ignore
/// #[derive(Clone, Copy, Debug, Default, PartialEq, UaEnumeration)]
/// #[ua(namespace = "http://example.org/brew/", id = 3010)]
/// enum Phase {
///     #[default]
///     Idle,
///     Mashing,
///     #[ua(name = "BoilOver", value = 9)]
///     Boiling,
///     #[ua(unknown)]
///     Unknown(i32),
/// }
/// ```
///
/// Numbers are those of Rust's discriminants, or `value`. Enumerations are open: a peer with a newer
/// model sends numbers that are not declared here, and the variant marked `unknown` keeps them. The enum
/// gets `value()` and `from_value()`; it implements `Default` itself.
#[proc_macro_derive(UaEnumeration, attributes(ua))]
pub fn ua_enumeration(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    uaforge_emit::derive::ua_enumeration(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct around an unsigned integer an OptionSet DataType (OPC 10000-3 §8.40): its bits as
/// constants, `|`, `&` and `contains`, coding, `Debug` and static description.
///
/// ```ignore
/// #[derive(Clone, Copy, Default, PartialEq, UaOptionSet)]
/// #[ua(namespace = "http://example.org/brew/", id = 3011, bits(HEATED = 0, STIRRED = 1))]
/// struct Equipment(u16);
/// ```
///
/// Bits are named in the model in PascalCase, unless `HEATED(name = "…", bit = 0)` says otherwise. Bits
/// that are not declared are kept.
#[proc_macro_derive(UaOptionSet, attributes(ua))]
pub fn ua_option_set(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    uaforge_emit::derive::ua_option_set(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes an enum a Union DataType (OPC 10000-6 §5.2.8): binary coding and static description.
///
/// ```ignore
/// #[derive(Clone, Debug, Default, PartialEq, UaUnion)]
/// #[ua(namespace = "http://example.org/brew/", id = 3012, binary_id = 5012)]
/// enum Addition {
///     #[default]
///     Null,
///     Hops(f64),
///     Spices(Vec<String>),
/// }
/// ```
///
/// Switch values count the variants from 1; `Null` is 0. Attributes of variants are those of
/// [`UaStructure`]'s fields.
#[proc_macro_derive(UaUnion, attributes(ua))]
pub fn ua_union(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    uaforge_emit::derive::ua_union(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
