//! What is wrong with a text in JSON or XML, and where it is.

use uaforge_codec::json::{self, JsonEncoding};
use uaforge_codec::{
    DataValue, DateTime, Decode, DecodeContext, DecodeLimits, Described, ExtensionObject, LocalizedText,
    NamespaceMap, NodeId, QualifiedName, TextError, TextReason, TypeRegistry, UaString, Variant, xml,
};
use uaforge_tests::fixtures::vec;
use uaforge_types::{ApplicationType, Argument, ReadRequest};

struct Known(TypeRegistry, NamespaceMap);

impl Known {
    fn new() -> Self {
        let mut types = uaforge_types::registry();
        vec::register_types(&mut types);
        Self(types, uaforge_tests::notation::namespaces())
    }

    fn cx(&self) -> DecodeContext<'_> {
        DecodeContext { limits: &DecodeLimits::DEFAULT, namespaces: &self.1, types: &self.0 }
    }
}

fn read<T: Described + Decode>(text: &str) -> Result<T, TextError> {
    json::from_str(text, Known::new().cx())
}

fn error<T: Described + Decode + std::fmt::Debug>(text: &str) -> TextError {
    read::<T>(text).expect_err(text)
}

#[test]
fn errors_say_where() {
    let text = r#"{"NodesToRead": [{}, {}, {"NodeId": "i=1", "AttributeId": "x"}]}"#;
    let wrong = error::<ReadRequest>(text);
    assert_eq!(wrong.path(), "ReadRequest.NodesToRead[2].AttributeId");
    assert_eq!(wrong.offset(), text.find("\"x\""));
    let document =
        "<r><NodesToRead><ReadValueId><AttributeId>x</AttributeId></ReadValueId></NodesToRead></r>";
    let wrong = xml::from_str::<ReadRequest>(document, Known::new().cx()).expect_err("no number");
    assert_eq!(wrong.path(), "ReadRequest.NodesToRead[0].AttributeId");
    assert_eq!(wrong.offset(), document.find("<AttributeId>"));
}

#[test]
fn json_syntax() {
    for text in [
        "",
        "{",
        "[1",
        "1 2",
        "{} x",
        "{\"a\":1,}",
        "nul",
        "01",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "+1",
        ".5",
        "NaN",
        "\u{1}",
    ] {
        let wrong = error::<UaString>(text);
        assert!(matches!(wrong.reason(), TextReason::Syntax(_) | TextReason::Expected(_)), "{text}: {wrong}");
        assert!(wrong.offset().is_some_and(|offset| offset <= text.len()), "{text}: {wrong}");
    }
    let text: UaString =
        read("\u{FEFF} \"\\ud83d\\ude00\\u0041\" ").expect("a byte order mark, a surrogate pair");
    assert_eq!(text, "😀A");
}

#[test]
fn kinds_and_ranges() {
    for text in [
        "256",
        "-1",
        "1.5",
        "\"a\"",
        "true",
        "{}",
        "[]",
        "1e99",
        "999999999999999999999999999999999999999999",
    ] {
        assert!(read::<u8>(text).is_err(), "{text}");
    }
    for (text, value) in [("7", 7), ("7.0", 7), ("\"7\"", 7), ("70e-1", 7), ("null", 0)] {
        assert_eq!(read::<u8>(text).as_ref(), Ok(&value), "{text}");
    }
    assert_eq!(read::<i64>("\"-9223372036854775808\""), Ok(i64::MIN));
    assert!(read::<i64>("\"9223372036854775808\"").is_err());
    assert_eq!(read::<f32>("0.1").map(f32::to_bits), Ok(0.1_f32.to_bits()));
    // Between two floats, above the middle by less than a double tells.
    assert_eq!(read::<f32>("1.00000005960464477540").map(f32::to_bits), Ok(0x3F80_0001));
    assert_eq!(*error::<f64>("1e999").reason(), TextReason::OutOfRange);
    assert_eq!(read::<f64>("\"-Infinity\""), Ok(f64::NEG_INFINITY));
    assert!(read::<f64>("\"inf\"").is_err());
    assert!(read::<bool>("1").is_err());
    assert!(
        read::<NodeId>("\"nsu=urn:nowhere;i=1\"").is_err_and(|e| *e.reason() == TextReason::UnknownNamespace)
    );
    assert!(read::<NodeId>("\"i=x\"").is_err());
    assert!(read::<QualifiedName>("\"nsu=urn:nowhere;a\"").is_err());
    assert_eq!(read::<ApplicationType>("\"Client_1\""), Ok(ApplicationType::CLIENT));
    assert_eq!(read::<ApplicationType>("\"Client\""), Ok(ApplicationType::CLIENT));
    assert_eq!(read::<ApplicationType>("\"New_99\""), Ok(ApplicationType(99)));
    assert_eq!(*error::<ApplicationType>("\"New\"").reason(), TextReason::UnknownMember);
}

#[test]
fn times() {
    for (text, expected) in [
        ("2024-01-15T02:00:12.34567891+02:00", "2024-01-15T00:00:12.3456789Z"),
        ("2024-01-15T00:00:12", "2024-01-15T00:00:12Z"),
        ("2023-12-31T23:30:00-00:30", "2024-01-01T00:00:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ] {
        assert_eq!(
            read::<DateTime>(&format!("\"{text}\"")).map(|time| time.to_string()).as_deref(),
            Ok(expected)
        );
    }
    for (text, ticks) in
        [("0001-01-01T00:00:00Z", 0), ("1600-12-31T23:59:59Z", 0), ("9999-12-31T23:59:59Z", i64::MAX)]
    {
        assert_eq!(read::<DateTime>(&format!("\"{text}\"")), Ok(DateTime(ticks)), "{text}");
    }
    for text in [
        "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-01T25:00:00Z",
        "now",
        "2024-1-1",
        "",
        "2024-01-15T00:00:12.Z",
    ] {
        assert!(read::<DateTime>(&format!("\"{text}\"")).is_err(), "{text}");
    }
}

#[test]
fn members() {
    assert_eq!(*error::<Argument>(r#"{"Name":"a","Name":"b"}"#).reason(), TextReason::Duplicate);
    assert_eq!(*error::<LocalizedText>(r#"{"Text":"a","Text":"b"}"#).reason(), TextReason::Duplicate);
    let argument: Argument = read(r#"{"Later":{"x":[1]},"Name":"a"}"#).expect("members of later versions");
    assert_eq!(argument.name, "a");
    let argument: Argument = read("null").expect("all defaults");
    assert_eq!(argument, Argument::default());
}

#[test]
fn unions_and_masks() {
    for text in [r#"{"I":1,"S":"x"}"#, r#"{"SwitchField":2,"I":1}"#, r#"{"SwitchField":9}"#, r#"{"Value":1}"#]
    {
        assert_eq!(*error::<vec::VecUnion>(text).reason(), TextReason::BadSwitch, "{text}");
    }
    assert_eq!(
        read::<vec::VecUnion>(r#"{"SwitchField":1,"Value":-5}"#),
        read(r#"{"I":-5}"#),
        "as of version 1.04"
    );
    assert_eq!(
        read::<vec::VecUnion>(r#"{"SwitchField":1}"#),
        read(r#"{"I":0}"#),
        "a default that was left out"
    );
    for text in [r#"{"EncodingMask":16}"#, r#"{"EncodingMask":0,"B":"b"}"#] {
        assert_eq!(*error::<vec::VecOptional>(text).reason(), TextReason::BadSwitch, "{text}");
    }
    let value: vec::VecOptional = read(r#"{"EncodingMask":1}"#).expect("present and null");
    assert_eq!(value.b, Some(UaString::NULL));
}

#[test]
fn variants() {
    for text in [
        r#"{"UaType":26,"Value":1}"#,
        r#"{"UaType":24,"Value":{}}"#,
        r#"{"Value":1}"#,
        r#"{"UaType":6,"Value":"x"}"#,
        "[]",
        "5",
    ] {
        assert!(read::<Variant>(text).is_err(), "{text}");
    }
    let wrong = error::<Variant>(r#"{"UaType":6,"Value":[1,2,3],"Dimensions":[2,2]}"#);
    assert_eq!(*wrong.reason(), TextReason::BadDimensions);
    assert_eq!(read::<Variant>(r#"{"Value":1,"UaType":6}"#), Ok(Variant::Int32(1)), "in any order");
    assert_eq!(read::<Variant>(r#"{"Type":6,"Body":1}"#), Ok(Variant::Int32(1)), "as of version 1.04");
    let value: DataValue = read(r#"{"Value":{"Type":6,"Body":1},"Status":2150891520}"#).expect("as of 1.04");
    assert_eq!(value.value(), Some(&Variant::Int32(1)));
    assert_eq!(value.status_or_good().0, 2_150_891_520);
    let range = r#"{"TypeId":{"Id":884},"Body":{"Low":1,"High":2}}"#;
    assert_eq!(read::<ExtensionObject>(range), read(r#"{"UaTypeId":"i=884","Low":1,"High":2}"#));
    let unknown = error::<ExtensionObject>(r#"{"UaTypeId":"nsu=urn:vec:app;i=99","A":1}"#);
    assert_eq!(*unknown.reason(), TextReason::UnknownType);
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize| {
        format!(
            "{}{}{}",
            r#"{"UaType":24,"Value":["#.repeat(levels),
            r#"{"UaType":1,"Value":true}"#,
            "]}".repeat(levels)
        )
    };
    assert!(read::<Variant>(&deep(90)).is_ok());
    assert_eq!(*error::<Variant>(&deep(200)).reason(), TextReason::TooDeep);
    assert!(read::<Variant>(&"[".repeat(1_000_000)).is_err());
    let open = |levels: usize| "<Variant><Value><ListOfVariant>".repeat(levels);
    let close = |levels: usize| "</ListOfVariant></Value></Variant>".repeat(levels);
    let document = |levels: usize| format!("{}{}", open(levels), close(levels));
    let known = Known::new();
    let value = xml::from_str::<Variant>(&document(90), known.cx()).expect("90 levels");
    assert!(xml::to_string(&value, known.cx()).is_ok());
    let wrong = xml::from_str::<Variant>(&document(200), known.cx()).expect_err("200 levels");
    assert_eq!(*wrong.reason(), TextReason::TooDeep);
    assert!(xml::from_str::<Variant>(&"<a>".repeat(100_000), known.cx()).is_err());
}

#[test]
fn xml_details() {
    let known = Known::new();
    let read = |text: &str| xml::from_str::<Variant>(text, known.cx());
    let value = |xml: &str| read(&format!("<Variant><Value>{xml}</Value></Variant>"));
    assert_eq!(
        value("<String>a&lt;b<![CDATA[<c>]]>&#x20AC;<!-- no -->d</String>"),
        Ok(Variant::String("a<b<c>€d".into()))
    );
    assert_eq!(value("<Int32>\n 7 </Int32>"), Ok(Variant::Int32(7)));
    assert_eq!(value("<x:Int32 xmlns:x='urn:any'>7</x:Int32>"), Ok(Variant::Int32(7)), "any prefix");
    assert_eq!(value("<Float>-INF</Float>"), Ok(Variant::Float(f32::NEG_INFINITY)));
    for wrong in [
        "<Int32>7.5</Int32>",
        "<Int32>x</Int32>",
        "<Byte>256</Byte>",
        "<Boolean>yes</Boolean>",
        "<Float>inf</Float>",
        "<ListOfInt32><String>1</String></ListOfInt32>",
        "<Int32>1</Int32><Int32>2</Int32>",
        "<Nothing/>",
        "<Guid><String>x</String></Guid>",
        "<ByteString>*</ByteString>",
        "<String><a/></String>",
        "<Matrix><Dimensions><UInt32>2</UInt32><UInt32>2</UInt32></Dimensions><Elements><Int32>1</Int32></Elements></Matrix>",
    ] {
        assert!(value(wrong).is_err(), "{wrong}");
    }
    let bomb = "<!DOCTYPE a [<!ENTITY x 'aaaaaaaaaa'><!ENTITY y '&x;&x;&x;&x;'>]><Variant>&y;</Variant>";
    assert!(read(bomb).is_err(), "no document types");
    let control = xml::to_string(&Variant::String("a\u{0}".into()), known.cx()).expect_err("XML has no NUL");
    assert!(control.to_string().contains("characters that XML can hold"), "{control}");
    let prefixed = "<Variant xmlns:p='urn:p'><Value><XmlElement><p:a/></XmlElement></Value></Variant>";
    let Ok(Variant::XmlElement(element)) = read(prefixed) else { panic!("an element") };
    assert_eq!(element.as_str(), Some("<p:a xmlns:p=\"urn:p\"/>"), "a fragment declares its prefixes");
}

#[test]
fn compact_leaves_out_what_verbose_says() {
    let known = Known::new();
    let text =
        |encoding| json::to_string(&Argument { value_rank: -1, ..Argument::default() }, encoding, known.cx());
    assert_eq!(text(JsonEncoding::Compact).as_deref(), Ok(r#"{"ValueRank":-1}"#));
    let verbose = r#"{"Name":null,"DataType":null,"ValueRank":-1,"ArrayDimensions":null,"Description":null}"#;
    assert_eq!(text(JsonEncoding::Verbose).as_deref(), Ok(verbose));
}
