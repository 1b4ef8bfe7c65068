//! Writes the builtin types that hold others as JSON: Variant, DataValue and ExtensionObject.

use alloc::string::ToString;

use crate::data_value::mask;
use crate::text::TextError;
use crate::text::variant::{ARRAY, variant_dimensions, variant_type};
use crate::text::write::{self as walk, Content, Output};
use crate::{
    DateTime, Decode, DecodeError, DecodeReason, Decoder, ElementType, NodeId, StatusCode, StructureType,
    UaString,
};

use super::builtin::node_id_text;
use super::write::Writer;

impl Writer {
    pub(super) fn variant(&mut self, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        let encoding = d.u8()?;
        if encoding == 0 {
            return Ok(self.null());
        }
        self.text.push('{');
        self.variant_members(encoding, d)?;
        self.text.push('}');
        Ok(Content::Value)
    }

    /// `UaType`, `Value` and `Dimensions` (OPC 10000-6 §5.4.2.17).
    fn variant_members(&mut self, encoding: u8, d: &mut Decoder<'_>) -> Result<(), TextError> {
        let ty = variant_type(encoding)?;
        self.key("UaType");
        self.put(format_args!("{}", ty as u8));
        d.enter()?;
        let before = self.text.len();
        self.key("Value");
        if encoding & ARRAY == 0 {
            if self.write_builtin(ty, d)? == Content::Null {
                self.text.truncate(before);
            }
        } else {
            match d.array_len(1)? {
                None => self.text.truncate(before),
                Some(len) => {
                    let mut index = 0;
                    self.array(ElementType::Builtin(ty), None, len, |out| {
                        index += 1;
                        out.write_builtin(ty, d).map_err(|error| error.at_index(index - 1))
                    })?;
                }
            }
            let dimensions = variant_dimensions(encoding, d)?;
            if dimensions.len() > 1 {
                self.key("Dimensions");
                self.dimensions(&dimensions);
            }
        }
        d.leave();
        Ok(())
    }

    /// The members of its value beside its own (OPC 10000-6 §5.4.2.18).
    pub(super) fn data_value(&mut self, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        let before = self.text.len();
        let bits = d.u8()?;
        if bits & !mask::DEFINED != 0 {
            return Err(DecodeError::from(DecodeReason::BadEncodingByte).into());
        }
        self.text.push('{');
        if bits & mask::VALUE != 0 {
            let encoding = d.u8()?;
            if encoding != 0 {
                self.variant_members(encoding, d)?;
            }
        }
        if bits & mask::STATUS != 0 {
            let status = StatusCode::decode(d)?;
            if status != StatusCode::GOOD {
                self.key("Status");
                self.status(status, d);
            }
        }
        self.timestamp("Source", bits & mask::SOURCE_TIMESTAMP, bits & mask::SOURCE_PICOSECONDS, d)?;
        self.timestamp("Server", bits & mask::SERVER_TIMESTAMP, bits & mask::SERVER_PICOSECONDS, d)?;
        if self.text.ends_with('{') {
            self.text.truncate(before);
            return Ok(self.null());
        }
        self.text.push('}');
        Ok(Content::Value)
    }

    fn timestamp(
        &mut self,
        whose: &str,
        time: u8,
        picoseconds: u8,
        d: &mut Decoder<'_>,
    ) -> Result<(), TextError> {
        if time != 0 {
            let time = DateTime::decode(d)?;
            self.key(&[whose, "Timestamp"].concat());
            self.time(time);
        }
        if picoseconds != 0 {
            let picoseconds = d.u16()?.min(9999);
            self.key(&[whose, "Picoseconds"].concat());
            self.put(format_args!("{picoseconds}"));
        }
        Ok(())
    }

    pub(super) fn extension_object(&mut self, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        let type_id = NodeId::decode(d)?;
        let cx = d.context();
        match d.u8()? {
            0 if type_id.is_null() => {
                // Left out, or an empty object (OPC 10000-6 §5.4.2.16).
                self.text.push_str(if self.is_compact() { "null" } else { "{}" });
                Ok(Content::Null)
            }
            0 => {
                self.type_id = Some(node_id_text(&type_id, cx.namespaces));
                self.open();
                self.text.push('}');
                Ok(Content::Value)
            }
            1 => {
                let uri = cx.namespaces.uri(type_id.namespace());
                let ty = uri.and_then(|uri| cx.types.structure_type(uri, type_id.as_ref()));
                if let Some(ty) = ty
                    && self.known_body(ty, d)
                {
                    return Ok(Content::Value);
                }
                let bytes = d.bytes()?.ok_or(DecodeError::from(DecodeReason::BadLength))?;
                self.opaque_body(&type_id, 1, bytes, d);
                Ok(Content::Value)
            }
            2 => {
                let text = UaString::decode(d)?;
                self.opaque_body(&type_id, 2, text.text().as_bytes(), d);
                Ok(Content::Value)
            }
            _ => Err(DecodeError::from(DecodeReason::BadEncodingByte).into()),
        }
    }

    /// Writes a body along its type; nothing if it is not of that type, so that it is kept as it is.
    fn known_body(&mut self, ty: StructureType<'_>, d: &mut Decoder<'_>) -> bool {
        let (start, before) = (self.text.len(), d.clone());
        let namespaces = d.context().namespaces;
        let data_type = namespaces.index_of(ty.namespace()).map(|index| ty.data_type().with_namespace(index));
        let Some(data_type) = data_type else { return false };
        self.type_id = Some(node_id_text(&data_type, namespaces));
        if self.walk_body(ty, d).is_ok() {
            return true;
        }
        self.text.truncate(start);
        self.type_id = None;
        *d = before;
        false
    }

    fn walk_body(&mut self, ty: StructureType<'_>, d: &mut Decoder<'_>) -> Result<(), TextError> {
        let behind = d.begin_body()?;
        walk::structure(ty, d, self)?;
        d.end_body(behind)?;
        Ok(())
    }

    fn opaque_body(&mut self, type_id: &NodeId, encoding: u8, bytes: &[u8], d: &Decoder<'_>) {
        self.type_id = Some(node_id_text(type_id, d.context().namespaces));
        self.open();
        self.key("UaEncoding");
        self.text.push_str(&encoding.to_string());
        self.key("UaBody");
        self.base64(bytes);
        self.text.push('}');
    }
}
