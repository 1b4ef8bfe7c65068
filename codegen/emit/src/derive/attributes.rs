//! The `#[ua(…)]` attributes of derive macros.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitInt, LitStr};

use crate::ir::{ConstIdentifier, Key, Member, Namespace};

/// The namespace whose ids need no URI.
const UA: &str = "http://opcfoundation.org/UA/";

/// What an item may say beside its namespace, id and name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    /// The ids of its encodings.
    Encodings,
    /// The bits of an option set, as `bits(READ = 0)`.
    Bits,
    /// Nothing.
    None,
}

/// Attributes of the item.
pub(super) struct ItemAttributes {
    pub(super) namespace: String,
    pub(super) id: ConstIdentifier,
    pub(super) binary_id: Option<ConstIdentifier>,
    pub(super) xml_id: Option<ConstIdentifier>,
    pub(super) json_id: Option<ConstIdentifier>,
    pub(super) name: Option<String>,
    pub(super) root: Option<syn::Path>,
    pub(super) bits: Vec<Member>,
}

impl ItemAttributes {
    pub(super) fn read(attributes: &[Attribute], item: Span, extra: Extra) -> syn::Result<Self> {
        let (mut namespace, mut id, mut name, mut root) = (None, None, None, None);
        let (mut binary_id, mut xml_id, mut json_id, mut bits) = (None, None, None, Vec::new());
        parse(attributes, |meta| {
            let is = |name: &str| meta.path.is_ident(name);
            let (encodings, has_bits) = (extra == Extra::Encodings, extra == Extra::Bits);
            if is("namespace") {
                namespace = Some(text(&meta)?);
            } else if is("id") {
                id = Some(identifier(&meta)?);
            } else if is("binary_id") && encodings {
                binary_id = Some(identifier(&meta)?);
            } else if is("xml_id") && encodings {
                xml_id = Some(identifier(&meta)?);
            } else if is("json_id") && encodings {
                json_id = Some(identifier(&meta)?);
            } else if is("bits") && has_bits {
                meta.parse_nested_meta(|meta| {
                    bits.push(bit(&meta)?);
                    Ok(())
                })?;
            } else if is("name") {
                name = Some(text(&meta)?);
            } else if is("uaforge") {
                root = Some(meta.value()?.parse::<syn::Path>()?);
            } else {
                return Err(meta.error(extra.expected()));
            }
            Ok(())
        })?;
        let missing = |what| {
            let example = extra.example();
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
            bits,
        })
    }
}

impl Extra {
    fn expected(self) -> &'static str {
        match self {
            Self::Encodings => {
                "expected `namespace`, `id`, `binary_id`, `xml_id`, `json_id`, `name` or `uaforge`"
            }
            Self::Bits => "expected `namespace`, `id`, `bits`, `name` or `uaforge`",
            Self::None => "expected `namespace`, `id`, `name` or `uaforge`",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Encodings => "#[ua(namespace = \"http://example.org/\", id = 3001, binary_id = 5001)]",
            Self::Bits => "#[ua(namespace = \"http://example.org/\", id = 3001, bits(READ = 0, WRITE = 1))]",
            Self::None => "#[ua(namespace = \"http://example.org/\", id = 3001)]",
        }
    }
}

/// `READ = 0`, or `READ(name = "Read", bit = 0)`.
fn bit(meta: &ParseNestedMeta<'_>) -> syn::Result<Member> {
    let ident = meta.path.require_ident()?.clone();
    let (mut name, mut number) = (None, None);
    if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(|meta| {
            if meta.path.is_ident("name") {
                name = Some(text(&meta)?);
            } else if meta.path.is_ident("bit") {
                number = Some(meta.value()?.parse::<LitInt>()?.base10_parse()?);
            } else {
                return Err(meta.error("expected `name` or `bit`"));
            }
            Ok(())
        })?;
    } else {
        number = Some(meta.value()?.parse::<LitInt>()?.base10_parse()?);
    }
    let value = number.ok_or_else(|| meta.error("`bit` is missing"))?;
    Ok(Member { name: name.unwrap_or_else(|| super::pascal(&ident)), ident, value })
}

/// Attributes of a variant of an enumeration.
#[derive(Default)]
pub(super) struct VariantAttributes {
    pub(super) name: Option<String>,
    pub(super) value: Option<i32>,
    pub(super) unknown: bool,
}

impl VariantAttributes {
    pub(super) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut out = Self::default();
        parse(attributes, |meta| {
            if meta.path.is_ident("name") {
                out.name = Some(text(&meta)?);
            } else if meta.path.is_ident("value") {
                out.value = Some(number(&meta.value()?.parse()?)?);
            } else if meta.path.is_ident("unknown") {
                out.unknown = true;
            } else {
                return Err(meta.error("expected `name`, `value` or `unknown`"));
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// A number that a value of an enumeration can be: an Int32 (OPC 10000-3 §8.14), with or without a sign.
pub(super) fn number(expression: &syn::Expr) -> syn::Result<i32> {
    let (sign, literal) = match expression {
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => ("-", &**expr),
        other => ("", other),
    };
    match literal {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(digits), .. }) => {
            let number = format!("{sign}{}", digits.base10_digits());
            number.parse().map_err(|_| syn::Error::new(digits.span(), "the value is no Int32"))
        }
        _ => Err(syn::Error::new_spanned(expression, "the value is a number, such as `5` or `-1`")),
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
