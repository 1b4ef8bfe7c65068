//! Sampling and publishing by the clock: exact times, exact counts.

use std::time::Duration;

use uaforge_codec::{StatusCode, Ticks};
use uaforge_server::Limits;
use uaforge_tests::nodes::{scalar, variable};

use crate::harness::{changes, number};
use crate::{Plant, reporting};

/// An item that is sampled, and keeps `queue_size` samples.
fn sampled(
    node: &uaforge_codec::NodeId,
    interval: f64,
    queue_size: u32,
) -> uaforge_types::MonitoredItemCreateRequest {
    let mut item = reporting(node, 1, queue_size);
    item.requested_parameters.sampling_interval = interval;
    item
}

#[test]
fn a_day_of_samples_is_exact() {
    const SECONDS: i32 = 86_400;
    // One token of the channel lasts for the test.
    let days = Duration::from_secs(2 * 86_400);
    let mut plant =
        Plant::limited(Limits { min_token_lifetime: days, max_token_lifetime: days, ..Limits::default() });
    let value = variable(&plant.server, 1, scalar(6), -1i32);
    let id = plant.subscribe_with(30_000.0, 10, 30, 0);
    plant.monitor_one(id, sampled(value.id(), 1_000.0, 100));
    let (mut expected, mut last) = (-1i32, 0);
    plant.publish(2);
    for second in 0..SECONDS {
        value.set(second);
        plant.pass(1_000);
        if second % 30 != 29 {
            continue;
        }
        let response = plant.told_one();
        last += 1;
        assert_eq!(response.notification_message.sequence_number, last);
        for (_, told) in changes(&response) {
            assert_eq!((told.status_or_good(), number(&told)), (StatusCode::GOOD, f64::from(expected)));
            expected += 1;
        }
        plant.publish_with(&[(id, last)]);
    }
    assert_eq!(expected, SECONDS);
}

#[test]
fn samples_are_taken_at_whole_multiples_of_their_interval() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe_with(10_000.0, 10, 30, 0);
    plant.monitor_one(id, sampled(value.id(), 300.0, 100));
    let start = plant.server.start_time().ticks;
    let times = |plant: &mut Plant, late: u64| {
        // Whoever drives the server is late each time; the times do not drift.
        let next = plant.server.publish_due(plant.client.now);
        plant.set_time(next + Duration::from_millis(late));
        next.since(start).as_millis()
    };
    let taken: Vec<u128> = [0, 7, 299, 0].into_iter().map(|late| times(&mut plant, late)).collect();
    assert_eq!(taken, [1_200, 1_500, 1_800, 2_100]);
    // What was missed is left out.
    assert_eq!(times(&mut plant, 1_000), 2_400);
    assert_eq!(times(&mut plant, 0), 3_600);
    assert!(plant.server.publish_due(plant.client.now) > Ticks(0));
}

#[test]
fn items_share_what_they_sample() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    // One that came later has the same values at the same times, beginning with the present one.
    plant.monitor_one(id, sampled(value.id(), 50.0, 100));
    plant.pass(20);
    value.set(1);
    plant.monitor_one(id, sampled(value.id(), 50.0, 100));
    assert_eq!(plant.numbers(80), [0.0, 1.0, 1.0]);
    value.set(2);
    assert_eq!(plant.numbers(100), [2.0, 2.0]);
}

#[test]
fn what_does_not_change_is_not_told() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    plant.monitor_one(id, sampled(value.id(), 10.0, 100));
    assert_eq!(plant.numbers(100), [0.0]);
    plant.publish(1);
    (0..5).for_each(|_| {
        value.set(0);
        plant.pass(100);
    });
    assert!(plant.told().is_empty());
    // Between two samples only the last value counts.
    value.set(1);
    value.set(2);
    plant.pass(100);
    assert_eq!(changes(&plant.told_one()).iter().map(|(_, value)| number(value)).collect::<Vec<_>>(), [2.0]);
}

#[test]
fn values_that_are_made_when_they_are_read() {
    let mut plant = Plant::new();
    let id = plant.subscribe_with(1_000.0, 10, 30, 0);
    // CurrentTime of the server.
    let time = uaforge_codec::NodeId::numeric(0, 2258);
    let created = plant.monitor(id, vec![sampled(&time, 0.0, 1_000)]).remove(0);
    assert_eq!(created.revised_sampling_interval, 10.0);
    assert_eq!(plant.next(1_000).len(), 101);
    assert_eq!(plant.next(1_000).len(), 100);
}
