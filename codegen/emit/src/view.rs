//! Emits borrowed views of structures on the hot path (D7).

use proc_macro2::{Ident, TokenStream};
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
    let element = ir.fields.last().filter(|last| last.shape == Shape::Array);
    let element = element.map(|last| element_type(last, roots, views));
    let fields_read = decode(ir, codec, element.is_some());
    let (body, each) = match element {
        None => (fields_read, TokenStream::new()),
        Some(element) => (
            quote!(#codec::DecodeEach::decode_each(d, |_, _| {})),
            each(&name, codec, &element, &fields_read),
        ),
    };
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #name<'a> { #(#fields),* }

        impl<'a> #codec::DecodeRef<'a> for #name<'a> {
            #min_size
            #[inline]
            fn decode_ref(
                d: &mut #codec::Decoder<'a>,
            ) -> ::core::result::Result<Self, #codec::DecodeError> {
                #body
            }
        }
        #each
    }
}

/// Reads all fields; the elements of the last one are handed to `take` if there is one.
fn decode(ir: &Structure, codec: &TokenStream, take: bool) -> TokenStream {
    let last = ir.fields.len().checked_sub(1).filter(|_| take);
    let fields = ir.fields.iter().enumerate().map(|(index, field)| {
        let (ident, path) = (&field.ident, path_segment(&field.name));
        let read = if Some(index) == last {
            quote!(#codec::DecodeEach::decode_each(d, take))
        } else {
            quote!(#codec::DecodeRef::decode_ref(d))
        };
        quote!(#ident: #read.map_err(|error: #codec::DecodeError| error.in_field(#path))?)
    });
    quote!(::core::result::Result::Ok(Self { #(#fields),* }))
}

/// The view hands over the elements of its last field while it checks them.
fn each(name: &Ident, codec: &TokenStream, element: &TokenStream, fields_read: &TokenStream) -> TokenStream {
    quote! {
        impl<'a> #codec::DecodeEach<'a> for #name<'a> {
            type Element = #element;
            #[inline]
            fn decode_each(
                d: &mut #codec::Decoder<'a>,
                take: impl ::core::ops::FnMut(::core::primitive::usize, Self::Element),
            ) -> ::core::result::Result<Self, #codec::DecodeError> {
                #fields_read
            }
        }
    }
}

fn element_type(field: &Field, roots: &Roots, views: &dyn Views) -> TokenStream {
    match &field.ty {
        Type::Codec(name) => codec_view(&name.to_string(), roots),
        Type::Item(path) if views.has_view(&path.to_string()) => view_path(path),
        other => other.tokens(roots),
    }
}

fn view_type(field: &Field, roots: &Roots, views: &dyn Views) -> TokenStream {
    let codec = &roots.codec;
    let element = element_type(field, roots, views);
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
