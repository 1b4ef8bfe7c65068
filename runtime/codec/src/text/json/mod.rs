//! JSON: the Compact and Verbose encodings of version 1.05, and reading of the reversible encoding of
//! version 1.04 (OPC 10000-6 §5.4, Annex H).

mod builtin;
mod legacy;
mod node;
mod objects;
mod read;
mod write;

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Decode, DecodeContext, Decoder, Described, ElementType, Encode, EncodeContext, Encoder, StructureType,
};

use self::node::Node;
use self::write::Writer;
use super::TextError;
use super::read::{self as walk_in, Reader};
use super::write as walk_out;

/// Which of the two encodings to write (OPC 10000-6 §5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonEncoding {
    /// Fields with default values are left out, enumerations are numbers.
    Compact,
    /// All fields, names of enumerations and status codes.
    Verbose,
}

/// A value as JSON (OPC 10000-6 §5.4). `cx` has the namespace table that its indexes refer to, and the
/// types of the structures in its ExtensionObjects; those of other types are written as Base64.
///
/// # Errors
/// The value breaks a rule of its type or a limit of `cx`.
///
/// ```
/// use uaforge_codec::json::{self, JsonEncoding};
/// use uaforge_codec::{DecodeContext, Variant};
///
/// let text = json::to_string(&Variant::Int64(7), JsonEncoding::Compact, DecodeContext::default())?;
/// assert_eq!(text, r#"{"UaType":8,"Value":"7"}"#);
/// assert_eq!(json::from_str::<Variant>(&text, DecodeContext::default())?, Variant::Int64(7));
/// # Ok::<(), uaforge_codec::TextError>(())
/// ```
pub fn to_string<T: Described + Encode>(
    value: &T,
    encoding: JsonEncoding,
    cx: DecodeContext<'_>,
) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: cx.namespaces });
    value.encode(&mut e);
    e.finish()?;
    write(ElementType::of_static(&T::FIELD_TYPE), &bytes, encoding, cx)
}

/// The fields of a structure in binary as JSON, by its type: for types without a Rust type.
///
/// # Errors
/// The bytes are not those of the type, or a limit of `cx` is exceeded.
pub fn structure_to_string(
    ty: StructureType<'_>,
    bytes: &[u8],
    encoding: JsonEncoding,
    cx: DecodeContext<'_>,
) -> Result<String, TextError> {
    write(ElementType::Structure(ty), bytes, encoding, cx)
}

fn write(
    ty: ElementType<'_>,
    bytes: &[u8],
    encoding: JsonEncoding,
    cx: DecodeContext<'_>,
) -> Result<String, TextError> {
    let mut writer = Writer::new(encoding);
    let mut d = Decoder::new(bytes, cx);
    walk_out::element(ty, &mut d, &mut writer).map_err(|error| named(error, ty))?;
    d.finish()?;
    Ok(writer.finish())
}

/// Reads a value from JSON, of either encoding of version 1.05 or of the reversible one of 1.04
/// (OPC 10000-6 §5.4). Members that a type does not have are ignored; a byte order mark is, too.
///
/// # Errors
/// The text is not JSON, not a value of the type, or exceeds a limit of `cx`. The error says where.
pub fn from_str<T: Described + Decode>(text: &str, cx: DecodeContext<'_>) -> Result<T, TextError> {
    let bytes = read(ElementType::of_static(&T::FIELD_TYPE), text, cx)?;
    let mut d = Decoder::new(&bytes, cx);
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

/// Reads a structure from JSON into the bytes of its fields in binary, by its type: for types without a
/// Rust type.
///
/// # Errors
/// As of [`from_str`].
pub fn structure_from_str(
    ty: StructureType<'_>,
    text: &str,
    cx: DecodeContext<'_>,
) -> Result<Vec<u8>, TextError> {
    read(ElementType::Structure(ty), text, cx)
}

fn read(ty: ElementType<'_>, text: &str, cx: DecodeContext<'_>) -> Result<Vec<u8>, TextError> {
    let root = Node::parse(text)?;
    let mut reader = Reader::new(cx, text.len());
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: cx.namespaces });
    walk_in::element(ty, root, &mut reader, &mut e)
        .map_err(|error| named(error.at_offset(root.offset_in_text()), ty))?;
    e.finish()?;
    Ok(bytes)
}

fn named(error: TextError, ty: ElementType<'_>) -> TextError {
    match ty {
        ElementType::Structure(ty) => error.in_field(ty.name()),
        _ => error,
    }
}
