//! From text to binary, along the type.

use alloc::vec::Vec;

use crate::{
    BuiltinType, DateTime, DecodeContext, ElementType, Encode, EncodeError, Encoder, EnumerationType, Guid,
    StructureFieldType, StructureKind, StructureType,
};

use super::{TextError, TextReason};

/// A place in the text that a value is read from.
pub(crate) trait Input: Sized + Copy {
    /// Whether there is a value at all.
    fn is_null(self) -> Result<bool, TextError>;
    /// The members of a structure by its fields, with what stands beside them.
    fn members(self, ty: StructureType<'_>, reader: &mut Reader<'_>) -> Result<Members<Self>, TextError>;
    /// The elements of an array; `None` for the null array.
    fn elements(self, ty: ElementType<'_>) -> Result<Option<Vec<Self>>, TextError>;
    /// The dimensions and elements of a matrix; `None` for a null one.
    fn matrix(
        self,
        ty: ElementType<'_>,
        rank: i32,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Dimensioned<Self>>, TextError>;
    /// The value of an enumeration or the bits of an option set.
    fn enumeration(self, ty: EnumerationType<'_>) -> Result<i128, TextError>;
    /// Writes a builtin value.
    fn builtin(self, ty: BuiltinType, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError>;
    /// Where it stands.
    fn offset(self) -> usize;
}

/// Dimensions and elements of a matrix.
pub(crate) type Dimensioned<I> = (Vec<u32>, Vec<I>);

/// The members of a structure.
#[derive(Debug)]
pub(crate) struct Members<I> {
    /// By field; `None` where there is none.
    pub(crate) fields: Vec<Option<I>>,
    /// The mask of a structure with optional fields, if the text has it.
    pub(crate) mask: Option<u32>,
    /// The switch of a union, if the text has it.
    pub(crate) switch: Option<u32>,
    /// The value of a union that is not named by its field (the form of version 1.04).
    pub(crate) union_value: Option<I>,
}

/// The budget of one text, and what reading needs to know.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    pub(crate) cx: DecodeContext<'c>,
    depth: u32,
    in_place: u32,
    /// Elements and fields that may still be read, or written as defaults.
    left: usize,
}

const STRUCTURE_WEIGHT: u32 = 8;

impl<'c> Reader<'c> {
    pub(crate) fn new(cx: DecodeContext<'c>, text_len: usize) -> Self {
        // An element takes a byte of text at least, a default field none.
        let left = cx.limits.heap_budget(text_len);
        Self { cx, depth: 0, in_place: 0, left }
    }

    /// Charges elements or fields.
    pub(crate) fn charge(&mut self, count: usize) -> Result<(), TextError> {
        self.left = self.left.checked_sub(count).ok_or(TextReason::LimitExceeded)?;
        Ok(())
    }

    /// Runs `read` one level deeper.
    pub(crate) fn nested<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, TextError>,
    ) -> Result<R, TextError> {
        if self.depth >= self.cx.limits.max_depth {
            return Err(TextReason::TooDeep.into());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn in_place<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, TextError>) -> Result<R, TextError> {
        if self.in_place + STRUCTURE_WEIGHT > self.cx.limits.max_in_place {
            return Err(TextReason::TooDeep.into());
        }
        self.in_place += STRUCTURE_WEIGHT;
        let result = read(self);
        self.in_place -= STRUCTURE_WEIGHT;
        result
    }
}

/// Reads a structure and writes its fields.
pub(crate) fn structure<I: Input>(
    ty: StructureType<'_>,
    input: I,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    reader.in_place(|reader| {
        if input.is_null()? {
            return default_structure(ty, reader, e);
        }
        let members = input.members(ty, reader)?;
        if ty.is_union() { union(ty, &members, reader, e) } else { fields(ty, &members, reader, e) }
    })
}

fn fields<I: Input>(
    ty: StructureType<'_>,
    members: &Members<I>,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    let mut mask = 0;
    if ty.kind() == StructureKind::OptionalFields {
        mask = optional_mask(ty, members)?;
        e.put_u32(mask);
    }
    for (field, member) in ty.fields().zip(&members.fields) {
        if field.optional {
            let present = mask & 1 != 0;
            mask >>= 1;
            if !present {
                continue;
            }
        }
        match member {
            Some(input) => value(&field, *input, reader, e)
                .map_err(|error| error.at_offset(input.offset()).in_field(field.name))?,
            None => default_value(&field, reader, e).map_err(|error| error.in_field(field.name))?,
        }
    }
    Ok(())
}

/// The mask in the text, if there is one; what it says is absent must not be there. Else the fields that
/// are there.
fn optional_mask<I>(ty: StructureType<'_>, members: &Members<I>) -> Result<u32, TextError> {
    let (mut present, mut defined, mut bit) = (0_u32, 0_u32, 1_u32);
    for (field, member) in ty.fields().zip(&members.fields).filter(|(field, _)| field.optional) {
        defined |= bit;
        if member.is_some() {
            if members.mask.is_some_and(|mask| mask & bit == 0) {
                return Err(TextError::from(TextReason::BadSwitch).in_field(field.name));
            }
            present |= bit;
        }
        bit = bit.wrapping_shl(1);
    }
    match members.mask {
        Some(mask) if mask & !defined != 0 => Err(TextReason::BadSwitch.into()),
        Some(mask) => Ok(mask),
        None => Ok(present),
    }
}

fn union<I: Input>(
    ty: StructureType<'_>,
    members: &Members<I>,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    let mut named = members.fields.iter().enumerate().filter(|(_, member)| member.is_some());
    let first = named.next().map(|(index, _)| index);
    if named.next().is_some() {
        return Err(TextReason::BadSwitch.into());
    }
    let index = match (members.switch, first) {
        // Version 1.04 writes a value beside the switch 0, which means nothing.
        (Some(0), None) => {
            e.put_u32(0);
            return Ok(());
        }
        (None, None) if members.union_value.is_none() => {
            e.put_u32(0);
            return Ok(());
        }
        (None, Some(index)) => index,
        (Some(switch), named) => {
            let index = usize::try_from(switch).ok().and_then(|switch| switch.checked_sub(1));
            index.filter(|index| named.is_none_or(|named| named == *index)).ok_or(TextReason::BadSwitch)?
        }
        (None, None) => return Err(TextReason::BadSwitch.into()),
    };
    let field = ty.field(index).ok_or(TextReason::BadSwitch)?;
    e.put_u32(u32::try_from(index + 1).map_err(|_| TextReason::BadSwitch)?);
    let member = members.fields.get(index).copied().flatten().or(members.union_value);
    let read = match member {
        Some(input) => value(&field, input, reader, e).map_err(|error| error.at_offset(input.offset())),
        None => default_value(&field, reader, e),
    };
    read.map_err(|error| error.in_field(field.name))
}

fn value<I: Input>(
    field: &StructureFieldType<'_>,
    input: I,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    reader.charge(1)?;
    let items = match field.value_rank {
        1 => input.elements(field.element)?.inspect(|items| e.put_array_len(Some(items.len()))),
        rank @ 2.. => match input.matrix(field.element, rank, reader)? {
            Some((dimensions, items)) => {
                put_dimensions(&dimensions, items.len(), e)?;
                Some(items)
            }
            None => None,
        },
        _ => return element(field.element, input, reader, e),
    };
    match items {
        Some(items) => elements(field.element, &items, reader, e),
        None => {
            e.put_array_len(None);
            Ok(())
        }
    }
}

pub(crate) fn put_dimensions(dimensions: &[u32], count: usize, e: &mut Encoder<'_>) -> Result<(), TextError> {
    if crate::array::product(dimensions) != Some(count) {
        return Err(TextReason::BadDimensions.into());
    }
    e.put_array_len(Some(dimensions.len()));
    for dimension in dimensions {
        e.put_i32(i32::try_from(*dimension).map_err(|_| EncodeError::TooLarge)?);
    }
    Ok(())
}

/// Elements, without their number.
pub(crate) fn elements<I: Input>(
    ty: ElementType<'_>,
    items: &[I],
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    if items.len() > reader.cx.limits.max_array_length {
        return Err(TextReason::LimitExceeded.into());
    }
    reader.charge(items.len())?;
    for (index, item) in items.iter().enumerate() {
        element(ty, *item, reader, e).map_err(|error| error.at_offset(item.offset()).at_index(index))?;
    }
    Ok(())
}

/// One element: of an array, of a field, or a whole value.
pub(crate) fn element<I: Input>(
    ty: ElementType<'_>,
    input: I,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    match ty {
        ElementType::Builtin(builtin) => input.builtin(builtin, reader, e),
        ElementType::Structure(ty) => structure(ty, input, reader, e),
        ElementType::Enumeration(ty) => {
            let value = if input.is_null()? { 0 } else { input.enumeration(ty)? };
            put_integer(ty.base(), value, e)
        }
    }
}

/// An integer in the width of its type.
pub(crate) fn put_integer(base: BuiltinType, value: i128, e: &mut Encoder<'_>) -> Result<(), TextError> {
    let wrong = |_| TextReason::OutOfRange;
    match base {
        BuiltinType::SByte => i8::try_from(value).map_err(wrong)?.encode(e),
        BuiltinType::Byte => e.put_u8(u8::try_from(value).map_err(wrong)?),
        BuiltinType::Int16 => i16::try_from(value).map_err(wrong)?.encode(e),
        BuiltinType::UInt16 => e.put_u16(u16::try_from(value).map_err(wrong)?),
        BuiltinType::UInt32 => e.put_u32(u32::try_from(value).map_err(wrong)?),
        BuiltinType::Int64 => e.put_i64(i64::try_from(value).map_err(wrong)?),
        BuiltinType::UInt64 => e.put_u64(u64::try_from(value).map_err(wrong)?),
        _ => e.put_i32(i32::try_from(value).map_err(wrong)?),
    }
    Ok(())
}

/// A field that is not in the text (OPC 10000-6 §5.4.6).
fn default_value(
    field: &StructureFieldType<'_>,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    reader.charge(1)?;
    match field.element {
        _ if field.value_rank >= 1 => e.put_array_len(None),
        ElementType::Builtin(builtin) => put_default(builtin, e),
        ElementType::Enumeration(ty) => put_integer(ty.base(), 0, e)?,
        ElementType::Structure(ty) => {
            return reader.in_place(|reader| default_structure(ty, reader, e));
        }
    }
    Ok(())
}

pub(crate) fn default_structure(
    ty: StructureType<'_>,
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    match ty.kind() {
        StructureKind::Union | StructureKind::UnionSubtypedValues => {
            e.put_u32(0);
            return Ok(());
        }
        StructureKind::OptionalFields => e.put_u32(0),
        StructureKind::Plain | StructureKind::SubtypedValues => {}
    }
    for field in ty.fields().filter(|field| !field.optional) {
        default_value(&field, reader, e).map_err(|error| error.in_field(field.name))?;
    }
    Ok(())
}

/// The default of a builtin type (OPC 10000-6 §5.1.2).
pub(crate) fn put_default(ty: BuiltinType, e: &mut Encoder<'_>) {
    match ty {
        BuiltinType::Boolean | BuiltinType::SByte | BuiltinType::Byte => e.put_u8(0),
        BuiltinType::Int16 | BuiltinType::UInt16 => e.put_u16(0),
        BuiltinType::Int32 | BuiltinType::UInt32 | BuiltinType::Float | BuiltinType::StatusCode => {
            e.put_u32(0)
        }
        BuiltinType::Int64 | BuiltinType::UInt64 | BuiltinType::Double => e.put_u64(0),
        BuiltinType::DateTime => DateTime::NULL.encode(e),
        BuiltinType::Guid => Guid::NULL.encode(e),
        BuiltinType::String | BuiltinType::ByteString | BuiltinType::XmlElement => e.put_bytes(None),
        BuiltinType::NodeId | BuiltinType::ExpandedNodeId => e.put_u16(0),
        BuiltinType::QualifiedName => {
            e.put_u16(0);
            e.put_bytes(None);
        }
        BuiltinType::ExtensionObject => e.put(&[0, 0, 0]),
        // A mask, or an encoding byte, that says that nothing follows.
        BuiltinType::LocalizedText
        | BuiltinType::DataValue
        | BuiltinType::Variant
        | BuiltinType::DiagnosticInfo => e.put_u8(0),
    }
}
