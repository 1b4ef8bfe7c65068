//! Index ranges of Read and Write (OPC 10000-4 §7.27).

use serde_json::Value;
use uaforge_codec::{Array, ByteString, NodeId, StatusCode, UaString, Variant, VariantArray, VariantMatrix};
use uaforge_nodes::VariableAttributes;
use uaforge_server::Server;
use uaforge_tests::nodes::{self, VALUE, array, item, read_item, scalar, variable, write_all, write_item};
use uaforge_types::status;

use crate::{InProcessPeer, builder, file, peer};

fn ints(items: &[i32]) -> Variant {
    VariantArray::Int32(Array::from(items)).into()
}

fn matrix(dimensions: &[u32], items: &[i32]) -> Variant {
    let elements = VariantArray::Int32(Array::from(items));
    VariantMatrix::new(dimensions.to_vec(), elements).expect("as many as the dimensions say").into()
}

fn strings(items: &[Option<&str>]) -> Variant {
    VariantArray::String(items.iter().map(|item| UaString::from(*item)).collect()).into()
}

/// The nodes of case 041, by their letters.
fn nodes(server: &Server) -> impl Fn(&str) -> NodeId + use<> {
    let (int32, string, byte_string) = (6, 12, 15);
    let list = [Some("TestString"), Some("Test"), Some("String")];
    let nodes: [(char, VariableAttributes, Variant); 6] = [
        ('A', array(int32, 1, &[]), ints(&[10, 20, 30, 40, 50])),
        ('M', array(int32, 2, &[0, 0]), matrix(&[2, 3], &[1, 2, 3, 4, 5, 6])),
        ('T', scalar(string), Variant::String("ABCDE".into())),
        ('B', scalar(byte_string), Variant::ByteString(ByteString::from([1, 2, 3, 4, 5]))),
        ('L', array(string, 1, &[]), strings(&list)),
        ('X', scalar(int32), Variant::Int32(7)),
    ];
    for (letter, attributes, value) in nodes {
        variable(server, u32::from(letter), attributes, value);
    }
    |letter| NodeId::numeric(1, letter.chars().next().map_or(0, u32::from))
}

/// A value in the notation of the case.
fn expected(node: &str, value: &Value) -> Variant {
    let number = |value: &Value| i32::try_from(value.as_i64().expect("a number")).expect("an Int32");
    let rows = || value.as_array().expect("a list");
    match node {
        "A" => ints(&rows().iter().map(number).collect::<Vec<_>>()),
        "M" => {
            let rows: Vec<Vec<i32>> = rows()
                .iter()
                .map(|row| row.as_array().expect("a row").iter().map(number).collect())
                .collect();
            let dimensions = [rows.len(), rows[0].len()].map(|len| u32::try_from(len).expect("a length"));
            matrix(&dimensions, &rows.concat())
        }
        "T" => Variant::String(value.as_str().expect("a text").into()),
        "B" => {
            let text = value.as_str().and_then(|text| text.strip_suffix(" (hex)")).expect("hex");
            Variant::ByteString(hex::decode(text).expect("hex").into())
        }
        "L" => strings(&rows().iter().map(Value::as_str).collect::<Vec<_>>()),
        _ => panic!("{node} has no values"),
    }
}

fn read_range(peer: &mut InProcessPeer, node: &NodeId, range: &str) -> Result<Variant, StatusCode> {
    let mut item = item(node, VALUE);
    item.index_range = range.into();
    let read = read_item(peer, item);
    match read.status_or_good() {
        StatusCode::GOOD => Ok(read.into_value()),
        bad => {
            assert_eq!(read.value(), None, "{range}");
            Err(bad)
        }
    }
}

/// Read with an index range (OPC 10000-4 §7.27, §5.11.2).
#[test]
fn case_041_read_index_range() {
    let server = builder().build().unwrap();
    let node = nodes(&server);
    let mut peer = peer(&server);
    let cases: Value = serde_json::from_str(&file("041-read-index-range", "expected.json")).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 21);
    for case in cases {
        let (letter, range) = (case["node"].as_str().unwrap(), case["range"].as_str().unwrap());
        let read = read_range(&mut peer, &node(letter), range);
        match (read, case["status"].as_array()) {
            (Ok(value), None) => assert_eq!(value, expected(letter, &case["value"]), "{letter} {range}"),
            (Err(read), Some(expected)) => {
                let name = uaforge_types::status::name(read).unwrap_or_default();
                let name =
                    format!("Bad_{}", name.strip_prefix("Bad").unwrap_or(name).trim_start_matches('_'));
                assert!(expected.iter().any(|status| *status == name), "{letter} {range}: {name}");
            }
            (read, _) => panic!("{letter} {range}: {read:?}"),
        }
    }
}

fn write_range(peer: &mut InProcessPeer, node: &NodeId, range: &str, part: Variant) -> StatusCode {
    let mut item = write_item(node, VALUE, part);
    item.index_range = range.into();
    write_all(peer, vec![item])[0]
}

/// What a Write replaces is exactly as long as its range (OPC 10000-4 §5.11.4.2, §5.11.4.4, §7.27).
#[test]
fn writes_into_ranges() {
    let server = builder().build().unwrap();
    let node = nodes(&server);
    let mut peer = peer(&server);
    let text = |text: &str| Variant::String(text.into());
    let bytes = |bytes: &[u8]| Variant::ByteString(bytes.into());
    let good = StatusCode::GOOD;
    let writes = [
        ("A", "1", ints(&[21]), good),
        ("A", "3:4", ints(&[41, 51]), good),
        ("A", "1", Variant::Int32(9), status::BAD_TYPE_MISMATCH),
        ("A", "1", VariantArray::UInt32(Array::from([9].as_slice())).into(), status::BAD_TYPE_MISMATCH),
        ("A", "1:2", ints(&[9]), status::BAD_INDEX_RANGE_DATA_MISMATCH),
        ("A", "4:5", ints(&[9, 9]), status::BAD_INDEX_RANGE_NO_DATA),
        ("A", "2:1", ints(&[9, 9]), status::BAD_INDEX_RANGE_INVALID),
        ("A", "0,0", ints(&[9]), status::BAD_INDEX_RANGE_NO_DATA),
        ("M", "0:1,0", matrix(&[2, 1], &[11, 14]), good),
        ("M", "0:1,0", matrix(&[1, 2], &[9, 9]), status::BAD_INDEX_RANGE_DATA_MISMATCH),
        ("M", "0", ints(&[9]), status::BAD_INDEX_RANGE_NO_DATA),
        ("T", "1:2", text("bc"), good),
        ("T", "1:2", text("b"), status::BAD_INDEX_RANGE_DATA_MISMATCH),
        ("T", "5", text("x"), status::BAD_INDEX_RANGE_NO_DATA),
        ("B", "4", bytes(&[9]), good),
        ("L", "1", strings(&[Some("TEST")]), good),
        ("L", "0:1,0", strings(&[Some("t"), Some("t")]), good),
        ("L", "0:1,7", strings(&[Some("x"), Some("x")]), status::BAD_INDEX_RANGE_NO_DATA),
        ("X", "0", ints(&[9]), status::BAD_INDEX_RANGE_NO_DATA),
    ];
    for (letter, range, part, expected) in writes {
        assert_eq!(write_range(&mut peer, &node(letter), range, part), expected, "{letter} {range}");
    }
    let value = |letter, peer: &mut InProcessPeer| nodes::value(peer, &node(letter), VALUE);
    assert_eq!(value("A", &mut peer), ints(&[10, 21, 30, 41, 51]));
    assert_eq!(value("M", &mut peer), matrix(&[2, 3], &[11, 2, 3, 14, 5, 6]));
    assert_eq!(value("T", &mut peer), text("AbcDE"));
    assert_eq!(value("B", &mut peer), bytes(&[1, 2, 3, 4, 9]));
    assert_eq!(value("L", &mut peer), strings(&[Some("testString"), Some("tEST"), Some("String")]));
    assert_eq!(value("X", &mut peer), Variant::Int32(7));
    // WriteFullArrayOnly (bit 10 of AccessLevelEx, OPC 10000-3 §8.58).
    let whole = VariableAttributes { access_level: 3 | 1 << 10, ..array(6, 1, &[]) };
    let whole = variable(&server, 1, whole, ints(&[1, 2]));
    assert_eq!(write_range(&mut peer, whole.id(), "0", ints(&[9])), status::BAD_WRITE_NOT_SUPPORTED);
    assert_eq!(nodes::write(&mut peer, whole.id(), ints(&[9])), StatusCode::GOOD);
}

/// A value of the tables becomes one of its own when a part of it is written; refused parts leave it alone.
#[test]
fn a_range_of_a_table_value() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    // EnumStrings of ServerState (i=7612), LocalizedText[8], which nobody may write.
    let enum_strings = NodeId::numeric(0, 7612);
    let all = nodes::value(&mut peer, &enum_strings, VALUE);
    let Variant::Array(all) = all else { panic!("an array") };
    let VariantArray::LocalizedText(all) = &*all else { panic!("texts") };
    let part = read_range(&mut peer, &enum_strings, "2:4").unwrap();
    assert_eq!(part, VariantArray::LocalizedText(Array::from(&all[2..=4])).into());
    assert_eq!(read_range(&mut peer, &enum_strings, "8"), Err(status::BAD_INDEX_RANGE_NO_DATA));
    assert_eq!(write_range(&mut peer, &enum_strings, "0", part.clone()), status::BAD_NOT_WRITABLE);
    let level = uaforge_nodes::AttributeId::AccessLevel;
    nodes::set(&server, &enum_strings, level, 3u8);
    assert_eq!(write_range(&mut peer, &enum_strings, "7:9", part.clone()), status::BAD_INDEX_RANGE_NO_DATA);
    assert_eq!(write_range(&mut peer, &enum_strings, "0:2", part), StatusCode::GOOD);
    let expected: Vec<_> = [&all[2..=4], &all[3..]].concat();
    assert_eq!(
        nodes::value(&mut peer, &enum_strings, VALUE),
        VariantArray::LocalizedText(expected.into()).into()
    );
}

/// One small answer may not cost the server a walk through a large value, times the items of a request.
#[test]
fn many_ranges_of_a_long_text_have_a_bound() {
    let server = builder().build().unwrap();
    let long = variable(&server, 1, scalar(12), Variant::String("ä".repeat(2 << 20).into()));
    let mut peer = peer(&server);
    let mut last = item(long.id(), VALUE);
    last.index_range = "2097151".into();
    let results = peer.call(nodes::read_request(vec![last; 1_000])).unwrap().results;
    let good = results.iter().filter(|result| result.status_or_good().is_good()).count();
    assert!((1..100).contains(&good), "{good}");
    assert_eq!(results[999].status_or_good(), status::BAD_RESOURCE_UNAVAILABLE);
}
