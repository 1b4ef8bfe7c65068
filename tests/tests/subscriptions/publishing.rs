//! Publish, Republish, keep-alives, lifetimes.

use uaforge_codec::{Array, DateTime, NodeId, StatusCode};
use uaforge_server::{Limits, SubscriptionLimits};
use uaforge_tests::nodes::{scalar, variable};
use uaforge_types::{
    CloseSessionRequest, DeleteSubscriptionsRequest, PublishRequest, RepublishRequest,
    SetPublishingModeRequest, TransferSubscriptionsRequest, status,
};

use crate::harness::{changes, client, number, status_change};
use crate::{Plant, Told, reporting};

fn republish(plant: &mut Plant, id: u32, number: u32) -> Result<Vec<u8>, StatusCode> {
    let request =
        RepublishRequest { subscription_id: id, retransmit_sequence_number: number, ..Default::default() };
    let id = plant.client.queue(request);
    let body = plant.client.wait_for(id).map_err(|error| error.status)?;
    plant.client.decode::<uaforge_types::RepublishResponse>(&body)?;
    Ok(body)
}

fn delete(plant: &mut Plant, id: u32) -> StatusCode {
    let request =
        DeleteSubscriptionsRequest { subscription_ids: Array::from(vec![id]), ..Default::default() };
    plant.client.call(request).expect("results").results[0]
}

/// Publish queue, acknowledgements and Republish: the steps of the server.
#[test]
fn case_036_publish_and_republish() {
    let subscriptions = SubscriptionLimits { max_publish_requests: 10, ..Default::default() };
    let mut plant = Plant::limited(Limits { subscriptions, ..Limits::default() });
    // Without a subscription.
    plant.publish(1);
    assert_eq!(plant.told(), [Err(status::BAD_NO_SUBSCRIPTION)]);
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 7, 1));
    // 20 at once: the oldest ten are too many.
    plant.publish(20);
    let told = plant.told();
    assert_eq!(told, vec![Err(status::BAD_TOO_MANY_PUBLISH_REQUESTS); 10]);
    // The others are answered one by one, with numbers from 1 on.
    for sent in 1..=6u32 {
        plant.pass(100);
        let response = plant.told_one();
        assert_eq!(response.notification_message.sequence_number, sent);
        assert_eq!(changes(&response).len(), 1);
        value.set(i32::try_from(sent).expect("small"));
    }
    // Nothing was acknowledged.
    let fifth = republish(&mut plant, id, 5).expect("it is kept");
    let again = republish(&mut plant, id, 5).expect("it is kept");
    let message = |body: &[u8]| body[body.len() - 40..].to_vec();
    assert_eq!(message(&fifth), message(&again));
    plant.publish_with(&[(id, 5), (id, 999), (id + 1, 1), (id, 4)]);
    let waiting = plant.waiting.len();
    assert_eq!(waiting, 5);
    for _ in 0..4 {
        plant.pass(100);
        value.set(value.cell().get::<i32>().expect("a number") + 1);
        plant.told_one();
    }
    plant.pass(100);
    let results = plant.told_one().results;
    let expected = [
        StatusCode::GOOD,
        status::BAD_SEQUENCE_NUMBER_UNKNOWN,
        status::BAD_SUBSCRIPTION_ID_INVALID,
        StatusCode::GOOD,
    ];
    assert_eq!(*results, expected);
    assert_eq!(republish(&mut plant, id, 5), Err(status::BAD_MESSAGE_NOT_AVAILABLE));
    assert_eq!(republish(&mut plant, id + 1, 5), Err(status::BAD_SUBSCRIPTION_ID_INVALID));
    republish(&mut plant, id, 6).expect("it is kept");
    let available: Vec<u32> = {
        plant.publish(1);
        value.set(1_000);
        plant.pass(100);
        plant.told_one().available_sequence_numbers.to_vec()
    };
    assert_eq!(available, [1, 2, 3, 6, 7, 8, 9, 10, 11, 12]);
    // The last subscription takes the requests along that wait.
    plant.publish(2);
    assert_eq!(delete(&mut plant, id), StatusCode::GOOD);
    assert_eq!(plant.told(), vec![Err(status::BAD_NO_SUBSCRIPTION); 2]);
    assert_eq!(delete(&mut plant, id), status::BAD_SUBSCRIPTION_ID_INVALID);
}

#[test]
fn a_keep_alive_has_the_next_number_and_uses_none_up() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    plant.publish(5);
    // The first cycle says that the subscription is there.
    plant.pass(99);
    assert!(plant.told().is_empty());
    plant.pass(1);
    let first = plant.told_one().notification_message;
    assert_eq!((first.sequence_number, first.notification_data.is_empty()), (1, true));
    // One cycle ends the first state, then ten pass in silence.
    plant.pass(1_099);
    assert!(plant.told().is_empty());
    plant.pass(1);
    assert_eq!(plant.told_one().notification_message.sequence_number, 1);
    plant.pass(999);
    assert!(plant.told().is_empty());
    plant.pass(1);
    assert_eq!(plant.told_one().notification_message.sequence_number, 1);
    plant.monitor_one(id, reporting(value.id(), 1, 1));
    plant.pass(100);
    let message = plant.told_one().notification_message;
    assert_eq!((message.sequence_number, message.notification_data.len()), (1, 1));
    plant.pass(1_100);
    let message = plant.told_one().notification_message;
    assert_eq!((message.sequence_number, message.notification_data.len()), (2, 0));
    assert!(message.publish_time > DateTime::NULL);
}

#[test]
fn a_request_that_comes_late_is_answered_at_once() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 1));
    plant.pass(250);
    plant.publish(1);
    assert_eq!(changes(&plant.told_one()).len(), 1);
    // A late one without news is kept alive.
    plant.pass(5_000);
    plant.pass(0);
    let id = plant.subscribe();
    plant.pass(1_000);
    plant.publish(2);
    let told = plant.told();
    assert_eq!(told.len(), 2);
    let ids: Vec<u32> = told.iter().map(|told| told.as_ref().expect("a response").subscription_id).collect();
    assert!(ids.contains(&id));
}

#[test]
fn the_lifetime_ends_at_its_edge() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 1));
    // 29 periods of 100 ms without a Publish request.
    plant.pass(2_999);
    plant.publish(1);
    assert_eq!(changes(&plant.told_one()).len(), 1);
    plant.pass(2_900);
    plant.publish(1);
    plant.pass(100);
    assert!(plant.told().iter().all(Result::is_ok));
    plant.waiting.clear();
    plant.pass(3_100);
    plant.publish(1);
    let told = plant.told_one();
    assert_eq!((told.subscription_id, status_change(&told)), (id, Some(status::BAD_TIMEOUT)));
    plant.publish(1);
    assert_eq!(plant.told(), [Err(status::BAD_NO_SUBSCRIPTION)]);
}

#[test]
fn a_publish_request_waits_as_long_as_its_client() {
    let mut plant = Plant::new();
    plant.subscribe_with(10_000.0, 10, 30, 0);
    plant.client.timeout_hint = 0;
    plant.publish(1);
    plant.client.timeout_hint = 500;
    plant.publish(1);
    plant.client.timeout_hint = 200;
    plant.publish(1);
    plant.pass(199);
    assert!(plant.told().is_empty());
    plant.pass(1);
    assert_eq!(plant.told(), [Err(status::BAD_TIMEOUT)]);
    plant.pass(299);
    assert!(plant.told().is_empty());
    plant.pass(1);
    assert_eq!(plant.told(), [Err(status::BAD_TIMEOUT)]);
    plant.pass(9_500);
    assert!(plant.told_one().notification_message.notification_data.is_empty());
}

#[test]
fn messages_are_as_long_as_the_client_wants() {
    let mut plant = Plant::new();
    let id = plant.subscribe_with(100.0, 10, 30, 3);
    let items = (1..=8u32).map(|number| {
        let value = variable(&plant.server, number, scalar(6), 5i32);
        reporting(value.id(), number, 1)
    });
    let items = items.collect();
    plant.monitor(id, items);
    plant.publish(2);
    plant.pass(100);
    let told = plant.told();
    let more: Vec<bool> = told.iter().flatten().map(|told| told.more_notifications).collect();
    assert_eq!(more, [true, true]);
    // The rest comes without waiting for the next cycle.
    plant.publish(1);
    let rest = plant.told_one();
    assert!(!rest.more_notifications);
    let all = told.into_iter().flatten().chain([rest]);
    let handles: Vec<u32> = all.flat_map(|told| changes(&told)).map(|(handle, _)| handle).collect();
    assert_eq!(handles, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn the_highest_priority_is_served_first() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let subscribe = |plant: &mut Plant, priority| {
        let request = uaforge_types::CreateSubscriptionRequest {
            requested_publishing_interval: 100.0,
            requested_lifetime_count: 100,
            requested_max_keep_alive_count: 10,
            publishing_enabled: true,
            priority,
            ..Default::default()
        };
        let id = plant.client.call(request).expect("a subscription").subscription_id;
        plant.monitor_one(id, reporting(value.id(), priority.into(), 1));
        id
    };
    let (low, high) = (subscribe(&mut plant, 1), subscribe(&mut plant, 200));
    let equal = subscribe(&mut plant, 200);
    let order = |told: Vec<Told>| -> Vec<u32> {
        told.into_iter().map(|told| told.expect("a response").subscription_id).collect()
    };
    // All are late when requests come.
    plant.pass(150);
    plant.publish(3);
    assert_eq!(order(plant.told()), [high, equal, low]);
    // All are due when requests wait; equal ones take turns.
    for first in [[high, equal], [equal, high]] {
        value.set(value.cell().get::<i32>().expect("a number") + 1);
        plant.pass(150);
        plant.publish(1);
        let one = plant.told_one().subscription_id;
        plant.publish(1);
        let other = plant.told_one().subscription_id;
        assert!(first.contains(&one) && first.contains(&other) && one != other);
        plant.publish(1);
        assert_eq!(plant.told_one().subscription_id, low);
    }
}

#[test]
fn what_is_not_published_waits() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 10));
    let enable = |plant: &mut Plant, publishing_enabled, ids: Vec<u32>| {
        let subscription_ids = Array::from(ids);
        let request = SetPublishingModeRequest { publishing_enabled, subscription_ids, ..Default::default() };
        plant.client.call(request).expect("results").results.to_vec()
    };
    let results = enable(&mut plant, false, vec![id, id + 1]);
    assert_eq!(results, [StatusCode::GOOD, status::BAD_SUBSCRIPTION_ID_INVALID]);
    plant.publish(2);
    plant.pass(1_000);
    assert!(plant.told_one().notification_message.notification_data.is_empty());
    value.set(6);
    enable(&mut plant, true, vec![id]);
    plant.pass(100);
    let values: Vec<f64> = changes(&plant.told_one()).iter().map(|(_, value)| number(value)).collect();
    assert_eq!(values, [5.0, 6.0]);
}

fn transfer(
    client: &mut crate::harness::Client,
    ids: Vec<u32>,
    initial: bool,
) -> Vec<(StatusCode, Vec<u32>)> {
    let request = TransferSubscriptionsRequest {
        subscription_ids: Array::from(ids),
        send_initial_values: initial,
        ..Default::default()
    };
    let results = client.call(request).expect("results").results.into_vec();
    results
        .into_iter()
        .map(|result| (result.status_code, result.available_sequence_numbers.to_vec()))
        .collect()
}

#[test]
fn a_subscription_moves_to_another_session() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 10));
    assert_eq!(plant.numbers(100), [5.0]);
    plant.publish(2);
    let mut other = client(&plant.server, plant.client.now);
    let moved = transfer(&mut other, vec![id, id + 1, id], true);
    assert_eq!(
        moved,
        [
            (StatusCode::GOOD, vec![1]),
            (status::BAD_SUBSCRIPTION_ID_INVALID, vec![]),
            (status::BAD_NOTHING_TO_DO, vec![])
        ]
    );
    // The session that had it is told, and has nothing to wait for any more.
    let told = plant.told();
    let first = told[0].as_ref().expect("a response");
    assert_eq!(
        (first.subscription_id, status_change(first)),
        (id, Some(status::GOOD_SUBSCRIPTION_TRANSFERRED))
    );
    assert_eq!(told[1], Err(status::BAD_NO_SUBSCRIPTION));
    // The new one gets the values that there are, and what comes; numbers go on.
    std::mem::swap(&mut plant.client, &mut other);
    plant.publish(1);
    plant.pass(100);
    let response = plant.told_one();
    assert_eq!(response.notification_message.sequence_number, 2);
    assert_eq!(changes(&response).iter().map(|(_, value)| number(value)).collect::<Vec<_>>(), [5.0]);
    value.set(6);
    assert_eq!(plant.numbers(100), [6.0]);
    republish(&mut plant, id, 1).expect("messages move along");
}

#[test]
fn a_subscription_outlives_its_session() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let (kept, deleted) = (plant.subscribe(), plant.subscribe_with(100.0, 10, 1_000, 0));
    plant.monitor_one(kept, reporting(value.id(), 1, 10));
    let close = |client: &mut crate::harness::Client, delete_subscriptions| {
        client
            .call(CloseSessionRequest { delete_subscriptions, ..Default::default() })
            .expect("it is closed");
    };
    plant.publish(1);
    close(&mut plant.client, false);
    assert_eq!(plant.told(), [Err(status::BAD_SESSION_CLOSED)]);
    plant.pass(200);
    value.set(6);
    let mut other = client(&plant.server, plant.client.now);
    assert_eq!(transfer(&mut other, vec![kept, deleted], false).len(), 2);
    std::mem::swap(&mut plant.client, &mut other);
    let values: Vec<f64> = plant.next(100).iter().map(|(_, value)| number(value)).collect();
    assert_eq!(values, [5.0, 6.0]);
    close(&mut plant.client, true);
    let mut third = client(&plant.server, plant.client.now);
    let gone = (status::BAD_SUBSCRIPTION_ID_INVALID, vec![]);
    assert_eq!(transfer(&mut third, vec![kept, deleted], false), [gone.clone(), gone]);
}

#[test]
fn requests_of_a_connection_that_is_gone_are_forgotten() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 10));
    plant.publish(3);
    let token: NodeId = plant.client.token.clone();
    let (server, now) = (plant.server.clone(), plant.client.now);
    let lost = std::mem::replace(&mut plant.client, client(&server, now));
    drop(lost);
    plant.waiting.clear();
    plant.pass(500);
    // The session goes on over another channel; nothing was sent into the void.
    plant.client.token = token;
    plant.client.call(uaforge_types::ActivateSessionRequest::default()).expect("it is activated");
    plant.publish(1);
    let response = plant.told_one();
    assert_eq!(response.notification_message.sequence_number, 1);
    assert_eq!(changes(&response).len(), 1);
}

#[test]
fn cancel_ends_publish_requests() {
    let mut plant = Plant::new();
    plant.subscribe();
    let header = plant.client.header();
    let id = plant.client.queue(PublishRequest::default());
    plant.client.exchange();
    let request =
        uaforge_types::CancelRequest { request_handle: header.request_handle + 1, ..Default::default() };
    assert_eq!(plant.client.call(request).expect("a count").cancel_count, 1);
    plant.waiting.push(id);
    assert_eq!(plant.told(), [Err(status::BAD_REQUEST_CANCELLED_BY_CLIENT)]);
}
