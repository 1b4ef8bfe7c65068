//! Builtin types from the notation.

use std::sync::Arc;

use serde_json::Value;
use uaforge_codec::{
    Array, BuiltinType, ByteString, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject,
    ExtensionObjectBody, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
    VariantArray, VariantMatrix, XmlElement,
};

use super::{Shapes, encoded};

/// The number of a builtin type by its name; `None` for other types.
#[must_use]
pub fn number_of(ty: &str) -> Option<BuiltinType> {
    BuiltinType::ALL.into_iter().find(|builtin| format!("{builtin:?}") == ty)
}

fn integer<T: TryFrom<i128>>(value: &Value) -> T {
    let number: i128 = match value {
        Value::String(text) => text.parse().expect("a number"),
        other => other.to_string().parse().expect("a number"),
    };
    T::try_from(number).ok().expect("in range")
}

fn text(value: &Value) -> UaString {
    value.as_str().map(UaString::from).unwrap_or_default()
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name)
}

fn float(value: &Value) -> f32 {
    match value {
        Value::Object(_) => {
            f32::from_bits(u32::from_str_radix(value["bits"].as_str().expect("bits"), 16).expect("hex"))
        }
        Value::String(word) => word.parse().expect("NaN or an infinity"),
        number => number.as_f64().expect("a number") as f32,
    }
}

fn double(value: &Value) -> f64 {
    match value {
        Value::Object(_) => {
            f64::from_bits(u64::from_str_radix(value["bits"].as_str().expect("bits"), 16).expect("hex"))
        }
        Value::String(word) => word.parse().expect("NaN or an infinity"),
        number => number.as_f64().expect("a number"),
    }
}

fn byte_string(value: &Value) -> ByteString {
    value.as_str().map_or(ByteString::NULL, |digits| hex::decode(digits).expect("hex").into())
}

fn date_time(value: &Value) -> DateTime {
    if let Some(ticks) = field(value, "ticks") {
        return DateTime(integer(ticks));
    }
    let iso = value["iso"].as_str().expect("ticks or iso");
    let part = |from: usize, to: usize| iso.get(from..to).expect("a date").parse::<u32>().expect("digits");
    let seconds = part(11, 13) * 3600 + part(14, 16) * 60 + part(17, 19);
    DateTime::from_utc(i32::try_from(part(0, 4)).expect("a year"), part(5, 7), part(8, 10), seconds, 0)
}

fn guid(value: &Value) -> Guid {
    value.as_str().expect("a Guid").parse().expect("a Guid")
}

fn node_id(value: &Value) -> NodeId {
    let namespace = value.get("ns").map_or(0, integer);
    if let Some(id) = field(value, "i") {
        return NodeId::numeric(namespace, integer(id));
    }
    if let Some(id) = field(value, "s") {
        return NodeId::string(namespace, id.as_str().expect("text"));
    }
    if let Some(id) = field(value, "g") {
        return NodeId::guid(namespace, guid(id));
    }
    NodeId::opaque(namespace, byte_string(&value["b"]).bytes())
}

fn expanded_node_id(value: &Value) -> ExpandedNodeId {
    ExpandedNodeId {
        node_id: node_id(value),
        namespace_uri: field(value, "nsu").map(text).unwrap_or_default(),
        server_index: field(value, "srv").map_or(0, integer),
    }
}

fn qualified_name(value: &Value) -> QualifiedName {
    QualifiedName { namespace_index: integer(&value["ns"]), name: text(&value["name"]) }
}

fn localized_text(value: &Value) -> LocalizedText {
    LocalizedText {
        locale: field(value, "locale").map(text).unwrap_or_default(),
        text: field(value, "text").map(text).unwrap_or_default(),
    }
}

fn diagnostic_info(value: &Value) -> DiagnosticInfo {
    DiagnosticInfo {
        symbolic_id: field(value, "symbolicId").map(integer),
        namespace_uri: field(value, "namespaceUri").map(integer),
        locale: field(value, "locale").map(integer),
        localized_text: field(value, "localizedText").map(integer),
        additional_info: field(value, "additionalInfo").map(text).unwrap_or_default(),
        inner_status_code: field(value, "innerStatusCode").map(|code| StatusCode(integer(code))),
        inner_diagnostic_info: field(value, "innerDiagnosticInfo")
            .map(|inner| Box::new(diagnostic_info(inner))),
    }
}

/// An ExtensionObject; structures stay opaque, written from their descriptor.
///
/// # Panics
/// The vectors are wrong.
#[must_use]
pub fn extension_object(value: &Value, shapes: &Shapes) -> ExtensionObject {
    if value.is_null() {
        return ExtensionObject::NULL;
    }
    if let Some(name) = field(value, "type").and_then(Value::as_str) {
        let mut body = Vec::new();
        shapes.put(name, &value["value"], &mut body);
        let encoding = shapes.get(name).binary_encoding.clone().expect("an encoding");
        return ExtensionObject::from_parts(encoding, ExtensionObjectBody::Binary(body.into()));
    }
    let type_id = node_id(&value["typeId"]);
    if let Some(bytes) = field(value, "bytes") {
        return ExtensionObject::from_parts(type_id, ExtensionObjectBody::Binary(byte_string(bytes)));
    }
    if let Some(xml) = field(value, "xml") {
        return ExtensionObject::from_parts(type_id, ExtensionObjectBody::Xml(text(xml)));
    }
    assert_eq!(value["body"], "none");
    ExtensionObject::from_parts(type_id, ExtensionObjectBody::None)
}

/// A DataValue.
#[must_use]
pub fn data_value(value: &Value, shapes: &Shapes) -> DataValue {
    DataValue::default()
        .with_value(field(value, "value").map(|value| variant(value, shapes)))
        .with_status(field(value, "status").map(|code| StatusCode(integer(code))))
        .with_source_timestamp(field(value, "sourceTimestamp").map(date_time))
        .with_source_picoseconds(field(value, "sourcePicoseconds").map(integer::<u16>))
        .with_server_timestamp(field(value, "serverTimestamp").map(date_time))
        .with_server_picoseconds(field(value, "serverPicoseconds").map(integer::<u16>))
}

/// A Variant.
///
/// # Panics
/// The vectors are wrong.
#[must_use]
pub fn variant(value: &Value, shapes: &Shapes) -> Variant {
    let Some(ty) = field(value, "type") else {
        return Variant::Null;
    };
    let builtin = ty.as_str().and_then(number_of).expect("a builtin type");
    let Some(items) = field(value, "array") else {
        return scalar(builtin, &value["value"], shapes);
    };
    let array = array(builtin, items, shapes);
    match field(value, "dims") {
        None => array.into(),
        Some(dims) => {
            let dims = dims.as_array().expect("a list").iter().map(integer).collect();
            VariantMatrix::new(dims, array).expect("the dimensions fit").into()
        }
    }
}

macro_rules! types {
    ($($name:ident: |$value:ident, $shapes:ident| $read:expr, |$item:ident| $wrap:expr;)*) => {
        fn scalar(builtin: BuiltinType, value: &Value, shapes: &Shapes) -> Variant {
            match builtin {
                $(BuiltinType::$name => {
                    let ($value, $shapes) = (value, shapes);
                    let _ = $shapes;
                    let $item = $read;
                    $wrap
                })*
                BuiltinType::Variant => panic!("a Variant holds no Variant"),
            }
        }

        fn array(builtin: BuiltinType, items: &Value, shapes: &Shapes) -> VariantArray {
            match builtin {
                $(BuiltinType::$name => VariantArray::$name(list(items, |$value| {
                    let $shapes = shapes;
                    let _ = $shapes;
                    $read
                })),)*
                BuiltinType::Variant => VariantArray::Variant(list(items, |item| variant(item, shapes))),
            }
        }

        /// A builtin value in binary.
        #[must_use]
        pub fn builtin_value(builtin: BuiltinType, value: &Value, shapes: &Shapes) -> Vec<u8> {
            match builtin {
                $(BuiltinType::$name => {
                    let ($value, $shapes) = (value, shapes);
                    let _ = $shapes;
                    encoded(&$read)
                })*
                BuiltinType::Variant => encoded(&variant(value, shapes)),
            }
        }
    };
}

fn list<T>(items: &Value, read: impl Fn(&Value) -> T) -> Array<T> {
    items.as_array().map(|items| items.iter().map(read).collect::<Vec<_>>()).into()
}

types! {
    Boolean: |v, s| v.as_bool().expect("a Boolean"), |x| Variant::Boolean(x);
    SByte: |v, s| integer::<i8>(v), |x| Variant::SByte(x);
    Byte: |v, s| integer::<u8>(v), |x| Variant::Byte(x);
    Int16: |v, s| integer::<i16>(v), |x| Variant::Int16(x);
    UInt16: |v, s| integer::<u16>(v), |x| Variant::UInt16(x);
    Int32: |v, s| integer::<i32>(v), |x| Variant::Int32(x);
    UInt32: |v, s| integer::<u32>(v), |x| Variant::UInt32(x);
    Int64: |v, s| integer::<i64>(v), |x| Variant::Int64(x);
    UInt64: |v, s| integer::<u64>(v), |x| Variant::UInt64(x);
    Float: |v, s| float(v), |x| Variant::Float(x);
    Double: |v, s| double(v), |x| Variant::Double(x);
    String: |v, s| text(v), |x| Variant::String(x);
    DateTime: |v, s| date_time(v), |x| Variant::DateTime(x);
    Guid: |v, s| guid(v), |x| Variant::Guid(x);
    ByteString: |v, s| byte_string(v), |x| Variant::ByteString(x);
    XmlElement: |v, s| XmlElement::from(text(v)), |x| Variant::XmlElement(x);
    NodeId: |v, s| node_id(v), |x| Variant::NodeId(x);
    ExpandedNodeId: |v, s| expanded_node_id(v), |x| Variant::ExpandedNodeId(Arc::new(x));
    StatusCode: |v, s| StatusCode(integer(v)), |x| Variant::StatusCode(x);
    QualifiedName: |v, s| qualified_name(v), |x| Variant::QualifiedName(Arc::new(x));
    LocalizedText: |v, s| localized_text(v), |x| Variant::LocalizedText(Arc::new(x));
    ExtensionObject: |v, s| extension_object(v, s), |x| Variant::ExtensionObject(Arc::new(x));
    DataValue: |v, s| data_value(v, s), |x| Variant::DataValue(Arc::new(x));
    DiagnosticInfo: |v, s| diagnostic_info(v), |x| Variant::DiagnosticInfo(Arc::new(x));
}
