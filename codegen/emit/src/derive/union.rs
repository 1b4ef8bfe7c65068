//! Lowers a user's enum with fields to a union (OPC 10000-3 §8.48, structure type Union).

use proc_macro2::TokenStream;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Fields, Variant};

use super::attributes::{Extra, FieldAttributes, ItemAttributes};
use super::{lower_field, no_parameters, roots, structure};
use crate::ir::{ConstIdentifier, Field, Key, Kind, Namespace, Structure};

/// Union, the abstract DataType of all unions (OPC 10000-5 §12.2.12).
const UNION: Key = Key { namespace: Namespace::Ua, id: ConstIdentifier::Numeric(12_756) };

/// `derive(UaUnion)`: what is added to the item.
///
/// # Errors
/// The item is not an enum of `Null` and variants with one field, or an attribute is missing, unknown or
/// malformed.
pub fn ua_union(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = ItemAttributes::read(&input.attrs, input.ident.span(), Extra::Encodings)?;
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "UaUnion is derived for enums"));
    };
    no_parameters(input)?;
    let is_null = |variant: &&Variant| variant.ident == "Null" && matches!(variant.fields, Fields::Unit);
    if !data.variants.iter().any(|variant| is_null(&variant)) {
        let message = "a union may hold nothing: add a variant `#[default] Null`";
        return Err(syn::Error::new(input.ident.span(), message));
    }
    let members = data.variants.iter().filter(|variant| !is_null(variant));
    let fields = members.map(member).collect::<syn::Result<Vec<_>>>()?;
    let subtyped = fields.iter().any(|field| field.allow_sub_types);
    let kind = if subtyped { Kind::UnionSubtypedValues } else { Kind::Union };
    let ir = Structure { supertypes: vec![UNION], ..structure(input, &attributes, kind, fields) };
    Ok(crate::structure::impls(&ir, &roots(attributes.root.as_ref())))
}

fn member(variant: &Variant) -> syn::Result<Field> {
    let attributes = FieldAttributes::read(&variant.attrs)?;
    let field = match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        _ => None,
    };
    let field = field.ok_or_else(|| {
        syn::Error::new(variant.span(), "a variant of a union has one field, as in `Temperature(f64)`")
    })?;
    let name = variant.ident.to_string().trim_start_matches("r#").to_owned();
    let lowered = lower_field(field, variant.ident.clone(), name, attributes)?;
    if lowered.optional {
        return Err(syn::Error::new(
            field.ty.span(),
            "a field of a union is there or not chosen: no `Option`",
        ));
    }
    Ok(lowered)
}
