//! Rust types of fields and of variables' values.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use uaforge_emit::ir::{Field as IrField, Shape, Type};
use uaforge_model::resolved::{Field, Id};
use uaforge_model::{DataTypeKind, Wire};

use super::{Cx, Known, lower};

/// The number of Variant among the builtin types.
pub(super) const VARIANT: u8 = 24;

/// The Rust type of one element of a field or variable.
///
/// `inline` tells that a structure's fields follow directly; otherwise it is an ExtensionObject.
fn element_type(cx: &Cx<'_>, data_type: &Id, inline: bool) -> Type {
    let item = match cx.set.kind_of_data_type(data_type) {
        Some(DataTypeKind::Enumeration | DataTypeKind::OptionSet) => cx.path(data_type),
        Some(DataTypeKind::Structure | DataTypeKind::Union) if inline => cx.path(data_type),
        _ => None,
    };
    item.map_or_else(|| builtin(cx.set.builtin_type(data_type)), Type::Item)
}

/// The Rust type of a builtin type by its number (OPC 10000-6 §5.1.2).
pub(super) fn builtin(number: u8) -> Type {
    let primitive = |name: &str| Type::Primitive(format_ident!("{name}"));
    let codec = |name: &str| Type::Codec(format_ident!("{name}"));
    match number {
        1 => primitive("bool"),
        2 => primitive("i8"),
        3 => primitive("u8"),
        4 => primitive("i16"),
        5 => primitive("u16"),
        6 => primitive("i32"),
        7 => primitive("u32"),
        8 => primitive("i64"),
        9 => primitive("u64"),
        10 => primitive("f32"),
        11 => primitive("f64"),
        12 => codec("UaString"),
        13 => codec("DateTime"),
        14 => codec("Guid"),
        15 => codec("ByteString"),
        16 => codec("XmlElement"),
        17 => codec("NodeId"),
        18 => codec("ExpandedNodeId"),
        19 => codec("StatusCode"),
        20 => codec("QualifiedName"),
        21 => codec("LocalizedText"),
        22 => codec("ExtensionObject"),
        23 => codec("DataValue"),
        25 => codec("DiagnosticInfo"),
        _ => codec("Variant"),
    }
}

/// The Rust type of a variable's value; ranks that leave the shape open give a Variant.
pub(crate) fn value_type(cx: &Cx<'_>, data_type: &Id, value_rank: i32) -> TokenStream {
    let codec = &cx.roots.codec;
    let element = element_type(cx, data_type, true).tokens(&cx.roots);
    let is_variant = cx.set.builtin_type(data_type) == 24;
    match value_rank {
        -1 => element,
        // Elements of an array of BaseDataType may have one type of their own.
        _ if is_variant => quote!(#codec::Variant),
        1 => quote!(#codec::Array<#element>),
        2.. => quote!(#codec::Matrix<#element>),
        _ => quote!(#codec::Variant),
    }
}

/// Whether a rank leaves open if there is one value or an array.
pub(super) fn is_open(field: &Field) -> bool {
    matches!(field.value_rank, -3 | -2)
}

pub(super) fn shape(field: &Field) -> Shape {
    match field.value_rank {
        -1 => Shape::Scalar,
        _ if is_open(field) => Shape::Scalar,
        0 | 1 => Shape::Array,
        _ => Shape::Matrix,
    }
}

/// Lowers a field. A rank that leaves the shape open makes the field a Variant.
pub(super) fn field(cx: &Cx<'_>, owner: &Id, known: &Known<'_>, ident: Ident, field: &Field) -> IrField {
    let inline = matches!(cx.set.wire(field), Wire::Inline);
    let open = is_open(field);
    let ty = if open { builtin(VARIANT) } else { element_type(cx, &field.data_type, inline) };
    // The Rust type of an item, or of a builtin type itself, says its DataType.
    let own = Id::ns0(u32::from(cx.set.builtin_type(&field.data_type)));
    let data_type = match &ty {
        Type::Item(_) => None,
        _ if field.data_type == own && !open => None,
        _ => Some(lower::key(cx.set, &field.data_type)),
    };
    IrField {
        ident,
        name: field.name.clone(),
        ty,
        data_type,
        min_size: known.sizes.element(cx.set, field),
        shape: shape(field),
        value_rank: field.value_rank,
        optional: field.is_optional,
        boxed: known.recursion.needs_box(cx.set, owner, field),
        allow_sub_types: field.allow_sub_types,
        max_string_length: field.max_string_length,
        array_dimensions: field.array_dimensions.clone(),
    }
}
