//! JSON and XML of any kind, read as every type.

use uaforge_codec::json::{self, JsonEncoding};
use uaforge_codec::{DataValue, DiagnosticInfo, ExtensionObject, StructureType, Variant, xml};
use uaforge_types::{EventFilter, PublishResponse, ReadRequest};

use crate::text::{TextType, typed};

use super::Known;

fn types(known: &Known) -> Vec<TextType> {
    let mut types = vec![
        typed::<Variant>(),
        typed::<DataValue>(),
        typed::<DiagnosticInfo>(),
        typed::<ExtensionObject>(),
        typed::<EventFilter>(),
        typed::<ReadRequest>(),
        typed::<PublishResponse>(),
    ];
    let cx = known.decoding();
    types.extend(["VecOuter", "VecOptional", "VecUnion"].map(|name| TextType::named(name, cx)));
    types
}

/// Reads a text in JSON as every type; what it gives goes through JSON again.
///
/// # Panics
/// A value that was read cannot be written and read again.
pub fn read_as_json(input: &[u8], known: &Known) {
    let (text, cx) = (String::from_utf8_lossy(input), known.decoding());
    for ty in types(known) {
        let Ok(bytes) = ty.from_json(&text, cx) else { continue };
        let written = ty.to_json(&bytes, JsonEncoding::Verbose, cx).expect("what was read can be written");
        let again = ty.from_json(&written, cx).expect("what was written can be read");
        let twice = ty.to_json(&again, JsonEncoding::Verbose, cx).expect("what was read can be written");
        assert_eq!(written, twice);
    }
}

/// Reads a text in XML as every type; what it gives goes through XML again.
///
/// # Panics
/// A value that was read and written cannot be read again.
pub fn read_as_xml(input: &[u8], known: &Known) {
    let (text, cx) = (String::from_utf8_lossy(input), known.decoding());
    for ty in types(known) {
        let Ok(bytes) = ty.from_xml(&text, cx) else { continue };
        // An XmlElement may hold what is no XML.
        let Ok(written) = ty.to_xml(&bytes, cx) else { continue };
        ty.from_xml(&written, cx).expect("what was written can be read");
    }
}

/// Texts to mutate: those of a few values that have everything in them.
#[must_use]
pub fn text_seeds(known: &Known) -> (Vec<String>, Vec<String>) {
    let cx = known.decoding();
    let (mut jsons, mut xmls) = (Vec::new(), Vec::new());
    for name in [
        "VecOuter",
        "VecOptional",
        "VecUnion",
        "EventFilter",
        "StructureDefinition",
        "ProgramDiagnosticDataType",
    ] {
        let found = cx.types.descriptors().find(|descriptor| descriptor.name == name);
        let Some(ty) = found.map(StructureType::Static) else { continue };
        for seed in 0..8 {
            let bytes = crate::random_values::Random::new(seed, cx).structure(ty);
            jsons.extend(json::structure_to_string(ty, &bytes, JsonEncoding::Compact, cx).ok());
            jsons.extend(json::structure_to_string(ty, &bytes, JsonEncoding::Verbose, cx).ok());
            xmls.extend(xml::structure_to_string(ty, &bytes, cx).ok());
        }
    }
    (jsons, xmls)
}
