//! Values of structures that have no Rust type: named fields, decoded and written along the type.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::array::product;
use crate::debug::Inner;
use crate::variant_codec::{decode_as, encode_as};
use crate::{
    BuiltinType, ByteString, Decode, DecodeContext, DecodeError, DecodeReason, Decoder, ElementType,
    EncodeContext, EncodeError, Encoder, EnumerationType, ExtensionObject, ExtensionObjectBody,
    StructureFieldType, StructureKind, StructureType, Variant,
};

/// A structure or union as its fields by name (OPC 10000-3 §8.48). Optional fields that are absent, and the
/// fields of a union that are not the one, are not in it.
#[derive(Clone, Default, PartialEq)]
pub struct DynamicStructure {
    name: Arc<str>,
    fields: Vec<(Arc<str>, DynamicValue)>,
}

/// A field of a [`DynamicStructure`] (OPC 10000-3 §8.51).
#[derive(Clone, PartialEq)]
pub enum DynamicValue {
    /// A value of a builtin type, or a one-dimensional array of one. A field of type Variant is the Variant.
    Builtin(Variant),
    /// A value of an enumeration with its name, if that is known, or the bits of an option set.
    Enumeration(i128, Option<Arc<str>>),
    /// A structure in place.
    Structure(DynamicStructure),
    /// An array of structures or enumerations; `None` is the null array.
    Array(Option<Vec<DynamicValue>>),
    /// An array with two or more dimensions, the last one fastest; without dimensions it is null.
    Matrix(Vec<u32>, Vec<DynamicValue>),
}

impl fmt::Debug for DynamicStructure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = f.debug_struct(&self.name);
        for (name, value) in &self.fields {
            parts.field(name, &Inner(value));
        }
        parts.finish()
    }
}

impl fmt::Debug for DynamicValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(value) => value.fmt(f),
            Self::Enumeration(value, Some(name)) => write!(f, "{name}_{value}"),
            Self::Enumeration(value, None) => write!(f, "{value}"),
            Self::Structure(value) => value.fmt(f),
            Self::Array(items) => items.fmt(f),
            Self::Matrix(dimensions, items) => write!(f, "{dimensions:?}{items:?}"),
        }
    }
}

/// How many fields a structure in place counts among what takes stack.
const STRUCTURE_WEIGHT: u32 = 8;

impl DynamicStructure {
    /// A structure without fields yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), fields: Vec::new() }
    }

    /// Name of the DataType.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields that are there, in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &DynamicValue)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }

    /// A field; `None` if it is absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&DynamicValue> {
        self.fields.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// A field of a builtin type, or an array of one; `None` if it is absent or of another kind.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Variant> {
        match self.get(name)? {
            DynamicValue::Builtin(value) => Some(value),
            _ => None,
        }
    }

    /// Sets a field. That it fits the type is checked when the structure is written.
    pub fn set(&mut self, name: &str, value: DynamicValue) {
        match self.fields.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, slot)) => *slot = value,
            None => self.fields.push((name.into(), value)),
        }
    }

    /// Removes a field.
    pub fn remove(&mut self, name: &str) -> Option<DynamicValue> {
        let position = self.fields.iter().position(|(known, _)| **known == *name)?;
        Some(self.fields.remove(position).1)
    }

    /// Reads the fields of a structure.
    ///
    /// # Errors
    /// The bytes are not those of the type.
    pub fn decode(ty: StructureType<'_>, d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        d.enter_in_place(STRUCTURE_WEIGHT)?;
        let mut structure = Self::new(ty.name());
        if ty.is_union() {
            if let Some(index) = d.u32()?.checked_sub(1) {
                let field = usize::try_from(index).ok().and_then(|index| ty.field(index));
                structure.decode_field(field.ok_or(DecodeReason::BadSwitch)?, d)?;
            }
        } else {
            let mut mask = if ty.kind() == StructureKind::OptionalFields { d.u32()? } else { 0 };
            for field in ty.fields() {
                let present = !field.optional || mask & 1 != 0;
                mask >>= u32::from(field.optional);
                if present {
                    structure.decode_field(field, d)?;
                }
            }
            if mask != 0 {
                return Err(DecodeReason::BadEncodingByte.into());
            }
        }
        d.leave_in_place(STRUCTURE_WEIGHT);
        Ok(structure)
    }

    fn decode_field(
        &mut self,
        field: StructureFieldType<'_>,
        d: &mut Decoder<'_>,
    ) -> Result<(), DecodeError> {
        d.charge(size_of::<(Arc<str>, DynamicValue)>() + 16 + field.name.len())?;
        match DynamicValue::decode(field, d) {
            Ok(value) => {
                self.fields.push((field.name.into(), value));
                Ok(())
            }
            Err(error) => Err(error.in_owned_field(String::from(field.name))),
        }
    }

    /// Writes the fields of a structure of this type. A field that is missing though it must be there, or
    /// that is not of its type, makes the encoder fail.
    pub fn encode(&self, ty: StructureType<'_>, e: &mut Encoder<'_>) {
        e.nested(|e| self.encode_fields(ty, e));
    }

    fn encode_fields(&self, ty: StructureType<'_>, e: &mut Encoder<'_>) {
        let unknown = |(name, _): &(Arc<str>, DynamicValue)| ty.fields().all(|field| field.name != &**name);
        if self.fields.iter().any(unknown) {
            return e.fail(EncodeError::Inconsistent);
        }
        if ty.is_union() {
            return self.encode_union(ty, e);
        }
        if ty.kind() == StructureKind::OptionalFields {
            let optional = ty.fields().filter(|field| field.optional).zip(0_u32..32);
            let bit = |(field, bit): (StructureFieldType<'_>, u32)| match self.get(field.name) {
                Some(_) => 1_u32 << bit,
                None => 0,
            };
            e.put_u32(optional.map(bit).fold(0, |mask, bit| mask | bit));
        }
        for field in ty.fields() {
            match self.get(field.name) {
                Some(value) => value.encode(field, e),
                None if field.optional => {}
                None => e.fail(EncodeError::Inconsistent),
            }
        }
    }

    fn encode_union(&self, ty: StructureType<'_>, e: &mut Encoder<'_>) {
        let mut chosen = ty
            .fields()
            .zip(1_u32..)
            .filter_map(|(field, switch)| self.get(field.name).map(|value| (field, switch, value)));
        match (chosen.next(), chosen.next()) {
            (None, _) => e.put_u32(0),
            (Some((field, switch, value)), None) => {
                e.put_u32(switch);
                value.encode(field, e);
            }
            _ => e.fail(EncodeError::Inconsistent),
        }
    }

    /// The structure in an ExtensionObject, whether its type is compiled in or known at run time.
    ///
    /// # Errors
    /// The type is not in the registry of `cx`, or the body is not one of it.
    pub fn from_extension_object(
        object: &ExtensionObject,
        cx: DecodeContext<'_>,
    ) -> Result<Self, DecodeError> {
        let mut written = Vec::new();
        let (ty, bytes) = match object.body() {
            ExtensionObjectBody::Binary(bytes) => {
                let uri = cx.namespaces.uri(object.type_id().namespace());
                let ty = uri.and_then(|uri| cx.types.structure_type(uri, object.type_id().as_ref()));
                (ty.ok_or(DecodeReason::WrongType)?, bytes.bytes())
            }
            ExtensionObjectBody::Value(value) => {
                let mut e = Encoder::new(&mut written, EncodeContext { namespaces: cx.namespaces });
                value.encode_body(&mut e);
                e.finish().map_err(|_| DecodeReason::WrongType)?;
                (StructureType::Static(value.descriptor()), written.as_slice())
            }
            ExtensionObjectBody::None | ExtensionObjectBody::Xml(_) => {
                return Err(DecodeReason::WrongType.into());
            }
        };
        let mut d = Decoder::new(bytes, cx);
        let structure = Self::decode(ty, &mut d)?;
        d.finish()?;
        Ok(structure)
    }

    /// The ExtensionObject with this structure (OPC 10000-6 §5.2.2.15).
    ///
    /// # Errors
    /// The structure does not fit the type, or the type has no binary encoding that the receiver knows.
    pub fn to_extension_object(
        &self,
        ty: StructureType<'_>,
        cx: EncodeContext<'_>,
    ) -> Result<ExtensionObject, EncodeError> {
        let (uri, id) = ty.binary_encoding().ok_or(EncodeError::Inconsistent)?;
        let index = cx.namespaces.index_of(uri).ok_or(EncodeError::UnknownNamespace)?;
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, cx);
        self.encode(ty, &mut e);
        e.finish()?;
        let body = ExtensionObjectBody::Binary(ByteString::from(bytes.as_slice()));
        Ok(ExtensionObject::from_parts(id.with_namespace(index), body))
    }
}

impl DynamicValue {
    fn decode(field: StructureFieldType<'_>, d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match (field.value_rank, field.element) {
            (1, ElementType::Builtin(builtin)) => decode_as(builtin, true, d).map(Self::Builtin),
            (1, element) => match d.array_len(element.min_size())? {
                Some(len) => Self::items(element, len, d).map(|items| Self::Array(Some(items))),
                None => Ok(Self::Array(None)),
            },
            (2.., element) => {
                let mut dimensions = Vec::new();
                let rank = d.array_len(i32::MIN_SIZE)?.unwrap_or_default();
                d.reserve(&mut dimensions, rank)?;
                for _ in 0..rank {
                    dimensions.push(u32::try_from(d.i32()?).map_err(|_| DecodeReason::BadDimensions)?);
                }
                let len = product(&dimensions).ok_or(DecodeReason::BadDimensions)?;
                d.check_elements(len, element.min_size())?;
                Ok(Self::Matrix(dimensions, Self::items(element, len, d)?))
            }
            (_, element) => Self::decode_element(element, d),
        }
    }

    fn items(element: ElementType<'_>, len: usize, d: &mut Decoder<'_>) -> Result<Vec<Self>, DecodeError> {
        let mut items = Vec::new();
        d.reserve(&mut items, len)?;
        for index in 0..len {
            items.push(Self::decode_element(element, d).map_err(|error| error.at_index(index))?);
        }
        Ok(items)
    }

    fn decode_element(element: ElementType<'_>, d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match element {
            ElementType::Builtin(builtin) => decode_as(builtin, false, d).map(Self::Builtin),
            ElementType::Structure(ty) => DynamicStructure::decode(ty, d).map(Self::Structure),
            ElementType::Enumeration(ty) => {
                let value = match ty.base() {
                    BuiltinType::Byte => i128::from(d.u8()?),
                    BuiltinType::UInt16 => i128::from(d.u16()?),
                    BuiltinType::UInt32 => i128::from(d.u32()?),
                    BuiltinType::UInt64 => i128::from(u64::decode(d)?),
                    _ => i128::from(d.i32()?),
                };
                Ok(Self::Enumeration(value, name_of(ty, value)))
            }
        }
    }

    fn encode(&self, field: StructureFieldType<'_>, e: &mut Encoder<'_>) {
        match (field.value_rank, self) {
            (1, Self::Builtin(value)) => match field.element {
                ElementType::Builtin(builtin) => encode_as(value, builtin, true, e),
                _ => e.fail(EncodeError::Inconsistent),
            },
            (1, Self::Array(None)) => e.put_array_len(None),
            (1, Self::Array(Some(items))) => {
                e.put_array_len(Some(items.len()));
                items.iter().for_each(|item| item.encode_element(field.element, e));
            }
            (2.., Self::Matrix(dimensions, _)) if dimensions.is_empty() => e.put_array_len(None),
            (2.., Self::Matrix(dimensions, items)) if product(dimensions) == Some(items.len()) => {
                e.put_array_len(Some(dimensions.len()));
                for dimension in dimensions {
                    match i32::try_from(*dimension) {
                        Ok(dimension) => e.put_i32(dimension),
                        Err(_) => e.fail(EncodeError::TooLarge),
                    }
                }
                items.iter().for_each(|item| item.encode_element(field.element, e));
            }
            (..=0, value) => value.encode_element(field.element, e),
            _ => e.fail(EncodeError::Inconsistent),
        }
    }

    fn encode_element(&self, element: ElementType<'_>, e: &mut Encoder<'_>) {
        match (self, element) {
            (Self::Builtin(value), ElementType::Builtin(builtin)) => encode_as(value, builtin, false, e),
            (Self::Structure(value), ElementType::Structure(ty)) => value.encode(ty, e),
            (Self::Enumeration(value, _), ElementType::Enumeration(ty)) => put_enumeration(ty, *value, e),
            _ => e.fail(EncodeError::Inconsistent),
        }
    }
}

fn name_of(ty: EnumerationType<'_>, value: i128) -> Option<Arc<str>> {
    if ty.is_option_set() {
        return None;
    }
    ty.name_of(i64::try_from(value).ok()?).map(Into::into)
}

fn put_enumeration(ty: EnumerationType<'_>, value: i128, e: &mut Encoder<'_>) {
    let fits = match ty.base() {
        BuiltinType::Byte => u8::try_from(value).map(|value| e.put_u8(value)).is_ok(),
        BuiltinType::UInt16 => u16::try_from(value).map(|value| e.put_u16(value)).is_ok(),
        BuiltinType::UInt32 => u32::try_from(value).map(|value| e.put_u32(value)).is_ok(),
        BuiltinType::UInt64 => u64::try_from(value).map(|value| e.put_u64(value)).is_ok(),
        _ => i32::try_from(value).map(|value| e.put_i32(value)).is_ok(),
    };
    if !fits {
        e.fail(EncodeError::Inconsistent);
    }
}
