//! The result codes of the services' tables, each as a client meets it (OPC 10000-4 §7.38.2).

use uaforge_codec::{
    Array, ByteString, DataValue, Encode as _, EncodeContext, Encoder, ExtensionObject, ExtensionObjectBody,
    LocalizedText, NodeId, NodeIdRef, QualifiedName, StatusCode, Structure as _, Variant, VariantArray,
    VariantMatrix,
};
use uaforge_nodes::{AttributeId, ClassAttributes, VariableAttributes};
use uaforge_tests::nodes::{
    self, VALUE, add, array, item, property, read_item, scalar, set, variable, write, write_all, write_item,
};
use uaforge_types::{
    Argument, BrowseDescription, BrowsePath, BrowseRequest, EUInformation, Range, ReadRequest, RelativePath,
    RelativePathElement, RequestHeader, TimestampsToReturn, TranslateBrowsePathsToNodeIdsRequest, status,
};

use crate::{InProcessPeer, builder, peer};

/// Ids that no node can have (OPC 10000-3 §8.2.4).
fn malformed() -> [NodeId; 3] {
    let long = "ä".repeat(4_097);
    [NodeId::NULL, NodeId::string(1, &*long), NodeId::opaque(1, long.as_bytes())]
}

/// Malformed ids are Bad_NodeIdInvalid in every service, others that no node has Bad_NodeIdUnknown.
#[test]
fn node_ids() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let unknown = [
        NodeId::numeric(1, 99),
        NodeId::numeric(99, 1),
        NodeId::string(1, &*"ä".repeat(4_096)),
        NodeId::guid(1, uaforge_codec::Guid([1; 16])),
    ];
    let invalid = malformed().map(|id| (id, status::BAD_NODE_ID_INVALID));
    let unknown = unknown.map(|id| (id, status::BAD_NODE_ID_UNKNOWN));
    for (id, expected) in invalid.into_iter().chain(unknown) {
        assert_eq!(nodes::read(&mut peer, &id, VALUE).status(), Some(expected), "Read {id}");
        assert_eq!(write(&mut peer, &id, 1i32), expected, "Write {id}");
        let description = BrowseDescription { node_id: id.clone(), ..Default::default() };
        let browse = BrowseRequest { nodes_to_browse: Array::from(vec![description]), ..Default::default() };
        assert_eq!(peer.call(browse).unwrap().results[0].status_code, expected, "Browse {id}");
        let element = RelativePathElement { target_name: QualifiedName::new(0, "x"), ..Default::default() };
        let relative_path = RelativePath { elements: Array::from(vec![element]) };
        let path = BrowsePath { starting_node: id.clone(), relative_path };
        let translate = TranslateBrowsePathsToNodeIdsRequest {
            browse_paths: Array::from(vec![path]),
            ..Default::default()
        };
        assert_eq!(peer.call(translate).unwrap().results[0].status_code, expected, "Translate {id}");
    }
}

/// Table 51 of OPC 10000-4 §5.11.2.4: the results of Read.
#[test]
fn read_results() {
    let server = builder().build().unwrap();
    let number = variable(&server, 1, scalar(6), 1i32);
    let hidden = variable(&server, 2, VariableAttributes { access_level: 0, ..scalar(6) }, 1i32);
    let object = add(&server, 3, ClassAttributes::Object { event_notifier: 0 });
    let mut peer = peer(&server);
    let mut read = |node: &NodeId, attribute, range: &str, encoding: &str| {
        let mut item = item(node, attribute);
        item.index_range = range.into();
        item.data_encoding = QualifiedName::new(0, encoding);
        read_item(&mut peer, item).status_or_good()
    };
    let display_name = AttributeId::DisplayName as u32;
    assert_eq!(read(number.id(), VALUE, "", ""), StatusCode::GOOD);
    for attribute in [0, 28, 99, u32::MAX] {
        assert_eq!(read(number.id(), attribute, "", ""), status::BAD_ATTRIBUTE_ID_INVALID, "{attribute}");
    }
    assert_eq!(read(&object, VALUE, "", ""), status::BAD_ATTRIBUTE_ID_INVALID);
    assert_eq!(read(number.id(), VALUE, "2:1", ""), status::BAD_INDEX_RANGE_INVALID);
    assert_eq!(read(number.id(), VALUE, "0", ""), status::BAD_INDEX_RANGE_NO_DATA);
    assert_eq!(read(number.id(), display_name, "0", ""), status::BAD_INDEX_RANGE_NO_DATA);
    assert_eq!(read(number.id(), display_name, "", "Default Binary"), status::BAD_DATA_ENCODING_INVALID);
    assert_eq!(read(hidden.id(), VALUE, "", ""), status::BAD_NOT_READABLE);
    assert_eq!(read(hidden.id(), display_name, "", ""), StatusCode::GOOD);
}

fn structure<T: uaforge_codec::Structure>(value: T) -> Variant {
    Variant::from(ExtensionObject::new(value))
}

/// A structure of a type that nobody knows.
fn opaque(type_id: NodeId) -> Variant {
    let body = ExtensionObjectBody::Binary(ByteString::from([1, 2, 3]));
    Variant::from(ExtensionObject::from_parts(type_id, body))
}

fn list(items: VariantArray) -> Variant {
    items.into()
}

/// Which values fit which DataType (Bad_TypeMismatch, Bad_OutOfRange; OPC 10000-4 §5.11.4.2, §5.11.4.4).
#[test]
fn written_types() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let (good, mismatch, range) = (StatusCode::GOOD, status::BAD_TYPE_MISMATCH, status::BAD_OUT_OF_RANGE);
    let float = |value: f32| Variant::Float(value);
    let mixed = |items: Vec<Variant>| list(VariantArray::Variant(Array::from(items)));
    let ints = |items: &[i32]| list(VariantArray::Int32(Array::from(items)));
    let extent = Range { low: 0.0, high: 1.0 };
    let unit = EUInformation::default();
    let objects = |items: Vec<ExtensionObject>| list(VariantArray::ExtensionObject(Array::from(items)));
    // Data type, rank, value, result.
    let cases = [
        // A simple type and one derived from it: Duration (i=290) is a Double, UtcTime (i=294) a DateTime.
        (11, -1, float(1.0), mismatch),
        (290, -1, Variant::Double(1.0), good),
        (294, -1, Variant::DateTime(uaforge_codec::DateTime(1)), good),
        (294, -1, Variant::Int64(1), mismatch),
        // Number (26), Integer (27), UInteger (28).
        (26, -1, float(1.0), good),
        (26, -1, Variant::Boolean(true), mismatch),
        (27, -1, Variant::Int64(1), good),
        (27, -1, Variant::UInt16(1), mismatch),
        (27, -1, float(1.0), mismatch),
        (28, -1, Variant::UInt16(1), good),
        (28, -1, Variant::Int16(1), mismatch),
        (26, 1, mixed(vec![Variant::Byte(1), Variant::Double(2.0)]), good),
        (26, 1, mixed(vec![Variant::Byte(1), Variant::String("2".into())]), mismatch),
        (11, 1, mixed(vec![Variant::Double(2.0)]), mismatch),
        // BaseDataType (24) takes everything, nothing too.
        (24, -2, mixed(vec![Variant::Byte(1), ints(&[1])]), good),
        (24, -1, Variant::Null, good),
        (24, -1, ints(&[1]), mismatch),
        // NodeClass (257) is an enumeration; 3 is not declared, in arrays neither.
        (257, -1, Variant::Int32(4), good),
        (257, -1, Variant::Int32(3), range),
        (257, -1, Variant::UInt32(4), mismatch),
        (257, 1, ints(&[1, 2, 4]), good),
        (257, 1, ints(&[1, 2, 3]), range),
        // AccessLevelType (15031) is an option set in a Byte.
        (15_031, -1, Variant::Byte(255), good),
        (15_031, -1, Variant::UInt32(1), mismatch),
        // Structures: Range (884), EUInformation (887), Structure itself (22).
        (884, -1, structure(extent.clone()), good),
        (884, -1, structure(unit.clone()), mismatch),
        (884, -1, Variant::Double(1.0), mismatch),
        (22, -1, structure(unit.clone()), good),
        (22, -1, opaque(NodeId::numeric(1, 5_000)), good),
        (24, -1, opaque(NodeId::numeric(1, 5_000)), good),
        (884, -1, opaque(NodeId::numeric(1, 5_000)), mismatch),
        (884, 1, objects(vec![ExtensionObject::new(extent.clone()); 2]), good),
        (884, 1, objects(vec![ExtensionObject::new(extent.clone()), ExtensionObject::new(unit)]), mismatch),
        // Ranks: -3 scalar or one dimension, -2 any, -1 scalar, 0 one or more, n exactly n.
        (6, -3, Variant::Int32(1), good),
        (6, -3, ints(&[1]), good),
        (6, -2, Variant::Int32(1), good),
        (6, 0, Variant::Int32(1), mismatch),
        (6, 0, ints(&[1]), good),
        (6, 1, Variant::Int32(1), mismatch),
        (6, 2, ints(&[1]), mismatch),
        (6, 2, ints(&[]), good),
        (6, 1, list(VariantArray::Int32(Array::NULL)), good),
        // Text.
        (12, -1, Variant::String("".into()), good),
        (12, -1, Variant::from(LocalizedText::default()), mismatch),
        (16, -1, Variant::String("".into()), mismatch),
    ];
    for (number, (data_type, rank, value, expected)) in (1..).zip(cases) {
        let attributes = array(data_type, rank, &[]);
        let node = variable(&server, number, attributes, Variant::Null);
        let before = nodes::read(&mut peer, node.id(), VALUE).into_value();
        let written = write(&mut peer, node.id(), value.clone());
        assert_eq!(written, expected, "{value:?} to i={data_type} of rank {rank}");
        let after = nodes::read(&mut peer, node.id(), VALUE).into_value();
        assert_eq!(after, if expected == good { value } else { before });
    }
}

/// Lengths that a node bounds: ArrayDimensions, MaxArrayLength, MaxStringLength, MaxCharacters,
/// MaxByteStringLength (OPC 10000-3 §5.6.2, §5.6.4).
#[test]
fn written_lengths() {
    let server = builder().build().unwrap();
    let ints = |items: &[i32]| list(VariantArray::Int32(Array::from(items)));
    let text = |text: &str| Variant::String(text.into());
    let texts =
        |items: &[&str]| list(VariantArray::String(items.iter().map(|item| (*item).into()).collect()));
    let matrix = |rows: u32, columns: u32| {
        let elements = VariantArray::Int32(Array::from(vec![0; (rows * columns) as usize]));
        Variant::from(VariantMatrix::new(vec![rows, columns], elements).expect("rows times columns"))
    };
    let line = variable(&server, 1, array(6, 1, &[3]), ints(&[]));
    let grid = variable(&server, 2, array(6, 2, &[2, 0]), matrix(1, 1));
    let bounded = variable(&server, 3, array(6, 1, &[0]), ints(&[]));
    property(&server, bounded.id(), 30, "MaxArrayLength", 2u32);
    let name = variable(&server, 4, scalar(12), text(""));
    property(&server, name.id(), 40, "MaxStringLength", 4u32);
    let letters = variable(&server, 5, array(12, 1, &[]), texts(&[]));
    property(&server, letters.id(), 50, "MaxCharacters", 2u32);
    let bytes = variable(&server, 6, scalar(15), Variant::ByteString(ByteString::NULL));
    property(&server, bytes.id(), 60, "MaxByteStringLength", 2u32);
    let mut peer = peer(&server);
    let byte_string = |bytes: &[u8]| Variant::ByteString(bytes.into());
    let cases = [
        (&line, ints(&[1, 2, 3]), ints(&[1, 2, 3, 4])),
        (&grid, matrix(2, 9), matrix(3, 1)),
        (&bounded, ints(&[1, 2]), ints(&[1, 2, 3])),
        (&name, text("ää"), text("ääa")),
        (&letters, texts(&["ää", "b"]), texts(&["b", "ääa"])),
        (&bytes, byte_string(&[1, 2]), byte_string(&[1, 2, 3])),
    ];
    for (node, fits, too_long) in cases {
        assert_eq!(write(&mut peer, node.id(), fits.clone()), StatusCode::GOOD, "{fits:?}");
        assert_eq!(write(&mut peer, node.id(), too_long.clone()), status::BAD_OUT_OF_RANGE, "{too_long:?}");
        assert_eq!(nodes::value(&mut peer, node.id(), VALUE), fits);
    }
}

/// Attributes other than the Value (OPC 10000-3 §5.2.7, §8.60): the type of each, and what cannot be written.
#[test]
fn written_attributes() {
    let server = builder().build().unwrap();
    let node = variable(&server, 1, scalar(6), 1i32).id().clone();
    set(&server, &node, AttributeId::WriteMask, u32::MAX);
    let mut peer = peer(&server);
    let text = |locale: &str, text: &str| LocalizedText { locale: locale.into(), text: text.into() };
    let good = StatusCode::GOOD;
    let dimensions = list(VariantArray::UInt32(Array::from(vec![3])));
    let definition = structure(Argument::default());
    let cases: Vec<(AttributeId, Variant, StatusCode)> = vec![
        (AttributeId::NodeId, node.clone().into(), status::BAD_WRITE_NOT_SUPPORTED),
        (AttributeId::NodeClass, Variant::Int32(2), status::BAD_WRITE_NOT_SUPPORTED),
        (AttributeId::UserWriteMask, Variant::UInt32(0), status::BAD_WRITE_NOT_SUPPORTED),
        (AttributeId::UserAccessLevel, Variant::Byte(0), status::BAD_WRITE_NOT_SUPPORTED),
        (AttributeId::BrowseName, QualifiedName::new(1, "Speed").into(), good),
        (AttributeId::BrowseName, QualifiedName::NULL.into(), status::BAD_BROWSE_NAME_INVALID),
        (AttributeId::BrowseName, text("", "Speed").into(), status::BAD_TYPE_MISMATCH),
        (AttributeId::DisplayName, text("de", "Drehzahl").into(), good),
        (AttributeId::DisplayName, text("not a locale", "x").into(), status::BAD_LOCALE_NOT_SUPPORTED),
        (AttributeId::Description, text("", "of the shaft").into(), good),
        (AttributeId::Description, Variant::String("x".into()), status::BAD_TYPE_MISMATCH),
        (AttributeId::DataType, NodeId::numeric(0, 11).into(), good),
        (AttributeId::DataType, NodeId::numeric(0, 85).into(), status::BAD_OUT_OF_RANGE),
        (AttributeId::ValueRank, Variant::Int32(1), good),
        (AttributeId::ValueRank, Variant::Int32(-4), status::BAD_OUT_OF_RANGE),
        (AttributeId::ArrayDimensions, dimensions, good),
        (AttributeId::ArrayDimensions, Variant::UInt32(3), status::BAD_TYPE_MISMATCH),
        (AttributeId::AccessLevel, Variant::Byte(3 | 1 << 5), good),
        (AttributeId::MinimumSamplingInterval, Variant::Double(50.0), good),
        (AttributeId::Historizing, Variant::Boolean(true), good),
        (AttributeId::EventNotifier, Variant::Byte(1), status::BAD_ATTRIBUTE_ID_INVALID),
        (AttributeId::DataTypeDefinition, definition, status::BAD_ATTRIBUTE_ID_INVALID),
    ];
    for (attribute, value, expected) in cases {
        let written = write_all(&mut peer, vec![write_item(&node, attribute as u32, value.clone())])[0];
        assert_eq!(written, expected, "{attribute:?} = {value:?}");
        if expected == good {
            assert_eq!(nodes::value(&mut peer, &node, attribute as u32), value);
        }
    }
    // What was written holds: the node takes arrays of up to three Doubles now.
    let doubles = |count: usize| list(VariantArray::Double(Array::from(vec![1.5; count])));
    assert_eq!(write(&mut peer, &node, 1i32), status::BAD_TYPE_MISMATCH);
    assert_eq!(write(&mut peer, &node, doubles(4)), status::BAD_OUT_OF_RANGE);
    assert_eq!(write(&mut peer, &node, doubles(3)), good);
    assert_eq!(
        nodes::value(&mut peer, &node, AttributeId::AccessLevelEx as u32),
        Variant::UInt32(3 | 1 << 5)
    );
    // Status and timestamps are a Value's; parts are an array's.
    let mut with_time = write_item(&node, AttributeId::DisplayName as u32, text("", "x"));
    with_time.value = DataValue::new(text("", "x")).with_source_timestamp(peer.now.utc);
    let mut part = write_item(&node, AttributeId::DisplayName as u32, text("", "x"));
    part.index_range = "0".into();
    for refused in [with_time, part] {
        assert_eq!(write_all(&mut peer, vec![refused]), [status::BAD_WRITE_NOT_SUPPORTED]);
    }
    // The mask itself can be given up.
    let mask = write_item(&node, AttributeId::WriteMask as u32, 0u32);
    assert_eq!(write_all(&mut peer, vec![mask.clone()]), [good]);
    assert_eq!(write_all(&mut peer, vec![mask]), [status::BAD_NOT_WRITABLE]);
}

/// Names that were written are those that Browse shows and paths go by.
#[test]
fn written_names_are_browsed() {
    let server = builder().build().unwrap();
    // A node of the tables: the Server object.
    let node = NodeId::numeric(0, 2253);
    set(&server, &node, AttributeId::WriteMask, 1u32 << 2 | 1 << 6);
    let mut peer = peer(&server);
    let name = QualifiedName::new(1, "Plant");
    let items = vec![
        write_item(&node, AttributeId::BrowseName as u32, name.clone()),
        write_item(
            &node,
            AttributeId::DisplayName as u32,
            LocalizedText { text: "Werk".into(), ..Default::default() },
        ),
    ];
    assert_eq!(write_all(&mut peer, items), [StatusCode::GOOD; 2]);
    let description =
        BrowseDescription { node_id: NodeId::numeric(0, 85), result_mask: 63, ..Default::default() };
    let browse = BrowseRequest { nodes_to_browse: Array::from(vec![description]), ..Default::default() };
    let references = peer.call(browse).unwrap().results[0].references.clone();
    let shown = references.iter().find(|reference| reference.node_id.node_id == node).expect("the node");
    assert_eq!((&shown.browse_name, shown.display_name.text.as_str()), (&name, Some("Werk")));
    let element = RelativePathElement { target_name: name, ..Default::default() };
    let path = BrowsePath {
        starting_node: NodeId::numeric(0, 85),
        relative_path: RelativePath { elements: Array::from(vec![element]) },
    };
    let translate =
        TranslateBrowsePathsToNodeIdsRequest { browse_paths: Array::from(vec![path]), ..Default::default() };
    let targets = peer.call(translate).unwrap().results[0].targets.clone();
    assert_eq!(targets[0].target_id.node_id, node);
}

/// What holds for every service: the common result codes of the service (OPC 10000-4 §7.38.2, Table 178).
#[test]
fn common_results() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let call = |peer: &mut InProcessPeer, header: RequestHeader, service: u32| {
        let request = ReadRequest {
            request_header: header,
            timestamps_to_return: TimestampsToReturn::BOTH,
            nodes_to_read: Array::from(vec![item(&NodeId::numeric(0, 2258), VALUE)]),
            ..Default::default()
        };
        let mut body = Vec::new();
        let mut e = Encoder::new(&mut body, EncodeContext::default());
        NodeIdRef::Numeric(0, service).encode(&mut e);
        request.encode(&mut e);
        let answer = peer.call_raw(&body).expect("an answer");
        peer.decode::<uaforge_types::ReadResponse>(&answer)
            .map(|response| response.response_header.request_handle)
    };
    let read = ReadRequest::DESCRIPTOR.binary_id();
    let header = peer.header();
    let handle = header.request_handle;
    assert_eq!(call(&mut peer, header.clone(), read), Ok(handle));
    // HistoryRead (i=664), which this server does not have, and an id that is no service.
    for unsupported in [664, 4_000_000, 0] {
        assert_eq!(call(&mut peer, header.clone(), unsupported), Err(status::BAD_SERVICE_UNSUPPORTED));
    }
    for token in [NodeId::NULL, NodeId::numeric(0, 1), NodeId::opaque(0, &[7u8; 32][..])] {
        let header = RequestHeader { authentication_token: token, ..header.clone() };
        assert_eq!(call(&mut peer, header, read), Err(status::BAD_SESSION_ID_INVALID));
    }
    // An AuditEntryId, a timestamp of long ago and a timeoutHint are no errors.
    let odd = RequestHeader {
        timestamp: uaforge_codec::DateTime::NULL,
        audit_entry_id: "operator 7".into(),
        timeout_hint: 1,
        ..header
    };
    assert_eq!(call(&mut peer, odd, read), Ok(handle));
}
