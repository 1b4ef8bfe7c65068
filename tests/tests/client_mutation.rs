//! A client whose server sends damaged messages: every call ends, in time, and nothing panics.

use std::time::Duration;

use uaforge_client::{Client, Error, Session};
use uaforge_codec::{ByteString, ExpandedNodeId, NodeId, QualifiedName, StatusCode};
use uaforge_tests::mutator::Mutator;
use uaforge_tests::rogue::{Asked, Pair, Wire, number};
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowseNextResponse, BrowseRequest, BrowseResponse, BrowseResult,
    ReferenceDescription, WriteRequest, WriteResponse,
};

const SEEDS: u64 = 600;

/// Three references of a node, with a next page if its number is even.
fn page(node: u32, first: bool) -> BrowseResult {
    let reference = |step: u32| ReferenceDescription {
        node_id: ExpandedNodeId::from(NodeId::numeric(2, node.wrapping_mul(3) + step)),
        browse_name: QualifiedName::new(2, format!("{node}/{step}")),
        is_forward: true,
        ..Default::default()
    };
    let steps = if first { 1..4 } else { 4..6 };
    let more = first && node.is_multiple_of(2);
    BrowseResult {
        continuation_point: if more {
            ByteString::from(node.to_le_bytes().to_vec())
        } else {
            ByteString::NULL
        },
        references: steps.map(reference).collect::<Vec<_>>().into(),
        ..Default::default()
    }
}

fn serve(asked: &Asked, wire: &mut Wire) -> bool {
    if let Some(request) = asked.get::<BrowseRequest>() {
        let pages: Vec<_> =
            request.nodes_to_browse.iter().map(|node| page(number(&node.node_id), true)).collect();
        wire.respond(asked, &BrowseResponse { results: pages.into(), ..Default::default() });
    } else if let Some(request) = asked.get::<BrowseNextRequest>() {
        let points = request.continuation_points.iter().filter(|_| !request.release_continuation_points);
        let node =
            |point: &ByteString| point.bytes().first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let pages: Vec<_> = points.map(|point| page(node(point), false)).collect();
        wire.respond(asked, &BrowseNextResponse { results: pages.into(), ..Default::default() });
    } else if let Some(request) = asked.get::<WriteRequest>() {
        let results = vec![StatusCode::GOOD; request.nodes_to_write.len()];
        wire.respond(asked, &WriteResponse { results: results.into(), ..Default::default() });
    } else {
        return false;
    }
    true
}

/// Calls of every kind; how many gave what was asked for.
async fn use_it(session: &Session) -> usize {
    let node = |number| NodeId::numeric(2, number);
    let mut good = 0;
    for number in 0..3 {
        good += usize::from(session.read_value(node(number)).await.is_ok());
        good += usize::from(session.write_value(node(number), number).await.is_ok());
    }
    good += usize::from(session.read((0..50).map(node)).await.is_ok());
    let mut values = session.read_many((0..100).map(node));
    while let Some(value) = values.next().await {
        good += usize::from(value.is_ok());
    }
    let description =
        |number| BrowseDescription { node_id: node(number), result_mask: 63, ..Default::default() };
    let pages = session.browse_all((0..10).map(description).collect()).max_references(1000).await;
    good += pages.map_or(0, |pages| pages.iter().filter(|page| page.is_ok()).count());
    let mut walk = session.walk(node(1)).max_nodes(60);
    while let Some(visit) = walk.next().await {
        good += usize::from(visit.is_ok());
    }
    good
}

#[test]
fn damaged_messages_end_no_more_than_their_connection() {
    let (mut connected, mut good, mut lost) = (0, 0, 0);
    for seed in 0..SEEDS {
        let builder = Client::builder().insecure().request_timeout(Duration::from_secs(10));
        let (mut pair, connecting) = Pair::connecting(builder, Box::new(serve));
        // Half of them are damaged from the first byte on.
        let early = seed % 2 == 0;
        pair.wire.damage = early.then(|| Mutator::new(seed));
        let began = pair.now.ticks;
        match pair.run(connecting) {
            Ok(session) => {
                connected += 1;
                pair.wire.damage = Some(Mutator::new(seed));
                good += pair.run(use_it(&session));
                lost += usize::from(session.is_closed());
                pair.run(session.close());
            }
            Err(error) => assert!(early, "{error}"),
        }
        let took = pair.now.ticks.since(began);
        assert!(took < Duration::from_secs(600), "seed {seed} took {took:?}");
        assert!(pair.connection.is_none(), "seed {seed}: the connection is closed");
    }
    // Enough of both kinds that the test says something.
    assert!(connected > SEEDS as usize / 2 && good > 2000 && lost > 50, "{connected} {good} {lost}");
}

/// A server that renews the token of another channel than ours.
#[test]
fn a_renewal_of_another_channel_costs_the_connection() {
    let (mut pair, connecting) = Pair::connecting(Client::builder().insecure(), Box::new(serve));
    pair.wire.token_lifetime = 1000;
    let session = pair.run(connecting).expect("a session");
    pair.wire.channel += 1;
    let error = pair.run(session.closed());
    assert!(matches!(error, Error::Channel { .. }), "{error}");
}
