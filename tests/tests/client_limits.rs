//! Calls that are taken apart: by announced limits, by limits that a server only shows, by sizes; and
//! browsing that would not end (cases 040, 047).

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use uaforge_client::{Client, ClientBuilder, Error, ReadItem, Session};
use uaforge_codec::{
    Array, ByteString, DataValue, ExpandedNodeId, ExtensionObject, IntoVariant as _, NodeId, QualifiedName,
    StatusCode, Variant,
};
use uaforge_tests::rogue::{Asked, Pair, Wire, number};
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowseNextResponse, BrowseRequest, BrowseResponse, BrowseResult,
    CreateSessionRequest, FindServersOnNetworkRequest, FindServersOnNetworkResponse,
    MdnsDiscoveryConfiguration, ReadRequest, ReadResponse, ReferenceDescription, RegisterNodesRequest,
    RegisterNodesResponse, RegisterServer2Request, RegisterServer2Response, RegisteredServer,
    ServerOnNetwork, UnregisterNodesRequest, UnregisterNodesResponse, status,
};

fn builder() -> ClientBuilder {
    Client::builder().insecure()
}

fn nodes(count: u32) -> Vec<NodeId> {
    (0..count).map(|number| NodeId::numeric(2, number)).collect()
}

/// A session whose server announces these limits, in the order in which the client reads them.
fn with_limits(limits: &[(usize, u32)]) -> (Pair, Session) {
    let (mut pair, connecting) = Pair::connecting(builder(), Box::new(|_, _| false));
    for (place, limit) in limits {
        let absent = DataValue::from_status(status::BAD_NODE_ID_UNKNOWN);
        let length = pair.wire.tables.len().max(place + 1);
        pair.wire.tables.resize(length, absent);
        pair.wire.tables[*place] = DataValue::new(*limit);
    }
    let session = pair.run(connecting).expect("a session");
    (pair, session)
}

/// A server that refuses Reads of more nodes than this.
fn refuse_above(limit: usize, status: StatusCode) -> impl FnMut(&Asked, &mut Wire) -> bool {
    move |asked, wire| match asked.read() {
        Some(nodes) if nodes.len() > limit => {
            wire.fault(asked, status);
            true
        }
        _ => false,
    }
}

fn assert_in_order(values: &[DataValue], count: u32) {
    assert_eq!(values.len(), count as usize);
    for (value, expected) in values.iter().zip(0..) {
        assert_eq!(value.value(), Some(&Variant::UInt32(expected)));
    }
}

/// Sizes of the Reads of a test so far.
fn sizes(pair: &Pair) -> Vec<usize> {
    pair.wire.log.iter().filter_map(Asked::read).map(|nodes| nodes.len()).collect()
}

/// Case 047, step 4: 1,000 nodes, 100 in one call, 10 requests.
#[test]
fn announced_limits_are_kept() {
    let (mut pair, session) = with_limits(&[(1, 100)]);
    assert_eq!(session.limits().max_nodes_per_read, 100);
    let values = pair.run(async { session.read(nodes(1000)).await }).unwrap();
    assert_in_order(&values, 1000);
    assert_eq!(sizes(&pair), [100; 10]);
    // The limits were read once, in one call.
    assert_eq!(pair.wire.count::<ReadRequest>(), 11);
}

/// Case 047, step 5: nothing announced, more than 250 refused.
#[test]
fn limits_that_are_only_shown_are_learnt() {
    let (mut pair, session) = with_limits(&[]);
    pair.script(refuse_above(250, status::BAD_TOO_MANY_OPERATIONS));
    let values = pair.run(async { session.read(nodes(1000)).await }).unwrap();
    assert_in_order(&values, 1000);
    assert_eq!(sizes(&pair), [1000, 500, 250, 250, 250, 250]);
    // The next call knows.
    let before = pair.wire.log.len();
    let values = pair.run(async { session.read(nodes(500)).await }).unwrap();
    assert_in_order(&values, 500);
    assert_eq!(pair.wire.log.len() - before, 2);
}

/// Case 047, step 6: 0 is no limit.
#[test]
fn a_limit_of_zero_is_none() {
    let (mut pair, session) = with_limits(&[(1, 0), (8, 0)]);
    let values = pair.run(async { session.read(nodes(5000)).await }).unwrap();
    assert_in_order(&values, 5000);
    assert_eq!(sizes(&pair), [5000]);
}

#[test]
fn the_longest_array_is_a_limit_too() {
    let (mut pair, session) = with_limits(&[(1, 1000), (8, 64)]);
    let values = pair.run(async { session.read(nodes(200)).await }).unwrap();
    assert_in_order(&values, 200);
    assert_eq!(sizes(&pair), [64, 64, 64, 8]);
}

/// Case 047, step 9.
#[test]
fn responses_that_are_too_large_are_asked_for_in_parts() {
    for refusal in
        [status::BAD_RESPONSE_TOO_LARGE, status::BAD_REQUEST_TOO_LARGE, status::BAD_ENCODING_LIMITS_EXCEEDED]
    {
        let (mut pair, session) = with_limits(&[(1, 100)]);
        pair.script(refuse_above(30, refusal));
        let values = pair.run(async { session.read(nodes(200)).await }).unwrap();
        assert_in_order(&values, 200);
        assert!(sizes(&pair).iter().filter(|size| **size <= 30).sum::<usize>() == 200);
        // What does not fit today may fit tomorrow: nothing is learnt from sizes.
        let before = pair.wire.log.len();
        pair.script(|_, _| false);
        pair.run(async { session.read(nodes(100)).await }).unwrap();
        assert_eq!(pair.wire.log.len() - before, 1);
    }
}

/// One value that never fits stands in its place; the others are there.
#[test]
fn one_operation_that_is_too_large_stands_in_its_place() {
    let (mut pair, session) = with_limits(&[]);
    pair.script(|asked, wire| match asked.read() {
        Some(nodes) if nodes.iter().any(|node| number(&node.node_id) == 37) => {
            wire.fault(asked, status::BAD_RESPONSE_TOO_LARGE);
            true
        }
        _ => false,
    });
    let values = pair.run(async { session.read(nodes(64)).await }).unwrap();
    for (value, expected) in values.iter().zip(0..) {
        match expected {
            37 => assert_eq!(value.status(), Some(status::BAD_RESPONSE_TOO_LARGE)),
            _ => assert_eq!(value.value(), Some(&Variant::UInt32(expected))),
        }
    }
    // As an error it names node and place.
    let error = pair.run(session.read(nodes(64)).values()).unwrap_err();
    assert!(error.to_string().starts_with("ReadRequest[37] ns=2;i=37: Bad_ResponseTooLarge"), "{error}");
}

#[test]
fn a_server_that_takes_no_operation_is_not_asked_for_each() {
    let (mut pair, session) = with_limits(&[]);
    pair.script(refuse_above(0, status::BAD_TOO_MANY_OPERATIONS));
    let error = pair.run(async { session.read(nodes(4096)).await }).unwrap_err();
    assert_eq!(error.status(), status::BAD_TOO_MANY_OPERATIONS);
    assert!(sizes(&pair).len() <= 13, "{:?}", sizes(&pair));
}

/// A refusal that holds for no number of operations teaches nothing.
#[test]
fn a_refusal_of_everything_is_no_limit() {
    let (mut pair, session) = with_limits(&[]);
    pair.script(refuse_above(0, status::BAD_TOO_MANY_OPERATIONS));
    pair.run(async { session.read(nodes(64)).await }).unwrap_err();
    pair.script(|_, _| false);
    let before = pair.wire.log.len();
    assert_in_order(&pair.run(async { session.read(nodes(64)).await }).unwrap(), 64);
    assert_eq!(pair.wire.log.len() - before, 1);
}

/// A server whose limits cannot be read in one call is asked for its namespaces alone.
#[test]
fn a_server_that_refuses_the_limits_still_connects() {
    let script = |asked: &Asked, wire: &mut Wire| match asked.get::<ReadRequest>() {
        Some(request) if request.nodes_to_read.len() > 5 => {
            wire.fault(asked, status::BAD_TOO_MANY_OPERATIONS);
            true
        }
        _ => false,
    };
    let (mut pair, connecting) = Pair::connecting(builder(), Box::new(script));
    let session = pair.run(connecting).expect("a session");
    assert_eq!(session.limits(), Default::default());
}

/// No more calls are on their way at once than was said.
#[test]
fn parts_in_flight_are_bounded() {
    let (mut pair, connecting) = Pair::connecting(builder().parallel_parts(3), Box::new(|_, _| false));
    pair.wire.tables.push(DataValue::new(10u32));
    let session = pair.run(connecting).expect("a session");
    let most = Rc::new(Cell::new(0));
    let (seen, mut waiting) = (Rc::clone(&most), Vec::new());
    pair.script(move |asked, wire| {
        let Some(nodes) = asked.read() else { return false };
        // Answers of requests that arrive together leave together, a second later.
        waiting.push(asked.id);
        seen.set(seen.get().max(waiting.len()));
        wire.values(asked, &nodes);
        wire.delay(Duration::from_secs(1));
        if waiting.len() == 3 || nodes.len() < 10 {
            waiting.clear();
        }
        true
    });
    let values = pair.run(async { session.read(nodes(95)).await }).unwrap();
    assert_in_order(&values, 95);
    assert_eq!(most.get(), 3);
    assert!(pair.now.ticks.since(uaforge_tests::peer::start_time().ticks) >= Duration::from_secs(4));
}

/// A part that fails as a whole has its status in the place of its items, once others have succeeded.
#[test]
fn a_failed_part_stands_in_its_place() {
    let (mut pair, session) = with_limits(&[(1, 10)]);
    pair.script(|asked, wire| match asked.read() {
        Some(nodes) if number(&nodes[0].node_id) == 20 => {
            wire.fault(asked, status::BAD_INTERNAL_ERROR);
            true
        }
        _ => false,
    });
    let values = pair.run(async { session.read(nodes(50)).await }).unwrap();
    assert_eq!(values.len(), 50);
    for (value, place) in values.iter().zip(0u32..) {
        let failed = (20..30).contains(&place);
        assert_eq!(value.status() == Some(status::BAD_INTERNAL_ERROR), failed, "{place}");
    }
    let mut many = session.read_many(nodes(50));
    let outcomes = pair.run(async {
        let mut outcomes = Vec::new();
        while let Some(value) = many.next().await {
            outcomes.push(value.is_ok());
        }
        outcomes
    });
    let expected: Vec<_> = (0..50).map(|place| !(20..30).contains(&place)).collect();
    assert_eq!(outcomes, expected);
}

#[test]
fn registering_in_parts_leaves_nothing_behind() {
    let (mut pair, session) = with_limits(&[(5, 10)]);
    pair.script(|asked, wire| {
        if let Some(request) = asked.get::<RegisterNodesRequest>() {
            if number(&request.nodes_to_register[0]) == 20 {
                wire.fault(asked, status::BAD_NODE_ID_INVALID);
            } else {
                let registered_node_ids = request.nodes_to_register.clone();
                wire.respond(asked, &RegisterNodesResponse { registered_node_ids, ..Default::default() });
            }
            return true;
        }
        let unregisters = asked.get::<UnregisterNodesRequest>().is_some();
        if unregisters {
            wire.respond(asked, &UnregisterNodesResponse::default());
        }
        unregisters
    });
    assert_eq!(pair.run(session.register_nodes(nodes(20))).unwrap(), nodes(20));
    let error = pair.run(session.register_nodes(nodes(40))).unwrap_err();
    assert_eq!(error.status(), status::BAD_NODE_ID_INVALID);
    let given_back: usize = pair
        .wire
        .log
        .iter()
        .filter_map(Asked::get::<UnregisterNodesRequest>)
        .map(|request| request.nodes_to_unregister.len())
        .sum();
    assert_eq!(given_back, 30);
}

#[test]
fn an_index_range_and_an_encoding_go_with_their_item() {
    let (mut pair, session) = with_limits(&[]);
    let item = ReadItem::value(&nodes(1)[0]).range("1:2").encoding(QualifiedName::new(0, "Default Binary"));
    let read = session
        .read([item])
        .max_age(Duration::from_millis(1500))
        .timestamps(uaforge_types::TimestampsToReturn::SOURCE);
    pair.run(async { read.await }).unwrap();
    let request = pair.wire.log.last().unwrap().get::<ReadRequest>().unwrap();
    assert_eq!(request.max_age, 1500.0);
    assert_eq!(request.timestamps_to_return, uaforge_types::TimestampsToReturn::SOURCE);
    assert_eq!(request.nodes_to_read[0].index_range, "1:2");
    assert_eq!(request.nodes_to_read[0].data_encoding.name, "Default Binary");
}

/// References to these nodes.
fn references(targets: impl IntoIterator<Item = u32>) -> Array<ReferenceDescription> {
    let reference = |target| ReferenceDescription {
        reference_type_id: NodeId::numeric(0, 35),
        is_forward: true,
        node_id: ExpandedNodeId::from(NodeId::numeric(2, target)),
        browse_name: QualifiedName::new(2, format!("{target}")),
        ..Default::default()
    };
    targets.into_iter().map(reference).collect::<Vec<_>>().into()
}

fn description(of: u32) -> BrowseDescription {
    BrowseDescription { node_id: NodeId::numeric(2, of), result_mask: 63, ..Default::default() }
}

/// A server that gives this page as the answer to each Browse and BrowseNext of a node; `more`: with a
/// continuation point.
fn pages(pair: &mut Pair, mut page: impl FnMut(u32, u32) -> (Vec<u32>, bool) + 'static) {
    pair.script(move |asked, wire| {
        let mut result = |node: u32, number: u32| {
            let (targets, more) = page(node, number);
            let point = format!("{node} {}", number + 1);
            let continuation_point =
                if more { ByteString::from(point.into_bytes()) } else { ByteString::NULL };
            BrowseResult { continuation_point, references: references(targets), ..Default::default() }
        };
        if let Some(request) = asked.get::<BrowseRequest>() {
            let results: Vec<_> =
                request.nodes_to_browse.iter().map(|node| result(number(&node.node_id), 0)).collect();
            wire.respond(asked, &BrowseResponse { results: results.into(), ..Default::default() });
        } else if let Some(request) = asked.get::<BrowseNextRequest>() {
            let mut results = Vec::new();
            for point in request.continuation_points.iter().filter(|_| !request.release_continuation_points) {
                let text = String::from_utf8(point.bytes().to_vec()).unwrap();
                let (node, page) = text.split_once(' ').unwrap();
                results.push(result(node.parse().unwrap(), page.parse().unwrap()));
            }
            wire.respond(asked, &BrowseNextResponse { results: results.into(), ..Default::default() });
        } else {
            return false;
        }
        true
    });
}

fn released(pair: &Pair) -> usize {
    let nexts = pair.wire.log.iter().filter_map(Asked::get::<BrowseNextRequest>);
    nexts.filter(|next| next.release_continuation_points).map(|next| next.continuation_points.len()).sum()
}

#[test]
fn pages_without_end_are_ended() {
    type Page = fn(u32, u32) -> (Vec<u32>, bool);
    let servers: [(Page, usize); 4] = [
        // Always the same page.
        (|_, _| (vec![1, 2, 3], true), 20),
        // Nothing at all.
        (|_, _| (vec![], true), 20),
        // The same references in turn.
        (|_, page| (vec![page % 7], true), 30),
        // Always something new: ended by the number of references.
        (|_, page| ((page * 100..page * 100 + 100).collect(), true), 12),
    ];
    for (page, calls) in servers {
        let (mut pair, session) = with_limits(&[]);
        pages(&mut pair, page);
        let browse = session.browse_all(vec![description(1)]).max_references(1000);
        let results = pair.run(async { browse.await });
        let error = match results {
            Ok(mut pages) => pages.pop().unwrap().unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, Error::Endless { .. }), "{error}");
        assert!(pair.wire.log.len() <= 5 + calls, "{} calls", pair.wire.log.len());
        pair.pass(Duration::from_secs(1));
        assert_eq!(released(&pair), 1, "the point is given back");
    }
}

/// References with long names: it is memory that counts, not their number.
#[test]
fn long_names_are_bounded_too() {
    let (mut pair, session) = with_limits(&[]);
    let mut page = 0;
    pair.script(move |asked, wire| {
        let browses = asked.get::<BrowseRequest>().is_some();
        let next = asked.get::<BrowseNextRequest>();
        if !browses && next.is_none() {
            return false;
        }
        page += 1;
        let mut long = references([page]).into_vec();
        long[0].browse_name = QualifiedName::new(2, "x".repeat(100_000));
        let result = BrowseResult {
            continuation_point: ByteString::from(vec![1]),
            references: long.into(),
            ..Default::default()
        };
        let results: Array<_> = vec![result].into();
        match next {
            None => wire.respond(asked, &BrowseResponse { results, ..Default::default() }),
            Some(_) => wire.respond(asked, &BrowseNextResponse { results, ..Default::default() }),
        }
        true
    });
    let browse = session.browse_all(vec![description(1)]).max_bytes(1_000_000);
    let error = pair.run(async { browse.await }).unwrap_err();
    assert!(matches!(error, Error::Endless { limit: 1_000_000, .. }), "{error}");
    pair.pass(Duration::from_secs(1));
    assert_eq!(released(&pair), 1, "the point is given back");
    assert!(pair.wire.log.len() < 20);
}

#[test]
fn a_node_without_end_does_not_cost_the_others() {
    let (mut pair, session) = with_limits(&[]);
    pages(&mut pair, |node, page| match node {
        1 => (vec![], true),
        _ => ((page * 10..page * 10 + 10).collect(), page < 4),
    });
    let all = pair.run(async { session.browse_all((0..3).map(description).collect()).await }).unwrap();
    assert!(matches!(all[1], Err(Error::Endless { .. })));
    for node in [0, 2] {
        assert_eq!(all[node].as_ref().unwrap().len(), 50);
    }
}

/// A few empty pages are allowed, and what comes twice is given once.
#[test]
fn pages_may_be_empty_and_overlap() {
    let (mut pair, session) = with_limits(&[]);
    pages(&mut pair, |_, page| match page {
        0..=9 => (vec![], true),
        10..=20 => ((page * 5..page * 5 + 10).collect(), page < 20),
        _ => unreachable!("the last page was given"),
    });
    let all = pair.run(async { session.browse_all(vec![description(1)]).await }).unwrap();
    assert_eq!(all[0].as_ref().unwrap().len(), 60);
}

#[test]
fn a_stream_that_is_dropped_gives_its_points_back() {
    let (mut pair, session) = with_limits(&[]);
    pages(&mut pair, |_, page| ((page * 10..page * 10 + 10).collect(), true));
    let mut stream = session.browse_many((0..5).map(description));
    let page = pair.run(stream.next()).unwrap();
    assert_eq!((page.index, page.references.unwrap().len(), page.last), (0, 10, false));
    drop(stream);
    pair.pass(Duration::from_secs(1));
    assert_eq!(released(&pair), 5);
}

/// A server without room for the continuation points of all nodes: they are asked for in smaller calls.
#[test]
fn nodes_without_a_continuation_point_are_asked_for_again() {
    let (mut pair, session) = with_limits(&[]);
    let mut open = 0;
    pair.script(move |asked, wire| {
        if let Some(request) = asked.get::<BrowseRequest>() {
            let mut results = Vec::new();
            for node in request.nodes_to_browse.iter() {
                let number = number(&node.node_id);
                results.push(if open < 2 {
                    open += 1;
                    let continuation_point = ByteString::from(number.to_le_bytes().to_vec());
                    BrowseResult {
                        continuation_point,
                        references: references([number]),
                        ..Default::default()
                    }
                } else {
                    BrowseResult { status_code: status::BAD_NO_CONTINUATION_POINTS, ..Default::default() }
                });
            }
            wire.respond(asked, &BrowseResponse { results: results.into(), ..Default::default() });
            return true;
        }
        let Some(request) = asked.get::<BrowseNextRequest>() else { return false };
        let mut results = Vec::new();
        for point in request.continuation_points.iter() {
            open -= 1;
            let number = u32::from_le_bytes(point.bytes().try_into().unwrap());
            results.push(BrowseResult { references: references([number + 1000]), ..Default::default() });
        }
        wire.respond(asked, &BrowseNextResponse { results: results.into(), ..Default::default() });
        true
    });
    let all = pair.run(async { session.browse_all((0..50).map(description).collect()).await }).unwrap();
    for (page, number) in all.iter().zip(0u32..) {
        let found: Vec<_> =
            page.as_ref().unwrap().iter().map(|reference| self::number(&reference.node_id.node_id)).collect();
        assert_eq!(found, [number, number + 1000]);
    }
}

#[test]
fn a_walk_notices_circles() {
    let (mut pair, session) = with_limits(&[(4, 3)]);
    // 1 -> 2, 3; 2 -> 3, 1; 3 -> 4, 3; 4 -> 1.
    pages(&mut pair, |node, _| {
        let targets = HashMap::from([(1, vec![2, 3]), (2, vec![3, 1]), (3, vec![4, 3]), (4, vec![1])]);
        (targets[&node].clone(), false)
    });
    let mut walk = session.walk(NodeId::numeric(2, 1));
    let visits = pair.run(async {
        let mut visits = Vec::new();
        while let Some(visit) = walk.next().await {
            let visit = visit.unwrap();
            visits.push((number(&visit.parent), number(&visit.reference.node_id.node_id), visit.depth));
        }
        visits
    });
    assert_eq!(visits, [(1, 2, 1), (1, 3, 1), (3, 4, 2)]);
}

#[test]
fn a_walk_without_end_is_ended() {
    let (mut pair, session) = with_limits(&[]);
    pages(&mut pair, |node, _| (vec![2 * node, 2 * node + 1], false));
    let mut walk = session.walk(NodeId::numeric(2, 1)).max_nodes(100);
    let (visits, error) = pair.run(async {
        let mut visits = 0;
        loop {
            match walk.next().await {
                Some(Ok(_)) => visits += 1,
                Some(Err(error)) => {
                    assert!(walk.next().await.is_none());
                    return (visits, error);
                }
                None => panic!("it has to end with an error"),
            }
        }
    });
    assert_eq!(visits, 99);
    assert!(matches!(error, Error::Endless { limit: 100, .. }), "{error}");
    // A depth is no error.
    let mut shallow = session.walk(NodeId::numeric(2, 1)).max_depth(3);
    let count = pair.run(async {
        let mut count = 0;
        while let Some(visit) = shallow.next().await {
            visit.unwrap();
            count += 1;
        }
        count
    });
    assert_eq!(count, 2 + 4 + 8);
}

/// Many values that are each too large for one response together.
#[test]
fn large_values_come_in_parts() {
    let (mut pair, session) = with_limits(&[]);
    pair.script(|asked, wire| match asked.read() {
        Some(nodes) if nodes.len() > 4 => {
            wire.fault(asked, status::BAD_RESPONSE_TOO_LARGE);
            true
        }
        Some(nodes) => {
            let results: Vec<_> =
                nodes.iter().map(|_| DataValue::new(vec![1u32; 25_000].into_variant())).collect();
            wire.respond(asked, &ReadResponse { results: results.into(), ..Default::default() });
            true
        }
        None => false,
    });
    let values = pair.run(async { session.read(nodes(50)).await }).unwrap();
    assert!(values.iter().all(|value| value.value() == Some(&vec![1u32; 25_000].into_variant())));
}

/// Discovery services need a channel only.
#[test]
fn registering_needs_no_session() {
    let (mut pair, discovery) = Pair::with_discovery(Client::builder());
    pair.script(|asked, wire| {
        if let Some(request) = asked.get::<RegisterServer2Request>() {
            let results = vec![StatusCode::GOOD; request.discovery_configuration.len()];
            let response =
                RegisterServer2Response { configuration_results: results.into(), ..Default::default() };
            wire.respond(asked, &response);
            return true;
        }
        let on_network = asked.get::<FindServersOnNetworkRequest>();
        if let Some(request) = &on_network {
            assert_eq!((request.starting_record_id, request.max_records_to_return), (7, 10));
            let server = ServerOnNetwork { record_id: 8, ..Default::default() };
            let response =
                FindServersOnNetworkResponse { servers: vec![server].into(), ..Default::default() };
            wire.respond(asked, &response);
        }
        on_network.is_some()
    });
    let server = RegisteredServer { server_uri: "urn:plant".into(), is_online: true, ..Default::default() };
    let configuration = ExtensionObject::new(MdnsDiscoveryConfiguration::default());
    let results = pair.run(discovery.register_server2(server.clone(), vec![configuration])).unwrap();
    assert_eq!(results, [StatusCode::GOOD]);
    let found = pair.run(discovery.find_servers_on_network(7, 10, &["DA"])).unwrap();
    assert_eq!(found.servers[0].record_id, 8);
    let error = pair.run(discovery.register_server(server)).unwrap_err();
    assert_eq!(error.status(), status::BAD_SERVICE_UNSUPPORTED);
    assert_eq!(pair.run(discovery.get_endpoints()).unwrap().len(), 1);
    // No session was made, and none is kept alive.
    pair.pass(Duration::from_secs(60));
    assert_eq!(pair.wire.log.len(), 4);
    assert_eq!(pair.wire.count::<CreateSessionRequest>(), 0);
    drop(discovery);
    pair.pass(Duration::from_secs(1));
    assert!(pair.connection.is_none(), "it is closed when it is dropped");
}
