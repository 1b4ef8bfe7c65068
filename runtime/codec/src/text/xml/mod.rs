//! XML (OPC 10000-6 §5.3).

mod builtin;
mod names;
mod node;
mod objects;
mod read;
mod write;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{
    Decode, DecodeContext, Decoder, Described, ElementType, Encode, EncodeContext, Encoder, StructureType,
};

use self::node::Node;
use self::write::Writer;
use super::read::{self as walk_in, Input, Reader};
use super::write as walk_out;
use super::{TextError, TextReason};

/// A value as an XML element named after its type (OPC 10000-6 §5.3). `cx` has the types of the structures
/// in its ExtensionObjects; those of other types are written as ByteString.
///
/// Elements of a type that is not in the base namespace are in the namespace of its model's schema, which
/// is taken to be the model's URI with `Types.xsd` appended. Namespace indexes are written as they are.
///
/// # Errors
/// The value breaks a rule of its type or a limit of `cx`, or holds text that XML cannot.
///
/// ```
/// use uaforge_codec::{DecodeContext, Variant, xml};
///
/// let text = xml::to_string(&Variant::Int64(7), DecodeContext::default())?;
/// assert!(text.ends_with("><uax:Value><uax:Int64>7</uax:Int64></uax:Value></uax:Variant>"));
/// assert_eq!(xml::from_str::<Variant>(&text, DecodeContext::default())?, Variant::Int64(7));
/// # Ok::<(), uaforge_codec::TextError>(())
/// ```
pub fn to_string<T: Described + Encode>(value: &T, cx: DecodeContext<'_>) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: cx.namespaces });
    value.encode(&mut e);
    e.finish()?;
    write(ElementType::of_static(&T::FIELD_TYPE), &bytes, cx)
}

/// The fields of a structure in binary as an XML element, by its type: for types without a Rust type.
///
/// # Errors
/// The bytes are not those of the type, or a limit of `cx` is exceeded.
pub fn structure_to_string(
    ty: StructureType<'_>,
    bytes: &[u8],
    cx: DecodeContext<'_>,
) -> Result<String, TextError> {
    write(ElementType::Structure(ty), bytes, cx)
}

fn write(ty: ElementType<'_>, bytes: &[u8], cx: DecodeContext<'_>) -> Result<String, TextError> {
    let mut writer = Writer::new();
    let mut d = Decoder::new(bytes, cx);
    writer.open_element(ty);
    walk_out::element(ty, &mut d, &mut writer).map_err(|error| named(error, ty))?;
    writer.close();
    d.finish()?;
    writer.finish()
}

/// Reads a value from an XML document, whatever its root element is called (OPC 10000-6 §5.3). Elements go
/// by their local names; those that a type does not have are ignored.
///
/// # Errors
/// The text is not XML, not a value of the type, or exceeds a limit of `cx`. The error says where.
pub fn from_str<T: Described + Decode>(text: &str, cx: DecodeContext<'_>) -> Result<T, TextError> {
    let bytes = read(ElementType::of_static(&T::FIELD_TYPE), text, cx)?;
    let mut d = Decoder::new(&bytes, cx);
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

/// Reads a structure from an XML document into the bytes of its fields in binary, by its type: for types
/// without a Rust type.
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
    let document = parse(text)?;
    let root = Node::new(document.root_element());
    let mut reader = Reader::new(cx, text.len());
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: cx.namespaces });
    walk_in::element(ty, root, &mut reader, &mut e)
        .map_err(|error| named(error.at_offset(root.offset()), ty))?;
    e.finish()?;
    Ok(bytes)
}

fn parse(text: &str) -> Result<roxmltree::Document<'_>, TextError> {
    roxmltree::Document::parse(text).map_err(|error| {
        let position = error.pos();
        let lines = text.split_inclusive('\n').take((position.row as usize).saturating_sub(1));
        let before: usize = lines.map(str::len).sum();
        let line = text.get(before..).unwrap_or_default();
        let column =
            line.chars().take((position.col as usize).saturating_sub(1)).map(char::len_utf8).sum::<usize>();
        TextError::from(TextReason::Syntax(error.to_string().into())).at_offset(before + column)
    })
}

fn named(error: TextError, ty: ElementType<'_>) -> TextError {
    match ty {
        ElementType::Structure(ty) => error.in_field(ty.name()),
        _ => error,
    }
}
