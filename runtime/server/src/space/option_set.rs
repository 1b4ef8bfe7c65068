//! Writes of bit masks that are structures: only the bits that the client names change (OptionSet,
//! OPC 10000-3 §8.40).

use uaforge_codec::{
    Array, ByteString, Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder,
    ExtensionObject, NodeId, NodeIdRef, NumericRange, StatusCode, Variant, VariantArray, VariantMatrix,
};
use uaforge_nodes::{Node, Snapshot};
use uaforge_types::{ids, status};

use super::properties::property;

const OPTION_SET: NodeIdRef<'static> = ids::data_type::OPTION_SET.identifier().in_namespace(0);
/// ExtensionObject with a binary body (OPC 10000-6 §5.2.2.15).
const BINARY_BODY: u8 = 1;

/// How a Variable takes option sets.
pub(super) struct OptionSets<'a> {
    decode: DecodeContext<'a>,
    /// The bits that the DataType declares; `None` if it does not say.
    declared: Option<Vec<u8>>,
}

/// The fields of an option set and the type id that it came with.
struct OptionSet {
    type_id: NodeId,
    value: ByteString,
    valid_bits: ByteString,
}

impl<'a> OptionSets<'a> {
    /// `None` if the value is none, or the Variable's DataType no option set.
    #[inline]
    pub(super) fn of(
        snapshot: &Snapshot,
        decode: DecodeContext<'a>,
        variable: &Node<'_>,
        value: &Variant,
    ) -> Option<Self> {
        let has_structures = match value {
            Variant::ExtensionObject(_) => true,
            Variant::Array(array) => matches!(**array, VariantArray::ExtensionObject(_)),
            Variant::Matrix(matrix) => matches!(matrix.elements(), VariantArray::ExtensionObject(_)),
            _ => false,
        };
        if has_structures { Self::of_type(snapshot, decode, variable.value_type()?.data_type) } else { None }
    }

    fn of_type(snapshot: &Snapshot, decode: DecodeContext<'a>, data_type: NodeIdRef<'_>) -> Option<Self> {
        if !snapshot.is_subtype(data_type, OPTION_SET) {
            return None;
        }
        let names = property(snapshot, &snapshot.node(data_type)?, "OptionSetValues");
        Some(Self { decode, declared: names.as_ref().and_then(declared_bits) })
    }

    /// What the Variable holds after a write, where `current` is what it held.
    ///
    /// # Errors
    /// Bad_OutOfRange for fields of another length, and for a bit in ValidBits that is not valid;
    /// Bad_TypeMismatch for a body that cannot be read. Nothing changes then.
    pub(super) fn merge(&self, current: &Variant, written: Variant) -> Result<Variant, StatusCode> {
        match written {
            Variant::ExtensionObject(object) => {
                let current = match current {
                    Variant::ExtensionObject(current) => Some(&**current),
                    _ => None,
                };
                Ok(self.merge_one(current, &object)?.map_or(Variant::ExtensionObject(object), Variant::from))
            }
            Variant::Array(array) => Ok(self.merge_elements(current, &array)?.into()),
            Variant::Matrix(matrix) => {
                let elements = self.merge_elements(current, matrix.elements())?;
                let merged = VariantMatrix::new(matrix.dimensions().to_vec(), elements);
                Ok(merged.ok_or(status::BAD_INTERNAL_ERROR)?.into())
            }
            other => Ok(other),
        }
    }

    /// As [`Self::merge`], for a part of the value.
    pub(super) fn merge_part(
        &self,
        current: &Variant,
        range: &NumericRange,
        part: Variant,
    ) -> Result<Variant, StatusCode> {
        // What the range does not find, its replacement will refuse.
        self.merge(&range.cut(current).unwrap_or(Variant::Null), part)
    }

    fn merge_elements(&self, current: &Variant, written: &VariantArray) -> Result<VariantArray, StatusCode> {
        let VariantArray::ExtensionObject(written) = written else { return Ok(written.clone()) };
        let current = match current {
            Variant::Array(array) => Some(&**array),
            Variant::Matrix(matrix) => Some(matrix.elements()),
            _ => None,
        };
        let current = match current {
            Some(VariantArray::ExtensionObject(objects)) => objects.as_slice(),
            _ => &[],
        };
        let merged = written.iter().enumerate().map(|(index, object)| {
            Ok(self.merge_one(current.get(index), object)?.unwrap_or_else(|| object.clone()))
        });
        Ok(VariantArray::ExtensionObject(Array::from(merged.collect::<Result<Vec<_>, StatusCode>>()?)))
    }

    /// `None`: what was written is taken as it is.
    fn merge_one(
        &self,
        current: Option<&ExtensionObject>,
        written: &ExtensionObject,
    ) -> Result<Option<ExtensionObject>, StatusCode> {
        if written.is_null() {
            return Ok(None);
        }
        let OptionSet { type_id, value, valid_bits } = self.read(written).ok_or(status::BAD_TYPE_MISMATCH)?;
        let (value, wanted) = (value.bytes(), valid_bits.bytes());
        if value.len() != wanted.len() {
            return Err(status::BAD_OUT_OF_RANGE);
        }
        // One without bits was never set.
        let current = current.and_then(|current| self.read(current));
        let current = current.filter(|current| !current.valid_bits.bytes().is_empty());
        let (before, valid) = match &current {
            Some(current) => (current.value.bytes(), Some(current.valid_bits.bytes())),
            None => (&[][..], self.declared.as_deref()),
        };
        let is_other_length = current.is_some() && before.len() != value.len();
        if is_other_length || valid.is_some_and(|valid| has_more(wanted, valid)) {
            return Err(status::BAD_OUT_OF_RANGE);
        }
        let before = before.iter().copied().chain(core::iter::repeat(0));
        let bits = value.iter().zip(wanted).zip(before);
        let merged: Vec<u8> =
            bits.map(|((value, wanted), before)| (value & wanted) | (before & !wanted)).collect();
        let valid_bits = current.as_ref().map_or(&valid_bits, |current| &current.valid_bits);
        self.write(&type_id, &merged, valid_bits).map(Some).ok_or(status::BAD_INTERNAL_ERROR)
    }

    /// The fields of an option set of any subtype, which adds none.
    fn read(&self, object: &ExtensionObject) -> Option<OptionSet> {
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: self.decode.namespaces });
        object.encode(&mut e);
        if e.error().is_some() {
            return None;
        }
        let mut d = Decoder::new(&bytes, self.decode);
        let type_id = NodeId::decode(&mut d).ok()?;
        if d.u8().ok()? != BINARY_BODY {
            return None;
        }
        let body = ByteString::decode(&mut d).ok()?;
        let mut d = Decoder::new(body.bytes(), self.decode);
        let (value, valid_bits) = (ByteString::decode(&mut d).ok()?, ByteString::decode(&mut d).ok()?);
        d.finish().ok()?;
        Some(OptionSet { type_id, value, valid_bits })
    }

    /// The reverse; a structure that the server knows is one again.
    fn write(&self, type_id: &NodeId, value: &[u8], valid_bits: &ByteString) -> Option<ExtensionObject> {
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: self.decode.namespaces });
        type_id.encode(&mut e);
        e.put_u8(BINARY_BODY);
        e.put_sized(|e| {
            ByteString::from(value).encode(e);
            valid_bits.encode(e);
        });
        ExtensionObject::decode(&mut Decoder::new(&bytes, self.decode)).ok()
    }
}

/// The bits that have a name in OptionSetValues (OPC 10000-3 §5.8.3); one without has no meaning.
fn declared_bits(names: &Variant) -> Option<Vec<u8>> {
    let Variant::Array(array) = names else { return None };
    let VariantArray::LocalizedText(names) = &**array else { return None };
    let mut bits = vec![0; names.len().div_ceil(8)];
    for (number, name) in names.iter().enumerate() {
        let is_named = name.text.as_str().is_some_and(|text| !text.is_empty());
        if let Some(byte) = bits.get_mut(number / 8).filter(|_| is_named) {
            *byte |= 1 << (number % 8);
        }
    }
    Some(bits)
}

/// Whether `bits` has one that `valid` has not.
fn has_more(bits: &[u8], valid: &[u8]) -> bool {
    let valid = valid.iter().copied().chain(core::iter::repeat(0));
    bits.iter().zip(valid).any(|(bits, valid)| bits & !valid != 0)
}
