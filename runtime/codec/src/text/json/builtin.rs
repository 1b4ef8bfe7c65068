//! Writes builtin values as JSON (OPC 10000-6 §5.4.2).

use alloc::string::String;
use core::fmt::{Display, Write as _};

use crate::node_id_text::push_uri;
use crate::text::TextError;
use crate::text::scalars::write_date_time;
use crate::text::write::Content;
use crate::{
    BuiltinType, DateTime, Decode, Decoder, DiagnosticInfo, ExpandedNodeId, Guid, LocalizedText,
    NamespaceMap, NodeId, QualifiedName, StatusCode, UaString,
};

use super::write::Writer;

impl Writer {
    pub(super) fn write_builtin(
        &mut self,
        ty: BuiltinType,
        d: &mut Decoder<'_>,
    ) -> Result<Content, TextError> {
        match ty {
            BuiltinType::Boolean => {
                let value = d.u8()? != 0;
                self.put(format_args!("{value}"));
                Ok(Content::or_default(!value))
            }
            BuiltinType::SByte => Ok(self.number(i8::decode(d)?)),
            BuiltinType::Byte => Ok(self.number(u8::decode(d)?)),
            BuiltinType::Int16 => Ok(self.number(i16::decode(d)?)),
            BuiltinType::UInt16 => Ok(self.number(u16::decode(d)?)),
            BuiltinType::Int32 => Ok(self.number(i32::decode(d)?)),
            BuiltinType::UInt32 => Ok(self.number(u32::decode(d)?)),
            BuiltinType::Int64 => Ok(self.quoted(i64::decode(d)?)),
            BuiltinType::UInt64 => Ok(self.quoted(u64::decode(d)?)),
            BuiltinType::Float => {
                let value = f32::decode(d)?;
                self.float(value.into(), |text| write!(text, "{value:?}"));
                Ok(Content::or_default(value.to_bits() == 0))
            }
            BuiltinType::Double => {
                let value = f64::decode(d)?;
                self.float(value, |text| write!(text, "{value:?}"));
                Ok(Content::or_default(value.to_bits() == 0))
            }
            BuiltinType::String | BuiltinType::XmlElement => Ok(self.text_or_null(&UaString::decode(d)?)),
            BuiltinType::DateTime => {
                let time = DateTime::decode(d)?;
                self.time(time);
                Ok(Content::or_default(time == DateTime::NULL))
            }
            BuiltinType::Guid => {
                let guid = Guid::decode(d)?;
                self.put(format_args!("\"{guid}\""));
                Ok(Content::or_default(guid == Guid::NULL))
            }
            BuiltinType::ByteString => match d.bytes()? {
                Some(bytes) => {
                    self.base64(bytes);
                    Ok(Content::Value)
                }
                None => Ok(self.null()),
            },
            BuiltinType::NodeId => Ok(self.node_id(&NodeId::decode(d)?, d.context().namespaces)),
            BuiltinType::ExpandedNodeId => {
                Ok(self.expanded_node_id(&ExpandedNodeId::decode(d)?, d.context().namespaces))
            }
            BuiltinType::StatusCode => {
                let status = StatusCode::decode(d)?;
                self.status(status, d);
                Ok(Content::or_default(status == StatusCode::GOOD))
            }
            BuiltinType::QualifiedName => {
                Ok(self.qualified_name(&QualifiedName::decode(d)?, d.context().namespaces))
            }
            BuiltinType::LocalizedText => Ok(self.localized_text(&LocalizedText::decode(d)?)),
            BuiltinType::DiagnosticInfo => {
                let info = DiagnosticInfo::decode(d)?;
                Ok(self.diagnostic_info(&info, d))
            }
            BuiltinType::ExtensionObject => self.extension_object(d),
            BuiltinType::DataValue => self.data_value(d),
            BuiltinType::Variant => self.variant(d),
        }
    }

    pub(super) fn null(&mut self) -> Content {
        self.text.push_str("null");
        Content::Null
    }

    fn number(&mut self, value: impl Display + PartialEq + Default) -> Content {
        self.put(format_args!("{value}"));
        Content::or_default(value == Default::default())
    }

    fn quoted(&mut self, value: impl Display + PartialEq + Default) -> Content {
        self.put(format_args!("\"{value}\""));
        Content::or_default(value == Default::default())
    }

    /// The shortest digits that give the number back in its own precision.
    fn float(&mut self, value: f64, finite: impl FnOnce(&mut String) -> core::fmt::Result) {
        if value.is_nan() {
            self.text.push_str("\"NaN\"");
        } else if value.is_infinite() {
            self.text.push_str(if value > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
        } else {
            let _ = finite(&mut self.text);
        }
    }

    fn text_or_null(&mut self, text: &UaString) -> Content {
        match text.as_str() {
            Some(text) => {
                self.string(text);
                Content::Value
            }
            None => self.null(),
        }
    }

    pub(super) fn time(&mut self, time: DateTime) {
        self.text.push('"');
        write_date_time(time, &mut self.text);
        self.text.push('"');
    }

    pub(super) fn node_id(&mut self, id: &NodeId, namespaces: &NamespaceMap) -> Content {
        if *id == NodeId::NULL {
            return self.null();
        }
        let text = node_id_text(id, namespaces);
        self.string(&text);
        Content::Value
    }

    fn expanded_node_id(&mut self, id: &ExpandedNodeId, namespaces: &NamespaceMap) -> Content {
        if *id == ExpandedNodeId::default() {
            return self.null();
        }
        let mut text = String::new();
        if id.server_index != 0 {
            let _ = write!(text, "svr={};", id.server_index);
        }
        match id.namespace_uri.as_str() {
            Some(uri) => {
                text.push_str("nsu=");
                let _ = push_uri(uri, &mut text);
                let _ = write!(text, ";{}", id.node_id.identifier());
            }
            None => text.push_str(&node_id_text(&id.node_id, namespaces)),
        }
        self.string(&text);
        Content::Value
    }

    /// `{}` for Good (OPC 10000-6 §5.4.2.12).
    pub(super) fn status(&mut self, status: StatusCode, d: &Decoder<'_>) {
        self.text.push('{');
        if status != StatusCode::GOOD {
            self.key("Code");
            self.put(format_args!("{}", status.0));
            let name = d.context().types.status_name(status);
            if let Some(name) = name.filter(|_| !self.is_compact()) {
                self.key("Symbol");
                self.text.push('"');
                self.text.extend(name.chars().filter(|c| *c != '_'));
                self.text.push('"');
            }
        }
        self.text.push('}');
    }

    /// A name of namespace 0 that looks as if it had a namespace gets one (OPC 10000-6 §5.1.13).
    fn qualified_name(&mut self, name: &QualifiedName, namespaces: &NamespaceMap) -> Content {
        if *name == QualifiedName::NULL {
            return self.null();
        }
        let (index, text) = (name.namespace_index, name.name.text());
        let uri = namespaces.uri(index).filter(|_| index != 0);
        let mut out = String::new();
        match uri {
            Some(uri) => {
                out.push_str("nsu=");
                let _ = push_uri(uri, &mut out);
                out.push(';');
            }
            None if index != 0 || looks_qualified(text) => {
                let _ = write!(out, "{index}:");
            }
            None => {}
        }
        out.push_str(text);
        self.string(&out);
        Content::Value
    }

    fn localized_text(&mut self, value: &LocalizedText) -> Content {
        // Empty parts count as none where defaults are left out.
        let none = |part: &UaString| part.is_null() || (self.is_compact() && part.is_empty());
        if none(&value.locale) && none(&value.text) {
            return self.null();
        }
        self.text.push('{');
        for (name, part) in [("Locale", &value.locale), ("Text", &value.text)] {
            if let Some(part) = part.as_str() {
                self.key(name);
                self.string(part);
            }
        }
        self.text.push('}');
        Content::Value
    }

    fn diagnostic_info(&mut self, info: &DiagnosticInfo, d: &Decoder<'_>) -> Content {
        if info.is_empty() {
            return self.null();
        }
        self.text.push('{');
        let indexes = [
            ("SymbolicId", info.symbolic_id),
            ("NamespaceUri", info.namespace_uri),
            ("Locale", info.locale),
            ("LocalizedText", info.localized_text),
        ];
        for (name, index) in indexes {
            if let Some(index) = index {
                self.key(name);
                self.put(format_args!("{index}"));
            }
        }
        if let Some(text) = info.additional_info.as_str() {
            self.key("AdditionalInfo");
            self.string(text);
        }
        if let Some(status) = info.inner_status_code {
            self.key("InnerStatusCode");
            self.status(status, d);
        }
        if let Some(inner) = &info.inner_diagnostic_info {
            self.key("InnerDiagnosticInfo");
            // An inner one that says nothing is there all the same.
            if self.diagnostic_info(inner, d) == Content::Null {
                self.text.truncate(self.text.len() - "null".len());
                self.text.push_str("{}");
            }
        }
        self.text.push('}');
        Content::Value
    }
}

fn looks_qualified(name: &str) -> bool {
    let index = name.split_once(':').map(|(index, _)| index);
    name.starts_with("nsu=") || index.is_some_and(|index| index.parse::<u16>().is_ok())
}

/// With the URI of the namespace, or its index where there is none (OPC 10000-6 §5.1.12).
pub(super) fn node_id_text(id: &NodeId, namespaces: &NamespaceMap) -> String {
    let mut text = String::new();
    let index = id.namespace();
    let _ = match namespaces.uri(index).filter(|_| index != 0) {
        Some(uri) => {
            text.push_str("nsu=");
            let _ = push_uri(uri, &mut text);
            write!(text, ";{}", id.identifier())
        }
        None => write!(text, "{id}"),
    };
    text
}
