//! The client's part of the acceptance cases, one test each: against our server over a socket, or against a
//! server of the test's making.

use std::time::Duration;

use uaforge_client::{Client, Error, Session, WriteItem};
use uaforge_codec::{ByteString, DataValue, NodeId, QualifiedName, StatusCode, Variant};
use uaforge_nodes::{AttributeId, ClassAttributes, NewNode};
use uaforge_server::{Limits, OperationLimits, Server};
use uaforge_tests::nodes;
use uaforge_tests::rogue::{Asked, Pair, URL, Wire, plain_endpoint};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowsePath, BrowsePathResult, BrowseRequest, BrowseResultMask,
    MessageSecurityMode, ReadRequest, ReadResponse, ReadValueId, RegisterNodesRequest, RelativePath,
    RelativePathElement, UserTokenType, status,
};

fn server_with(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0/srv")
        .insecure()
        .model(uaforge_ns0::model())
        .namespace("http://example.org/other")
        .limits(limits)
        .build()
        .expect("the server is built")
}

/// Runs the server while two sessions talk to it.
fn with_sessions(server: &Server, client: impl AsyncFnOnce(Session, Session)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let client = async {
            let session = Client::builder().insecure().connect(&url).await.expect("connected");
            let other = Client::builder().insecure().connect(&url).await.expect("connected");
            client(session.clone(), other.clone()).await;
            session.close().await;
            other.close().await;
            drop(stop);
        };
        let (running, ()) = tokio::join!(server.run_until(stopped), client);
        running.expect("the server runs");
    });
}

fn object(server: &Server, id: &NodeId, name: QualifiedName, parents: &[&NodeId]) {
    let added = server.space().edit(|edit| {
        let class = ClassAttributes::Object { event_notifier: 0 };
        edit.add_node(NewNode::new(id.clone(), name, class))?;
        parents.iter().try_for_each(|parent| edit.add_reference(parent, &organizes(), id))
    });
    added.expect("an object");
}

fn objects() -> NodeId {
    NodeId::numeric(0, 85)
}

fn organizes() -> NodeId {
    NodeId::numeric(0, 35)
}

/// The address in the endpoint list is not the address used to connect (OPC 10000-6 §7.1.2.3, OPC 10000-4
/// §5.5.4, §5.7.2). Steps 6 and 7 are the server's; step 5 needs certificates.
#[test]
fn case_037_endpoint_address_differs() {
    const PLANT: &str = "opc.tcp://plant:4840/srv";
    let connect = |lists: [Vec<_>; 2]| {
        let (mut pair, connecting) = Pair::connecting(Client::builder().insecure(), Box::new(|_, _| false));
        pair.wire.endpoints = lists;
        let outcome = pair.run(connecting);
        (pair, outcome)
    };
    // Steps 1 to 4 and 8: the list names a host that does not resolve, in one of the answers or in both.
    for lists in [[PLANT, PLANT], [URL, PLANT], [PLANT, URL], ["", PLANT], [URL, "opc.tcp://10.0.0.1"]] {
        let (mut pair, outcome) = connect(lists.map(|url| vec![plain_endpoint(url)]));
        let session = outcome.expect("a session");
        // Hello, GetEndpoints and CreateSession name what was typed.
        assert_eq!(pair.wire.urls, [URL; 3]);
        let value = pair.run(session.read_value(NodeId::numeric(2, 7))).expect("a value");
        assert_eq!(value.value(), Some(&Variant::UInt32(7)));
    }
    // Step 9: other policies, modes or users are an attack.
    let mut secured = plain_endpoint(URL);
    secured.security_policy_uri = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256".into();
    secured.security_mode = MessageSecurityMode::SIGN_AND_ENCRYPT;
    let mut signed = plain_endpoint(URL);
    signed.security_mode = MessageSecurityMode::SIGN;
    let mut named = plain_endpoint(URL);
    let mut tokens = named.user_identity_tokens.into_vec();
    tokens[0].token_type = UserTokenType::USER_NAME;
    named.user_identity_tokens = tokens.into();
    let plain = || plain_endpoint(URL);
    for session_list in [vec![secured.clone()], vec![signed], vec![named], vec![plain(), secured], vec![]] {
        let (mut pair, outcome) = connect([vec![plain()], session_list]);
        let error = outcome.expect_err("the lists differ");
        assert!(matches!(error, Error::EndpointsDiffer), "{error}");
        assert_eq!(error.status(), status::BAD_SECURITY_CHECKS_FAILED);
        pair.pass(Duration::from_secs(1));
        assert!(pair.connection.is_none(), "the connection is closed");
    }
    // Our own server: reached by an address that its list does not name.
    let server = server_with(Limits::default());
    let port = server.local_addr().expect("it listens").port();
    with_sessions(&server, async |_, _| {
        for url in [format!("opc.tcp://localhost:{port}/srv"), format!("OPC.TCP://LocalHost:{port}")] {
            let session = Client::builder().insecure().connect(&url).await.expect(&url);
            let found = session.get_endpoints("opc.tcp://[::1]:14840/srv").await.expect("endpoints");
            assert!(!found.is_empty());
            session.close().await;
            let discovery = Client::builder().discovery(&url).await.expect(&url);
            let hosts: Vec<_> = discovery.get_endpoints().await.expect("endpoints");
            assert!(
                hosts.iter().all(|endpoint| endpoint
                    .endpoint_url
                    .text()
                    .to_lowercase()
                    .contains("localhost"))
            );
        }
    });
}

fn children(of: &NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id: of.clone(),
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: organizes(),
        include_subtypes: true,
        node_class_mask: 0,
        result_mask: BrowseResultMask::ALL.0.cast_unsigned(),
    }
}

/// Browse with continuation points (OPC 10000-4 §5.9.2, §5.9.3, §7.9).
#[test]
fn case_040_browse_continuation_points() {
    let server = server_with(Limits { max_continuation_points: 2, ..Limits::default() });
    let [f, g] = ["F", "G"].map(|name| NodeId::string(1, name));
    object(&server, &f, QualifiedName::new(1, "F"), &[&objects()]);
    object(&server, &g, QualifiedName::new(1, "G"), &[&objects()]);
    for (parent, count) in [(&f, 25), (&g, 3)] {
        for number in 0..count {
            let name = format!("{parent}/{number}");
            object(&server, &NodeId::string(1, name.clone()), QualifiedName::new(1, name), &[parent]);
        }
    }
    with_sessions(&server, async |session, other| {
        let browse = async |nodes: Vec<BrowseDescription>, max| session.browse(nodes, max).await;
        let next = async |points: Vec<ByteString>| session.browse_next(points, false).await;
        // Steps 1 to 4.
        let first = browse(vec![children(&f)], 10).await.unwrap().remove(0);
        assert_eq!((first.references.len(), first.continuation_point.is_null()), (10, false));
        let second = next(vec![first.continuation_point.clone()]).await.unwrap().remove(0);
        assert_eq!((second.references.len(), second.continuation_point.is_null()), (10, false));
        let third = next(vec![second.continuation_point.clone()]).await.unwrap().remove(0);
        assert_eq!((third.references.len(), third.continuation_point), (5, ByteString::NULL));
        let mut targets: Vec<_> = [&first.references, &second.references, &third.references]
            .into_iter()
            .flat_map(|page| page.iter().map(|reference| reference.node_id.clone()))
            .collect();
        targets.sort();
        targets.dedup();
        assert_eq!(targets.len(), 25, "each reference once");
        let again = next(vec![second.continuation_point]).await.unwrap().remove(0);
        assert_eq!(again.status_code, status::BAD_CONTINUATION_POINT_INVALID);
        // Steps 5 and 6.
        let three = browse(vec![children(&f); 3], 10).await.unwrap();
        let statuses: Vec<_> = three.iter().map(|result| result.status_code).collect();
        assert_eq!(statuses, [StatusCode::GOOD, StatusCode::GOOD, status::BAD_NO_CONTINUATION_POINTS]);
        assert!(three[2].continuation_point.is_null());
        let points: Vec<_> = three.into_iter().take(2).map(|result| result.continuation_point).collect();
        // Step 10, while they are there.
        let foreign = other.browse_next(points.clone(), false).await.unwrap();
        assert!(foreign.iter().all(|result| result.status_code == status::BAD_CONTINUATION_POINT_INVALID));
        session.browse_next(points, true).await.unwrap();
        let two = browse(vec![children(&f); 2], 10).await.unwrap();
        assert!(two.iter().all(|result| !result.continuation_point.is_null()), "both are free again");
        let points = two.into_iter().map(|result| result.continuation_point).collect();
        session.browse_next(points, true).await.unwrap();
        limits_and_refusals(&session, &f, &g).await;
        // The helper gets everything, more nodes than there are continuation points.
        let pages = session.browse_all(vec![children(&f); 7]).page_size(10).await.unwrap();
        assert!(pages.iter().all(|page| page.as_ref().unwrap().len() == 25));
        a_change_between_pages(&server, &session, &f).await;
    });
}

/// Case 040, steps 7 to 9 and 11 to 14.
async fn limits_and_refusals(session: &Session, f: &NodeId, g: &NodeId) {
    // Steps 7 and 8.
    let all_of_g = session.browse(vec![children(g)], 3).await.unwrap().remove(0);
    assert_eq!((all_of_g.references.len(), all_of_g.continuation_point), (3, ByteString::NULL));
    let all_of_f = session.browse(vec![children(f)], 0).await.unwrap().remove(0);
    assert_eq!(all_of_f.references.len(), 25);
    // Step 9.
    let invalid =
        [ByteString::from(vec![7; 16]), ByteString::from(vec![]), ByteString::from(vec![1; 1 << 20])];
    for result in session.browse_next(invalid.to_vec(), false).await.unwrap() {
        assert_eq!(result.status_code, status::BAD_CONTINUATION_POINT_INVALID);
    }
    // Steps 11 to 14.
    let unknown_type = BrowseDescription { reference_type_id: NodeId::numeric(1, 77), ..children(f) };
    let direction = BrowseDescription { browse_direction: BrowseDirection(3), ..children(f) };
    let statuses: Vec<_> = session
        .browse(vec![unknown_type, direction, children(&NodeId::numeric(1, 4))], 0)
        .await
        .unwrap()
        .into_iter()
        .map(|result| result.status_code)
        .collect();
    let expected = [
        status::BAD_REFERENCE_TYPE_ID_INVALID,
        status::BAD_BROWSE_DIRECTION_INVALID,
        status::BAD_NODE_ID_UNKNOWN,
    ];
    assert_eq!(statuses, expected);
    assert_eq!(session.browse(vec![], 0).await.unwrap_err().status(), status::BAD_NOTHING_TO_DO);
}

/// Case 040, step 15.
async fn a_change_between_pages(server: &Server, session: &Session, f: &NodeId) {
    let first = session.browse(vec![children(f)], 10).await.unwrap().remove(0);
    let gone = NodeId::string(1, format!("{f}/20"));
    server.space().edit(|edit| edit.remove_reference(f, &organizes(), &gone)).expect("it is removed");
    let second = session.browse_next(vec![first.continuation_point], false).await.unwrap().remove(0);
    if second.status_code != status::BAD_CONTINUATION_POINT_INVALID {
        let third = session.browse_next(vec![second.continuation_point], false).await.unwrap().remove(0);
        let rest = second.references.iter().chain(third.references.iter());
        let seen: Vec<_> = first.references.iter().chain(rest).map(|r| r.node_id.clone()).collect();
        assert!((24..=25).contains(&seen.len()));
    }
    let pages = session.browse_all(vec![children(f)]).page_size(10).await.unwrap();
    assert_eq!(pages[0].as_ref().unwrap().len(), 24);
}

/// A relative path over HierarchicalReferences and subtypes.
fn path(from: &NodeId, names: &[QualifiedName]) -> BrowsePath {
    let element = |name: &QualifiedName| RelativePathElement {
        reference_type_id: NodeId::numeric(0, 33),
        is_inverse: false,
        include_subtypes: true,
        target_name: name.clone(),
    };
    let elements: Vec<_> = names.iter().map(element).collect();
    BrowsePath { starting_node: from.clone(), relative_path: RelativePath { elements: elements.into() } }
}

fn changed(mut path: BrowsePath, change: impl Fn(&mut RelativePathElement)) -> BrowsePath {
    let mut elements = path.relative_path.elements.into_vec();
    elements.iter_mut().for_each(change);
    path.relative_path.elements = elements.into();
    path
}

fn targets(result: &BrowsePathResult) -> Vec<NodeId> {
    assert!(result.targets.iter().all(|target| target.remaining_path_index == u32::MAX));
    result.targets.iter().map(|target| target.target_id.node_id.clone()).collect()
}

/// TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4).
#[test]
fn case_045_translate_browse_paths() {
    let server = server_with(Limits::default());
    let p = NodeId::string(1, "P");
    let name = |text: &str| QualifiedName::new(1, text);
    object(&server, &p, name("P"), &[&objects()]);
    for text in ["T", "Dup", "Dup2"] {
        let shown = if text == "Dup2" { "Dup" } else { text };
        object(&server, &NodeId::string(1, text), name(shown), &[&p]);
    }
    let q = NodeId::string(2, "Q");
    object(&server, &q, QualifiedName::new(2, "Q"), &[&p]);
    let t = NodeId::string(1, "T");
    nodes::property(&server, &t, 5, "EURange", 1.0);
    with_sessions(&server, async |session, _| {
        let to_t = path(&objects(), &[name("P"), name("T")]);
        let paths = vec![
            to_t.clone(),
            changed(to_t.clone(), |element| element.include_subtypes = false),
            path(&objects(), &[name("P"), name("Dup")]),
            path(&objects(), &[name("P"), name("NoSuch")]),
            path(&objects(), &[name("P"), QualifiedName::default()]),
            path(&objects(), &[QualifiedName::default(), name("T")]),
            path(&NodeId::numeric(1, 999), &[name("P")]),
            path(&objects(), &[]),
            path(&objects(), &[QualifiedName::new(2, "P")]),
            changed(path(&t, &[name("P")]), |element| element.is_inverse = true),
            changed(to_t, |element| element.reference_type_id = NodeId::NULL),
            path(&objects(), &[name("P"), QualifiedName::new(2, "Q")]),
            path(&objects(), &[name("P"), name("T"), QualifiedName::new(0, "EURange")]),
        ];
        let results = session.translate(paths).await.unwrap();
        let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
        let expected = [
            StatusCode::GOOD,
            status::BAD_NO_MATCH,
            StatusCode::GOOD,
            status::BAD_NO_MATCH,
            status::BAD_BROWSE_NAME_INVALID,
            status::BAD_BROWSE_NAME_INVALID,
            status::BAD_NODE_ID_UNKNOWN,
            status::BAD_NOTHING_TO_DO,
            status::BAD_NO_MATCH,
            StatusCode::GOOD,
            StatusCode::GOOD,
            StatusCode::GOOD,
            StatusCode::GOOD,
        ];
        assert_eq!(statuses, expected);
        assert_eq!(targets(&results[0]), std::slice::from_ref(&t));
        assert!((1..=2).contains(&targets(&results[2]).len()));
        assert_eq!(targets(&results[9]), std::slice::from_ref(&p));
        assert_eq!(targets(&results[10]), std::slice::from_ref(&t));
        assert_eq!(targets(&results[11]), std::slice::from_ref(&q));
        assert_eq!(targets(&results[12]).len(), 1);
        // Step 11: in bounded time, and only that path is refused.
        let long = path(&objects(), &vec![name("P"); 10_000]);
        let results = session.translate(vec![long, path(&objects(), &[name("P")])]).await.unwrap();
        let allowed =
            [status::BAD_TOO_MANY_OPERATIONS, status::BAD_ENCODING_LIMITS_EXCEEDED, status::BAD_NO_MATCH];
        assert!(allowed.contains(&results[0].status_code), "{}", results[0].status_code);
        assert_eq!(targets(&results[1]), [p]);
    });
}

fn value_of(number: u32) -> ReadValueId {
    ReadValueId {
        node_id: NodeId::numeric(1, number),
        attribute_id: AttributeId::Value as u32,
        ..Default::default()
    }
}

fn read_request(count: u32) -> ReadRequest {
    let nodes: Vec<_> = (1000..1000 + count).map(value_of).collect();
    ReadRequest { nodes_to_read: nodes.into(), ..Default::default() }
}

/// Operation limits and empty requests (OPC 10000-5 §6.3.11, OPC 10000-4 §7.38). Step 7 needs
/// subscriptions; step 9 and the client's steps 5 and 6 are below.
#[test]
fn case_047_operation_limits() {
    let operations = OperationLimits {
        max_nodes_per_read: 100,
        max_nodes_per_write: 50,
        max_nodes_per_browse: 20,
        max_nodes_per_register_nodes: 10,
        ..OperationLimits::default()
    };
    let server = server_with(Limits { operations, ..Limits::default() });
    for number in 0..1000 {
        nodes::variable(&server, 1000 + number, nodes::scalar(7), number);
    }
    with_sessions(&server, async |session, _| {
        // Steps 1 to 3, as one call each.
        let error = session.call_service(read_request(101)).await.unwrap_err();
        assert!(matches!(error, Error::Service { status: status::BAD_TOO_MANY_OPERATIONS, .. }), "{error}");
        let mut request = read_request(99);
        request.nodes_to_read.make_mut().insert(50, value_of(7));
        let results = session.call_service(request).await.unwrap().results;
        for (place, result) in results.iter().enumerate() {
            let expected = if place == 50 { status::BAD_NODE_ID_UNKNOWN } else { StatusCode::GOOD };
            assert_eq!(result.status_or_good(), expected, "{place}");
        }
        let error = session.call_service(read_request(0)).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_NOTHING_TO_DO);
        // Step 4, and the same for the other services.
        assert_eq!(session.limits().max_nodes_per_read, 100);
        let ids: Vec<_> = (1000..2000).map(|number| NodeId::numeric(1, number)).collect();
        let values = session.read(&ids).await.unwrap();
        assert_eq!(values.len(), 1000);
        for (value, expected) in values.iter().zip(0u32..) {
            assert_eq!(value.value(), Some(&Variant::UInt32(expected)));
        }
        let writes = ids.iter().zip(5u32..).map(|(id, value)| WriteItem::value(id, value));
        session.write(writes).all().await.unwrap();
        let values = session.read(&ids).values().await.unwrap();
        assert!(values.iter().zip(5u32..).all(|(value, expected)| *value == Variant::UInt32(expected)));
        let pages = session.browse_all(ids.iter().map(children).collect()).await.unwrap();
        assert!(pages.iter().all(Result::is_ok) && pages.len() == 1000);
        // Step 8, and the helper.
        let request =
            RegisterNodesRequest { nodes_to_register: ids[..11].to_vec().into(), ..Default::default() };
        let error = session.call_service(request).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_TOO_MANY_OPERATIONS);
        let registered = session.register_nodes(ids[..25].to_vec()).await.unwrap();
        let values = session.read(&registered).values().await.unwrap();
        assert!(values.iter().zip(5u32..).all(|(value, expected)| *value == Variant::UInt32(expected)));
        session.unregister_nodes(registered).await.unwrap();
        let nodes: Vec<_> = ids.iter().map(children).collect();
        let request = BrowseRequest { nodes_to_browse: nodes.into(), ..Default::default() };
        let error = session.call_service(request).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_TOO_MANY_OPERATIONS);
    });
    responses_above_the_limit_are_split();
    client_steps();
}

/// Step 9: 100 nodes whose response exceeds the client's limit.
fn responses_above_the_limit_are_split() {
    let server = server_with(Limits::default());
    for number in 0..100 {
        let text = "x".repeat(10_000);
        nodes::variable(&server, 1000 + number, nodes::scalar(12), Variant::String(text.into()));
    }
    let url = server.endpoints().first().cloned().expect("an endpoint");
    with_sessions(&server, async |_, _| {
        let small = Client::builder().insecure().max_message_size(200_000);
        let session = small.connect(&url).await.expect("connected");
        let error = session.call_service(read_request(100)).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_RESPONSE_TOO_LARGE, "{error}");
        let values = session.read((1000..1100).map(|number| NodeId::numeric(1, number))).await.unwrap();
        assert!(values.iter().all(|value| value.status_or_good().is_good()) && values.len() == 100);
        session.close().await;
    });
}

/// Steps 5 and 6: limits absent but enforced, and limits of 0.
fn client_steps() {
    for (limit, refuses_above, calls) in [(None, 250, 6), (Some(0), 10_000, 1)] {
        let (mut pair, connecting) = Pair::connecting(Client::builder().insecure(), Box::new(|_, _| false));
        pair.wire.tables.extend(limit.map(|limit: u32| DataValue::new(limit)));
        let session = pair.run(connecting).expect("a session");
        let before = pair.wire.count::<ReadRequest>();
        pair.script(move |asked: &Asked, wire: &mut Wire| match asked.read() {
            Some(nodes) if nodes.len() > refuses_above => {
                wire.fault(asked, status::BAD_TOO_MANY_OPERATIONS);
                true
            }
            Some(nodes) => {
                let results: Vec<_> = nodes.iter().map(|_| DataValue::new(1u32)).collect();
                wire.respond(asked, &ReadResponse { results: results.into(), ..Default::default() });
                true
            }
            None => false,
        });
        let ids = (0..1000).map(|number| NodeId::numeric(2, number));
        let values = pair.run(async { session.read(ids).await }).expect("values");
        assert_eq!(values.len(), 1000);
        assert_eq!(pair.wire.count::<ReadRequest>() - before, calls);
    }
}
