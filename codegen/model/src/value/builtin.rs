//! Builtin types from the content of an element (OPC 10000-6 §5.3.1).

use std::str::FromStr;
use std::sync::Arc;

use super::{EXTENSION_OBJECT, Reader, VARIANT, is_nil};
use crate::dates::parse_date;
use crate::diagnostic::{Diagnostic, codes};
use crate::ids::{decode_base64, parse_guid, shared};
use crate::query::builtin_name;
use crate::resolve::context::id_of;
use crate::resolved::{Id, Ns, QName, Text, Value};
use crate::schema::Element;

/// Ticks of 9999-12-31T23:59:59Z; from there on a DateTime is the greatest one (OPC 10000-6 §5.1.4).
const LAST_SECOND: i64 = 2_650_467_743_990_000_000;

impl<'a> Reader<'_, 'a> {
    /// An item of an array: Variants stay Variants.
    pub(super) fn item(&mut self, builtin: u8, element: Element<'a>) -> Value {
        self.builtin(builtin, element)
    }

    /// The value of a builtin type; a text of the wrong form is reported and gives the default.
    pub(super) fn builtin(&mut self, builtin: u8, element: Element<'a>) -> Value {
        if is_nil(element) {
            return default(builtin);
        }
        match builtin {
            12 => Value::String(Some(element.text().into())),
            14 => self.guid(element),
            15 => self.byte_string(element),
            16 => Value::XmlElement(element.inner().map(shared)),
            17 => Value::NodeId(self.node_id(element)),
            18 => Value::ExpandedNodeId(self.node_id(element)),
            19 => Value::StatusCode(self.status_code(element)),
            20 => Value::QualifiedName(self.qualified_name(element)),
            21 => Value::LocalizedText(localized_text(element)),
            EXTENSION_OBJECT => self.extension_object(element),
            23 => Value::DataValue(Box::new(self.data_value(element))),
            VARIANT => Value::Variant(Box::new(self.variant(element))),
            25 => Value::DiagnosticInfo(Box::new(self.diagnostic_info(element))),
            _ => self.simple(builtin, element),
        }
    }

    fn simple(&mut self, builtin: u8, element: Element<'a>) -> Value {
        let text = element.text();
        let text = text.trim();
        let value = match builtin {
            1 => match text {
                "true" | "1" => Some(Value::Boolean(true)),
                "false" | "0" => Some(Value::Boolean(false)),
                _ => None,
            },
            2 => number(text, Value::SByte),
            3 => number(text, Value::Byte),
            4 => number(text, Value::Int16),
            5 => number(text, Value::UInt16),
            6 => number(text, Value::Int32),
            7 => number(text, Value::UInt32),
            8 => number(text, Value::Int64),
            9 => number(text, Value::UInt64),
            10 => float(text, Value::Float),
            11 => float(text, Value::Double),
            13 => date_time(text).map(Value::DateTime),
            _ => None,
        };
        value.unwrap_or_else(|| {
            self.invalid(builtin, text, element);
            default(builtin)
        })
    }

    fn invalid(&mut self, builtin: u8, text: &str, element: Element<'a>) {
        let shown: String = text.chars().take(60).collect();
        let message = format!("\"{shown}\" is no {}", builtin_name(builtin));
        self.report(
            Diagnostic::error(codes::INVALID_VALUE, message)
                .at(element.text_span())
                .help("the type's default is taken until it is corrected"),
        );
    }

    fn guid(&mut self, element: Element<'a>) -> Value {
        let text = element.child("String").unwrap_or(element).text();
        if text.trim().is_empty() {
            return Value::Guid([0; 16]);
        }
        let guid = parse_guid(&text);
        if guid.is_none() {
            self.invalid(14, text.trim(), element);
        }
        Value::Guid(guid.unwrap_or_default())
    }

    fn byte_string(&mut self, element: Element<'a>) -> Value {
        let text = element.text();
        let bytes = decode_base64(&text);
        if bytes.is_none() {
            self.invalid(15, text.trim(), element);
        }
        Value::ByteString(bytes.map(Arc::from))
    }

    /// The id in `Identifier`, or directly in the element; an empty one is the null id.
    pub(super) fn node_id(&mut self, element: Element<'a>) -> Id {
        let place = element.child("Identifier").unwrap_or(element);
        let text = place.text();
        if text.trim().is_empty() {
            return Id::ns0(0);
        }
        id_of(self.names, &self.context.namespaces, text.trim()).unwrap_or_else(|problem| {
            let diagnostic = problem.diagnostic(text.trim());
            self.report(diagnostic.at(place.text_span()));
            Id::ns0(0)
        })
    }

    pub(super) fn status_code(&mut self, element: Element<'a>) -> u32 {
        let place = element.child("Code").unwrap_or(element);
        let text = place.text();
        if text.trim().is_empty() {
            return 0;
        }
        text.trim().parse().unwrap_or_else(|_| {
            self.invalid(19, text.trim(), place);
            0
        })
    }

    fn qualified_name(&mut self, element: Element<'a>) -> QName {
        let name = element.child("Name").map_or_else(|| shared(""), |name| name.text().into());
        let mut ns = Ns::UA;
        if let Some(place) = element.child("NamespaceIndex") {
            let text = place.text();
            let known =
                text.trim().parse::<usize>().ok().and_then(|index| self.context.namespaces.get(index));
            match known {
                Some(known) => ns = *known,
                None => {
                    let size = self.context.namespaces.len() - 1;
                    let message = format!(
                        "namespace index {} is beyond NamespaceUris with {size} entries",
                        text.trim()
                    );
                    let code = codes::NAMESPACE_OUT_OF_RANGE;
                    let help = "index 1 is the first Uri of NamespaceUris";
                    self.report(Diagnostic::error(code, message).at(place.text_span()).help(help));
                }
            }
        }
        QName { ns, name }
    }
}

fn localized_text(element: Element<'_>) -> Text {
    let part = |name| element.child(name).map(|child| child.text().into_owned());
    Text {
        locale: part("Locale").map(|locale| locale.trim().to_owned()).filter(|locale| !locale.is_empty()),
        text: part("Text").unwrap_or_default(),
    }
}

fn number<T: FromStr>(text: &str, value: fn(T) -> Value) -> Option<Value> {
    text.strip_prefix('+').unwrap_or(text).parse().ok().map(value)
}

/// xs:float and xs:double: also `INF`, `-INF` and `NaN`.
fn float<T: FromStr>(text: &str, value: fn(T) -> Value) -> Option<Value> {
    let known = match text {
        "INF" | "+INF" => "inf",
        "-INF" => "-inf",
        "NaN" => "nan",
        _ if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')) =>
        {
            text
        }
        _ => return None,
    };
    known.parse().ok().map(value)
}

/// Before 1601 the least value, from the last second of 9999 on the greatest one.
pub(super) fn date_time(text: &str) -> Option<i64> {
    let ticks = parse_date(text)?;
    Some(if ticks >= LAST_SECOND { i64::MAX } else { ticks.max(0) })
}

/// The default of a builtin type; null where there is a null.
pub(super) fn default(builtin: u8) -> Value {
    match builtin {
        1 => Value::Boolean(false),
        2 => Value::SByte(0),
        3 => Value::Byte(0),
        4 => Value::Int16(0),
        5 => Value::UInt16(0),
        6 => Value::Int32(0),
        7 => Value::UInt32(0),
        8 => Value::Int64(0),
        9 => Value::UInt64(0),
        10 => Value::Float(0.0),
        11 => Value::Double(0.0),
        12 => Value::String(None),
        13 => Value::DateTime(0),
        14 => Value::Guid([0; 16]),
        15 => Value::ByteString(None),
        16 => Value::XmlElement(None),
        17 => Value::NodeId(Id::ns0(0)),
        18 => Value::ExpandedNodeId(Id::ns0(0)),
        19 => Value::StatusCode(0),
        20 => Value::QualifiedName(QName { ns: Ns::UA, name: shared("") }),
        21 => Value::LocalizedText(Text::default()),
        23 => Value::DataValue(Box::default()),
        24 => Value::Variant(Box::new(Value::Null)),
        25 => Value::DiagnosticInfo(Box::default()),
        _ => Value::Null,
    }
}
