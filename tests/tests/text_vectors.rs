//! JSON and XML as the specification has them, for values of other implementations: `vectors/json.json`
//! and `vectors/xml.json`.

use serde_json::Value;
use uaforge_codec::json::JsonEncoding;
use uaforge_codec::{DecodeContext, DecodeLimits, NamespaceMap, TypeRegistry, Variant, xml};
use uaforge_tests::fixtures::vec;
use uaforge_tests::notation::encoded;
use uaforge_tests::text::TextType;

fn load(name: &str) -> Vec<Value> {
    let path = format!("{}/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("committed");
    serde_json::from_str(&text).expect("a list")
}

fn types() -> TypeRegistry {
    let mut types = uaforge_types::registry();
    vec::register_types(&mut types);
    types.register::<uaforge_types::RequestHeader>();
    types.register::<uaforge_types::ResponseHeader>();
    types.register::<uaforge_types::ReadRequest>();
    types.register::<uaforge_types::ReadResponse>();
    types.register::<uaforge_types::WriteRequest>();
    types.register::<uaforge_types::BrowseRequest>();
    types.register::<uaforge_types::CreateSubscriptionRequest>();
    types.register::<uaforge_types::PublishResponse>();
    types
}

fn namespaces() -> NamespaceMap {
    let uris = ["", "urn:vec:app", "urn:vec:ns2", "urn:vec:ns3", "urn:vec:ns4", "urn:vec:ns5"];
    NamespaceMap::from_uris(uris)
}

static LIMITS: DecodeLimits = DecodeLimits::DEFAULT;

/// Equal but for the spelling of numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// What a text does not tell: whether a status Good or a null value was there, and in Compact whether a
/// text was empty.
const LOST: &[&str] = &["datavalue-status-good-present", "datavalue-null-variant"];
const LOST_IN_COMPACT: &[&str] = &["localizedtext-empty-strings", "struct-argument-nulls"];
/// An id in a longer form than needed comes back in the shortest one, a NaN as the specified one.
const OTHER_BYTES: &[&str] = &["nan"];

#[test]
fn json() {
    let (types, namespaces) = (types(), namespaces());
    let cx = DecodeContext { limits: &LIMITS, namespaces: &namespaces, types: &types };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for vector in load("json.json") {
        let (name, ty) = (vector["name"].as_str().expect("a name"), vector["type"].as_str().expect("a type"));
        let bytes = hex::decode(vector["hex"].as_str().expect("hex")).expect("hex");
        let target = TextType::named(ty, cx);
        for (encoding, form) in [(JsonEncoding::Compact, "compact"), (JsonEncoding::Verbose, "verbose")] {
            count += 1;
            match target.to_json(&bytes, encoding, cx) {
                Ok(text) => match serde_json::from_str::<Value>(&text) {
                    Ok(written) if same(&written, &vector[form]) => {}
                    _ => wrong.push(format!("{name} {form}: wrote {text}, not {}", vector[form])),
                },
                Err(error) => wrong.push(format!("{name} {form}: {error}")),
            }
            let lost = LOST.contains(&name) || (form == "compact" && LOST_IN_COMPACT.contains(&name));
            let text = vector[form].to_string();
            match target.from_json(&text, cx) {
                Ok(read) if read == bytes || OTHER_BYTES.iter().any(|part| name.contains(part)) => {}
                Ok(read) if lost => {
                    let again = target.to_json(&read, encoding, cx).expect("readable");
                    let again = serde_json::from_str(&again).expect("JSON");
                    if !same(&again, &vector[form]) {
                        wrong.push(format!("{name} {form}: {text} gave {again}"));
                    }
                }
                Ok(read) => wrong.push(format!(
                    "{name} {form}: read {text} as {}, not {}",
                    hex::encode(read),
                    hex::encode(&bytes)
                )),
                Err(error) => wrong.push(format!("{name} {form}: reading {text}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

/// The reversible form of version 1.04, as node-opcua writes it (OPC 10000-6 Annex H).
#[test]
fn reversible_json_of_version_1_04() {
    let (types, namespaces) = (types(), namespaces());
    let cx = DecodeContext { limits: &LIMITS, namespaces: &namespaces, types: &types };
    let (mut read, mut wrong) = (0, Vec::new());
    for vector in load("json.json") {
        let (name, ty) = (vector["name"].as_str().expect("a name"), vector["type"].as_str().expect("a type"));
        let Some(text) = vector["peers"]["node-opcua reversible-1.04"].as_str() else { continue };
        let result = TextType::named(ty, cx).from_json(text, cx).map(hex::encode);
        match result {
            Ok(bytes) if Some(bytes.as_str()) == vector["hex"].as_str() => read += 1,
            other => wrong.push(format!("{name}: {text}: {other:?}")),
        }
    }
    // The others are values that node-opcua's form has lost (an empty string, a null, a URI, ticks).
    assert!(read >= 170, "{read} read\n{}", wrong.join("\n"));
}

/// The element tree: names, attributes and text without white space around it.
fn tree(node: roxmltree::Node<'_, '_>) -> Vec<String> {
    let name = node.tag_name();
    let mut out = vec![format!("<{{{}}}{}", name.namespace().unwrap_or_default(), name.name())];
    for attribute in node.attributes() {
        out.push(format!("@{}={}", attribute.name(), attribute.value()));
    }
    let text: String =
        node.children().filter(|child| child.is_text()).filter_map(|child| child.text()).collect();
    match text.trim().parse::<f64>() {
        Ok(number) => out.push(format!("{number:?}")),
        Err(_) => out.push(text.trim().to_string()),
    }
    out.extend(node.children().filter(roxmltree::Node::is_element).flat_map(tree));
    out.push(">".into());
    out
}

#[test]
fn xml_values() {
    let types = types();
    let namespaces = uaforge_tests::notation::namespaces();
    let cx = DecodeContext { limits: &LIMITS, namespaces: &namespaces, types: &types };
    let mut wrong = Vec::new();
    for vector in load("xml.json") {
        let name = vector["name"].as_str().expect("a name");
        let document = format!(
            r#"<uax:Variant xmlns:uax="http://opcfoundation.org/UA/2008/02/Types.xsd" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><uax:Value>{}</uax:Value></uax:Variant>"#,
            vector["xml"].as_str().expect("XML")
        );
        let bytes = hex::decode(vector["hex"].as_str().expect("hex")).expect("hex");
        match TextType::named("Variant", cx).to_xml(&bytes, cx) {
            Ok(text) => {
                let written = roxmltree::Document::parse(&text).map(|written| tree(written.root_element()));
                let expected = roxmltree::Document::parse(&document).expect("XML");
                if written.as_ref().ok() != Some(&tree(expected.root_element())) {
                    wrong.push(format!("{name}: wrote {text}, not {}", vector["xml"]));
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        let other = OTHER_BYTES.iter().any(|part| name.contains(part)) || name.contains("nodeid");
        match xml::from_str::<Variant>(&document, cx).map(|value| encoded(&value)) {
            Ok(read) if read == bytes || other || LOST.contains(&name) => {}
            Ok(read) => wrong.push(format!("{name}: read as {}, not {}", hex::encode(read), vector["hex"])),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
