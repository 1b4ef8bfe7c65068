//! Values as one line of text: `6"5"`, `12-`, `[21 …]`, `{i=296 "Name"=…}`, `<i=1 2 …>`, `(…)`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::write::{id_text, name_text};
use crate::ids::encode_base64;
use crate::resolved::{Ident, Ns, Value};

pub(crate) struct Values<'a> {
    pub(crate) indexes: &'a BTreeMap<Ns, usize>,
}

/// Namespaces that occur in a value.
pub(super) fn namespaces(value: &Value, used: &mut BTreeSet<Ns>) {
    match value {
        Value::NodeId(id) | Value::ExpandedNodeId(id) => used.extend([id.ns]),
        Value::QualifiedName(name) => used.extend([name.ns]),
        Value::Structure { data_type, fields } => {
            used.insert(data_type.ns);
            fields.iter().filter_map(|(_, value)| value.as_ref()).for_each(|value| namespaces(value, used));
        }
        Value::Union { data_type, field } => {
            used.insert(data_type.ns);
            if let Some((_, value)) = field {
                namespaces(value, used);
            }
        }
        Value::Array { items, .. } | Value::Matrix { items, .. } => {
            items.iter().for_each(|item| namespaces(item, used));
        }
        Value::Variant(inner) => namespaces(inner, used),
        _ => {}
    }
}

impl Values<'_> {
    pub(crate) fn text(&self, value: &Value) -> String {
        let mut text = String::new();
        self.value(value, &mut text);
        text
    }

    fn value(&self, value: &Value, text: &mut String) {
        match value {
            Value::Structure { data_type, fields } => {
                let _ = write!(text, "{{{}", quoted(&id_text(self.indexes, data_type)));
                for (name, value) in fields {
                    let _ = write!(text, " {}=", quoted(name));
                    match value {
                        // Prose: left out of an interface.
                        Some(Value::LocalizedText(_)) if name == "Description" => text.push_str("21\"\"\"\""),
                        Some(value) => self.value(value, text),
                        None => text.push('~'),
                    }
                }
                text.push('}');
            }
            Value::Union { data_type, field } => {
                let _ = write!(text, "<{}", quoted(&id_text(self.indexes, data_type)));
                if let Some((number, value)) = field {
                    let _ = write!(text, " {number} ");
                    self.value(value, text);
                }
                text.push('>');
            }
            Value::Array { builtin, items } => self.list(&format!("[{builtin}"), items, text),
            Value::Matrix { builtin, dimensions, items } => {
                let sizes: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                self.list(&format!("[{builtin}x{}", sizes.join(",")), items, text);
            }
            Value::Variant(inner) => {
                text.push('(');
                self.value(inner, text);
                text.push(')');
            }
            scalar => self.scalar(scalar, text),
        }
    }

    fn list(&self, open: &str, items: &[Value], text: &mut String) {
        text.push_str(open);
        for item in items {
            text.push(' ');
            self.value(item, text);
        }
        text.push(']');
    }

    fn scalar(&self, value: &Value, text: &mut String) {
        let mut put = |number: u8, content: &str| {
            let _ = write!(text, "{number}{}", quoted(content));
        };
        match value {
            Value::Boolean(flag) => put(1, &flag.to_string()),
            Value::SByte(number) => put(2, &number.to_string()),
            Value::Byte(number) => put(3, &number.to_string()),
            Value::Int16(number) => put(4, &number.to_string()),
            Value::UInt16(number) => put(5, &number.to_string()),
            Value::Int32(number) => put(6, &number.to_string()),
            Value::UInt32(number) => put(7, &number.to_string()),
            Value::Int64(number) => put(8, &number.to_string()),
            Value::UInt64(number) => put(9, &number.to_string()),
            Value::Float(number) => put(10, &number.to_string()),
            Value::Double(number) => put(11, &number.to_string()),
            Value::String(Some(content)) => put(12, content),
            Value::String(None) => text.push_str("12-"),
            Value::DateTime(ticks) => put(13, &ticks.to_string()),
            Value::Guid(bytes) => put(14, &Ident::Guid(*bytes).to_string()),
            Value::ByteString(Some(bytes)) => put(15, &encode_base64(bytes)),
            Value::ByteString(None) => text.push_str("15-"),
            Value::XmlElement(Some(content)) => put(16, content),
            Value::XmlElement(None) => text.push_str("16-"),
            Value::NodeId(id) => put(17, &id_text(self.indexes, id)),
            Value::ExpandedNodeId(id) => put(18, &id_text(self.indexes, id)),
            Value::StatusCode(code) => put(19, &code.to_string()),
            Value::QualifiedName(name) => put(20, &name_text(self.indexes, name)),
            Value::LocalizedText(localized) => {
                put(21, localized.locale.as_deref().unwrap_or(""));
                text.push_str(&quoted(&localized.text));
            }
            // Not in the values that an interface keeps.
            _ => text.push('-'),
        }
    }
}

/// A text in quotes; quotes and backslashes inside are escaped.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
