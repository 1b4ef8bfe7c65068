//! Fewest bytes of encoded values: lengths of arrays are checked with them before memory is taken (D7).

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::{Kind, Shape, Structure};

/// What the length of an array takes; the array may be null or empty.
const LENGTH: u32 = 4;

/// The EncodingMask of optional fields, or the switch of a union.
const MASK: u32 = 4;

/// The fewest bytes of a builtin type by the name of its Rust type (OPC 10000-6 §5.2.2); `None` for
/// every other name.
#[must_use]
pub fn of_builtin(name: &str) -> Option<u32> {
    Some(match name {
        "bool" | "i8" | "u8" | "Variant" | "DataValue" | "DiagnosticInfo" | "LocalizedText" => 1,
        "i16" | "u16" | "NodeId" | "ExpandedNodeId" => 2,
        "ExtensionObject" => 3,
        "i32" | "u32" | "f32" | "StatusCode" => 4,
        "String" | "UaString" | "ByteString" | "XmlElement" => 4,
        "QualifiedName" => 6,
        "i64" | "u64" | "f64" | "DateTime" => 8,
        "Guid" => 16,
        _ => return None,
    })
}

/// What a field adds to the size of its structure: its shape, whether it may be absent, and the fewest
/// bytes of one element.
#[must_use]
pub fn of_field(shape: Shape, optional: bool, element: u32) -> u32 {
    match shape {
        _ if optional => 0,
        Shape::Scalar => element,
        Shape::Array | Shape::Matrix => LENGTH,
    }
}

/// The fewest bytes of a structure of this layout with these sizes of fields.
#[must_use]
pub fn of_structure(kind: Kind, fields: impl Iterator<Item = u32>) -> u32 {
    match kind {
        Kind::Union | Kind::UnionSubtypedValues => MASK,
        Kind::OptionalFields => fields.fold(MASK, u32::saturating_add),
        Kind::Plain | Kind::SubtypedValues => fields.fold(0, u32::saturating_add),
    }
}

/// The constant of a structure; recursive ones have none, and nor does the trait's own zero need one.
pub(crate) fn constant(ir: &Structure) -> TokenStream {
    if ir.recursive {
        return TokenStream::new();
    }
    let fields = ir.fields.iter().map(|field| of_field(field.shape, field.optional, field.min_size));
    number(of_structure(ir.kind, fields))
}

/// The constant with this number.
pub(crate) fn number(size: u32) -> TokenStream {
    if size == 0 {
        return TokenStream::new();
    }
    let size = Literal::u32_unsuffixed(size);
    quote!(const MIN_SIZE: usize = #size;)
}
