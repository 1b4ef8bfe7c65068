//! Writes builtin values as XML (OPC 10000-6 §5.3.1).

use alloc::format;
use alloc::string::String;

use crate::node_id_text::write_base64;
use crate::text::TextError;
use crate::text::scalars::write_date_time;
use crate::text::write::Content;
use crate::{
    BuiltinType, DateTime, Decode, Decoder, DiagnosticInfo, ExpandedNodeId, Guid, LocalizedText, NodeId,
    QualifiedName, StatusCode, UaString,
};

use super::write::Writer;

impl Writer {
    pub(super) fn write_builtin(
        &mut self,
        ty: BuiltinType,
        d: &mut Decoder<'_>,
    ) -> Result<Content, TextError> {
        match ty {
            BuiltinType::Boolean => self.put(d.u8()? != 0),
            BuiltinType::SByte => self.put(i8::decode(d)?),
            BuiltinType::Byte => self.put(d.u8()?),
            BuiltinType::Int16 => self.put(i16::decode(d)?),
            BuiltinType::UInt16 => self.put(d.u16()?),
            BuiltinType::Int32 => self.put(d.i32()?),
            BuiltinType::UInt32 => self.put(d.u32()?),
            BuiltinType::Int64 => self.put(d.i64()?),
            BuiltinType::UInt64 => self.put(u64::decode(d)?),
            BuiltinType::Float => {
                let value = f32::decode(d)?;
                self.float(value.into(), format!("{value:?}"));
            }
            BuiltinType::Double => {
                let value = f64::decode(d)?;
                self.float(value, format!("{value:?}"));
            }
            BuiltinType::String => return Ok(self.text_or_nil(&UaString::decode(d)?)),
            BuiltinType::XmlElement => match UaString::decode(d)?.as_str() {
                Some(fragment) => self.put_fragment(fragment),
                None => return Ok(self.nil()),
            },
            BuiltinType::DateTime => self.time(DateTime::decode(d)?),
            BuiltinType::Guid => self.leaf("String", Guid::decode(d)?),
            BuiltinType::ByteString => match d.bytes()? {
                Some(bytes) => self.base64(bytes),
                None => return Ok(self.nil()),
            },
            BuiltinType::NodeId => self.identifier(&format!("{}", NodeId::decode(d)?)),
            BuiltinType::ExpandedNodeId => self.identifier(&format!("{}", ExpandedNodeId::decode(d)?)),
            BuiltinType::StatusCode => self.leaf("Code", StatusCode::decode(d)?.0),
            BuiltinType::QualifiedName => self.qualified_name(&QualifiedName::decode(d)?),
            BuiltinType::LocalizedText => self.localized_text(&LocalizedText::decode(d)?),
            BuiltinType::DiagnosticInfo => self.diagnostic_info(&DiagnosticInfo::decode(d)?),
            BuiltinType::ExtensionObject => return self.extension_object(d),
            BuiltinType::DataValue => self.data_value(d)?,
            BuiltinType::Variant => self.variant(d)?,
        }
        Ok(Content::Value)
    }

    fn float(&mut self, value: f64, finite: String) {
        if value.is_nan() {
            self.put("NaN");
        } else if value.is_infinite() {
            self.put(if value > 0.0 { "INF" } else { "-INF" });
        } else {
            self.put(finite);
        }
    }

    fn text_or_nil(&mut self, text: &UaString) -> Content {
        match text.as_str() {
            Some(text) => {
                self.put_text(text);
                Content::Value
            }
            None => self.nil(),
        }
    }

    fn time(&mut self, time: DateTime) {
        let mut text = String::new();
        write_date_time(time, &mut text);
        self.put(text);
    }

    pub(super) fn base64(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.put("");
            let _ = write_base64(bytes, &mut self.text);
        }
    }

    pub(super) fn identifier(&mut self, id: &str) {
        self.text_element("Identifier", id);
    }

    pub(super) fn text_element(&mut self, name: &str, text: &str) {
        self.open(name);
        self.put_text(text);
        self.close();
    }

    fn qualified_name(&mut self, name: &QualifiedName) {
        if name.namespace_index != 0 {
            self.leaf("NamespaceIndex", name.namespace_index);
        }
        if let Some(name) = name.name.as_str() {
            self.text_element("Name", name);
        }
    }

    fn localized_text(&mut self, text: &LocalizedText) {
        for (name, part) in [("Locale", &text.locale), ("Text", &text.text)] {
            if let Some(part) = part.as_str() {
                self.text_element(name, part);
            }
        }
    }

    fn diagnostic_info(&mut self, info: &DiagnosticInfo) {
        let indexes = [
            ("SymbolicId", info.symbolic_id),
            ("NamespaceUri", info.namespace_uri),
            ("Locale", info.locale),
            ("LocalizedText", info.localized_text),
        ];
        for (name, index) in indexes {
            if let Some(index) = index {
                self.leaf(name, index);
            }
        }
        if let Some(text) = info.additional_info.as_str() {
            self.text_element("AdditionalInfo", text);
        }
        if let Some(status) = info.inner_status_code {
            self.open("InnerStatusCode");
            self.leaf("Code", status.0);
            self.close();
        }
        if let Some(inner) = &info.inner_diagnostic_info {
            self.open("InnerDiagnosticInfo");
            self.diagnostic_info(inner);
            self.close();
        }
    }
}
