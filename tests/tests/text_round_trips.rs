//! Every structure of the compiled models from seeded random values through every encoding and back:
//! binary, both forms of JSON, XML, and the dynamic value.

use uaforge_codec::json::{self, JsonEncoding};
use uaforge_codec::{
    DecodeContext, DecodeLimits, Decoder, DynamicStructure, EncodeContext, Encoder, NamespaceMap,
    StructureDescriptor, StructureType, TextError, TypeRegistry, xml,
};
use uaforge_tests::fixtures::vec;
use uaforge_tests::random_values::Random;

static LIMITS: DecodeLimits = DecodeLimits::DEFAULT;
const VALUES: u64 = 8;

fn known() -> (TypeRegistry, NamespaceMap) {
    let mut types = uaforge_types::registry();
    vec::register_types(&mut types);
    uaforge_di::register_types(&mut types);
    let mut namespaces = NamespaceMap::new();
    for uri in ["urn:vec:app", "http://opcfoundation.org/UA/DI/"] {
        namespaces.push(uri);
    }
    (types, namespaces)
}

fn structures(types: &TypeRegistry) -> Vec<&'static StructureDescriptor> {
    let mut all: Vec<_> = types.descriptors().collect();
    all.sort_by_key(|descriptor| (descriptor.data_type.namespace, descriptor.name));
    all
}

type Check = fn(StructureType<'_>, &[u8], DecodeContext<'_>) -> Result<Vec<u8>, TextError>;

fn every_value(check: Check) {
    let (types, namespaces) = known();
    let cx = DecodeContext { limits: &LIMITS, namespaces: &namespaces, types: &types };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for descriptor in structures(&types) {
        let ty = StructureType::Static(descriptor);
        for seed in 0..VALUES {
            let bytes = Random::new(seed, cx).structure(ty);
            count += 1;
            match check(ty, &bytes, cx) {
                Ok(again) if again == bytes => {}
                Ok(again) => {
                    let text = json::structure_to_string(ty, &bytes, JsonEncoding::Verbose, cx);
                    let other = json::structure_to_string(ty, &again, JsonEncoding::Verbose, cx);
                    wrong.push(format!("{} {seed}:\n  {text:?}\n  {other:?}", descriptor.name));
                }
                Err(error) => wrong.push(format!("{} {seed}: {error}", descriptor.name)),
            }
        }
    }
    assert!(count > 1_000, "{count} values");
    wrong.truncate(8);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn verbose_json() {
    every_value(|ty, bytes, cx| {
        let text = json::structure_to_string(ty, bytes, JsonEncoding::Verbose, cx)?;
        json::structure_from_str(ty, &text, cx)
    });
}

/// Compact leaves empty texts of a LocalizedText out: what it says is the same after another round.
#[test]
fn compact_json() {
    every_value(|ty, bytes, cx| {
        let text = json::structure_to_string(ty, bytes, JsonEncoding::Compact, cx)?;
        let read = json::structure_from_str(ty, &text, cx)?;
        assert_eq!(json::structure_to_string(ty, &read, JsonEncoding::Compact, cx)?, text);
        let again = json::structure_from_str(ty, &text, cx)?;
        Ok(if again == read { bytes.to_vec() } else { again })
    });
}

#[test]
fn xml_documents() {
    every_value(|ty, bytes, cx| {
        let text = xml::structure_to_string(ty, bytes, cx)?;
        xml::structure_from_str(ty, &text, cx)
    });
}

#[test]
fn dynamic_values() {
    every_value(|ty, bytes, cx| {
        let mut d = Decoder::new(bytes, cx);
        let value = DynamicStructure::decode(ty, &mut d)?;
        d.finish()?;
        let mut out = Vec::new();
        let mut e = Encoder::new(&mut out, EncodeContext { namespaces: cx.namespaces });
        value.encode(ty, &mut e);
        e.finish()?;
        Ok(out)
    });
}
