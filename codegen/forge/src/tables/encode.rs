//! Values in the binary encoding (OPC 10000-6 §5.2), with slots in the place of namespace indexes.

use super::parts;
use uaforge_model::resolved::{Field, Id, Ident, ModelSet, Ns, QName, Text, Value};
use uaforge_model::{DataTypeKind, Wire};

use super::names::Names;

pub(super) const EXTENSION_OBJECT: u8 = 22;
const VARIANT: u8 = 24;

/// The flag of an ExpandedNodeId that the URI of its namespace follows.
const NAMESPACE_URI: u8 = 0x80;

/// Deepest nesting of a value that is encoded.
const MAX_DEPTH: u32 = 100;

/// What a place asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    /// A builtin type by its number.
    Builtin(u8),
    /// The fields of this structure or union, directly.
    Inline(&'a Id),
}

/// Writes one value and notes where slots stand.
pub(super) struct Encoder<'a> {
    pub(super) set: &'a ModelSet,
    pub(super) names: &'a Names,
    /// Keep fields called Description.
    pub(super) descriptions: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<u32>,
    depth: u32,
}

pub(super) type Result<T = ()> = std::result::Result<T, String>;

impl<'a> Encoder<'a> {
    pub(super) fn new(set: &'a ModelSet, names: &'a Names, descriptions: bool) -> Self {
        Self { set, names, descriptions, bytes: Vec::new(), relocations: Vec::new(), depth: 0 }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn len(&mut self, len: usize) -> Result {
        self.i32(i32::try_from(len).map_err(|_| "a length above 2^31".to_owned())?);
        Ok(())
    }

    pub(super) fn counted(&mut self, bytes: Option<&[u8]>) -> Result {
        match bytes {
            None => self.i32(-1),
            Some(bytes) => {
                self.len(bytes.len())?;
                self.bytes.extend(bytes);
            }
        }
        Ok(())
    }

    /// A namespace index: the slot, to be replaced when the value is copied out; ns0 stays 0.
    fn namespace(&mut self, ns: Ns) {
        if ns.0 == 0 {
            self.bytes.extend([0, 0]);
        } else {
            self.relocations.push(self.bytes.len() as u32);
            self.bytes.extend(u16::from(self.names.slot(ns)).to_le_bytes());
        }
    }

    pub(super) fn node_id(&mut self, id: &Id) -> Result {
        match &id.ident {
            Ident::Numeric(n) if id.ns.0 == 0 && *n <= 0xff => self.bytes.extend([0, *n as u8]),
            Ident::Numeric(n) if id.ns.0 == 0 && *n <= 0xffff => {
                self.bytes.extend([1, 0, *n as u8, (*n >> 8) as u8]);
            }
            Ident::Numeric(n) => {
                self.u8(2);
                self.namespace(id.ns);
                self.u32(*n);
            }
            Ident::String(text) => {
                self.u8(3);
                self.namespace(id.ns);
                self.counted(Some(text.as_bytes()))?;
            }
            Ident::Guid(guid) => {
                self.u8(4);
                self.namespace(id.ns);
                self.guid(guid);
            }
            Ident::Opaque(bytes) => {
                self.u8(5);
                self.namespace(id.ns);
                self.counted(Some(bytes))?;
            }
        }
        Ok(())
    }

    /// With the URI where the model has no slot for the namespace (OPC 10000-6 §5.2.2.10).
    fn expanded_node_id(&mut self, id: &Id) -> Result {
        if self.names.has_slot(id.ns) {
            return self.node_id(id);
        }
        let form = self.bytes.len();
        self.node_id(&Id { ns: Ns(0), ident: id.ident.clone() })?;
        if let Some(form) = self.bytes.get_mut(form) {
            *form |= NAMESPACE_URI;
        }
        let uri = self.set.uri(id.ns);
        self.counted(Some(uri.as_bytes()))
    }

    fn guid(&mut self, text_order: &[u8; 16]) {
        let g = text_order;
        self.bytes.extend([g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6]]);
        self.bytes.extend(&g[8..]);
    }

    fn qualified_name(&mut self, name: &QName) -> Result {
        self.namespace(name.ns);
        self.counted(Some(name.name.as_bytes()))
    }

    pub(super) fn text(&mut self, text: &Text) -> Result {
        let locale = text.locale.as_deref().filter(|l| !l.is_empty());
        let words = Some(text.text.as_str()).filter(|t| !t.is_empty());
        self.u8(u8::from(locale.is_some()) | u8::from(words.is_some()) << 1);
        for part in [locale, words].into_iter().flatten() {
            self.counted(Some(part.as_bytes()))?;
        }
        Ok(())
    }

    /// The value as a Variant (OPC 10000-6 §5.2.2.16).
    pub(super) fn variant(&mut self, value: &Value) -> Result {
        match value {
            Value::Null => self.u8(0),
            Value::Variant(inner) => self.variant(inner)?,
            Value::Array { builtin, items } => {
                self.u8(builtin | 0x80);
                self.items(Place::Builtin(*builtin), items)?;
            }
            Value::Matrix { builtin, dimensions, items } => {
                self.u8(builtin | 0xc0);
                self.items(Place::Builtin(*builtin), items)?;
                self.len(dimensions.len())?;
                dimensions.iter().for_each(|d| self.u32(*d));
            }
            scalar => {
                let builtin = builtin_of(scalar);
                self.u8(builtin);
                self.element(Place::Builtin(builtin), scalar)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, place: Place<'_>, items: &[Value]) -> Result {
        self.len(items.len())?;
        items.iter().try_for_each(|item| self.element(place, item))
    }

    /// One element in the form that its place asks for.
    fn element(&mut self, place: Place<'_>, value: &Value) -> Result {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the value is nested too deeply".into());
        }
        match place {
            Place::Builtin(VARIANT) => self.variant(value)?,
            Place::Builtin(EXTENSION_OBJECT) => self.extension_object(value)?,
            Place::Builtin(builtin) => self.scalar(builtin, value)?,
            Place::Inline(data_type) => self.body(data_type, value)?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn extension_object(&mut self, value: &Value) -> Result {
        match value {
            Value::Null => self.bytes.extend([0, 0, 0]),
            Value::Structure { data_type, .. } | Value::Union { data_type, .. } => {
                let encoding = self.set.encodings(data_type).binary;
                let encoding = encoding.ok_or("its structure has no binary encoding")?;
                self.node_id(encoding)?;
                self.sized_body(|e| e.body(data_type, value))?;
            }
            Value::OpaqueXml { type_id, xml } => {
                self.node_id(type_id)?;
                self.u8(2);
                self.counted(Some(xml.as_bytes()))?;
            }
            Value::OpaqueBinary { type_id, bytes } => {
                self.node_id(type_id)?;
                self.u8(1);
                self.counted(Some(bytes))?;
            }
            Value::Variant(inner) => self.extension_object(inner)?,
            other => return Err(format!("{other:?} stands where a structure should")),
        }
        Ok(())
    }

    /// Encoding byte "binary", length, body.
    pub(super) fn sized_body(&mut self, body: impl FnOnce(&mut Self) -> Result) -> Result {
        self.u8(1);
        let at = self.bytes.len();
        self.i32(0);
        body(self)?;
        let len = i32::try_from(self.bytes.len() - at - 4).map_err(|_| "a body above 2^31")?;
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }

    /// The fields of a structure or union without any header.
    fn body(&mut self, data_type: &Id, value: &Value) -> Result {
        let fields: Vec<&Field> =
            self.set.all_fields(data_type).into_iter().map(|(_, field)| field).collect();
        match value {
            Value::Union { field: None, .. } => self.u32(0),
            Value::Union { field: Some((switch, inner)), .. } => {
                self.u32(*switch);
                let index = (*switch as usize).checked_sub(1);
                let field = index.and_then(|i| fields.get(i)).ok_or("no such union field")?;
                self.field(field, Some(inner))?;
            }
            Value::Structure { fields: given, .. } => self.structure(&fields, given)?,
            Value::Null if self.set.kind_of_data_type(data_type) == Some(DataTypeKind::Union) => self.u32(0),
            Value::Null => self.structure(&fields, &[])?,
            other => return Err(format!("{other:?} stands where a structure should")),
        }
        Ok(())
    }

    fn structure(&mut self, fields: &[&Field], given: &[(String, Option<Value>)]) -> Result {
        let find = |field: &Field| {
            let found = given.iter().find(|(name, _)| *name == field.name);
            found.and_then(|(_, value)| value.as_ref())
        };
        let optional = fields.iter().filter(|f| f.is_optional);
        if optional.clone().next().is_some() {
            let present = optional.enumerate().filter(|(_, f)| find(f).is_some());
            let mask = present.map(|(bit, _)| 1u32.checked_shl(bit as u32).unwrap_or(0));
            let mask = mask.fold(0, |mask, bit| mask | bit);
            self.u32(mask);
        }
        for field in fields {
            let value = find(field);
            if !field.is_optional || value.is_some() {
                self.field(field, value)?;
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &Field, value: Option<&Value>) -> Result {
        let place = match self.set.wire(field) {
            Wire::Builtin(builtin) => Place::Builtin(builtin),
            Wire::Inline => Place::Inline(&field.data_type),
        };
        let is_description = field.name == "Description" && place == Place::Builtin(21);
        let value = value.filter(|_| self.descriptions || !is_description);
        let value = value.unwrap_or(&Value::Null);
        match (field.value_rank, value) {
            (1.., Value::Null) => self.i32(-1),
            (1, Value::Array { items, .. }) => self.items(place, items)?,
            (2.., Value::Matrix { dimensions, items, .. }) => {
                self.len(dimensions.len())?;
                dimensions.iter().for_each(|d| self.u32(*d));
                items.iter().try_for_each(|item| self.element(place, item))?;
            }
            (1.., other) => return Err(format!("{other:?} stands where an array should")),
            (_, Value::Array { .. } | Value::Matrix { .. }) if place != Place::Builtin(VARIANT) => {
                return Err(format!("field {} holds an array", field.name));
            }
            (_, value) => self.element(place, value)?,
        }
        Ok(())
    }

    fn scalar(&mut self, builtin: u8, value: &Value) -> Result {
        match (builtin, value) {
            (_, Value::Variant(inner)) => self.scalar(builtin, inner)?,
            (1, Value::Boolean(v)) => self.u8((*v).into()),
            (2..=9, _) => {
                let number = integer(value).ok_or_else(|| format!("{value:?} is no integer"))?;
                self.integer(builtin, number)?;
            }
            // Every NaN is written as the specified one (OPC 10000-6 §5.2.2.3).
            (10, Value::Float(v)) if v.is_nan() => self.u32(0xffc0_0000),
            (11, Value::Double(v)) if v.is_nan() => self.i64(0xfff8_0000_0000_0000_u64 as i64),
            (10, Value::Float(v)) => self.u32(v.to_bits()),
            (11, Value::Double(v)) => self.bytes.extend(v.to_le_bytes()),
            (12, Value::String(v)) => self.counted(v.as_deref().map(str::as_bytes))?,
            (13, Value::DateTime(v)) => self.i64(*v),
            (14, Value::Guid(v)) => self.guid(v),
            (15, Value::ByteString(v)) => self.counted(v.as_deref())?,
            (16, Value::XmlElement(v)) => self.counted(v.as_deref().map(str::as_bytes))?,
            (17, Value::NodeId(v)) => self.node_id(v)?,
            (18, Value::ExpandedNodeId(v)) => self.expanded_node_id(v)?,
            (19, Value::StatusCode(v)) => self.u32(*v),
            (20, Value::QualifiedName(v)) => self.qualified_name(v)?,
            (21, Value::LocalizedText(v)) => self.text(v)?,
            (23, Value::DataValue(v)) => parts::data_value(self, v)?,
            (25, Value::DiagnosticInfo(v)) => parts::diagnostic_info(self, v)?,
            (_, Value::Null) => self.default_scalar(builtin),
            (_, other) => return Err(format!("{other:?} is not of builtin type {builtin}")),
        }
        Ok(())
    }

    fn default_scalar(&mut self, builtin: u8) {
        let bytes: &[u8] = match builtin {
            1..=3 | 21 | 23 | 25 => &[0],
            4 | 5 | 17 | 18 => &[0; 2],
            12 | 15 | 16 => &[0xff; 4],
            20 => &[0, 0, 0xff, 0xff, 0xff, 0xff],
            8 | 9 | 11 | 13 => &[0; 8],
            14 => &[0; 16],
            _ => &[0; 4],
        };
        self.bytes.extend(bytes);
    }

    fn integer(&mut self, builtin: u8, number: i128) -> Result {
        let (width, min, max) = match builtin {
            2 => (1, i128::from(i8::MIN), i128::from(i8::MAX)),
            3 => (1, 0, i128::from(u8::MAX)),
            4 => (2, i128::from(i16::MIN), i128::from(i16::MAX)),
            5 => (2, 0, i128::from(u16::MAX)),
            6 => (4, i128::from(i32::MIN), i128::from(i32::MAX)),
            7 => (4, 0, i128::from(u32::MAX)),
            8 => (8, i128::from(i64::MIN), i128::from(i64::MAX)),
            _ => (8, 0, i128::from(u64::MAX)),
        };
        if number < min || number > max {
            return Err(format!("{number} does not fit builtin type {builtin}"));
        }
        self.bytes.extend(&number.to_le_bytes()[..width]);
        Ok(())
    }
}

fn integer(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Null => 0,
        Value::SByte(v) => (*v).into(),
        Value::Byte(v) => (*v).into(),
        Value::Int16(v) => (*v).into(),
        Value::UInt16(v) => (*v).into(),
        Value::Int32(v) => (*v).into(),
        Value::UInt32(v) => (*v).into(),
        Value::Int64(v) => (*v).into(),
        Value::UInt64(v) => (*v).into(),
        _ => return None,
    })
}

/// The builtin type of a scalar.
fn builtin_of(value: &Value) -> u8 {
    match value {
        Value::Boolean(_) => 1,
        Value::SByte(_) => 2,
        Value::Byte(_) => 3,
        Value::Int16(_) => 4,
        Value::UInt16(_) => 5,
        Value::Int32(_) => 6,
        Value::UInt32(_) => 7,
        Value::Int64(_) => 8,
        Value::UInt64(_) => 9,
        Value::Float(_) => 10,
        Value::Double(_) => 11,
        Value::String(_) => 12,
        Value::DateTime(_) => 13,
        Value::Guid(_) => 14,
        Value::ByteString(_) => 15,
        Value::XmlElement(_) => 16,
        Value::NodeId(_) => 17,
        Value::ExpandedNodeId(_) => 18,
        Value::StatusCode(_) => 19,
        Value::QualifiedName(_) => 20,
        Value::LocalizedText(_) => 21,
        Value::Structure { .. }
        | Value::Union { .. }
        | Value::OpaqueXml { .. }
        | Value::OpaqueBinary { .. } => EXTENSION_OBJECT,
        Value::DataValue(_) => 23,
        Value::DiagnosticInfo(_) => 25,
        Value::Null | Value::Variant(_) | Value::Array { .. } | Value::Matrix { .. } => VARIANT,
    }
}
