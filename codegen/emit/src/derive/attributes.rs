//! The `#[ua(…)]` attributes of derive macros.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitInt, LitStr};

use crate::ir::{ConstIdentifier, Key, Namespace};

/// The namespace whose ids need no URI.
const UA: &str = "http://opcfoundation.org/UA/";

/// Attributes of the item.
pub(super) struct ItemAttributes {
    pub(super) namespace: String,
    pub(super) id: ConstIdentifier,
    pub(super) binary_id: Option<ConstIdentifier>,
    pub(super) xml_id: Option<ConstIdentifier>,
    pub(super) json_id: Option<ConstIdentifier>,
    pub(super) name: Option<String>,
    pub(super) root: Option<syn::Path>,
}

impl ItemAttributes {
    pub(super) fn read(attributes: &[Attribute], item: Span) -> syn::Result<Self> {
        let (mut namespace, mut id, mut name, mut root) = (None, None, None, None);
        let (mut binary_id, mut xml_id, mut json_id) = (None, None, None);
        parse(attributes, |meta| {
            if meta.path.is_ident("namespace") {
                namespace = Some(text(&meta)?);
            } else if meta.path.is_ident("id") {
                id = Some(identifier(&meta)?);
            } else if meta.path.is_ident("binary_id") {
                binary_id = Some(identifier(&meta)?);
            } else if meta.path.is_ident("xml_id") {
                xml_id = Some(identifier(&meta)?);
            } else if meta.path.is_ident("json_id") {
                json_id = Some(identifier(&meta)?);
            } else if meta.path.is_ident("name") {
                name = Some(text(&meta)?);
            } else if meta.path.is_ident("uaforge") {
                root = Some(meta.value()?.parse::<syn::Path>()?);
            } else {
                return Err(meta.error(
                    "expected `namespace`, `id`, `binary_id`, `xml_id`, `json_id`, `name` or `uaforge`",
                ));
            }
            Ok(())
        })?;
        let missing = |what| {
            let example = "#[ua(namespace = \"http://example.org/\", id = 3001, binary_id = 5001)]";
            syn::Error::new(item, format!("`{what}` is missing: write `{example}`"))
        };
        Ok(Self {
            namespace: namespace.ok_or_else(|| missing("namespace"))?,
            id: id.ok_or_else(|| missing("id"))?,
            binary_id,
            xml_id,
            json_id,
            name,
            root,
        })
    }
}

/// Attributes of a field.
#[derive(Default)]
pub(super) struct FieldAttributes {
    pub(super) name: Option<String>,
    pub(super) optional: bool,
    pub(super) data_type: Option<Key>,
    pub(super) allow_subtypes: bool,
    pub(super) max_string_length: u32,
    pub(super) rank: Option<i32>,
}

impl FieldAttributes {
    pub(super) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut out = Self::default();
        parse(attributes, |meta| {
            if meta.path.is_ident("name") {
                out.name = Some(text(&meta)?);
            } else if meta.path.is_ident("optional") {
                out.optional = true;
            } else if meta.path.is_ident("data_type") {
                out.data_type = Some(key(&meta.value()?.parse()?)?);
            } else if meta.path.is_ident("allow_subtypes") {
                out.allow_subtypes = true;
            } else if meta.path.is_ident("max_string_length") {
                out.max_string_length = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            } else if meta.path.is_ident("rank") {
                let rank = meta.value()?.parse::<LitInt>()?;
                out.rank = Some(rank.base10_parse()?);
                if out.rank < Some(2) {
                    return Err(syn::Error::new(rank.span(), "the rank of a matrix is 2 or more"));
                }
            } else {
                return Err(meta.error(
                    "expected `name`, `optional`, `data_type`, `allow_subtypes`, `max_string_length` or `rank`",
                ));
            }
            Ok(())
        })?;
        Ok(out)
    }
}

fn parse(
    attributes: &[Attribute],
    mut each: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("ua")) {
        attribute.parse_nested_meta(&mut each)?;
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

/// A number, or a string for `s=`.
fn identifier(meta: &ParseNestedMeta<'_>) -> syn::Result<ConstIdentifier> {
    let value = meta.value()?;
    if value.peek(LitInt) {
        Ok(ConstIdentifier::Numeric(value.parse::<LitInt>()?.base10_parse()?))
    } else {
        Ok(ConstIdentifier::String(value.parse::<LitStr>()?.value()))
    }
}

/// `i=290`, `nsu=URI;i=3001` or `nsu=URI;s=Name`.
fn key(literal: &LitStr) -> syn::Result<Key> {
    let text = literal.value();
    let error = || {
        let examples = "`i=290`, `nsu=http://example.org/;i=1` or `nsu=http://example.org/;s=Name`";
        syn::Error::new(literal.span(), format!("a DataType is written as {examples}"))
    };
    let (uri, id) = match text.strip_prefix("nsu=") {
        Some(rest) => rest.split_once(';').ok_or_else(error)?,
        None => (UA, text.as_str()),
    };
    let id = match id.split_once('=').ok_or_else(error)? {
        ("i", number) => ConstIdentifier::Numeric(number.parse().map_err(|_| error())?),
        ("s", text) => ConstIdentifier::String(text.to_owned()),
        _ => return Err(error()),
    };
    Ok(Key { namespace: namespace(uri), id })
}

/// The namespace of an id in generated code.
pub(super) fn namespace(uri: &str) -> Namespace {
    if uri == UA { Namespace::Ua } else { Namespace::Uri(uri.to_owned()) }
}
