//! Clients that ask for too much, never publish, never acknowledge or read slowly.

use uaforge_codec::{Array, UaString};
use uaforge_server::{Limits, SubscriptionLimits};
use uaforge_tests::nodes::{scalar, variable};
use uaforge_types::{CreateSubscriptionRequest, MonitoredItemCreateRequest, SetTriggeringRequest, status};

use crate::harness::{changes, client, number};
use crate::{Plant, reporting};

fn limited(subscriptions: SubscriptionLimits) -> Plant {
    Plant::limited(Limits { subscriptions, ..Limits::default() })
}

#[test]
fn subscriptions_have_a_number() {
    let limits = SubscriptionLimits {
        max_subscriptions: 5,
        max_subscriptions_per_session: 3,
        ..SubscriptionLimits::default()
    };
    let mut plant = limited(limits);
    let subscribe =
        |client: &mut crate::harness::Client| client.call(CreateSubscriptionRequest::default()).map(|_| ());
    let mut other = client(&plant.server, plant.client.now);
    for _ in 0..3 {
        assert_eq!(subscribe(&mut plant.client), Ok(()));
    }
    assert_eq!(subscribe(&mut plant.client), Err(status::BAD_TOO_MANY_SUBSCRIPTIONS));
    assert_eq!(subscribe(&mut other), Ok(()));
    assert_eq!(subscribe(&mut other), Ok(()));
    assert_eq!(subscribe(&mut other), Err(status::BAD_TOO_MANY_SUBSCRIPTIONS));
}

#[test]
fn items_have_a_number() {
    let limits = SubscriptionLimits {
        max_monitored_items: 150,
        max_monitored_items_per_subscription: 100,
        ..SubscriptionLimits::default()
    };
    let mut plant = limited(limits);
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let (one, other) = (plant.subscribe(), plant.subscribe());
    let mut monitor = |id| -> usize {
        let items: Vec<MonitoredItemCreateRequest> = vec![reporting(value.id(), 1, 1); 1_000];
        let created = plant.monitor(id, items);
        let refused = created.iter().filter(|item| item.status_code == status::BAD_TOO_MANY_MONITORED_ITEMS);
        1_000 - refused.count()
    };
    assert_eq!((monitor(one), monitor(other)), (100, 50));
}

#[test]
fn intervals_and_counts_are_revised() {
    let mut plant = Plant::new();
    let limits = SubscriptionLimits::default();
    let mut ask = |interval, keep_alive, lifetime| {
        let request = CreateSubscriptionRequest {
            requested_publishing_interval: interval,
            requested_max_keep_alive_count: keep_alive,
            requested_lifetime_count: lifetime,
            ..Default::default()
        };
        let response = plant.client.call(request).expect("a subscription");
        let period = response.revised_publishing_interval * f64::from(response.revised_lifetime_count);
        assert!(response.revised_lifetime_count >= 3 * response.revised_max_keep_alive_count);
        assert!(period <= 3.0 * limits.max_lifetime.as_secs_f64() * 1e3, "{period}");
        response.revised_publishing_interval
    };
    assert_eq!(ask(0.0, 0, 0), 10.0);
    assert_eq!(ask(f64::NAN, u32::MAX, u32::MAX), 10.0);
    assert_eq!(ask(365.0 * 86_400_000.0, u32::MAX, u32::MAX), 3_600_000.0);
    let id = plant.subscribe();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let mut sampled = |interval| {
        let mut item = reporting(value.id(), 1, 1);
        item.requested_parameters.sampling_interval = interval;
        plant.monitor(id, vec![item]).remove(0).revised_sampling_interval
    };
    assert_eq!(sampled(0.0), 0.0);
    assert_eq!(sampled(-1.0), 100.0);
    assert_eq!(sampled(1e-3), 10.0);
    assert_eq!(sampled(f64::INFINITY), 3_600_000.0);
}

#[test]
fn who_never_publishes_holds_no_more_than_there_is() {
    let limits = SubscriptionLimits { notification_memory: 10_000, ..SubscriptionLimits::default() };
    let mut plant = limited(limits);
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe_with(100.0, 10, 100, 0);
    let items = (0..10).map(|handle| reporting(value.id(), handle, 1_000)).collect();
    plant.monitor(id, items);
    for number in 1..=1_000 {
        value.set(number);
        plant.pass(1);
    }
    plant.publish(1);
    let told = changes(&plant.told_one());
    assert!(told.len() <= 10_000 / 48 + 10, "{}", told.len());
    for handle in 0..10 {
        let own: Vec<f64> = told.iter().filter(|told| told.0 == handle).map(|told| number(&told.1)).collect();
        assert_eq!(own.last(), Some(&1_000.0));
        assert!(own.is_sorted());
    }
    // Another client is served as ever.
    let mut other = client(&plant.server, plant.client.now);
    std::mem::swap(&mut plant.client, &mut other);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 10));
    assert_eq!(plant.numbers(100), [1_000.0]);
}

#[test]
fn who_never_acknowledges_can_go_back_so_far() {
    let limits = SubscriptionLimits { max_retransmission_messages: 7, ..SubscriptionLimits::default() };
    let mut plant = limited(limits);
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 1));
    for number in 1..=20 {
        plant.publish(1);
        value.set(number);
        plant.pass(100);
        let response = plant.told_one();
        assert!(response.available_sequence_numbers.len() <= 7);
    }
    plant.publish(1);
    value.set(0);
    plant.pass(100);
    assert_eq!(*plant.told_one().available_sequence_numbers, [15, 16, 17, 18, 19, 20, 21]);
    // Large messages are bounded together: the last one is kept all the same.
    let limits = SubscriptionLimits { notification_memory: 10_000, ..SubscriptionLimits::default() };
    let mut plant = limited(limits);
    let text = variable(&plant.server, 1, scalar(12), UaString::from(""));
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(text.id(), 1, 1));
    for _ in 0..3 {
        plant.publish(1);
        text.set(UaString::from("x".repeat(6_000)));
        plant.pass(100);
        text.set(UaString::from("y".repeat(6_000)));
        plant.publish(1);
        plant.pass(100);
        let available: Vec<usize> =
            plant.told().into_iter().flatten().map(|told| told.available_sequence_numbers.len()).collect();
        assert_eq!(available.last(), Some(&1));
    }
}

#[test]
fn who_reads_slowly_is_sent_no_more_than_fits() {
    let mut plant = Plant::new();
    let text = variable(&plant.server, 1, scalar(12), UaString::from(""));
    let id = plant.subscribe_with(100.0, 10, 1_000, 0);
    plant.monitor_one(id, reporting(text.id(), 1, 100));
    plant.publish(10);
    // Nobody looks after the connection while values come that are as large as what may wait for it.
    for number in 0..10 {
        text.set(UaString::from(number.to_string().repeat(300_000)));
        plant.pass(100);
    }
    // One message waited; now the rest comes, in order and whole.
    let told: Vec<_> =
        std::iter::from_fn(|| Some(plant.told()).filter(|told| !told.is_empty())).flatten().collect();
    let responses: Vec<_> = told.into_iter().map(|told| told.expect("a response")).collect();
    let numbers: Vec<u32> =
        responses.iter().map(|response| response.notification_message.sequence_number).collect();
    let expected: Vec<u32> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, expected);
    let lengths = responses.iter().flat_map(changes).map(|(_, value)| match value.value() {
        Some(uaforge_codec::Variant::String(text)) => text.text().len(),
        _ => 0,
    });
    assert_eq!(lengths.filter(|length| *length == 300_000).count(), 10);
}

#[test]
fn links_have_a_number() {
    let limits = SubscriptionLimits { max_triggering_links: 2, ..SubscriptionLimits::default() };
    let mut plant = limited(limits);
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let items: Vec<u32> = (0..4).map(|_| plant.monitor_one(id, reporting(value.id(), 1, 1))).collect();
    let request = SetTriggeringRequest {
        subscription_id: id,
        triggering_item_id: items[0],
        links_to_add: Array::from(items[1..].to_vec()),
        ..Default::default()
    };
    let results = plant.client.call(request).expect("results").add_results;
    assert_eq!(results[2], status::BAD_TOO_MANY_OPERATIONS);
}
