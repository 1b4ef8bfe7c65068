//! What an enumeration declares, read in place (OPC 10000-3 §8.50).

use uaforge_codec::{
    DecodeContext, DecodeRef as _, Decoder, ExtensionObjectBody, ExtensionObjectRef, LocalizedTextRef,
    StrRef, Variant,
};
use uaforge_types::EnumDefinition;

use super::attribute::AttributeValue;
use super::node::Node;
use crate::class::AttributeId;

/// TypeId of a Variant that holds an ExtensionObject (OPC 10000-6 §5.1.2).
const EXTENSION_OBJECT: u8 = 22;
/// Default Binary encoding of EnumDefinition.
const ENUM_DEFINITION_BINARY: u32 = 123;

/// The values that an EnumDefinition declares, in its order.
#[derive(Clone, Debug)]
pub struct EnumerationValues<'a>(Fields<'a>);

#[derive(Clone, Debug)]
enum Fields<'a> {
    Encoded { at: Decoder<'a>, left: usize },
    Structure(core::slice::Iter<'a, uaforge_types::EnumField>),
}

impl<'a> Node<'a> {
    /// The values that a DataType declares; `None` if it has no EnumDefinition.
    pub fn enumeration_values(&self) -> Option<EnumerationValues<'a>> {
        match self.attribute(AttributeId::DataTypeDefinition).ok()? {
            AttributeValue::Encoded(value) => {
                let mut d = Decoder::new(value.bytes(), DecodeContext::default());
                if d.u8().ok()? != EXTENSION_OBJECT {
                    return None;
                }
                let object = ExtensionObjectRef::decode_ref(&mut d).ok()?;
                encoded(object.type_id.as_numeric()?, object.body.0?)
            }
            AttributeValue::Variant(Variant::ExtensionObject(object)) => match object.body() {
                ExtensionObjectBody::Value(value) => {
                    let definition = value.as_any().downcast_ref::<EnumDefinition>()?;
                    Some(EnumerationValues(Fields::Structure(definition.fields.iter())))
                }
                ExtensionObjectBody::Binary(body) => {
                    encoded(object.type_id().as_ref().as_numeric()?, body.bytes())
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn encoded(type_id: u32, body: &[u8]) -> Option<EnumerationValues<'_>> {
    if type_id != ENUM_DEFINITION_BINARY {
        return None;
    }
    let mut at = Decoder::new(body, DecodeContext::default());
    let left = at.array_len(0).ok()?.unwrap_or_default();
    Some(EnumerationValues(Fields::Encoded { at, left }))
}

impl Iterator for EnumerationValues<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        match &mut self.0 {
            Fields::Structure(fields) => fields.next().map(|field| field.value),
            Fields::Encoded { at, left } => {
                *left = left.checked_sub(1)?;
                let value = at.i64().ok()?;
                LocalizedTextRef::decode_ref(at).ok()?;
                LocalizedTextRef::decode_ref(at).ok()?;
                StrRef::decode_ref(at).ok()?;
                Some(value)
            }
        }
    }
}
