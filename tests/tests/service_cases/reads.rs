//! Read: timestamps, age, data encodings, and how many operations a call may hold (OPC 10000-4 §5.11.2).

use uaforge_codec::{
    Array, DataValue, DateTime, ExtensionObject, NodeId, QualifiedName, StatusCode, Variant,
};
use uaforge_nodes::AttributeId;
use uaforge_server::{Limits, OperationLimits};
use uaforge_tests::nodes::{self, VALUE, item, read_item, read_request, scalar, variable, write, write_item};
use uaforge_tests::peer::start_time;
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowsePath, BrowseRequest, CallMethodRequest, CallRequest, Range,
    ReadRequest, RegisterNodesRequest, TimestampsToReturn, TranslateBrowsePathsToNodeIdsRequest,
    UnregisterNodesRequest, WriteRequest, status,
};

use crate::{builder, peer};

/// Which timestamps come back (OPC 10000-4 §5.11.2, §7.40, §7.11). Step 7 needs subscriptions.
#[test]
fn case_043_timestamps_to_return() {
    let server = builder().build().unwrap();
    let handle = variable(&server, 1, scalar(11), 1.5);
    let source = DateTime::from_utc(2024, 1, 1, 0, 0);
    handle.set_at(1.5, source);
    let v = handle.id().clone();
    let mut peer = peer(&server);
    peer.now.utc = DateTime::from_utc(2024, 1, 2, 0, 0);
    let arrived = start_time().utc;
    let request = |node: &NodeId, attribute, timestamps, max_age| ReadRequest {
        max_age,
        timestamps_to_return: timestamps,
        nodes_to_read: Array::from(vec![item(node, attribute)]),
        ..Default::default()
    };
    let steps = [
        (TimestampsToReturn::SOURCE, true, false),
        (TimestampsToReturn::SERVER, false, true),
        (TimestampsToReturn::BOTH, true, true),
        (TimestampsToReturn::NEITHER, false, false),
    ];
    for (timestamps, has_source, has_server) in steps {
        let read = peer.call(request(&v, VALUE, timestamps, 0.0)).unwrap().results[0].clone();
        assert_eq!(read.value(), Some(&Variant::Double(1.5)));
        assert_eq!(read.source_timestamp(), has_source.then_some(source), "{timestamps:?}");
        assert_eq!(read.server_timestamp().is_some(), has_server, "{timestamps:?}");
        assert!(read.server_timestamp().is_none_or(|time| time >= arrived), "{timestamps:?}");
    }
    let both = TimestampsToReturn::BOTH;
    for invalid in [4, -1, i32::MAX] {
        let request = request(&v, VALUE, TimestampsToReturn(invalid), 0.0);
        assert_eq!(peer.call(request), Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID), "{invalid}");
    }
    let name = AttributeId::DisplayName as u32;
    let read = peer.call(request(&v, name, both, 0.0)).unwrap().results[0].clone();
    assert_eq!((read.status_or_good(), read.source_timestamp()), (StatusCode::GOOD, None));
    for invalid in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        let request = request(&v, VALUE, both, invalid);
        assert_eq!(peer.call(request), Err(status::BAD_MAX_AGE_INVALID), "{invalid}");
    }
    for valid in [0.0, 1e9, f64::from(i32::MAX), f64::INFINITY] {
        let read = peer.call(request(&v, VALUE, both, valid)).unwrap().results[0].clone();
        assert_eq!(read.source_timestamp(), Some(source), "{valid}");
    }
    let unknown = NodeId::numeric(1, 99);
    let read = peer.call(request(&unknown, VALUE, both, 0.0)).unwrap().results[0].clone();
    assert_eq!((read.status(), read.value()), (Some(status::BAD_NODE_ID_UNKNOWN), None));
}

/// Timestamps and statuses that a client writes are stored where the AccessLevel says so, and nowhere else
/// (OPC 10000-4 §5.11.4.2, OPC 10000-3 §8.57).
#[test]
fn written_timestamps_and_statuses() {
    let server = builder().build().unwrap();
    let plain = variable(&server, 1, scalar(6), 1i32);
    let all = uaforge_nodes::VariableAttributes { access_level: 3 | 1 << 5 | 1 << 6, ..scalar(6) };
    let all = variable(&server, 2, all, 1i32);
    let mut peer = peer(&server);
    let (source, server_time) = (DateTime::from_utc(2020, 1, 1, 0, 0), DateTime::from_utc(2020, 1, 2, 0, 0));
    let uncertain = status::UNCERTAIN_LAST_USABLE_VALUE;
    let value = || DataValue::new(2i32);
    let written = [
        value().with_source_timestamp(source),
        value().with_server_timestamp(server_time),
        value().with_status(uncertain),
        DataValue::from_status(uncertain),
    ];
    for written in written {
        let with = |node: &NodeId| {
            let mut item = write_item(node, VALUE, 0i32);
            item.value = written.clone();
            item
        };
        let results = nodes::write_all(&mut peer, vec![with(plain.id()), with(all.id())]);
        assert_eq!(results, [status::BAD_WRITE_NOT_SUPPORTED, StatusCode::GOOD], "{written:?}");
        let read = nodes::read(&mut peer, all.id(), VALUE);
        assert_eq!(read.status_or_good(), written.status_or_good(), "{written:?}");
        let time = written.source_timestamp().unwrap_or(peer.now.utc);
        assert_eq!(read.source_timestamp(), Some(time), "{written:?}");
        assert_eq!(read.server_timestamp(), written.server_timestamp().or(Some(peer.now.utc)), "{written:?}");
        assert_eq!(read.value(), Some(&Variant::Int32(2)), "{written:?}");
    }
    assert_eq!(nodes::value(&mut peer, plain.id(), VALUE), Variant::Int32(1));
    // A Good status is what a value without one has.
    let mut good = write_item(plain.id(), VALUE, 3i32);
    good.value = DataValue::new(3i32).with_status(StatusCode::GOOD);
    assert_eq!(nodes::write_all(&mut peer, vec![good]), [StatusCode::GOOD]);
    let read = nodes::read(&mut peer, plain.id(), VALUE);
    assert_eq!((read.source_timestamp(), read.value()), (Some(peer.now.utc), Some(&Variant::Int32(3))));
}

/// Data encodings are those of structures (OPC 10000-4 §7.29, §7.38.2).
#[test]
fn data_encodings() {
    let server = builder().build().unwrap();
    let number = variable(&server, 1, scalar(6), 1i32);
    // Range (i=884) is a structure.
    let range = Range { low: 1.0, high: 2.0 };
    let structure = variable(&server, 2, scalar(884), ExtensionObject::new(range.clone()));
    let mut peer = peer(&server);
    let mut read = |node: &NodeId, attribute, encoding: QualifiedName| {
        let mut item = item(node, attribute);
        item.data_encoding = encoding;
        read_item(&mut peer, item)
    };
    let name = |name: &str| QualifiedName::new(0, name);
    let good = read(structure.id(), VALUE, name("Default Binary"));
    let Some(Variant::ExtensionObject(object)) = good.value() else { panic!("{good:?}") };
    assert_eq!(object.downcast_ref::<Range>(), Some(&range));
    assert!(read(structure.id(), VALUE, name("")).status_or_good().is_good());
    let others = ["Default XML", "Default JSON", "default binary", "Other"];
    for encoding in others.map(name).into_iter().chain([QualifiedName::new(1, "Default Binary")]) {
        let status = read(structure.id(), VALUE, encoding.clone()).status_or_good();
        assert_eq!(status, status::BAD_DATA_ENCODING_UNSUPPORTED, "{encoding:?}");
    }
    let display_name = AttributeId::DisplayName as u32;
    for (node, attribute) in [(number.id(), VALUE), (structure.id(), display_name)] {
        for encoding in ["Default Binary", "Default XML", "Other"] {
            let status = read(node, attribute, name(encoding)).status_or_good();
            assert_eq!(status, status::BAD_DATA_ENCODING_INVALID, "{node} {attribute} {encoding}");
        }
    }
    let unknown = NodeId::numeric(1, 99);
    assert_eq!(read(&unknown, VALUE, name("Other")).status_or_good(), status::BAD_NODE_ID_UNKNOWN);
}

/// Operation limits and empty requests, the server's part (OPC 10000-5 §6.3.11; OPC 10000-4 §7.38.2). Step 7
/// needs subscriptions, steps 4 to 6 are the client's.
#[test]
fn case_047_operation_limits() {
    let operations = OperationLimits {
        max_nodes_per_read: 100,
        max_nodes_per_write: 50,
        max_nodes_per_browse: 20,
        max_nodes_per_register_nodes: 10,
        max_nodes_per_method_call: 5,
        max_nodes_per_translate: 7,
        ..OperationLimits::default()
    };
    let server = builder().limits(Limits { operations, ..Limits::default() }).build().unwrap();
    let v = variable(&server, 1, scalar(6), 0i32);
    let mut peer = peer(&server);
    let too_many = status::BAD_TOO_MANY_OPERATIONS;
    // Steps 1 to 3.
    assert_eq!(peer.call(read_request(vec![item(v.id(), VALUE); 101])), Err(too_many));
    let mut items = vec![item(v.id(), VALUE); 100];
    items[57].node_id = NodeId::numeric(1, 99);
    let results = peer.call(read_request(items)).unwrap().results;
    for (index, result) in results.iter().enumerate() {
        let expected = if index == 57 { status::BAD_NODE_ID_UNKNOWN } else { StatusCode::GOOD };
        assert_eq!(result.status_or_good(), expected, "{index}");
    }
    assert_eq!(peer.call(read_request(vec![])), Err(status::BAD_NOTHING_TO_DO));
    // A Write above the limit writes nothing.
    let writes = |count| WriteRequest {
        nodes_to_write: Array::from(vec![write_item(v.id(), VALUE, 1i32); count]),
        ..Default::default()
    };
    assert_eq!(peer.call(writes(51)), Err(too_many));
    assert_eq!(nodes::value(&mut peer, v.id(), VALUE), Variant::Int32(0));
    assert!(peer.call(writes(50)).is_ok());
    // Step 8, and UnregisterNodes by the same limit.
    let ids = |count| Array::from(vec![v.id().clone(); count]);
    let register = |count| RegisterNodesRequest { nodes_to_register: ids(count), ..Default::default() };
    let unregister = |count| UnregisterNodesRequest { nodes_to_unregister: ids(count), ..Default::default() };
    assert_eq!(peer.call(register(11)), Err(too_many));
    assert_eq!(peer.call(register(10)).unwrap().registered_node_ids, ids(10));
    assert_eq!(peer.call(unregister(11)), Err(too_many));
    assert!(peer.call(unregister(10)).is_ok());
    // The other services, one above the limit and with nothing to do.
    let browse = |count| BrowseRequest {
        nodes_to_browse: Array::from(vec![BrowseDescription::default(); count]),
        ..Default::default()
    };
    let next = |count| BrowseNextRequest {
        continuation_points: Array::from(vec![Default::default(); count]),
        ..Default::default()
    };
    let translate = |count| TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: Array::from(vec![BrowsePath::default(); count]),
        ..Default::default()
    };
    let call = |count| CallRequest {
        methods_to_call: Array::from(vec![CallMethodRequest::default(); count]),
        ..Default::default()
    };
    for (count, status) in [(21, too_many), (0, status::BAD_NOTHING_TO_DO)] {
        assert_eq!(peer.call(browse(count)).err(), Some(status));
        assert_eq!(peer.call(next(count)).err(), Some(status));
    }
    for (count, status) in [(8, too_many), (0, status::BAD_NOTHING_TO_DO)] {
        assert_eq!(peer.call(translate(count)).err(), Some(status));
        assert_eq!(peer.call(call(count)).err(), Some(status));
    }
    for nothing in [peer.call(writes(0)).err(), peer.call(register(0)).err(), peer.call(unregister(0)).err()]
    {
        assert_eq!(nothing, Some(status::BAD_NOTHING_TO_DO));
    }
    // What the address space says.
    let announced = [(11_705, 100), (11_707, 50), (11_710, 20), (11_711, 10), (11_709, 5), (11_712, 7)];
    for (id, limit) in announced {
        let announced = nodes::value(&mut peer, &NodeId::numeric(0, id), VALUE);
        assert_eq!(announced, Variant::UInt32(limit), "i={id}");
    }
}

/// Step 9: a response that the client cannot take (OPC 10000-4 §7.38.2, Bad_ResponseTooLarge).
#[test]
fn case_047_response_too_large() {
    let server = builder().build().unwrap();
    let text = variable(&server, 1, scalar(12), Variant::String("x".repeat(10_000).into()));
    let mut config = uaforge_channel::ClientConfig::new("opc.tcp://here:4840");
    config.limits.max_message = 100_000;
    let now = start_time();
    let wire = uaforge_tests::peer::InProcess(server.connection(now));
    let mut peer = uaforge_tests::peer::Peer::with_session_by(wire, config, now);
    let request = |count| read_request(vec![item(text.id(), VALUE); count]);
    assert_eq!(peer.call(request(100)), Err(status::BAD_RESPONSE_TOO_LARGE));
    assert_eq!(peer.call(request(5)).unwrap().results.len(), 5);
    assert_eq!(write(&mut peer, text.id(), Variant::String("y".into())), StatusCode::GOOD);
}
