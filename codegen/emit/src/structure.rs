//! Emits a structure: the item, its coding and its static description.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::{Field, Kind, Roots, Service, Shape, Structure, option};
use crate::{structure_codec, union};

/// The item with everything that belongs to it.
#[must_use]
pub fn structure(ir: &Structure, roots: &Roots) -> TokenStream {
    let item = if is_union(ir) { union::item(ir, roots) } else { item(ir, roots) };
    let impls = impls(ir, roots);
    let bits = bits(ir);
    quote!(#item #bits #impls)
}

/// Bit numbers of an option set in the shape of a structure (OPC 10000-3 §8.40).
fn bits(ir: &Structure) -> TokenStream {
    if ir.bits.is_empty() {
        return TokenStream::new();
    }
    let ident = &ir.ident;
    let bits = ir.bits.iter().map(|bit| {
        let (name, value) = (&bit.ident, Literal::i64_unsuffixed(bit.value));
        let doc = format!(" Number of the bit `{}`", bit.name);
        quote!(#[doc = #doc] pub const #name: u32 = #value;)
    });
    quote!(impl #ident { #(#bits)* })
}

/// Everything but the item: what a derive macro adds to a structure that is already there.
#[must_use]
pub fn impls(ir: &Structure, roots: &Roots) -> TokenStream {
    let coding = if is_union(ir) { union::coding(ir, roots) } else { structure_codec::coding(ir, roots) };
    let description = description(ir, roots);
    let service = service(ir, roots);
    quote!(#coding #description #service)
}

fn is_union(ir: &Structure) -> bool {
    matches!(ir.kind, Kind::Union | Kind::UnionSubtypedValues)
}

fn item(ir: &Structure, roots: &Roots) -> TokenStream {
    let Structure { ident, fields, docs, .. } = ir;
    let fields = fields.iter().map(|field| {
        let (name, ty) = (&field.ident, field_type(field, roots));
        let doc = format!(" `{}`", field.name);
        quote!(#[doc = #doc] pub #name: #ty)
    });
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct #ident { #(#fields),* }
    }
}

/// The Rust type of a whole field.
pub(crate) fn field_type(field: &Field, roots: &Roots) -> TokenStream {
    let codec = &roots.codec;
    let element = field.ty.tokens(roots);
    let shaped = match field.shape {
        Shape::Scalar if field.boxed => quote!(#codec::__private::Box<#element>),
        Shape::Scalar => element,
        Shape::Array => quote!(#codec::Array<#element>),
        Shape::Matrix => quote!(#codec::Matrix<#element>),
    };
    if field.optional { quote!(::core::option::Option<#shaped>) } else { shaped }
}

fn description(ir: &Structure, roots: &Roots) -> TokenStream {
    let codec = &roots.codec;
    let Structure { ident, name, .. } = ir;
    let data_type = ir.data_type.expression(roots);
    let key = |key: &Option<crate::ir::Key>| option(key.as_ref().map(|key| key.expression(roots)));
    let (binary, xml, json) = (key(&ir.binary_encoding), key(&ir.xml_encoding), key(&ir.json_encoding));
    let kind = match ir.kind {
        Kind::Plain => quote!(Plain),
        Kind::OptionalFields => quote!(OptionalFields),
        Kind::SubtypedValues => quote!(SubtypedValues),
        Kind::Union => quote!(Union),
        Kind::UnionSubtypedValues => quote!(UnionSubtypedValues),
    };
    let fields = ir.fields.iter().map(|field| describe_field(field, roots));
    let inherited = Literal::usize_unsuffixed(ir.inherited);
    let supertypes = ir.supertypes.iter().map(|supertype| supertype.expression(roots));
    quote! {
        impl #codec::Structure for #ident {
            const DATA_TYPE: #codec::TypeKey = #data_type;
            const DESCRIPTOR: &'static #codec::StructureDescriptor = &#codec::StructureDescriptor {
                name: #name,
                data_type: <Self as #codec::Structure>::DATA_TYPE,
                binary_encoding: #binary,
                xml_encoding: #xml,
                json_encoding: #json,
                kind: #codec::StructureKind::#kind,
                fields: &[#(#fields),*],
                inherited: #inherited,
                supertypes: &[#(#supertypes),*],
            };
        }
    }
}

fn describe_field(field: &Field, roots: &Roots) -> TokenStream {
    let codec = &roots.codec;
    let Field { name, optional, allow_sub_types, .. } = field;
    let element = field.ty.tokens(roots);
    let data_type = match &field.data_type {
        Some(key) => key.expression(roots),
        None => quote!(<#element as #codec::Described>::DATA_TYPE),
    };
    let rank = Literal::i32_unsuffixed(field.value_rank);
    let length = Literal::u32_unsuffixed(field.max_string_length);
    let dimensions = field.array_dimensions.iter().map(|dimension| Literal::u32_unsuffixed(*dimension));
    quote! {
        #codec::FieldDescriptor {
            name: #name,
            data_type: #data_type,
            ty: <#element as #codec::Described>::FIELD_TYPE,
            value_rank: #rank,
            optional: #optional,
            allow_sub_types: #allow_sub_types,
            max_string_length: #length,
            array_dimensions: &[#(#dimensions),*],
        }
    }
}

fn service(ir: &Structure, roots: &Roots) -> TokenStream {
    let (ident, types) = (&ir.ident, &roots.types);
    match &ir.service {
        Service::No => TokenStream::new(),
        Service::Request(response) => quote! {
            impl #types::ServiceRequest for #ident {
                type Response = #response;

                fn header(&self) -> &#types::RequestHeader {
                    &self.request_header
                }

                fn header_mut(&mut self) -> &mut #types::RequestHeader {
                    &mut self.request_header
                }
            }
        },
        Service::Response => quote! {
            impl #types::ServiceResponse for #ident {
                fn header(&self) -> &#types::ResponseHeader {
                    &self.response_header
                }

                fn header_mut(&mut self) -> &mut #types::ResponseHeader {
                    &mut self.response_header
                }
            }
        },
    }
}
