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

type Derive = fn(&syn::DeriveInput) -> syn::Result<TokenStream>;

fn derived(item: TokenStream) -> String {
    derived_by(uaforge_emit::derive::ua_structure, item)
}

/// The implementations that a derive macro adds.
fn derived_by(derive: Derive, item: TokenStream) -> String {
    let input = syn::parse2(item).expect("an item");
    let tokens = derive(&input).expect("an item for the wire");
    // Files name the codec once, at their head.
    let text = tokens.to_string().replace(":: uaforge :: __private :: codec", "codec");
    print(&syn::parse_file(&text).expect("derived code is Rust").items)
}

/// The items in the layout of a file, where a line that was broken has got braces or a comma.
fn print(items: &[Item]) -> String {
    let once = prettyplease::unparse(&syn::parse_quote!(#(#items)*));
    prettyplease::unparse(&syn::parse_file(&once).expect("printed code is Rust"))
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
fn option_set() {
    let item = quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3006, bits(HEATED = 0, WELL_STIRRED = 3))]
        struct Equipment(u16);
    };
    assert_eq!(derived_by(uaforge_emit::derive::ua_option_set, item), generated("Equipment"));
}

#[test]
fn union() {
    let item = quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3007, binary_id = 5007)]
        enum Addition {
            Null,
            Hops(f64),
            Spices(codec::Array<codec::UaString>),
        }
    };
    assert_eq!(derived_by(uaforge_emit::derive::ua_union, item), generated("Addition"));
}

/// The file generator makes a struct around the number, the derive macro works on the user's enum: what
/// both say of the DataType is the same, and how they code it differs in the way to the number only.
#[test]
fn enumeration() {
    let item = quote! {
        #[ua(namespace = "http://example.org/doors/", id = 3005)]
        enum Phase {
            Idle,
            Mashing,
            #[ua(value = 9)]
            Boiling,
            Lost = -1,
            #[ua(unknown)]
            Unknown(i32),
        }
    };
    let derived = derived_by(uaforge_emit::derive::ua_enumeration, item);
    let generated = generated("Phase");
    let shared = |text: &str| {
        let items = syn::parse_file(text).expect("Rust").items.into_iter();
        let shared = items.filter(|item| {
            let text = item.to_token_stream().to_string();
            !text.contains("fn value") && !text.contains("fmt ::") && !text.contains("const IDLE")
        });
        print(&shared.collect::<Vec<_>>())
    };
    let in_place = "*self = Self(<::core::primitive::i32 as codec::Decode>::decode(d)?);\n        \
                    ::core::result::Result::Ok(())";
    let as_number = shared(&derived)
        .replace("Self::from_value", "Self")
        .replace(".value()", ".0")
        .replace(in_place, "codec::Decode::decode_into(&mut self.0, d)");
    assert_eq!(as_number, shared(&generated));
}

/// What a derive macro says of each item, with `AT` for the attributes that every item needs.
fn check_mistakes(derive: Derive, mistakes: &[(&str, &str)]) {
    for (item, message) in mistakes {
        let item = item.replace("AT", "namespace = \"http://example.org/\", id = 1");
        let input = syn::parse_str(&item).unwrap_or_else(|error| panic!("{item}: {error}"));
        let error = derive(&input).expect_err(&item).to_string();
        assert!(error.contains(message), "{item}: {error}");
    }
}

#[test]
fn mistakes_in_enumerations_are_reported() {
    let mistakes = [
        ("#[ua(AT)] struct A { x: u8 }", "for enums"),
        ("#[ua(AT)] enum A { X }", "#[ua(unknown)] Unknown(i32)"),
        ("#[ua(AT)] enum A { X = 1, Y = 1, #[ua(unknown)] Z(i32) }", "value 1 is given twice"),
        ("#[ua(AT)] enum A { X, #[ua(name = \"X\")] Y, #[ua(unknown)] Z(i32) }", "`X` is given twice"),
        ("#[ua(AT)] enum A { X(u8), #[ua(unknown)] Z(i32) }", "UaUnion"),
        ("#[ua(AT)] enum A { X, #[ua(unknown)] Z }", "one `i32`"),
        ("#[ua(AT)] enum A { X, #[ua(unknown)] Y(i32), #[ua(unknown)] Z(i32) }", "one `i32`"),
        ("#[ua(AT)] enum A { #[ua(value = 2147483648)] X, #[ua(unknown)] Z(i32) }", "no Int32"),
        ("#[ua(AT)] enum A { #[ua(value = 2147483647)] X, Y, #[ua(unknown)] Z(i32) }", "no Int32"),
        ("#[ua(AT)] enum A { X = OTHER, #[ua(unknown)] Z(i32) }", "is a number"),
        ("#[ua(AT)] enum A { #[ua(optional)] X, #[ua(unknown)] Z(i32) }", "expected `name`, `value`"),
        ("#[ua(AT)] enum A<T> { X(T) }", "no parameters"),
        ("#[ua(AT, binary_id = 2)] enum A { X }", "expected `namespace`, `id`, `name`"),
        ("#[ua(id = 1)] enum A { X }", "`namespace` is missing"),
    ];
    check_mistakes(uaforge_emit::derive::ua_enumeration, &mistakes);
}

#[test]
fn mistakes_in_unions_are_reported() {
    let mistakes = [
        ("#[ua(AT)] struct A { x: u8 }", "for enums"),
        ("#[ua(AT)] enum A { X(u8) }", "add a variant"),
        ("#[ua(AT)] enum A { Null(u8), X(u8) }", "add a variant"),
        ("#[ua(AT)] enum A { Null, X }", "one field"),
        ("#[ua(AT)] enum A { Null, X(u8, u8) }", "one field"),
        ("#[ua(AT)] enum A { Null, X { x: u8 } }", "one field"),
        ("#[ua(AT)] enum A { Null, X(Option<u8>) }", "no `Option`"),
        ("#[ua(AT, bits(X = 1))] enum A { Null, X(u8) }", "expected `namespace`"),
    ];
    check_mistakes(uaforge_emit::derive::ua_union, &mistakes);
}

#[test]
fn mistakes_in_option_sets_are_reported() {
    let mistakes = [
        ("#[ua(AT, bits(X = 0))] struct A(i32);", "around `u8`"),
        ("#[ua(AT, bits(X = 0))] struct A { x: u8 }", "around `u8`"),
        ("#[ua(AT, bits(X = 0))] struct A(u8, u8);", "around `u8`"),
        ("#[ua(AT, bits(X = 0))] enum A { X }", "around `u8`"),
        ("#[ua(AT, bits(X = 8))] struct A(u8);", "bits 0 to 7"),
        ("#[ua(AT, bits(X = 1, Y = 1))] struct A(u8);", "bit 1 is given twice"),
        ("#[ua(AT, bits(X = 1, Y(name = \"X\", bit = 2)))] struct A(u8);", "`X` is given twice"),
        ("#[ua(AT, bits(X(name = \"y\")))] struct A(u8);", "`bit` is missing"),
        ("#[ua(AT, bits(X(size = 1)))] struct A(u8);", "expected `name` or `bit`"),
        ("#[ua(AT, binary_id = 2)] struct A(u8);", "expected `namespace`, `id`, `bits`"),
    ];
    check_mistakes(uaforge_emit::derive::ua_option_set, &mistakes);
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
