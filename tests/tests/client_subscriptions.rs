//! The client's subscriptions against a server that the test plays, in virtual time
//! (OPC 10000-4 §5.13, §5.14; cases 036 and 038 as far as they are the client's).

use std::future::IntoFuture as _;
use std::time::Duration;

use uaforge_client::{
    Change, Client, ClientBuilder, Deadband, Error, EventQuery, Samples, Subscription, SubscriptionStatus,
    WatchItem,
};
use uaforge_codec::{NodeId, StatusCode, Variant};
use uaforge_tests::publishing::{Publishing, change, keep_alive, notification};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateSubscriptionRequest, DataChangeFilter, EventFieldList, EventFilter,
    EventNotificationList, ModifySubscriptionRequest, PublishRequest, SetPublishingModeRequest,
    StatusChangeNotification, status,
};

const SECOND: Duration = Duration::from_secs(1);

fn builder() -> ClientBuilder {
    // No keep-alive of the session between what is asserted here.
    Client::builder().insecure().keep_alive(100_000 * SECOND).session_timeout(1_000_000 * SECOND)
}

fn node(number: u32) -> NodeId {
    NodeId::numeric(2, number)
}

fn with_item() -> (Publishing, Subscription, Samples) {
    let mut server = Publishing::new(builder());
    let subscription = server.pair.run(server.session.subscribe().into_future()).expect("a subscription");
    let samples = server.pair.run(subscription.watch(&node(1))).expect("an item");
    server.settle();
    (server, subscription, samples)
}

/// Everything that has come, as numbers, with what was missed before each.
fn taken(server: &mut Publishing, samples: &mut Samples) -> Vec<(u32, u32, bool)> {
    let mut out = Vec::new();
    server.settle();
    while let Some(sample) = futures_util::FutureExt::now_or_never(samples.next()) {
        match sample {
            Some(Ok(Change { value, missed, .. })) => match value.value() {
                Some(Variant::UInt32(value)) => out.push((*value, missed.dropped, missed.lost)),
                other => panic!("{other:?}"),
            },
            Some(Err(error)) => panic!("{error}"),
            None => break,
        }
    }
    out
}

fn values(server: &mut Publishing, samples: &mut Samples) -> Vec<u32> {
    taken(server, samples).into_iter().map(|(value, ..)| value).collect()
}

#[test]
fn what_is_asked_of_the_server() {
    let mut server = Publishing::new(builder());
    let wanted = server
        .session
        .subscribe()
        .publishing_interval(Duration::from_millis(200))
        .keep_alive(SECOND)
        .lifetime(2 * SECOND)
        .priority(7)
        .max_notifications_per_publish(50);
    let subscription = server.pair.run(wanted.into_future()).expect("a subscription");
    assert_eq!(
        (subscription.subscription_id(), subscription.keep_alive_count(), subscription.lifetime_count()),
        (101, 5, 15)
    );
    let items = [
        WatchItem::value(&node(1)),
        WatchItem::value(&node(2)).sampling_interval(Duration::ZERO).queue_size(10).discard_oldest(false),
        WatchItem::value(&node(3)).deadband(Deadband::Absolute(0.5)).range("0:1"),
    ];
    let group = server.pair.run(subscription.watch_all(items));
    assert!(group.items().iter().all(Result::is_ok));
    let request = server.pair.wire.log.iter().find_map(|asked| asked.get::<CreateSubscriptionRequest>());
    let request = request.expect("a request");
    assert_eq!(
        (request.requested_publishing_interval, request.requested_max_keep_alive_count, request.priority),
        (200.0, 5, 7)
    );
    assert_eq!((request.requested_lifetime_count, request.max_notifications_per_publish), (15, 50));
    let items = server.pair.wire.log.iter().find_map(|asked| asked.get::<CreateMonitoredItemsRequest>());
    let items = items.expect("a request").items_to_create;
    let parameters: Vec<_> = items.iter().map(|item| &item.requested_parameters).collect();
    assert_eq!(
        parameters.iter().map(|item| (item.sampling_interval, item.queue_size)).collect::<Vec<_>>(),
        [(-1.0, 1), (0.0, 10), (-1.0, 1)]
    );
    assert!(parameters[0].filter.is_null() && parameters[0].discard_oldest && !parameters[1].discard_oldest);
    let filter = parameters[2].filter.downcast_ref::<DataChangeFilter>().expect("a filter");
    assert_eq!((filter.deadband_type, filter.deadband_value), (1, 0.5));
    assert_eq!(items[2].item_to_monitor.index_range.text(), "0:1");
}

#[test]
fn samples_come_in_order_and_are_acknowledged() {
    let (mut server, _subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    // One more Publish than there are subscriptions waits.
    assert_eq!(server.state().parked.len(), 2);
    for number in 1..=3 {
        server.publish(101, change(number, handle, 10 * number));
        assert_eq!(server.state().parked.len(), 2);
    }
    server.publish(101, keep_alive(4));
    assert_eq!(values(&mut server, &mut samples), [10, 20, 30]);
    assert_eq!(server.state().acknowledged, [(101, 1), (101, 2), (101, 3)]);
    assert_eq!(server.state().republished, [0_u32; 0]);
}

/// Case 036, step 10: handed out in the order of their numbers, none twice.
#[test]
fn case_036_swapped_responses() {
    let (mut server, _subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    // The server has both until they are acknowledged, so that the first may come twice.
    server.state().retained = vec![change(1, handle, 1)];
    server.publish(101, change(2, handle, 2));
    server.publish(101, change(1, handle, 1));
    assert_eq!(taken(&mut server, &mut samples), [(1, 0, false), (2, 0, false)]);
    server.publish(101, change(2, handle, 2));
    assert_eq!(taken(&mut server, &mut samples), []);
    // A server that says it has the first no more, although it is on its way: a gap, and none twice.
    server.state().retained.clear();
    server.publish(101, change(4, handle, 4));
    server.publish(101, change(3, handle, 3));
    assert_eq!(taken(&mut server, &mut samples), [(4, 0, true)]);
}

/// Case 036, steps 8 and 9: each missing number is asked for; what the server has no more is told, and
/// publishing goes on.
#[test]
fn case_036_missing_messages_are_asked_for_again() {
    let (mut server, _subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    server.state().retained = vec![change(2, handle, 2)];
    server.publish(101, change(1, handle, 1));
    server.publish(101, change(5, handle, 5));
    server.publish(101, change(6, handle, 6));
    assert_eq!(server.state().republished, [2, 3, 4]);
    let expected = [(1, 0, false), (2, 0, false), (5, 0, true), (6, 0, false)];
    assert_eq!(taken(&mut server, &mut samples), expected);
    server.publish(101, keep_alive(7));
    assert_eq!(server.state().parked.len(), 2);
    let mut acknowledged = server.state().acknowledged.clone();
    acknowledged.sort_unstable();
    assert_eq!(acknowledged, [(101, 1), (101, 2), (101, 5), (101, 6)]);
}

/// Case 036, step 3: fewer Publish requests from then on, and nothing is lost.
#[test]
fn case_036_too_many_publish_requests() {
    let mut server = Publishing::new(builder());
    server.state().max_parked = 2;
    let mut streams = Vec::new();
    for number in 1..=4 {
        let subscription = server.pair.run(server.session.subscribe().into_future()).expect("a subscription");
        streams.push(server.pair.run(subscription.watch(&node(number))).expect("an item"));
    }
    server.settle();
    assert_eq!(server.state().parked.len(), 2);
    let sent = server.pair.wire.count::<PublishRequest>();
    for round in 1..=5 {
        for (subscription, place) in (101..=104).zip(0..) {
            let handle = server.state().handle_of(place);
            server.publish(subscription, change(round, handle, round));
        }
    }
    assert_eq!(server.pair.wire.count::<PublishRequest>(), sent + 20, "one for each that was answered");
    for samples in &mut streams {
        assert_eq!(taken(&mut server, samples).len(), 5);
    }
    server.publish(101, keep_alive(6));
    assert_eq!(server.state().acknowledged.len(), 20);
}

/// Case 036, step 11: keep-alives alone are enough for ever.
#[test]
fn case_036_keep_alives_keep_the_subscription() {
    let (mut server, subscription, mut samples) = with_item();
    for _ in 0..30 {
        server.pair.pass(10 * SECOND);
        server.publish(101, keep_alive(1));
    }
    assert!(matches!(subscription.status(), SubscriptionStatus::Active));
    assert_eq!(taken(&mut server, &mut samples), []);
    assert_eq!(server.state().republished, [0_u32; 0]);
}

/// Case 036, step 12: silence is told, and the server is asked; the subscription is there.
#[test]
fn case_036_silence_is_told() {
    let (mut server, subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    let keep_alive_and_grace = 11 * SECOND + 10 * SECOND;
    server.pair.pass(keep_alive_and_grace - Duration::from_millis(1));
    assert!(matches!(subscription.status(), SubscriptionStatus::Active));
    server.state().retained = vec![change(1, handle, 1), change(2, handle, 2)];
    server.pair.pass(Duration::from_millis(1));
    assert!(matches!(subscription.status(), SubscriptionStatus::Silent));
    assert_eq!(server.state().republished, [1, 2, 3]);
    assert_eq!(taken(&mut server, &mut samples), [(1, 0, false), (2, 0, false)]);
    server.publish(101, change(3, handle, 3));
    assert!(matches!(subscription.status(), SubscriptionStatus::Active));
    assert_eq!(taken(&mut server, &mut samples), [(3, 0, false)]);
}

/// A Publish waits as long as the subscription may be silent, not as long as other calls.
#[test]
fn publish_requests_do_not_run_out_of_the_usual_time() {
    let (mut server, _subscription, _samples) = with_item();
    let hint = server.pair.wire.log.iter().find_map(|asked| asked.get::<PublishRequest>());
    let hint = hint.expect("a Publish").request_header.timeout_hint;
    assert!(hint > 20_000, "{hint} ms");
    server.pair.pass(20 * SECOND);
    assert_eq!(server.pair.wire.count::<PublishRequest>(), 2);
}

fn restored(server: &mut Publishing, subscription: &Subscription, samples: &mut Samples) {
    server.settle();
    assert!(matches!(subscription.status(), SubscriptionStatus::Active));
    assert_eq!(server.state().items.len(), 2);
    let (id, item) = server.state().items[1].clone();
    assert_eq!((id, item.item_to_monitor.node_id), (102, node(1)));
    let handle = item.requested_parameters.client_handle;
    server.publish(102, change(1, handle, 77));
    assert_eq!(taken(server, samples), [(77, 0, true)]);
}

/// As case 038, step 3: made again with the same client handles, and the user is told that data may be
/// missing.
#[test]
fn a_subscription_that_the_server_lost_is_made_anew() {
    let (mut server, subscription, mut samples) = with_item();
    server.state().subscription_is_gone = true;
    server.pair.pass(21 * SECOND);
    restored(&mut server, &subscription, &mut samples);

    let (mut server, subscription, mut samples) = with_item();
    server.publish(
        101,
        notification(1, StatusChangeNotification { status: status::BAD_TIMEOUT, ..Default::default() }),
    );
    restored(&mut server, &subscription, &mut samples);

    let (mut server, subscription, mut samples) = with_item();
    server.state().subscription_is_gone = true;
    server.fault(status::BAD_NO_SUBSCRIPTION);
    restored(&mut server, &subscription, &mut samples);
}

#[test]
fn a_subscription_that_cannot_be_made_anew_is_tried_later_and_later() {
    let (mut server, subscription, _samples) = with_item();
    server.pair.script(|asked, wire| {
        let refused = asked.get::<CreateSubscriptionRequest>().is_some();
        if refused {
            wire.fault(asked, status::BAD_TOO_MANY_SUBSCRIPTIONS);
        }
        refused
    });
    server.publish(
        101,
        notification(1, StatusChangeNotification { status: status::BAD_TIMEOUT, ..Default::default() }),
    );
    let before = server.pair.wire.count::<CreateSubscriptionRequest>();
    server.pair.pass(60 * SECOND);
    let tries = server.pair.wire.count::<CreateSubscriptionRequest>() - before;
    assert_eq!(tries, 5, "after 1, 2, 4, 8, 16 and 30 s");
    assert!(matches!(subscription.status(), SubscriptionStatus::Restoring));
}

#[test]
fn one_that_was_transferred_is_over() {
    let (mut server, subscription, mut samples) = with_item();
    let transferred =
        StatusChangeNotification { status: status::GOOD_SUBSCRIPTION_TRANSFERRED, ..Default::default() };
    server.publish(101, notification(1, transferred));
    assert!(matches!(subscription.status(), SubscriptionStatus::Ended(_)));
    let end = server.pair.run(samples.next()).expect("an element").expect_err("the reason");
    assert_eq!(end.status(), status::GOOD_SUBSCRIPTION_TRANSFERRED);
    assert!(server.pair.run(samples.next()).is_none());
    drop((subscription, samples));
    server.settle();
    assert_eq!(server.state().ended, [0_u32; 0], "it is the other session's now");
}

#[test]
fn streams_end_with_their_session_and_say_why() {
    let (mut server, subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    server.publish(101, change(1, handle, 1));
    server.pair.wire.close();
    server.settle();
    assert!(server.pair.run(samples.next()).expect("the sample that came").is_ok());
    let end = server.pair.run(samples.next()).expect("an element").expect_err("the reason");
    assert!(matches!(end, Error::Closed(_)), "{end}");
    assert!(server.pair.run(samples.next()).is_none());
    assert!(matches!(subscription.status(), SubscriptionStatus::Ended(Error::Closed(_))));
    assert!(server.pair.run(subscription.watch(&node(2))).is_err());
    assert!(server.pair.run(subscription.set_publishing_enabled(false)).is_err());
}

#[test]
fn dropping_a_stream_deletes_its_item_and_the_last_handle_the_subscription() {
    let (mut server, subscription, samples) = with_item();
    let other = server.pair.run(subscription.watch(&node(2))).expect("an item");
    drop(samples);
    server.settle();
    assert_eq!(server.state().deleted, [1]);
    drop(subscription);
    server.settle();
    assert_eq!(server.state().ended, [0_u32; 0]);
    drop(other);
    server.settle();
    assert_eq!(server.state().ended, [101]);
    // The Publish requests that still wait are of no use; no further one is sent.
    let sent = server.pair.wire.count::<PublishRequest>();
    server.pair.pass(60 * SECOND);
    assert_eq!(server.pair.wire.count::<PublishRequest>(), sent);
}

#[test]
fn a_watch_that_is_given_up_leaves_nothing() {
    let (mut server, subscription, _samples) = with_item();
    let mut watch = Box::pin(subscription.watch(node(2)));
    assert!(futures_util::FutureExt::now_or_never(&mut watch).is_none());
    drop(watch);
    server.settle();
    assert_eq!(server.state().deleted, [2]);
}

/// The oldest are dropped, and the next one says how many; the connection does not wait.
#[test]
fn a_slow_reader_misses_the_oldest() {
    let mut server = Publishing::new(builder());
    let wanted = server.session.subscribe().stream_capacity(3);
    let subscription = server.pair.run(wanted.into_future()).expect("a subscription");
    let mut samples = server.pair.run(subscription.watch(&node(1))).expect("an item");
    server.settle();
    let handle = server.state().handle_of(0);
    for number in 1..=10 {
        server.publish(101, change(number, handle, number));
    }
    assert_eq!(taken(&mut server, &mut samples), [(8, 7, false), (9, 0, false), (10, 0, false)]);
}

#[test]
fn items_that_are_refused() {
    let mut server = Publishing::new(builder());
    server.state().unknown = vec![2];
    let subscription = server.pair.run(server.session.subscribe().into_future()).expect("a subscription");
    let error = server.pair.run(subscription.watch(&node(2))).expect_err("there is no such node");
    assert_eq!(error.status(), status::BAD_NODE_ID_UNKNOWN);
    assert!(error.to_string().contains("ns=2;i=2"), "{error}");
    let nodes = [node(1), node(2), node(3)];
    let mut group = server.pair.run(subscription.watch_all(&nodes));
    let statuses: Vec<_> = group
        .items()
        .iter()
        .map(|item| item.as_ref().map_or_else(Error::status, |_| StatusCode::GOOD))
        .collect();
    assert_eq!(statuses, [StatusCode::GOOD, status::BAD_NODE_ID_UNKNOWN, StatusCode::GOOD]);
    server.settle();
    let last = server.state().handle_of(1);
    server.publish(101, change(1, last, 3));
    let (place, change) = server.pair.run(group.next()).expect("an element").expect("a sample");
    assert_eq!((place, change.value.value()), (2, Some(&Variant::UInt32(3))));
}

#[test]
fn items_are_split_by_what_the_server_takes() {
    let mut server = Publishing::new(builder());
    server.state().max_items = (10, 25);
    let subscription = server.pair.run(server.session.subscribe().into_future()).expect("a subscription");
    let nodes: Vec<_> = (1..=60).map(node).collect();
    let mut group = server.pair.run(subscription.watch_all(&nodes));
    assert!(group.items().iter().all(Result::is_ok));
    let of = |id| server.state().items.iter().filter(|(subscription, _)| *subscription == id).count();
    assert_eq!([of(101), of(102), of(103), of(104)], [25, 25, 10, 0]);
    let ids: Vec<_> =
        group.items().iter().map(|item| item.as_ref().map(|info| info.subscription_id)).collect();
    assert_eq!(ids.iter().filter(|id| matches!(id, Ok(103))).count(), 10);
    // All of them are published for, and end together.
    server.settle();
    let (place, handle) = (59, server.state().handle_of(59));
    let owner = server.state().items[59].0;
    server.publish(owner, change(1, handle, 5));
    let (found, _) = server.pair.run(group.next()).expect("an element").expect("a sample");
    assert_eq!(found, place);
    drop((group, subscription));
    server.settle();
    let mut ended = server.state().ended.clone();
    ended.sort_unstable();
    assert_eq!(ended, [101, 102, 103]);
}

#[test]
fn single_values_share_a_subscription() {
    let mut server = Publishing::new(builder());
    let session = server.session.clone();
    let first = server.pair.run(session.watch(node(1)).into_future()).expect("an item");
    let second = server.pair.run(session.watch(node(2)).into_future()).expect("an item");
    let other = server.pair.run(session.watch(node(3)).every(SECOND / 10).into_future()).expect("an item");
    let ids = [&first, &second, &other].map(|samples| samples.info().subscription_id);
    assert_eq!(ids, [101, 101, 102]);
    drop((first, second));
    server.settle();
    assert_eq!(server.state().ended, [101]);
    let again = server.pair.run(session.watch(node(1)).into_future()).expect("an item");
    assert_eq!(again.info().subscription_id, 103);
}

#[test]
fn subscriptions_are_modified() {
    let (mut server, subscription, _samples) = with_item();
    let interval = server.pair.run(subscription.set_publishing_interval(5 * SECOND)).expect("modified");
    assert_eq!((interval, subscription.publishing_interval()), (5 * SECOND, 5 * SECOND));
    server.pair.run(subscription.set_publishing_enabled(false)).expect("modified");
    let log = &server.pair.wire.log;
    let modified = log.iter().rev().find_map(|asked| asked.get::<ModifySubscriptionRequest>()).expect("one");
    assert_eq!((modified.subscription_id, modified.requested_publishing_interval), (101, 5_000.0));
    let mode = log.iter().find_map(|asked| asked.get::<SetPublishingModeRequest>()).expect("one");
    assert!(!mode.publishing_enabled && mode.subscription_ids.iter().eq(&[101]));
}

#[test]
fn events_come_with_the_fields_that_were_asked_for() {
    let mut server = Publishing::new(builder());
    let subscription = server.pair.run(server.session.subscribe().into_future()).expect("a subscription");
    let query = EventQuery::new().field("Severity").field("2:Batch/2:Id").of_type(&node(9));
    let mut events = server.pair.run(subscription.events(&node(1), query)).expect("an item");
    server.settle();
    let parameters = server.state().items[0].1.requested_parameters.clone();
    let filter = parameters.filter.downcast_ref::<EventFilter>().expect("a filter").clone();
    let paths: Vec<String> = filter
        .select_clauses
        .iter()
        .map(|clause| clause.browse_path.iter().map(ToString::to_string).collect::<Vec<_>>().join("/"))
        .collect();
    assert_eq!(paths, ["Severity", "2:Batch/2:Id"]);
    assert_eq!(filter.where_clause.elements.len(), 1);
    let fields = vec![Variant::UInt16(500), Variant::Null];
    let event =
        EventFieldList { client_handle: parameters.client_handle, event_fields: fields.clone().into() };
    server.publish(101, notification(1, EventNotificationList { events: vec![event].into() }));
    assert_eq!(server.pair.run(events.next()).expect("an element").expect("an event").fields, fields);
}

/// What a server may send that belongs to nobody, or is nothing.
#[test]
fn notifications_that_make_no_sense_are_dropped() {
    let (mut server, subscription, mut samples) = with_item();
    let handle = server.state().handle_of(0);
    server.publish(999, change(1, handle, 1));
    server.publish(101, change(1, handle + 1000, 2));
    server.publish(101, notification(2, EventFilter::default()));
    server.publish(101, change(0, handle, 3));
    server.publish(101, keep_alive(0));
    server.publish(101, change(u32::MAX, handle, 4));
    server.publish(101, change(3, handle, 5));
    assert_eq!(taken(&mut server, &mut samples), [(5, 0, false)]);
    assert!(matches!(subscription.status(), SubscriptionStatus::Active));
}

/// A server that answers every Publish at once with an error is not asked at full speed.
#[test]
fn errors_do_not_make_a_storm() {
    let (mut server, _subscription, _samples) = with_item();
    server.pair.script(|asked, wire| {
        let publish = asked.get::<PublishRequest>().is_some();
        if publish {
            wire.fault(asked, status::BAD_INTERNAL_ERROR);
        }
        publish
    });
    let before = server.pair.wire.count::<PublishRequest>();
    server.fault(status::BAD_INTERNAL_ERROR);
    server.pair.pass(15 * SECOND);
    let sent = server.pair.wire.count::<PublishRequest>() - before;
    assert!((1..=31).contains(&sent), "{sent} in 15 s");
}
