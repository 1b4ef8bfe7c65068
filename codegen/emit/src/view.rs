//! Emits borrowed views of structures on the hot path (D7).

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::ir::{Field, Roots, Shape, Structure, Type};
use crate::size;
use crate::structure_codec::path_segment;

/// Tells which generated types have a view of their own, and which are read as they are.
pub trait Views {
    /// Whether the generated type at `path` is a structure with a view.
    fn has_view(&self, path: &str) -> bool;
}

/// The view of a plain structure. Its fields must be builtin types, enumerations or structures with views.
#[must_use]
pub fn view(ir: &Structure, roots: &Roots, views: &dyn Views) -> TokenStream {
    let codec = &roots.codec;
    let name = format_ident!("{}Ref", ir.ident);
    let min_size = size::constant(ir);
    let doc = format!(" A `{}` in a message, borrowed.", ir.name);
    let fields = ir.fields.iter().map(|field| {
        let (ident, ty) = (&field.ident, view_type(field, roots, views));
        let doc = format!(" `{}`", field.name);
        quote!(#[doc = #doc] pub #ident: #ty)
    });
    let decode = ir.fields.iter().map(|field| {
        let (ident, path) = (&field.ident, path_segment(&field.name));
        quote!(#ident: #codec::DecodeRef::decode_ref(d).map_err(|error: #codec::DecodeError| error.in_field(#path))?)
    });
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #name<'a> { #(#fields),* }

        impl<'a> #codec::DecodeRef<'a> for #name<'a> {
            #min_size
            fn decode_ref(
                d: &mut #codec::Decoder<'a>,
            ) -> ::core::result::Result<Self, #codec::DecodeError> {
                ::core::result::Result::Ok(Self { #(#decode),* })
            }
        }
    }
}

fn view_type(field: &Field, roots: &Roots, views: &dyn Views) -> TokenStream {
    let codec = &roots.codec;
    let element = match &field.ty {
        Type::Codec(name) => codec_view(&name.to_string(), roots),
        Type::Item(path) if views.has_view(&path.to_string()) => view_path(path),
        other => other.tokens(roots),
    };
    match field.shape {
        Shape::Scalar => element,
        Shape::Array | Shape::Matrix => quote!(#codec::ArrayRef<'a, #element>),
    }
}

fn view_path(path: &TokenStream) -> TokenStream {
    let text = format!("{path}Ref<'a>");
    text.parse().unwrap_or_else(|_| path.clone())
}

fn codec_view(name: &str, roots: &Roots) -> TokenStream {
    let codec = &roots.codec;
    match name {
        "UaString" | "XmlElement" => quote!(#codec::StrRef<'a>),
        "ByteString" => quote!(#codec::BytesRef<'a>),
        "NodeId" | "ExpandedNodeId" | "QualifiedName" | "LocalizedText" | "ExtensionObject" | "DataValue" => {
            let view = format_ident!("{name}Ref");
            quote!(#codec::#view<'a>)
        }
        _ => {
            let plain = format_ident!("{name}");
            quote!(#codec::#plain)
        }
    }
}
