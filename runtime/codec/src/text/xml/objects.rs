//! Writes the builtin types that hold others as XML: Variant, DataValue and ExtensionObject.

use alloc::format;
use alloc::string::ToString;

use crate::data_value::mask;
use crate::text::TextError;
use crate::text::variant::{ARRAY, DIMENSIONS, variant_dimensions, variant_type};
use crate::text::write::{self as walk, Content, Output, builtin_name};
use crate::{
    BuiltinType, Decode, DecodeError, DecodeReason, Decoder, ElementType, NodeId, StructureType, UaString,
};

use super::write::Writer;

impl Writer {
    /// The content of a Variant: nothing, or `Value` (OPC 10000-6 §5.3.1.17).
    pub(super) fn variant(&mut self, d: &mut Decoder<'_>) -> Result<(), TextError> {
        let encoding = d.u8()?;
        if encoding == 0 {
            return Ok(());
        }
        let ty = variant_type(encoding)?;
        d.enter()?;
        self.open("Value");
        if encoding & ARRAY == 0 {
            self.open(builtin_name(ty));
            self.write_builtin(ty, d)?;
            self.close();
        } else {
            self.variant_array(ty, encoding, d)?;
        }
        self.close();
        d.leave();
        Ok(())
    }

    fn variant_array(&mut self, ty: BuiltinType, encoding: u8, d: &mut Decoder<'_>) -> Result<(), TextError> {
        let is_matrix = encoding & DIMENSIONS != 0;
        if is_matrix {
            self.open("Matrix");
        }
        // The dimensions come behind the elements in binary and before them here.
        let before = self.end_tag();
        if is_matrix {
            self.open("Elements");
        } else {
            self.open(&format!("ListOf{}", builtin_name(ty)));
        }
        match d.array_len(1)? {
            Some(len) => {
                let mut index = 0;
                self.array(ElementType::Builtin(ty), None, len, |out| {
                    index += 1;
                    out.write_builtin(ty, d).map_err(|error| error.at_index(index - 1))
                })?;
            }
            None => self.null_array(),
        }
        self.close();
        if is_matrix {
            let elements = self.text.split_off(before);
            self.dimensions(&variant_dimensions(encoding, d)?);
            self.text.push_str(&elements);
            self.close();
        }
        Ok(())
    }

    pub(super) fn data_value(&mut self, d: &mut Decoder<'_>) -> Result<(), TextError> {
        let bits = d.u8()?;
        if bits & !mask::DEFINED != 0 {
            return Err(DecodeError::from(DecodeReason::BadEncodingByte).into());
        }
        let parts = [
            (mask::VALUE, "Value", BuiltinType::Variant),
            (mask::STATUS, "StatusCode", BuiltinType::StatusCode),
            (mask::SOURCE_TIMESTAMP, "SourceTimestamp", BuiltinType::DateTime),
            (mask::SOURCE_PICOSECONDS, "SourcePicoseconds", BuiltinType::UInt16),
            (mask::SERVER_TIMESTAMP, "ServerTimestamp", BuiltinType::DateTime),
            (mask::SERVER_PICOSECONDS, "ServerPicoseconds", BuiltinType::UInt16),
        ];
        d.enter()?;
        for (bit, name, ty) in parts {
            if bits & bit == 0 {
                continue;
            }
            // A value that is null is none (OPC 10000-6 §5.3.1.18).
            if bit == mask::VALUE && d.rest().first() == Some(&0) {
                d.u8()?;
                continue;
            }
            self.open(name);
            self.write_builtin(ty, d)?;
            self.close();
        }
        d.leave();
        Ok(())
    }

    /// `TypeId` and `Body` (OPC 10000-6 §5.3.1.16).
    pub(super) fn extension_object(&mut self, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        let type_id = NodeId::decode(d)?;
        let encoding = d.u8()?;
        if encoding == 0 && type_id.is_null() {
            return Ok(self.nil());
        }
        let cx = d.context();
        let uri = cx.namespaces.uri(type_id.namespace());
        let ty = uri.and_then(|uri| cx.types.structure_type(uri, type_id.as_ref()));
        if encoding == 1
            && let Some(ty) = ty
        {
            self.known_body(ty, &type_id, d)?;
            return Ok(Content::Value);
        }
        self.type_id(&type_id);
        match encoding {
            0 => {}
            1 => {
                let bytes = d.bytes()?.ok_or(DecodeError::from(DecodeReason::BadLength))?;
                self.open("Body");
                self.open("ByteString");
                self.base64(bytes);
                self.close();
                self.close();
            }
            2 => {
                let text = UaString::decode(d)?;
                self.open("Body");
                self.put_fragment(text.text());
                self.close();
            }
            _ => return Err(DecodeError::from(DecodeReason::BadEncodingByte).into()),
        }
        Ok(Content::Value)
    }

    fn type_id(&mut self, id: &NodeId) {
        self.open("TypeId");
        self.identifier(&id.to_string());
        self.close();
    }

    fn known_body(
        &mut self,
        ty: StructureType<'_>,
        type_id: &NodeId,
        d: &mut Decoder<'_>,
    ) -> Result<(), TextError> {
        let namespaces = d.context().namespaces;
        let (uri, id) = ty.xml_encoding().unwrap_or_else(|| (ty.namespace(), ty.data_type()));
        let id = namespaces.index_of(uri).map(|index| id.with_namespace(index));
        self.type_id(id.as_ref().unwrap_or(type_id));
        let behind = d.begin_body()?;
        self.open("Body");
        self.open_element(ElementType::Structure(ty));
        walk::structure(ty, d, self)?;
        self.close();
        self.close();
        d.end_body(behind)?;
        Ok(())
    }
}
