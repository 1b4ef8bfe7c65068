//! Values of node managers and bindings: read in batches, waited for, and never in anybody's way.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use uaforge_codec::{DataValue, NodeId, NodeIdRef, StatusCode, Variant};
use uaforge_nodes::{BrowseName, NodeClass, Text};
use uaforge_server::{
    BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem,
};
use uaforge_tests::nodes::{scalar, variable};
use uaforge_types::status;

use crate::harness::{builder, number};
use crate::{Plant, reporting};

/// What a device is asked, and how it answers.
#[derive(Clone, Default)]
struct Device {
    batches: Arc<Mutex<Vec<usize>>>,
    /// Whether it answers at once.
    late: bool,
    /// Whether it answers at all.
    hangs: bool,
}

impl NodeManager for Device {
    fn namespaces(&self) -> Vec<Claim> {
        vec!["urn:test:device".into()]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        let mut batches = self.batches.lock().unwrap();
        batches.push(items.len());
        let count = i32::try_from(batches.len()).unwrap();
        for item in items {
            let (value, now) = (Variant::Int32(count), cx.now().utc);
            match (self.hangs, self.late) {
                (true, _) => cx.defer(item, std::future::pending()),
                (_, true) => cx.defer(item, async move { DataValue::new(value) }),
                _ => cx.value(item, &value, now),
            }
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_NODE_ID_UNKNOWN));
    }

    fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}

    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
        let known = node.as_numeric().is_some_and(|number| number < 1_000);
        if known {
            found(&Description {
                class: NodeClass::Variable,
                browse_name: BrowseName { namespace: 2, name: "x" },
                display_name: Text { locale: "", text: "x" },
                type_definition: None,
            });
        }
        known
    }
}

fn node(number: u32) -> NodeId {
    NodeId::numeric(2, number)
}

#[test]
fn one_batch_for_each_interval() {
    for late in [false, true] {
        let device = Device { late, ..Device::default() };
        let batches = || device.batches.lock().unwrap().clone();
        let mut plant = Plant::with(builder().manager(device.clone()));
        let id = plant.subscribe();
        let items = (1..=100u32).map(|number| {
            let mut item = reporting(&node(number), number, 10);
            item.requested_parameters.sampling_interval = 100.0;
            item
        });
        let items = items.collect();
        let created = plant.monitor(id, items);
        assert!(created.iter().all(|item| item.status_code == StatusCode::GOOD));
        let told = plant.next(100);
        assert_eq!(batches(), [100, 100]);
        assert_eq!(told.iter().filter(|(_, value)| number(value) == 1.0).count(), 100);
        plant.next(100);
        assert_eq!(batches(), [100, 100, 100]);
        let unknown = plant.monitor(id, vec![reporting(&node(5_000), 1, 1)]).remove(0).status_code;
        assert_eq!(unknown, status::BAD_NODE_ID_UNKNOWN);
    }
}

#[test]
fn a_device_that_hangs_holds_up_nobody() {
    let device = Device { hangs: true, ..Device::default() };
    let mut plant = Plant::with(builder().manager(device.clone()));
    let value = variable(&plant.server, 1, scalar(6), 5i32);
    let id = plant.subscribe_with(1_000.0, 10, 1_000, 0);
    plant.monitor_one(id, reporting(&node(1), 1, 10));
    plant.monitor_one(id, reporting(value.id(), 2, 10));
    assert_eq!(plant.numbers(1_000), [5.0]);
    // There is no second question while the first is open; in the end it is given up.
    assert_eq!(device.batches.lock().unwrap().len(), 1);
    let limit = uaforge_server::Limits::default().max_request_timeout;
    plant.publish(20);
    plant.pass(u64::try_from(limit.as_millis()).unwrap());
    let told: Vec<_> = plant.told().into_iter().flatten().collect();
    let told = told.iter().flat_map(crate::harness::changes);
    let statuses: Vec<StatusCode> = told.map(|(_, value)| value.status_or_good()).collect();
    assert_eq!(statuses, [status::BAD_TIMEOUT]);
}

#[test]
fn bindings_are_asked_at_their_times() {
    let mut plant = Plant::new();
    let server = plant.server.clone();
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let bound = variable(&server, 1, scalar(6), 0i32).typed::<i32>();
    server
        .on_read(&bound, move || i32::try_from(count.fetch_add(1, Ordering::Relaxed)).unwrap())
        .expect("it is bound");
    let broken = variable(&server, 2, scalar(6), 0i32).typed::<i32>();
    server.on_read(&broken, || -> i32 { panic!("a handler panics") }).expect("it is bound");
    let polled = variable(&server, 3, scalar(6), 0i32).typed::<i32>();
    let polls = AtomicU32::new(0);
    server
        .poll_every(&polled, Duration::from_millis(50), move || {
            i32::try_from(polls.fetch_add(1, Ordering::Relaxed)).unwrap()
        })
        .expect("it is polled");
    let id = plant.subscribe();
    let items = [bound.id(), broken.id(), polled.id()].map(|node| reporting(node, 1, 100));
    let created = plant.monitor(id, items.to_vec());
    // What a closure tells is looked at; what is polled into a cell tells of itself.
    let intervals: Vec<f64> = created.iter().map(|item| item.revised_sampling_interval).collect();
    assert_eq!(intervals, [10.0, 10.0, 0.0]);
    for _ in 0..10 {
        server.poll_due(plant.client.now);
        plant.pass(10);
    }
    plant.publish(1);
    let told = crate::harness::changes(&plant.told_one());
    assert_eq!(asked.load(Ordering::Relaxed), 11);
    let statuses = told.iter().filter(|(_, value)| value.status_or_good() == status::BAD_INTERNAL_ERROR);
    assert_eq!(statuses.count(), 1);
    assert!(told.len() >= 11 + 1 + 2, "{}", told.len());
}
