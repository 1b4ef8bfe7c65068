//! What the reader accepts: encodings of text, order of files, interfaces, deep values.

use std::path::Path;

use uaforge_model::resolved::{Ident, Value};
use uaforge_model::{Loaded, Loader, canonical, interface};

const URI: &str = "urn:fixture";

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(path).expect("a fixture")
}

fn load(name: &str, bytes: impl Into<Vec<u8>>) -> Loaded {
    let loaded = Loader::new().text(name, bytes).load();
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.report(false));
    loaded
}

fn text_of(loaded: &Loaded) -> String {
    let ns = loaded.set.ns(URI).expect("the model");
    let value = |number| {
        let node = loaded.set.model(ns).and_then(|model| model.nodes.get(&Ident::Numeric(number)));
        format!("{:?}", node.and_then(|node| node.value.clone()))
    };
    canonical::text(&loaded.set, ns) + &value(6001)
}

fn utf16(text: &str, big_endian: bool, mark: bool) -> Vec<u8> {
    let mark = if mark { Some(0xFEFF) } else { None };
    let units = mark.into_iter().chain(text.encode_utf16());
    units.flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

#[test]
fn encodings_and_line_ends_make_no_difference() {
    let plain = String::from_utf8(fixture("plain.xml")).expect("UTF-8");
    let expected = text_of(&load("plain", plain.clone()));
    let windows = plain.replace('\n', "\r\n");
    let wide = plain.replace("utf-8", "utf-16");
    let no_declaration = plain.split_once('\n').expect("two lines").1.to_owned();
    let variants = [
        ("CRLF", windows.clone().into_bytes()),
        ("mark", format!("\u{FEFF}{plain}").into_bytes()),
        ("mark and CRLF", format!("\u{FEFF}{windows}").into_bytes()),
        ("mark, no declaration", format!("\u{FEFF}{no_declaration}").into_bytes()),
        ("UTF-16, little endian", utf16(&wide, false, true)),
        ("UTF-16, big endian", utf16(&wide, true, true)),
        ("UTF-16 without mark", utf16(&wide, false, false)),
    ];
    for (name, bytes) in variants {
        assert_eq!(text_of(&load(name, bytes)), expected, "{name}");
    }
}

#[test]
fn lines_are_right_with_crlf_and_mark() {
    let text = String::from_utf8(fixture("UAF0103.xml")).expect("UTF-8");
    let position = |text: String| {
        let loaded = Loader::new().text("file", text).load();
        let span = loaded.diagnostics.first().and_then(|found| found.span).expect("a place");
        loaded.sources.position(span).map(|(_, line, column)| (line, column))
    };
    let plain = position(text.clone());
    assert_eq!(plain, position(format!("\u{FEFF}{}", text.replace('\n', "\r\n"))));
    assert_eq!(plain, Some((18, 23)));
}

#[test]
fn excerpts_end_at_characters() {
    let text = String::from_utf8(fixture("plain.xml")).expect("UTF-8");
    for broken in ["i=40\"\u{FEFF}>", "é", "<é\u{10FFFF}"] {
        let loaded = Loader::new().text("file", text.replacen("<Alias ", broken, 1)).load();
        assert!(loaded.has_errors() && !loaded.report(false).is_empty());
    }
}

#[test]
fn the_order_of_files_makes_no_difference() {
    let main = String::from_utf8(fixture("UAF0121.xml")).expect("UTF-8").replace("2023-", "2021-");
    let base = fixture("UAF0121.base.xml");
    let text = |loaded: &Loaded| {
        loaded.set.models.iter().map(|model| canonical::text(&loaded.set, model.ns)).collect::<String>()
    };
    let first = Loader::new().text("main", main.clone()).text("base", base.clone()).load();
    let second = Loader::new().text("base", base).text("main", main).load();
    assert_eq!(text(&first), text(&second));
    assert_eq!(first.set.uris, second.set.uris);
    let order: Vec<&str> = first.set.models.iter().map(|model| first.set.uri(model.ns)).collect();
    assert_eq!(order, ["http://opcfoundation.org/UA/", "urn:base", URI], "dependencies first");
}

#[test]
fn an_interface_says_what_the_document_says() {
    let loaded = load("document", fixture("UAF0306.xml").to_vec().replace_mask());
    let ns = loaded.set.ns(URI).expect("the model");
    let mut set = loaded.set.clone();
    let model = set.models.iter_mut().find(|model| model.ns == ns).expect("the model");
    model.rust_path = Some("::fixture".to_owned());
    model.ledger.insert(("types".to_owned(), "Recipe\twith a tab".to_owned()), "Recipe".to_owned());
    let text = interface::write(&set, ns);
    let again = Loader::new().interface(text.clone(), None).load();
    assert!(again.diagnostics.is_empty(), "{}", again.report(false));
    let ns_again = again.set.ns(URI).expect("the model");
    assert_eq!(canonical::text(&again.set, ns_again), canonical::text(&loaded.set, ns));
    assert_eq!(interface::write(&again.set, ns_again), text, "byte for byte");
    let carried = again.set.model(ns_again).expect("the model");
    assert_eq!(carried.rust_path.as_deref(), Some("::fixture"));
    assert_eq!(interface::ledger(&text).expect("an interface").len(), 1);
    let renamed = Loader::new().interface(text, Some("crate::other")).load();
    let path = renamed.set.model(renamed.set.ns(URI).expect("the model")).and_then(|m| m.rust_path.clone());
    assert_eq!(path.as_deref(), Some("crate::other"));
}

trait ReplaceMask {
    fn replace_mask(self) -> Vec<u8>;
}

impl ReplaceMask for Vec<u8> {
    /// The mask that fits the fields.
    fn replace_mask(self) -> Vec<u8> {
        String::from_utf8(self).expect("UTF-8").replace("<EncodingMask>0", "<EncodingMask>1").into_bytes()
    }
}

#[test]
fn deep_values_need_a_bounded_stack() {
    let plain = String::from_utf8(fixture("plain.xml")).expect("UTF-8");
    let (open, close) = ("<uax:Variant><uax:Value>", "</uax:Value></uax:Variant>");
    let deep = format!("{}<uax:Double>1.5</uax:Double>{}", open.repeat(95), close.repeat(95));
    let text = plain.replace("<uax:Double>1.5</uax:Double>", &deep);
    let run = || {
        let loaded = load("deep", text);
        let ns = loaded.set.ns(URI).expect("the model");
        let node = loaded.set.model(ns).and_then(|model| model.nodes.get(&Ident::Numeric(6001)).cloned());
        assert_eq!(node.and_then(|node| node.value), Some(Value::Double(1.5)));
    };
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(run).expect("a thread");
    thread.join().expect("no overflow");
}
