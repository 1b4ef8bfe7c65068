//! Lowers a user's enum to an enumeration, and a struct around a number to an option set.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::spanned::Spanned as _;
use syn::{Data, DataEnum, DeriveInput, Fields};

use super::attributes::{Extra, ItemAttributes, VariantAttributes, number};
use super::{key, last_segment, no_parameters, roots};
use crate::enumeration;
use crate::ir::{Enumeration, Form, Member};

/// `derive(UaEnumeration)`: what is added to the item.
///
/// # Errors
/// The item is not an enum of variants without fields and one for unknown numbers, two variants have
/// one number or name, or an attribute is missing, unknown or malformed.
pub fn ua_enumeration(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = ItemAttributes::read(&input.attrs, input.ident.span(), Extra::None)?;
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "UaEnumeration is derived for enums"));
    };
    no_parameters(input)?;
    let (members, unknown) = variants(data)?;
    let unknown = unknown.ok_or_else(|| {
        let message = "a peer may send numbers that this enum does not have: \
                       add a variant `#[ua(unknown)] Unknown(i32)`";
        syn::Error::new(input.ident.span(), message)
    })?;
    let form = Form::Variants { unknown };
    Ok(enumeration::impls(&lower(input, &attributes, None, members, form), &roots(attributes.root.as_ref())))
}

/// `derive(UaOptionSet)`: what is added to the item.
///
/// # Errors
/// The item is not a struct around an unsigned integer, two bits have one number or name or lie outside
/// the integer, or an attribute is missing, unknown or malformed.
pub fn ua_option_set(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = ItemAttributes::read(&input.attrs, input.ident.span(), Extra::Bits)?;
    let example = "UaOptionSet is derived for a struct around `u8`, `u16`, `u32` or `u64`";
    let error = || syn::Error::new(input.span(), example);
    let Data::Struct(data) = &input.data else {
        return Err(error());
    };
    no_parameters(input)?;
    let field = match &data.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        _ => None,
    };
    let width = last_segment(&field.ok_or_else(error)?.ty).ok_or_else(error)?.ident.to_string();
    let bits = match width.as_str() {
        "u8" => 8,
        "u16" => 16,
        "u32" => 32,
        "u64" => 64,
        _ => return Err(error()),
    };
    for bit in &attributes.bits {
        if !(0..bits).contains(&bit.value) {
            return Err(syn::Error::new(
                bit.ident.span(),
                format!("`{width}` has the bits 0 to {}", bits - 1),
            ));
        }
    }
    distinct(&attributes.bits, "bit")?;
    let width = Some(format_ident!("{width}"));
    let ir = lower(input, &attributes, width, attributes.bits.clone(), Form::Number);
    Ok(enumeration::impls(&ir, &roots(attributes.root.as_ref())))
}

fn lower(
    input: &DeriveInput,
    attributes: &ItemAttributes,
    option_set: Option<Ident>,
    members: Vec<Member>,
    form: Form,
) -> Enumeration {
    Enumeration {
        ident: input.ident.clone(),
        name: attributes.name.clone().unwrap_or_else(|| input.ident.to_string()),
        data_type: key(attributes, &attributes.id),
        option_set,
        members,
        form,
        docs: Vec::new(),
    }
}

/// The members in order, and the variant for numbers that are no member. Numbers count on from the
/// variant before, as in Rust.
fn variants(data: &DataEnum) -> syn::Result<(Vec<Member>, Option<Ident>)> {
    let (mut members, mut unknown) = (Vec::new(), None);
    let mut next = Some(0_i32);
    for variant in &data.variants {
        let attributes = VariantAttributes::read(&variant.attrs)?;
        let ident = variant.ident.clone();
        if attributes.unknown {
            let number = matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1);
            if !number || unknown.is_some() {
                let message = "one variant, with one `i32`, holds the unknown numbers";
                return Err(syn::Error::new(variant.span(), message));
            }
            unknown = Some(ident);
            continue;
        }
        if !matches!(variant.fields, Fields::Unit) {
            let message = "a variant of an enumeration has no fields; for those there is UaUnion";
            return Err(syn::Error::new(variant.span(), message));
        }
        let written = variant.discriminant.as_ref().map(|(_, value)| number(value)).transpose()?;
        let value = attributes.value.or(written).or(next);
        let value = value.ok_or_else(|| syn::Error::new(variant.span(), "the value is no Int32"))?;
        next = value.checked_add(1);
        let name = attributes.name.unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
        members.push(Member { ident, name, value: value.into() });
    }
    distinct(&members, "value")?;
    Ok((members, unknown))
}

fn distinct(members: &[Member], what: &str) -> syn::Result<()> {
    let (mut values, mut names) = (BTreeSet::new(), BTreeSet::new());
    for Member { ident, name, value } in members {
        if !values.insert(value) {
            return Err(syn::Error::new(ident.span(), format!("the {what} {value} is given twice")));
        }
        if !names.insert(name) {
            return Err(syn::Error::new(ident.span(), format!("the name `{name}` is given twice")));
        }
    }
    Ok(())
}
