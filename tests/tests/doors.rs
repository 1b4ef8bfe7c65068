//! One structure through both doors, derive macro and file generator, gives the same tokens (D3).

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Item;
use uaforge_codegen::{Paths, type_files};
use uaforge_model::Loader;

const NODESET: &str = include_str!("../fixtures/doors/Doors.NodeSet2.xml");

/// The implementations that the file generator wrote for a type.
fn generated(name: &str) -> String {
    let loaded = Loader::new().text("Doors.NodeSet2.xml", NODESET).load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let ns = loaded.set.ns("http://example.org/doors/").expect("the model's namespace");
    let files = type_files(&loaded.set, ns, &Paths::user()).expect("the model can be generated");
    let items = files.values().flat_map(|text| {
        let text = std::str::from_utf8(text).expect("generated code is UTF-8");
        syn::parse_file(text).expect("generated code is Rust").items
    });
    let of_type = |item: &Item| match item {
        Item::Impl(item) => item.self_ty.to_token_stream().to_string() == name,
        _ => false,
    };
    let items: Vec<Item> = items.filter(of_type).collect();
    assert!(!items.is_empty(), "{name} is generated");
    print(&items)
}

/// The implementations that the derive macro adds.
fn derived(item: TokenStream) -> String {
    let input = syn::parse2(item).expect("a structure");
    let tokens = uaforge_emit::derive::ua_structure(&input).expect("a structure for the wire");
    // Files name the codec once, at their head.
    let text = tokens.to_string().replace(":: uaforge :: __private :: codec", "codec");
    print(&syn::parse_file(&text).expect("derived code is Rust").items)
}

fn print(items: &[Item]) -> String {
    prettyplease::unparse(&syn::parse_quote!(#(#items)*))
}

#[test]
fn optional_fields_arrays_and_simple_types() {
    let derived = derived(quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3001, binary_id = 5001, xml_id = 5011, json_id = 5021)]
        struct Everything {
            flag: bool,
            r#type: codec::UaString,
            #[ua(name = "span", data_type = "i=290")]
            span: f64,
            codes: codec::Array<codec::StatusCode>,
            #[ua(rank = 3)]
            cube: codec::Matrix<f32>,
            any: codec::Variant,
            #[ua(optional, max_string_length = 12)]
            note: Option<codec::UaString>,
            #[ua(optional)]
            ids: Option<codec::Array<codec::NodeId>>,
        }
    });
    assert_eq!(derived, generated("Everything"));
}

#[test]
fn recursion() {
    let derived = derived(quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3002, binary_id = 5002)]
        struct Tree {
            name: codec::UaString,
            children: codec::Array<Tree>,
            #[ua(optional)]
            next: Option<Box<Tree>>,
        }
    });
    assert_eq!(derived, generated("Tree"));
}

#[test]
fn subtyped_values() {
    let derived = derived(quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3003, binary_id = "Holder.Binary")]
        struct Holder {
            #[ua(allow_subtypes, data_type = "nsu=http://example.org/doors/;i=3002")]
            content: codec::ExtensionObject,
            #[ua(allow_subtypes, data_type = "i=26")]
            measure: codec::Variant,
        }
    });
    assert_eq!(derived, generated("Holder"));
}

#[test]
fn no_fields() {
    let derived = derived(quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3004)]
        struct Empty {}
    });
    assert_eq!(derived, generated("Empty"));
}

#[test]
fn mistakes_are_reported() {
    let error = |item: TokenStream| {
        let input = syn::parse2(item).expect("an item");
        uaforge_emit::derive::ua_structure(&input).expect_err("a mistake").to_string()
    };
    assert!(
        error(quote!(
            struct A {
                x: u8,
            }
        ))
        .contains("`namespace` is missing")
    );
    let at = quote!(#[ua(namespace = "http://example.org/", id = 1)]);
    assert!(error(quote!(#at enum A { X })).contains("structs"));
    assert!(error(quote!(#at struct A(u8);)).contains("named fields"));
    assert!(error(quote!(#at struct A<T> { x: T })).contains("no parameters"));
    assert!(error(quote!(#at struct A { #[ua(optional)] x: u8 })).contains("is an `Option`"));
    assert!(error(quote!(#at struct A { #[ua(size = 3)] x: u8 })).contains("expected `name`"));
    assert!(error(quote!(#at struct A { #[ua(data_type = "290")] x: f64 })).contains("`i=290`"));
    assert!(error(quote!(#at struct A { #[ua(allow_subtypes)] x: ExtensionObject })).contains("of what"));
    let both = quote! {
        #at struct A { x: Option<u8>, #[ua(allow_subtypes, data_type = "i=22")] y: ExtensionObject }
    };
    assert!(error(both).contains("not both"));
}
