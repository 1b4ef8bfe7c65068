//! Bytes made by other implementations: `vectors/binary.json` and `vectors/binary_decode.json`.

use std::fmt::Debug;

use serde_json::Value;
use uaforge_codec::{
    Array, BuiltinType, ByteString, DataValue, DateTime, Decode, DecodeContext, DecodeError, DecodeLimits,
    Decoder, DiagnosticInfo, Encode, ExpandedNodeId, ExtensionObject, Guid, LocalizedText, NamespaceMap,
    NodeId, QualifiedName, StatusCode, TypeRegistry, UaString, Variant, XmlElement,
};
use uaforge_tests::fixtures::vec;
use uaforge_tests::notation::{Shapes, encoded, namespaces, number_of, transcode};

struct Vectors {
    namespaces: NamespaceMap,
    types: TypeRegistry,
    shapes: Shapes,
}

fn load(name: &str) -> Value {
    let path = format!("{}/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("committed")).expect("JSON")
}

fn vectors() -> Vectors {
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    // Services are no bodies of ExtensionObjects, but are found here in the same way.
    types.register::<uaforge_types::ReadRequest>();
    types.register::<uaforge_types::ReadResponse>();
    types.register::<uaforge_types::WriteRequest>();
    types.register::<uaforge_types::BrowseRequest>();
    types.register::<uaforge_types::CreateSubscriptionRequest>();
    types.register::<uaforge_types::PublishResponse>();
    let mut all = types.clone();
    vec::register_types(&mut all);
    let shapes = Shapes::new(&types, &load("custom_types.json"));
    Vectors { namespaces: namespaces(), types: all, shapes }
}

const LIMITS: DecodeLimits = DecodeLimits::DEFAULT;

impl Vectors {
    fn cx(&self) -> DecodeContext<'_> {
        DecodeContext { limits: &LIMITS, namespaces: &self.namespaces, types: &self.types }
    }

    /// Decodes all of `bytes` and writes the value again.
    fn again<T: Decode + Encode + PartialEq + Debug>(&self, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let mut d = Decoder::new(bytes, self.cx());
        let value = T::decode(&mut d)?;
        d.finish()?;
        // A used value takes the next one as a fresh one does.
        let mut used = value;
        used.decode_into(&mut Decoder::new(bytes, self.cx()))?;
        let out = encoded(&used);
        assert_eq!(encoded(&T::decode(&mut Decoder::new(bytes, self.cx()))?), out);
        Ok(out)
    }

    fn again_array<T>(&self, bytes: &[u8], array: bool) -> Result<Vec<u8>, DecodeError>
    where
        T: Decode + Encode + PartialEq + Debug,
    {
        if array { self.again::<Array<T>>(bytes) } else { self.again::<T>(bytes) }
    }

    /// Decodes and writes again through the Rust type of `ty`.
    fn round_trip(&self, ty: &str, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let (element, array) = ty.strip_suffix("[]").map_or((ty, false), |element| (element, true));
        match number_of(element) {
            Some(builtin) => self.builtin(builtin, bytes, array),
            None if self.shapes.contains(element) => self.structure(element, bytes, array),
            None => self.again_array::<uaforge_types::ApplicationType>(bytes, array),
        }
    }

    fn builtin(&self, builtin: BuiltinType, bytes: &[u8], array: bool) -> Result<Vec<u8>, DecodeError> {
        match builtin {
            BuiltinType::Boolean => self.again_array::<bool>(bytes, array),
            BuiltinType::SByte => self.again_array::<i8>(bytes, array),
            BuiltinType::Byte => self.again_array::<u8>(bytes, array),
            BuiltinType::Int16 => self.again_array::<i16>(bytes, array),
            BuiltinType::UInt16 => self.again_array::<u16>(bytes, array),
            BuiltinType::Int32 => self.again_array::<i32>(bytes, array),
            BuiltinType::UInt32 => self.again_array::<u32>(bytes, array),
            BuiltinType::Int64 => self.again_array::<i64>(bytes, array),
            BuiltinType::UInt64 => self.again_array::<u64>(bytes, array),
            BuiltinType::Float => self.again_array::<f32>(bytes, array),
            BuiltinType::Double => self.again_array::<f64>(bytes, array),
            BuiltinType::String => self.again_array::<UaString>(bytes, array),
            BuiltinType::DateTime => self.again_array::<DateTime>(bytes, array),
            BuiltinType::Guid => self.again_array::<Guid>(bytes, array),
            BuiltinType::ByteString => self.again_array::<ByteString>(bytes, array),
            BuiltinType::XmlElement => self.again_array::<XmlElement>(bytes, array),
            BuiltinType::NodeId => self.again_array::<NodeId>(bytes, array),
            BuiltinType::ExpandedNodeId => self.again_array::<ExpandedNodeId>(bytes, array),
            BuiltinType::StatusCode => self.again_array::<StatusCode>(bytes, array),
            BuiltinType::QualifiedName => self.again_array::<QualifiedName>(bytes, array),
            BuiltinType::LocalizedText => self.again_array::<LocalizedText>(bytes, array),
            BuiltinType::ExtensionObject => self.again_array::<ExtensionObject>(bytes, array),
            BuiltinType::DataValue => self.again_array::<DataValue>(bytes, array),
            BuiltinType::Variant => self.again_array::<Variant>(bytes, array),
            BuiltinType::DiagnosticInfo => self.again_array::<DiagnosticInfo>(bytes, array),
        }
    }

    /// Structures come and go as bodies of ExtensionObjects, so that the registry finds their type.
    fn structure(&self, name: &str, bytes: &[u8], array: bool) -> Result<Vec<u8>, DecodeError> {
        match (name, array) {
            ("Argument", true) => return self.again::<Array<uaforge_types::Argument>>(bytes),
            ("VecPoint", true) => return self.again::<Array<vec::VecPoint>>(bytes),
            (name, true) => panic!("no array of {name} here"),
            _ => {}
        }
        let id = self.shapes.get(name).binary_encoding.clone().unwrap_or_else(|| panic!("{name}: encoding"));
        let head = [encoded(&id), vec![1]].concat();
        let len = i32::try_from(bytes.len()).expect("short").to_le_bytes();
        let object = [&head, len.as_slice(), bytes].concat();
        let value = ExtensionObject::decode(&mut Decoder::new(&object, self.cx()))?;
        let known = matches!(value.body(), uaforge_codec::ExtensionObjectBody::Value(_));
        assert!(known, "{name} is not registered");
        let again = self.again::<ExtensionObject>(&object)?;
        assert_eq!(again.get(..head.len()), Some(head.as_slice()), "{name}: the encoding id");
        Ok(again.get(head.len() + 4..).expect("a body").to_vec())
    }
}

#[test]
fn values_and_bytes_agree_in_both_directions() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    let all = load("binary.json");
    for vector in all.as_array().expect("a list") {
        let (name, ty) = (vector["name"].as_str().expect("a name"), vector["type"].as_str().expect("a type"));
        let expected = vector["hex"].as_str().expect("hex");
        let forced = vector["value"].get("form").is_some();
        let written = hex::encode(transcode(ty, &vector["value"], &vectors.shapes));
        if written != expected && !forced {
            wrong.push(format!("{name}: wrote {written}, not {expected}"));
        }
        let bytes = hex::decode(expected).expect("hex");
        match vectors.round_trip(ty, &bytes).map(hex::encode) {
            // An id in a longer form than needed comes back in the shortest one.
            Ok(again) if again == if forced { &written } else { expected } => {}
            Ok(again) => wrong.push(format!("{name}: read {expected}, wrote {again}")),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        for other in vector["other"].as_array().into_iter().flatten() {
            if other["by_spec"] == "same value" {
                let bytes = hex::decode(other["hex"].as_str().expect("hex")).expect("hex");
                let again = vectors.round_trip(ty, &bytes).map(hex::encode);
                if again.as_deref() != Ok(expected) {
                    wrong.push(format!("{name}: the other encoding gives {again:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn inputs_that_no_encoder_writes() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    let all = load("binary_decode.json");
    for vector in all.as_array().expect("a list") {
        let (name, ty) = (vector["name"].as_str().expect("a name"), vector["type"].as_str().expect("a type"));
        let bytes = hex::decode(vector["hex"].as_str().expect("hex")).expect("hex");
        let result = vectors.round_trip(ty, &bytes);
        let right = match vector["verdict"].as_str() {
            Some("accept") => result.is_ok(),
            Some("reject") => result.is_err(),
            _ => true,
        };
        if !right {
            wrong.push(format!("{name}: {result:?}, but {}", vector["why"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_say_where() {
    let vectors = vectors();
    let request = uaforge_types::ReadRequest {
        nodes_to_read: vec![uaforge_types::ReadValueId::default(); 4].into(),
        ..Default::default()
    };
    let mut bytes = encoded(&request);
    // The fourth node: its id starts 16 bytes before the end.
    let len = bytes.len();
    bytes[len - 16] = 6;
    let error =
        uaforge_types::ReadRequest::decode(&mut Decoder::new(&bytes, vectors.cx())).expect_err("form 6");
    assert!(error.to_string().starts_with("nodesToRead[3].nodeId: "), "{error}");
    assert_eq!(error.status(), StatusCode::BAD_DECODING_ERROR);
}
