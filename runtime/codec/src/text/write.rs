//! From binary to text, along the type.

use crate::{
    BuiltinType, Decode, DecodeError, DecodeReason, Decoder, ElementType, EnumerationType,
    StructureFieldType, StructureKind, StructureType,
};

use super::{TextError, TextReason};

/// What a written value is, for formats that leave such values out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Null, for types that have it.
    Null,
    /// The default of its type.
    Default,
    /// Anything else.
    Value,
}

impl Content {
    pub(crate) fn or_default(is_default: bool) -> Self {
        if is_default { Self::Default } else { Self::Value }
    }
}

/// Where the walk writes.
pub(crate) trait Output: Sized {
    /// A builtin value, which comes next in `d`.
    fn builtin(&mut self, ty: BuiltinType, d: &mut Decoder<'_>) -> Result<Content, TextError>;
    /// A value of an enumeration or the bits of an option set.
    fn enumeration(&mut self, ty: EnumerationType<'_>, value: Number);
    /// Begins a structure or union, which is not null.
    fn begin(&mut self, ty: StructureType<'_>);
    /// Ends it.
    fn end(&mut self);
    /// The mask of a structure with optional fields.
    fn mask(&mut self, mask: u32);
    /// The switch of a union.
    fn switch(&mut self, switch: u32);
    /// A union without a value.
    fn null_union(&mut self);
    /// A member; left out if the format leaves out what `write` says it is.
    fn member(
        &mut self,
        field: &StructureFieldType<'_>,
        write: impl FnOnce(&mut Self) -> Result<Content, TextError>,
    ) -> Result<Content, TextError>;
    /// The null array.
    fn null_array(&mut self);
    /// An array whose elements `write` writes; matrices have dimensions.
    fn array(
        &mut self,
        element: ElementType<'_>,
        dimensions: Option<&[u32]>,
        len: usize,
        write: impl FnMut(&mut Self) -> Result<Content, TextError>,
    ) -> Result<(), TextError>;
}

/// The value of an enumeration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// Of an enumeration.
    Member(i32),
    /// Of an option set, and its width.
    Bits(u64, BuiltinType),
}

/// How many fields a structure in place counts among what takes stack.
const STRUCTURE_WEIGHT: u32 = 8;

/// Writes the structure that comes next in `d`.
pub(crate) fn structure<O: Output>(
    ty: StructureType<'_>,
    d: &mut Decoder<'_>,
    out: &mut O,
) -> Result<Content, TextError> {
    d.enter_in_place(STRUCTURE_WEIGHT)?;
    let content = if ty.is_union() { union(ty, d, out) } else { fields(ty, d, out) }?;
    d.leave_in_place(STRUCTURE_WEIGHT);
    Ok(content)
}

fn fields<O: Output>(ty: StructureType<'_>, d: &mut Decoder<'_>, out: &mut O) -> Result<Content, TextError> {
    out.begin(ty);
    let mut mask = match ty.kind() {
        StructureKind::OptionalFields => d.u32()?,
        _ => 0,
    };
    if ty.kind() == StructureKind::OptionalFields {
        out.mask(mask);
    }
    let mut content = if mask == 0 { Content::Default } else { Content::Value };
    for field in ty.fields() {
        if field.optional {
            let present = mask & 1 != 0;
            mask >>= 1;
            if !present {
                continue;
            }
        }
        if member(&field, d, out)? == Content::Value {
            content = Content::Value;
        }
    }
    if mask != 0 {
        return Err(TextReason::BadSwitch.into());
    }
    out.end();
    Ok(content)
}

fn union<O: Output>(ty: StructureType<'_>, d: &mut Decoder<'_>, out: &mut O) -> Result<Content, TextError> {
    let switch = d.u32()?;
    if switch == 0 {
        out.null_union();
        return Ok(Content::Null);
    }
    let index = usize::try_from(switch - 1).unwrap_or(usize::MAX);
    let field = ty.field(index).ok_or(TextReason::BadSwitch)?;
    out.begin(ty);
    out.switch(switch);
    member(&field, d, out)?;
    out.end();
    Ok(Content::Value)
}

fn member<O: Output>(
    field: &StructureFieldType<'_>,
    d: &mut Decoder<'_>,
    out: &mut O,
) -> Result<Content, TextError> {
    let written = out.member(field, |out| match field.value_rank {
        1 => array(field.element, d, out),
        2.. => matrix(field.element, d, out),
        _ => element(field.element, d, out),
    });
    written.map_err(|error| error.in_field(field.name))
}

fn array<O: Output>(ty: ElementType<'_>, d: &mut Decoder<'_>, out: &mut O) -> Result<Content, TextError> {
    match d.array_len(ty.min_size())? {
        Some(len) => elements(ty, None, len, d, out).map(|()| Content::Value),
        None => {
            out.null_array();
            Ok(Content::Null)
        }
    }
}

/// Dimensions, then elements; without dimensions it is null (OPC 10000-6 §5.2.5).
fn matrix<O: Output>(ty: ElementType<'_>, d: &mut Decoder<'_>, out: &mut O) -> Result<Content, TextError> {
    let mut dimensions = alloc::vec::Vec::new();
    let rank = d.array_len(4)?.unwrap_or_default();
    d.reserve(&mut dimensions, rank)?;
    for _ in 0..rank {
        let dimension =
            u32::try_from(d.i32()?).map_err(|_| DecodeError::from(DecodeReason::BadDimensions))?;
        dimensions.push(dimension);
    }
    if dimensions.is_empty() {
        out.null_array();
        return Ok(Content::Null);
    }
    let len = crate::array::product(&dimensions).ok_or(TextReason::BadDimensions)?;
    d.check_elements(len, ty.min_size())?;
    elements(ty, Some(&dimensions), len, d, out)?;
    Ok(Content::Value)
}

fn elements<O: Output>(
    ty: ElementType<'_>,
    dimensions: Option<&[u32]>,
    len: usize,
    d: &mut Decoder<'_>,
    out: &mut O,
) -> Result<(), TextError> {
    let mut index = 0;
    out.array(ty, dimensions, len, |out| {
        let written = element(ty, d, out).map_err(|error| error.at_index(index));
        index += 1;
        written
    })
}

/// What an element of an array is called in XML (OPC 10000-6 §5.3.4).
pub(crate) fn element_name(ty: ElementType<'_>) -> &str {
    match ty {
        ElementType::Builtin(builtin) => builtin_name(builtin),
        ElementType::Structure(structure) => structure.name(),
        ElementType::Enumeration(enumeration) => enumeration.name(),
    }
}

/// The name of a builtin type (OPC 10000-6 §5.1.2).
pub(crate) fn builtin_name(builtin: BuiltinType) -> &'static str {
    const NAMES: [&str; 25] = [
        "Boolean",
        "SByte",
        "Byte",
        "Int16",
        "UInt16",
        "Int32",
        "UInt32",
        "Int64",
        "UInt64",
        "Float",
        "Double",
        "String",
        "DateTime",
        "Guid",
        "ByteString",
        "XmlElement",
        "NodeId",
        "ExpandedNodeId",
        "StatusCode",
        "QualifiedName",
        "LocalizedText",
        "ExtensionObject",
        "DataValue",
        "Variant",
        "DiagnosticInfo",
    ];
    NAMES.get(usize::from(builtin as u8) - 1).copied().unwrap_or_default()
}

/// One element: of an array, of a field, or a whole value.
pub(crate) fn element<O: Output>(
    ty: ElementType<'_>,
    d: &mut Decoder<'_>,
    out: &mut O,
) -> Result<Content, TextError> {
    match ty {
        ElementType::Builtin(builtin) => out.builtin(builtin, d),
        ElementType::Structure(ty) => structure(ty, d, out),
        ElementType::Enumeration(ty) => {
            let value = match (ty.is_option_set(), ty.base()) {
                (false, _) => Number::Member(d.i32()?),
                (true, base @ BuiltinType::Byte) => Number::Bits(u64::from(d.u8()?), base),
                (true, base @ BuiltinType::UInt16) => Number::Bits(u64::from(d.u16()?), base),
                (true, base @ BuiltinType::UInt64) => Number::Bits(u64::decode(d)?, base),
                (true, base) => Number::Bits(u64::from(d.u32()?), base),
            };
            out.enumeration(ty, value);
            Ok(Content::or_default(matches!(value, Number::Member(0) | Number::Bits(0, _))))
        }
    }
}
