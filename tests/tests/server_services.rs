//! Services of the server over its machine, in this process and under a clock of the test.

use uaforge_codec::{Array, NodeId, QualifiedName, SeededEntropy, StatusCode, Variant};
use uaforge_server::{Limits, Server};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    ActivateSessionRequest, BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowseRequest,
    CloseSessionRequest, CreateSessionRequest, FindServersRequest, GetEndpointsRequest, QueryFirstRequest,
    ReadRequest, ReadValueId, RelativePath, RelativePathElement, ServerStatusDataType, TimestampsToReturn,
    TranslateBrowsePathsToNodeIdsRequest, UserNameIdentityToken, ViewDescription, status,
};

type InProcessPeer = Peer<InProcess<uaforge_server::Connection>>;

const URL: &str = "opc.tcp://plant:4840/srv";
const VALUE: u32 = 13;

fn server_with(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0/srv")
        .insecure()
        .application_uri("urn:test:server")
        .model(uaforge_ns0::model())
        .model(uaforge_di::model())
        .entropy(SeededEntropy::new(1))
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn server() -> Server {
    server_with(Limits::default())
}

fn peer(server: &Server) -> InProcessPeer {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), URL, now)
}

fn item(node: u32, attribute: u32) -> ReadValueId {
    ReadValueId { node_id: NodeId::numeric(0, node), attribute_id: attribute, ..Default::default() }
}

fn read(items: Vec<ReadValueId>) -> ReadRequest {
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(items),
        ..Default::default()
    }
}

fn browse(node: u32, max: u32) -> BrowseRequest {
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, node),
        browse_direction: BrowseDirection::BOTH,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest {
        requested_max_references_per_node: max,
        nodes_to_browse: Array::from(vec![description]),
        ..Default::default()
    }
}

#[test]
fn discovery_needs_no_session_and_names_the_dialled_address() {
    let server = server();
    let now = start_time();
    let mut peer = Peer::connect(InProcess(server.connection(now)), "opc.tcp://127.0.0.1:14840/srv", now);
    let endpoints = peer.call(GetEndpointsRequest::default()).unwrap().endpoints;
    assert_eq!(endpoints.len(), 1);
    assert_eq!(endpoints[0].endpoint_url, "opc.tcp://127.0.0.1:14840/srv");
    assert_eq!(endpoints[0].server.application_uri, "urn:test:server");
    let request = GetEndpointsRequest { endpoint_url: URL.into(), ..Default::default() };
    assert_eq!(peer.call(request).unwrap().endpoints[0].endpoint_url, URL);
    let servers = peer.call(FindServersRequest::default()).unwrap().servers;
    assert_eq!(servers.len(), 1);
    let other =
        FindServersRequest { server_uris: Array::from(vec!["urn:other".into()]), ..Default::default() };
    assert!(peer.call(other).unwrap().servers.is_empty());
    assert_eq!(peer.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SESSION_ID_INVALID));
}

#[test]
fn sessions_are_created_activated_and_closed() {
    let server = server();
    let now = start_time();
    let mut peer = Peer::connect(InProcess(server.connection(now)), URL, now);
    let created = peer.call(CreateSessionRequest::default()).unwrap();
    assert!(created.revised_session_timeout >= 1_000.0);
    assert!(created.server_nonce.bytes().len() >= 32);
    peer.token = created.authentication_token;
    assert_eq!(peer.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SESSION_NOT_ACTIVATED));
    let token = UserNameIdentityToken { user_name: "somebody".into(), ..Default::default() };
    let named = ActivateSessionRequest {
        user_identity_token: uaforge_codec::ExtensionObject::new(token),
        ..Default::default()
    };
    assert_eq!(peer.call(named), Err(status::BAD_IDENTITY_TOKEN_REJECTED));
    peer.call(ActivateSessionRequest::default()).unwrap();
    assert!(peer.call(read(vec![item(2258, VALUE)])).is_ok());
    peer.call(CloseSessionRequest::default()).unwrap();
    assert_eq!(peer.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SESSION_ID_INVALID));
    assert_eq!(server.session_count(), 0);
}

#[test]
fn a_silent_session_ends_and_a_busy_one_lives() {
    let server = server();
    let mut peer = peer(&server);
    for _ in 0..5 {
        peer.pass(std::time::Duration::from_secs(45));
        assert!(peer.call(read(vec![item(2258, VALUE)])).is_ok());
    }
    peer.pass(std::time::Duration::from_secs(61));
    assert_eq!(peer.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SESSION_ID_INVALID));
    server.sweep(peer.now);
    assert_eq!(server.session_count(), 0);
}

#[test]
fn a_session_belongs_to_its_channel_until_it_is_activated_on_another() {
    let server = server();
    let mut first = peer(&server);
    let now = start_time();
    let mut second = Peer::connect(InProcess(server.connection(now)), URL, now);
    second.token = first.token.clone();
    assert_eq!(second.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
    assert!(first.call(read(vec![item(2258, VALUE)])).is_ok());
    second.call(ActivateSessionRequest::default()).unwrap();
    assert!(second.call(read(vec![item(2258, VALUE)])).is_ok());
    assert_eq!(first.call(read(vec![item(2258, VALUE)])), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
}

#[test]
fn sessions_have_a_limit_that_unactivated_ones_do_not_hold() {
    let server = server_with(Limits { max_sessions: 3, ..Limits::default() });
    let now = start_time();
    let mut peer = Peer::connect(InProcess(server.connection(now)), URL, now);
    for _ in 0..3 {
        peer.call(CreateSessionRequest::default()).unwrap();
    }
    for _ in 0..3 {
        // Takes the place of the oldest one that was never activated.
        let created =
            peer.call(CreateSessionRequest { requested_session_timeout: 60_000.0, ..Default::default() });
        peer.token = created.unwrap().authentication_token;
        peer.call(ActivateSessionRequest::default()).unwrap();
        assert_eq!(server.session_count(), 3);
    }
    assert_eq!(peer.call(CreateSessionRequest::default()), Err(status::BAD_TOO_MANY_SESSIONS));
    peer.pass(std::time::Duration::from_secs(61));
    assert!(peer.call(CreateSessionRequest::default()).is_ok());
}

#[test]
fn read_checks_the_request_as_a_whole() {
    let limits = Limits {
        operations: uaforge_server::OperationLimits { max_nodes_per_read: 100, ..Default::default() },
        ..Limits::default()
    };
    let server = server_with(limits);
    let mut peer = peer(&server);
    assert_eq!(peer.call(read(vec![])), Err(status::BAD_NOTHING_TO_DO));
    assert_eq!(peer.call(read(vec![item(2258, VALUE); 101])), Err(status::BAD_TOO_MANY_OPERATIONS));
    let mut items = vec![item(2258, VALUE); 100];
    items[50] = item(4_000_000, VALUE);
    let results = peer.call(read(items)).unwrap().results;
    assert_eq!(results.len(), 100);
    assert_eq!(results[50].status_or_good(), status::BAD_NODE_ID_UNKNOWN);
    assert_eq!(results[51].status_or_good(), StatusCode::GOOD);
    let with = |timestamps, max_age| ReadRequest {
        timestamps_to_return: timestamps,
        max_age,
        ..read(vec![item(2258, VALUE)])
    };
    let both = TimestampsToReturn::BOTH;
    assert_eq!(peer.call(with(TimestampsToReturn(4), 0.0)), Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID));
    assert_eq!(peer.call(with(TimestampsToReturn(-1), 0.0)), Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID));
    assert_eq!(peer.call(with(both, -1.0)), Err(status::BAD_MAX_AGE_INVALID));
    assert_eq!(peer.call(with(both, f64::NAN)), Err(status::BAD_MAX_AGE_INVALID));
    assert!(peer.call(with(both, 1e300)).is_ok());
    assert_eq!(peer.call(QueryFirstRequest::default()), Err(status::BAD_SERVICE_UNSUPPORTED));
}

#[test]
fn timestamps_come_as_asked_for() {
    let server = server();
    let mut peer = peer(&server);
    let mut times = |timestamps, node, attribute| {
        let request = ReadRequest { timestamps_to_return: timestamps, ..read(vec![item(node, attribute)]) };
        let value = peer.call(request).unwrap().results[0].clone();
        (value.source_timestamp().is_some(), value.server_timestamp().is_some())
    };
    // The clock, the status, a value of the application, a value of the tables.
    for node in [2258, 2256, 2255, 7597] {
        assert_eq!(times(TimestampsToReturn::SOURCE, node, VALUE), (true, false), "{node}");
        assert_eq!(times(TimestampsToReturn::SERVER, node, VALUE), (false, true), "{node}");
        assert_eq!(times(TimestampsToReturn::BOTH, node, VALUE), (true, true), "{node}");
        assert_eq!(times(TimestampsToReturn::NEITHER, node, VALUE), (false, false), "{node}");
        assert_eq!(times(TimestampsToReturn::BOTH, node, 4), (false, true), "{node}");
    }
}

#[test]
fn the_server_object_tells_its_status() {
    let server = server();
    let mut peer = peer(&server);
    let nodes = [2256, 2258, 2259, 2255, 2254, 2267, 11705, 2735];
    let results = peer.call(read(nodes.map(|node| item(node, VALUE)).to_vec())).unwrap().results;
    let Some(Variant::ExtensionObject(object)) = results[0].value() else { panic!("{:?}", results[0]) };
    let current: &ServerStatusDataType = object.downcast_ref().unwrap();
    assert_eq!(current.current_time, peer.now.utc);
    assert_eq!(current.build_info.product_name, "uaforge server");
    assert_eq!(results[1].value(), Some(&Variant::DateTime(peer.now.utc)));
    assert_eq!(results[2].value(), Some(&Variant::Int32(0)));
    let uris: Vec<_> = server.space().namespaces().iter().map(str::to_string).collect();
    assert_eq!(uris, ["http://opcfoundation.org/UA/", "urn:test:server", "http://opcfoundation.org/UA/DI/"]);
    let array = uaforge_codec::FromVariant::from_variant(results[3].value().unwrap());
    let array: Array<uaforge_codec::UaString> = array.unwrap();
    assert_eq!(array.iter().map(|uri| uri.text().to_string()).collect::<Vec<_>>(), uris);
    assert_eq!(results[5].value(), Some(&Variant::Byte(255)));
    assert_eq!(results[6].value(), Some(&Variant::UInt32(10_000)));
    assert_eq!(results[7].value(), Some(&Variant::UInt16(16)));
}

#[test]
fn data_encodings_and_ranges_are_checked() {
    let server = server();
    let mut peer = peer(&server);
    let encoded = |node, attribute, name: &str| ReadValueId {
        data_encoding: QualifiedName::new(0, name),
        ..item(node, attribute)
    };
    let ranged =
        |node, attribute, range: &str| ReadValueId { index_range: range.into(), ..item(node, attribute) };
    let items = vec![
        encoded(2256, VALUE, "Default Binary"),
        encoded(2256, VALUE, "Default Protobuf"),
        encoded(2258, VALUE, "Default Binary"),
        encoded(2256, 4, "Default Binary"),
        ranged(2255, VALUE, "1:2"),
        ranged(2255, VALUE, "9"),
        ranged(2255, VALUE, "2:1"),
        ranged(2258, VALUE, "0"),
        item(2256, 99),
        item(2253, VALUE),
    ];
    let results = peer.call(read(items)).unwrap().results;
    let found: Vec<StatusCode> = results.iter().map(|result| result.status_or_good()).collect();
    let expected = [
        StatusCode::GOOD,
        status::BAD_DATA_ENCODING_UNSUPPORTED,
        status::BAD_DATA_ENCODING_INVALID,
        status::BAD_DATA_ENCODING_INVALID,
        StatusCode::GOOD,
        status::BAD_INDEX_RANGE_NO_DATA,
        status::BAD_INDEX_RANGE_INVALID,
        status::BAD_INDEX_RANGE_NO_DATA,
        status::BAD_ATTRIBUTE_ID_INVALID,
        status::BAD_ATTRIBUTE_ID_INVALID,
    ];
    assert_eq!(found, expected);
}

#[test]
fn pages_hold_each_reference_once() {
    let server = server_with(Limits { max_continuation_points: 2, ..Limits::default() });
    let mut peer = peer(&server);
    let all = peer.call(browse(2253, 0)).unwrap().results[0].clone();
    assert!(all.references.len() > 20 && all.continuation_point.is_null());
    let first = peer.call(browse(2253, 7)).unwrap().results[0].clone();
    let mut found: Vec<_> = first.references.to_vec();
    let mut point = first.continuation_point;
    while !point.is_null() {
        let next = |release, point: &uaforge_codec::ByteString| BrowseNextRequest {
            release_continuation_points: release,
            continuation_points: Array::from(vec![point.clone()]),
            ..Default::default()
        };
        let page = peer.call(next(false, &point)).unwrap().results[0].clone();
        let again = peer.call(next(false, &point)).unwrap().results[0].status_code;
        assert_eq!(again, status::BAD_CONTINUATION_POINT_INVALID);
        found.extend(page.references.iter().cloned());
        point = page.continuation_point;
    }
    assert_eq!(found, all.references.to_vec());
}

#[test]
fn continuation_points_have_a_limit_and_are_released() {
    let server = server_with(Limits { max_continuation_points: 2, ..Limits::default() });
    let mut peer = peer(&server);
    let mut three = browse(2253, 7);
    three.nodes_to_browse = Array::from(vec![three.nodes_to_browse[0].clone(); 3]);
    let results = peer.call(three).unwrap().results;
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    assert_eq!(statuses, [StatusCode::GOOD, StatusCode::GOOD, status::BAD_NO_CONTINUATION_POINTS]);
    assert!(results[2].continuation_point.is_null() && results[2].references.is_empty());
    let points: Vec<_> = results.iter().take(2).map(|result| result.continuation_point.clone()).collect();
    let mut other = self::peer(&server);
    let next = |release, points: Vec<uaforge_codec::ByteString>| BrowseNextRequest {
        release_continuation_points: release,
        continuation_points: Array::from(points),
        ..Default::default()
    };
    let foreign = other.call(next(false, points.clone())).unwrap().results;
    assert!(foreign.iter().all(|result| result.status_code == status::BAD_CONTINUATION_POINT_INVALID));
    let released = peer.call(next(true, points.clone())).unwrap().results;
    assert!(released.iter().all(|r| r.status_code == StatusCode::GOOD && r.references.is_empty()));
    let junk = vec![points[0].clone(), vec![7; 33].into(), Vec::new().into(), vec![1; 1 << 20].into()];
    let refused = peer.call(next(false, junk)).unwrap().results;
    assert!(refused.iter().all(|result| result.status_code == status::BAD_CONTINUATION_POINT_INVALID));
    assert_eq!(peer.call(next(false, vec![])), Err(status::BAD_NOTHING_TO_DO));
}

#[test]
fn browse_checks_its_arguments() {
    let server = server();
    let mut peer = peer(&server);
    let good = browse(85, 0).nodes_to_browse[0].clone();
    let broken = vec![
        BrowseDescription { reference_type_id: NodeId::numeric(0, 85), ..good.clone() },
        BrowseDescription { browse_direction: BrowseDirection(3), ..good.clone() },
        BrowseDescription { node_id: NodeId::numeric(0, 4_000_000), ..good.clone() },
        good.clone(),
        BrowseDescription { node_class_mask: 8, ..good.clone() },
        BrowseDescription {
            reference_type_id: NodeId::numeric(0, 33),
            include_subtypes: false,
            ..good.clone()
        },
        BrowseDescription { result_mask: 0, ..good },
    ];
    let request = BrowseRequest { nodes_to_browse: Array::from(broken), ..Default::default() };
    let results = peer.call(request).unwrap().results;
    assert_eq!(results[0].status_code, status::BAD_REFERENCE_TYPE_ID_INVALID);
    assert_eq!(results[1].status_code, status::BAD_BROWSE_DIRECTION_INVALID);
    assert_eq!(results[2].status_code, status::BAD_NODE_ID_UNKNOWN);
    assert!(results[3].references.len() > 3);
    assert!(results[4].references.iter().all(|r| r.browse_name.name == "FolderType"));
    assert!(results[5].references.is_empty() && results[5].status_code.is_good());
    assert!(
        results[6].references.iter().all(|r| r.browse_name.name.is_null() && !r.node_id.node_id.is_null())
    );
    let empty = BrowseRequest { nodes_to_browse: Array::default(), ..browse(85, 0) };
    assert_eq!(peer.call(empty), Err(status::BAD_NOTHING_TO_DO));
    let view = ViewDescription { view_id: NodeId::numeric(0, 85), ..Default::default() };
    assert_eq!(peer.call(BrowseRequest { view, ..browse(85, 0) }), Err(status::BAD_VIEW_ID_UNKNOWN));
}

fn path(start: u32, names: &[&str]) -> BrowsePath {
    let element = |name: &&str| RelativePathElement {
        reference_type_id: NodeId::numeric(0, 33),
        include_subtypes: true,
        target_name: QualifiedName::new(0, *name),
        ..Default::default()
    };
    let elements: Vec<_> = names.iter().map(element).collect();
    BrowsePath {
        starting_node: NodeId::numeric(0, start),
        relative_path: RelativePath { elements: Array::from(elements) },
    }
}

#[test]
fn browse_paths_are_followed() {
    let server = server();
    let mut peer = peer(&server);
    let mut exact = path(85, &["Server"]);
    let mut elements = exact.relative_path.elements.to_vec();
    elements[0].include_subtypes = false;
    exact.relative_path.elements = Array::from(elements.clone());
    let mut inverse = path(2256, &["Server"]);
    elements[0] = RelativePathElement {
        reference_type_id: NodeId::NULL,
        is_inverse: true,
        target_name: QualifiedName::new(0, "Server"),
        ..Default::default()
    };
    inverse.relative_path.elements = Array::from(elements);
    let mut wrong = path(85, &["Server"]);
    let mut element = wrong.relative_path.elements[0].clone();
    element.target_name.namespace_index = 2;
    wrong.relative_path.elements = Array::from(vec![element]);
    let paths = vec![
        path(85, &["Server", "ServerStatus", "CurrentTime"]),
        exact,
        path(85, &["NoSuch"]),
        path(85, &["Server", ""]),
        path(85, &["", "ServerStatus"]),
        path(4_000_000, &["Server"]),
        path(85, &[]),
        wrong,
        inverse,
        path(85, &["Server"; 10_000]),
    ];
    let request =
        TranslateBrowsePathsToNodeIdsRequest { browse_paths: Array::from(paths), ..Default::default() };
    let results = peer.call(request).unwrap().results;
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    let expected = [
        StatusCode::GOOD,
        status::BAD_NO_MATCH,
        status::BAD_NO_MATCH,
        status::BAD_BROWSE_NAME_INVALID,
        status::BAD_BROWSE_NAME_INVALID,
        status::BAD_NODE_ID_UNKNOWN,
        status::BAD_NOTHING_TO_DO,
        status::BAD_NO_MATCH,
        StatusCode::GOOD,
        status::BAD_TOO_MANY_OPERATIONS,
    ];
    assert_eq!(statuses, expected);
    assert_eq!(results[0].targets[0].target_id.node_id, NodeId::numeric(0, 2258));
    assert_eq!(results[0].targets[0].remaining_path_index, u32::MAX);
    assert_eq!(results[8].targets[0].target_id.node_id, NodeId::numeric(0, 2253));
}

#[test]
fn every_attribute_of_every_node_is_good_or_invalid() {
    let server = server();
    let mut peer = peer(&server);
    let models = [uaforge_ns0::model(), uaforge_di::model()];
    let mut nodes = Vec::new();
    for (namespace, model) in [0, 2].into_iter().zip(models) {
        nodes.extend(model.nodes.iter().take(model.numeric).map(|row| NodeId::numeric(namespace, row.0)));
    }
    assert!(nodes.len() > 5_000, "{}", nodes.len());
    for chunk in nodes.chunks(300) {
        let item = |node: &NodeId, attribute_id| ReadValueId {
            node_id: node.clone(),
            attribute_id,
            ..Default::default()
        };
        let items: Vec<_> = chunk.iter().flat_map(|node| (1..=27).map(move |a| item(node, a))).collect();
        let results = peer.call(read(items)).unwrap().results;
        for (index, result) in results.iter().enumerate() {
            let status = result.status_or_good();
            let (node, attribute) = (&chunk[index / 27], index % 27 + 1);
            let fits = status == StatusCode::GOOD || status == status::BAD_ATTRIBUTE_ID_INVALID;
            assert!(fits, "{node} attribute {attribute}: {status}");
        }
    }
}
