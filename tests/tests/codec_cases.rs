//! The codec cases 001 to 010: one value each, decoded, compared, and written again.

use std::fmt::Debug;

use serde_json::{Value, json};
use uaforge_codec::{
    ByteString, DataValue, DateTime, Decode, DecodeContext, DecodeError, DecodeLimits, Decoder, Encode,
    ExtensionObject, ExtensionObjectBody, Guid, LocalizedText, NamespaceMap, NodeId, QualifiedName,
    StatusCode, TypeRegistry, UaString, Variant, VariantArray,
};
use uaforge_tests::notation::encoded;
use uaforge_types::{Range, status};

/// A value in the notation of the cases, and in binary.
type Decoded = (Value, Vec<u8>);

fn load(case: &str) -> Value {
    let path = format!("{}/cases/{case}/expected.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("committed")).expect("JSON")
}

fn decode<T>(bytes: &[u8], show: impl Fn(&T) -> Value) -> Result<Decoded, DecodeError>
where
    T: Decode + Encode + Debug,
{
    static LIMITS: DecodeLimits = DecodeLimits::DEFAULT;
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    let namespaces = NamespaceMap::new();
    let mut d =
        Decoder::new(bytes, DecodeContext { limits: &LIMITS, namespaces: &namespaces, types: &types });
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok((show(&value), encoded(&value)))
}

fn date(time: DateTime) -> Value {
    match time {
        DateTime::MAX => json!("DateTime::MAX"),
        time => json!(time.to_string()),
    }
}

fn string(text: &UaString) -> Value {
    json!(text.as_str())
}

fn bytes(value: &ByteString) -> Value {
    assert!(value.bytes().is_empty(), "the case has no others");
    json!(value.as_bytes().map(|_| ""))
}

fn guid(value: &Guid) -> Value {
    json!(value.to_string().to_uppercase())
}

fn node_id(value: &NodeId) -> Value {
    let text = value.to_string();
    match text.split_once("g=") {
        Some((namespace, guid)) => json!(format!("{namespace}g={}", guid.to_uppercase())),
        None => json!(text),
    }
}

fn array(values: &VariantArray) -> Value {
    match values {
        VariantArray::Int32(items) if items.is_null() => Value::Null,
        VariantArray::Int32(items) => items.iter().map(|item| json!(item)).collect(),
        VariantArray::Byte(items) => items.iter().map(|item| json!(item)).collect(),
        VariantArray::Variant(items) => items.iter().map(variant).collect(),
        other => panic!("the cases have no {other:?}"),
    }
}

fn variant(value: &Variant) -> Value {
    let name = format!("{:?}", value.builtin_type());
    let name = name.trim_start_matches("Some(").trim_end_matches(')');
    match value {
        Variant::Boolean(value) => json!({ name: value }),
        Variant::Byte(value) => json!({ name: value }),
        Variant::Double(value) => json!({ name: value }),
        Variant::Guid(value) => json!({ name: guid(value) }),
        Variant::Array(values) => json!({ format!("{name}[]"): array(values) }),
        Variant::Matrix(matrix) => {
            let dimensions: Vec<_> = matrix.dimensions().iter().map(ToString::to_string).collect();
            let width = matrix.dimensions().last().map_or(1, |last| (*last).max(1)) as usize;
            let flat = array(matrix.elements());
            let rows: Vec<_> = flat.as_array().expect("a list").chunks(width).map(|row| json!(row)).collect();
            json!({ format!("{name}[{}]", dimensions.join(",")): rows })
        }
        other => panic!("the cases have no {other:?}"),
    }
}

fn data_value(value: &DataValue) -> Value {
    let mut out = serde_json::Map::new();
    let mut put = |name: &str, part: Option<Value>| {
        if let Some(part) = part {
            out.insert(name.into(), part);
        }
    };
    let name = |code: StatusCode| match status::name(code) {
        Some(name) => json!(name),
        None => json!(code.to_string()),
    };
    put("value", value.value().map(variant));
    put("status", value.status().map(name));
    put("sourceTimestamp", value.source_timestamp().map(date));
    put("sourcePicoseconds", value.source_picoseconds().map(|part| json!(part)));
    put("serverTimestamp", value.server_timestamp().map(date));
    put("serverPicoseconds", value.server_picoseconds().map(|part| json!(part)));
    out.into()
}

fn extension_object(value: &ExtensionObject) -> Value {
    if let Some(range) = value.downcast_ref::<Range>() {
        return json!({ "typeId": "i=886", "Range": { "Low": range.low, "High": range.high } });
    }
    let id = node_id(value.type_id());
    match value.body() {
        ExtensionObjectBody::None => json!({ "typeId": id, "body": null }),
        ExtensionObjectBody::Binary(body) => json!({ "typeId": id, "body": hex::encode(body.bytes()) }),
        ExtensionObjectBody::Xml(text) => json!({ "typeId": id, "xml": text.text() }),
        ExtensionObjectBody::Value(value) => panic!("the cases have no {value:?}"),
    }
}

fn localized_text(value: &LocalizedText) -> Value {
    json!({ "locale": value.locale.as_str(), "text": value.text.as_str() })
}

fn qualified_name(value: &QualifiedName) -> Value {
    json!(format!("{}:{}", value.namespace_index, value.name.as_str().unwrap_or("(null)")))
}

fn run(ty: &str, input: &[u8]) -> Result<Decoded, DecodeError> {
    match ty {
        "NodeId" => decode(input, node_id),
        "String" => decode(input, string),
        "ByteString" => decode(input, bytes),
        "DateTime" => decode(input, |time| date(*time)),
        "Guid" => decode(input, guid),
        "Variant" => decode(input, variant),
        "DataValue" => decode(input, data_value),
        "ExtensionObject" => decode(input, extension_object),
        "LocalizedText" => decode(input, localized_text),
        "QualifiedName" => decode(input, qualified_name),
        other => panic!("no {other} in these cases"),
    }
}

/// Notations of the cases that say the same in other words.
fn same(expected: &Value, found: &Value) -> bool {
    match expected {
        Value::String(text) if text == "DateTime::MIN" => found == "1601-01-01T00:00:00Z",
        Value::String(text) if text.contains("nested one-element Variant arrays") => {
            let levels = match text.split(' ').next() {
                Some("ten") => 10,
                _ => 99,
            };
            let mut at = found;
            for _ in 0..levels {
                at = &at["Variant[]"][0];
            }
            *at == json!({ "Boolean": true })
        }
        expected => expected == found,
    }
}

fn listed(names: &Value, error: &DecodeError) -> bool {
    let name = status::name(error.status()).unwrap_or_default();
    names.as_array().expect("a list").iter().any(|listed| {
        // A `oneof` list says more in some entries: `Bad_DecodingError for this value only`.
        listed.as_str().is_some_and(|listed| listed.starts_with(name))
    })
}

fn check(case: &str) {
    for vector in load(case)["vectors"].as_array().expect("a list") {
        let text = |key: &str| vector[key].as_str().unwrap_or_default();
        let input = hex::decode(text("hex")).expect("hex");
        let name = format!("{case}: {}", text("id"));
        let result = run(text("type"), &input);
        match (text("outcome"), &result) {
            ("value", Ok((value, again))) => {
                assert!(same(&vector["value"], value), "{name}: {value}");
                assert_eq!(hex::encode(again), text("reencode"), "{name}");
            }
            ("error", Err(error)) => assert!(listed(&vector["status"], error), "{name}: {error}"),
            ("oneof", Err(error)) => assert!(listed(&vector["accept"], error), "{name}: {error}"),
            ("oneof", Ok(_)) => {
                let all = vector["accept"].as_array().expect("a list");
                let only_errors =
                    all.iter().all(|one| one.as_str().is_some_and(|one| one.starts_with("Bad_")));
                assert!(!only_errors, "{name}: {result:?}");
            }
            (outcome, result) => panic!("{name}: wanted {outcome}, got {result:?}"),
        }
    }
}

macro_rules! cases {
    ($($test:ident: $case:literal;)*) => {$(
        #[test]
        fn $test() {
            check($case);
        }
    )*};
}

cases! {
    case_001_node_id_compact_forms: "001-nodeid-compact-forms";
    case_002_string_null_empty_utf8: "002-string-null-empty-utf8";
    case_003_date_time_range: "003-datetime-range";
    case_004_guid_byte_order: "004-guid-byte-order";
    case_005_variant_nesting_limit: "005-variant-nesting-limit";
    case_006_array_length_bombs: "006-array-length-bombs";
    case_007_data_value_mask: "007-datavalue-mask";
    case_008_extension_object_bodies: "008-extension-object-bodies";
    case_009_localized_text_and_qualified_name: "009-localized-text-and-qualified-name";
    case_010_matrix_dimensions: "010-matrix-dimensions";
}

/// A negative length reads as null in strings, byte strings and arrays alike (case 002).
#[test]
fn every_negative_length_is_null() {
    for length in [-1_i32, -2, i32::MIN] {
        let input = length.to_le_bytes();
        assert_eq!(run("String", &input).expect("null").0, Value::Null);
        assert_eq!(run("ByteString", &input).expect("null").0, Value::Null);
        let array = [&[0x86], input.as_slice()].concat();
        assert_eq!(run("Variant", &array).expect("null").0, json!({ "Int32[]": null }));
    }
}

/// `a:b` has no index in front (case 009).
#[test]
fn a_qualified_name_without_digits_is_all_name() {
    let name = |text: &str| text.parse::<QualifiedName>().expect("any text is a name");
    assert_eq!(name("a:b"), QualifiedName::new(0, "a:b"));
    assert_eq!(name("1:a:b"), QualifiedName::new(1, "a:b"));
    assert_eq!(name("70000:a"), QualifiedName::new(0, "70000:a"));
    assert_eq!(name(":a"), QualifiedName::new(0, ":a"));
}
