//! Monitored items: queues, filters, modes, triggers.

use uaforge_codec::{
    Array, DataValue, DateTime, ExtensionObject, IntoVariant as _, NodeId, StatusCode, UaString, Variant,
};
use uaforge_nodes::AttributeId;
use uaforge_server::{OperationLimits, VariableHandle};
use uaforge_tests::nodes::{array, property, scalar, set, variable};
use uaforge_types::{
    AggregateFilter, CreateMonitoredItemsRequest, DataChangeFilter, DataChangeTrigger,
    DeleteMonitoredItemsRequest, EventFilter, ModifyMonitoredItemsRequest, MonitoredItemCreateRequest,
    MonitoredItemModifyRequest, MonitoringMode, MonitoringParameters, Range, SetMonitoringModeRequest,
    SetPublishingModeRequest, SetTriggeringRequest, TimestampsToReturn, status,
};

use crate::harness::number;
use crate::{Plant, reporting};

/// The overflow bit of a DataValue's status (OPC 10000-4 §7.39).
const OVERFLOW: u32 = 0x480;

fn overflows(value: &DataValue) -> bool {
    value.status_or_good().0 & OVERFLOW == OVERFLOW
}

fn publishing(plant: &mut Plant, id: u32, enabled: bool) {
    let request = SetPublishingModeRequest {
        publishing_enabled: enabled,
        subscription_ids: Array::from(vec![id]),
        ..Default::default()
    };
    assert_eq!(plant.client.call(request).expect("results").results[0], StatusCode::GOOD);
}

fn set_mode(plant: &mut Plant, id: u32, items: Vec<u32>, mode: MonitoringMode) -> Vec<StatusCode> {
    let request = SetMonitoringModeRequest {
        subscription_id: id,
        monitoring_mode: mode,
        monitored_item_ids: Array::from(items),
        ..Default::default()
    };
    plant.client.call(request).expect("results").results.to_vec()
}

fn modify(plant: &mut Plant, id: u32, item: u32, parameters: MonitoringParameters) -> (StatusCode, u32) {
    let request = ModifyMonitoredItemsRequest {
        subscription_id: id,
        timestamps_to_return: TimestampsToReturn::BOTH,
        items_to_modify: Array::from(vec![MonitoredItemModifyRequest {
            monitored_item_id: item,
            requested_parameters: parameters,
        }]),
        ..Default::default()
    };
    let result = plant.client.call(request).expect("results").results.into_vec().remove(0);
    (result.status_code, result.revised_queue_size)
}

/// Monitored item queue: overflow and discard rules.
#[test]
fn case_044_queue_overflow_bit() {
    let rules = [
        (3, true, vec![(5.0, true), (6.0, false), (7.0, false)]),
        (3, false, vec![(1.0, false), (2.0, false), (7.0, true)]),
        (1, true, vec![(7.0, false)]),
        (1, false, vec![(7.0, false)]),
        (10, true, (1..=7).map(|value| (f64::from(value), false)).collect()),
        (0, true, vec![(7.0, false)]),
    ];
    for (queue_size, discard_oldest, expected) in rules {
        let mut plant = Plant::new();
        let value = variable(&plant.server, 1, scalar(6), 0i32);
        let id = plant.subscribe();
        let mut item = reporting(value.id(), 1, queue_size);
        item.requested_parameters.discard_oldest = discard_oldest;
        let created = plant.monitor(id, vec![item]).remove(0);
        assert_eq!(created.revised_queue_size, queue_size.max(1));
        assert_eq!(plant.numbers(100), [0.0]);
        publishing(&mut plant, id, false);
        (1..=7).for_each(|number| value.set(number));
        publishing(&mut plant, id, true);
        let told: Vec<_> =
            plant.next(100).iter().map(|(_, value)| (number(value), overflows(value))).collect();
        assert_eq!(told, expected);
        // The bit belongs to the queued copy.
        assert_eq!(value.read().status_or_good(), StatusCode::GOOD);
    }
}

#[test]
fn case_044_other_steps() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let created = plant.monitor(id, vec![reporting(value.id(), 1, u32::MAX)]).remove(0);
    let most = uaforge_server::SubscriptionLimits::default().max_queue_size;
    assert_eq!(created.revised_queue_size, most);
    let item = created.monitored_item_id;
    assert_eq!(plant.numbers(100), [0.0]);
    // A queue of 5 becomes one of 2 while 5 values wait.
    let parameters = |queue_size| reporting(value.id(), 1, queue_size).requested_parameters;
    assert_eq!(modify(&mut plant, id, item, parameters(5)), (StatusCode::GOOD, 5));
    publishing(&mut plant, id, false);
    (1..=5).for_each(|number| value.set(number));
    assert_eq!(modify(&mut plant, id, item, parameters(2)), (StatusCode::GOOD, 2));
    publishing(&mut plant, id, true);
    let told: Vec<_> = plant.next(100).iter().map(|(_, value)| (number(value), overflows(value))).collect();
    assert_eq!(told, [(4.0, true), (5.0, false)]);
    // Disabled and reporting again: the queue was emptied, the value is sent again.
    publishing(&mut plant, id, false);
    value.set(6);
    assert_eq!(set_mode(&mut plant, id, vec![item], MonitoringMode::DISABLED), [StatusCode::GOOD]);
    value.set(7);
    assert_eq!(set_mode(&mut plant, id, vec![item], MonitoringMode::REPORTING), [StatusCode::GOOD]);
    publishing(&mut plant, id, true);
    assert_eq!(plant.numbers(100), [7.0]);
    // A bad status is queued and marked like any other.
    publishing(&mut plant, id, false);
    (8..=9).for_each(|number| value.set(number));
    value.set_status(status::BAD_NO_COMMUNICATION);
    value.set_status(status::BAD_DEVICE_FAILURE);
    value.set_status(status::BAD_NO_COMMUNICATION);
    publishing(&mut plant, id, true);
    let told: Vec<u32> = plant.next(100).iter().map(|(_, value)| value.status_or_good().0).collect();
    assert_eq!(told, [status::BAD_DEVICE_FAILURE.0 | OVERFLOW, status::BAD_NO_COMMUNICATION.0]);
}

fn filtered(
    node: &NodeId,
    trigger: DataChangeTrigger,
    kind: u32,
    deadband: f64,
) -> MonitoredItemCreateRequest {
    let mut item = reporting(node, 1, 100);
    item.requested_parameters.filter =
        ExtensionObject::new(DataChangeFilter { trigger, deadband_type: kind, deadband_value: deadband });
    item
}

fn banded(node: &NodeId, kind: u32, deadband: f64) -> MonitoredItemCreateRequest {
    filtered(node, DataChangeTrigger::STATUS_VALUE, kind, deadband)
}

/// What is reported of a sequence of values, by an item with a deadband.
fn reported(plant: &mut Plant, value: &VariableHandle, kind: u32, band: f64, values: &[f64]) -> Vec<f64> {
    value.set(values[0]);
    let id = plant.subscribe();
    plant.monitor_one(id, banded(value.id(), kind, band));
    values[1..].iter().for_each(|number| value.set(*number));
    let told = plant.numbers(100);
    let request = uaforge_types::DeleteSubscriptionsRequest {
        subscription_ids: Array::from(vec![id]),
        ..Default::default()
    };
    plant.client.call(request).expect("it is deleted");
    told
}

/// Absolute and percent deadband.
#[test]
fn case_046_deadbands() {
    let mut plant = Plant::new();
    let server = plant.server.clone();
    let analog = variable(&server, 1, scalar(11), 0.0f64);
    let range = |low, high| Variant::from(ExtensionObject::new(Range { low, high }));
    property(&server, analog.id(), 2, "EURange", range(0.0, 200.0));
    let plain = variable(&server, 3, scalar(11), 0.0f64);
    let text = variable(&server, 4, scalar(12), UaString::from("a"));
    let values = [100.0, 104.0, 105.0, 105.5, 101.0, 100.0];
    assert_eq!(reported(&mut plant, &analog, 1, 5.0, &values), [100.0, 105.5, 100.0]);
    let values = [0.0, 20.0, 20.5, 40.0, 41.0];
    assert_eq!(reported(&mut plant, &analog, 2, 10.0, &values), [0.0, 20.5, 41.0]);
    // From NaN to NaN is no change, from a number to NaN and back is one.
    let values = [f64::NAN, f64::NAN, 1.0, f64::NAN];
    let told = reported(&mut plant, &analog, 1, 5.0, &values);
    assert!(told.len() == 3 && told[0].is_nan() && told[1] == 1.0 && told[2].is_nan());
    let id = plant.subscribe();
    let refused = |plant: &mut Plant, item| plant.monitor(id, vec![item]).remove(0).status_code;
    for (kind, band) in [(2, 101.0), (2, -1.0), (1, f64::NAN), (2, f64::NAN), (1, -1.0), (3, 1.0)] {
        let item = banded(analog.id(), kind, band);
        assert_eq!(refused(&mut plant, item), status::BAD_DEADBAND_FILTER_INVALID, "{kind} {band}");
    }
    assert_eq!(refused(&mut plant, banded(plain.id(), 2, 10.0)), status::BAD_FILTER_NOT_ALLOWED);
    assert_eq!(refused(&mut plant, banded(text.id(), 1, 1.0)), status::BAD_FILTER_NOT_ALLOWED);
    // A change of the status is reported.
    analog.set(1.0);
    let item = plant.monitor_one(id, banded(analog.id(), 1, 5.0));
    assert_eq!(plant.numbers(100), [1.0]);
    analog.set_status(status::UNCERTAIN);
    assert_eq!(plant.next(100)[0].1.status_or_good(), status::UNCERTAIN);
    delete(&mut plant, id, vec![item]);
    // The range shrinks: the band does too.
    analog.set(0.0);
    plant.monitor_one(id, banded(analog.id(), 2, 10.0));
    assert_eq!(plant.numbers(100), [0.0]);
    analog.set(19.0);
    plant.pass(0);
    let eu_range = server.variable(&NodeId::numeric(1, 2)).expect("the property");
    eu_range.cell().set(range(0.0, 20.0), None);
    analog.set(18.0);
    assert_eq!(plant.numbers(100), [18.0]);
}

#[test]
fn case_046_arrays() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, array(11, 1, &[0]), vec![0.0f64, 0.0].into_variant());
    let id = plant.subscribe();
    plant.monitor_one(id, banded(value.id(), 1, 1.0));
    value.set(vec![0.5f64, 0.0]);
    value.set(vec![0.5f64, 2.0]);
    value.set(vec![0.5f64, 2.0, 0.0]);
    let told: Vec<Variant> =
        plant.next(100).into_iter().filter_map(|(_, value)| value.value().cloned()).collect();
    let expected = [vec![0.0f64, 0.0], vec![0.5, 2.0], vec![0.5, 2.0, 0.0]].map(Vec::into_variant);
    assert_eq!(told, expected);
}

fn delete(plant: &mut Plant, id: u32, items: Vec<u32>) -> Vec<StatusCode> {
    let request = DeleteMonitoredItemsRequest {
        subscription_id: id,
        monitored_item_ids: Array::from(items),
        ..Default::default()
    };
    plant.client.call(request).expect("results").results.to_vec()
}

#[test]
fn filters_that_are_refused() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let mut refused = |item| plant.monitor(id, vec![item]).remove(0).status_code;
    let with = |filter| {
        let mut item = reporting(value.id(), 1, 1);
        item.requested_parameters.filter = filter;
        item
    };
    assert_eq!(refused(with(ExtensionObject::new(EventFilter::default()))), status::BAD_FILTER_NOT_ALLOWED);
    let aggregate = with(ExtensionObject::new(AggregateFilter::default()));
    assert_eq!(refused(aggregate), status::BAD_MONITORED_ITEM_FILTER_UNSUPPORTED);
    let range = with(ExtensionObject::new(Range::default()));
    assert_eq!(refused(range), status::BAD_MONITORED_ITEM_FILTER_INVALID);
    let trigger = filtered(value.id(), DataChangeTrigger(3), 0, 0.0);
    assert_eq!(refused(trigger), status::BAD_MONITORED_ITEM_FILTER_INVALID);
    let mut name = banded(value.id(), 0, 0.0);
    name.item_to_monitor.attribute_id = 4;
    assert_eq!(refused(name), status::BAD_FILTER_NOT_ALLOWED);
}

#[test]
fn what_cannot_be_monitored() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let mut refused = |change: &dyn Fn(&mut MonitoredItemCreateRequest)| {
        let mut item = reporting(value.id(), 1, 1);
        change(&mut item);
        plant.monitor(id, vec![item]).remove(0).status_code
    };
    assert_eq!(
        refused(&|item| item.item_to_monitor.node_id = NodeId::numeric(1, 99)),
        status::BAD_NODE_ID_UNKNOWN
    );
    assert_eq!(refused(&|item| item.item_to_monitor.node_id = NodeId::NULL), status::BAD_NODE_ID_INVALID);
    for attribute in [0, 28, 12, 99] {
        let refusal = refused(&|item| item.item_to_monitor.attribute_id = attribute);
        assert_eq!(refusal, status::BAD_ATTRIBUTE_ID_INVALID, "{attribute}");
    }
    let refusal = refused(&|item| item.item_to_monitor.index_range = "3:1".into());
    assert_eq!(refusal, status::BAD_INDEX_RANGE_INVALID);
    let refusal = refused(&|item| item.monitoring_mode = MonitoringMode(3));
    assert_eq!(refusal, status::BAD_MONITORING_MODE_INVALID);
    let refusal = refused(&|item| item.item_to_monitor.data_encoding.name = "Default Binary".into());
    assert_eq!(refusal, status::BAD_DATA_ENCODING_INVALID);
}

/// Which timestamps come back: the steps of monitored items.
#[test]
fn case_043_timestamps_to_return() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let source = DateTime::from_utc(2024, 1, 1, 0, 0);
    value.set_at(1, source);
    let id = plant.subscribe();
    let mut monitor = |timestamps, attribute| {
        let mut item = reporting(value.id(), 1, 1);
        item.item_to_monitor.attribute_id = attribute;
        let request = CreateMonitoredItemsRequest {
            subscription_id: id,
            timestamps_to_return: timestamps,
            items_to_create: Array::from(vec![item]),
            ..Default::default()
        };
        plant.client.call(request)?;
        let told = plant.next(100).remove(0).1;
        Ok::<_, StatusCode>((told.source_timestamp(), told.server_timestamp().is_some()))
    };
    assert_eq!(monitor(TimestampsToReturn::SOURCE, 13), Ok((Some(source), false)));
    assert_eq!(monitor(TimestampsToReturn::SERVER, 13), Ok((None, true)));
    assert_eq!(monitor(TimestampsToReturn::BOTH, 13), Ok((Some(source), true)));
    assert_eq!(monitor(TimestampsToReturn::NEITHER, 13), Ok((None, false)));
    assert_eq!(monitor(TimestampsToReturn(4), 13), Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID));
    assert_eq!(monitor(TimestampsToReturn::BOTH, 4), Ok((None, true)));
}

/// Operation limits and empty requests: those of monitored items.
#[test]
fn case_047_operation_limits() {
    let operations = OperationLimits { max_monitored_items_per_call: 100, ..Default::default() };
    let mut plant = Plant::limited(uaforge_server::Limits { operations, ..Default::default() });
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let mut monitor = |count| {
        let items = vec![reporting(value.id(), 1, 1); count];
        let request = CreateMonitoredItemsRequest {
            subscription_id: id,
            items_to_create: Array::from(items),
            ..Default::default()
        };
        plant.client.call(request).map(|response| response.results.len())
    };
    assert_eq!(monitor(101), Err(status::BAD_TOO_MANY_OPERATIONS));
    assert_eq!(monitor(0), Err(status::BAD_NOTHING_TO_DO));
    assert_eq!(monitor(100), Ok(100));
}

#[test]
fn triggers_look_at_what_they_say() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let time = |seconds| DateTime::from_utc(2024, 1, 1, seconds, 0);
    let steps = |value: &VariableHandle| {
        value.set_at(0, time(1));
        value.set_at(1, time(1));
        value.cell().set_status(status::UNCERTAIN, Some(time(1)));
        value.cell().set_status(status::UNCERTAIN, Some(time(2)));
        value.cell().set_status(status::UNCERTAIN, Some(time(2)));
    };
    let triggers = [
        (DataChangeTrigger::STATUS, 2),
        (DataChangeTrigger::STATUS_VALUE, 3),
        (DataChangeTrigger::STATUS_VALUE_TIMESTAMP, 4),
    ];
    for (trigger, expected) in triggers {
        value.set_at(0, time(1));
        let id = plant.subscribe();
        let item = plant.monitor_one(id, filtered(value.id(), trigger, 0, 0.0));
        steps(&value);
        assert_eq!(plant.next(100).len(), expected, "{trigger:?}");
        delete(&mut plant, id, vec![item]);
        let request = uaforge_types::DeleteSubscriptionsRequest {
            subscription_ids: Array::from(vec![id]),
            ..Default::default()
        };
        plant.client.call(request).expect("it is deleted");
    }
}

#[test]
fn any_attribute_and_any_part_of_a_value() {
    let mut plant = Plant::new();
    let server = plant.server.clone();
    let value = variable(&server, 1, array(6, 1, &[0]), vec![1i32, 2, 3].into_variant());
    let id = plant.subscribe();
    let mut part = reporting(value.id(), 1, 10);
    part.item_to_monitor.index_range = "1".into();
    let mut beyond = reporting(value.id(), 2, 10);
    beyond.item_to_monitor.index_range = "5:6".into();
    let mut name = reporting(value.id(), 3, 10);
    name.item_to_monitor.attribute_id = AttributeId::DisplayName as u32;
    plant.monitor(id, vec![part, beyond, name]);
    let told = plant.next(100);
    assert_eq!(told.len(), 3);
    assert_eq!(told[0].1.value(), Some(&vec![2i32].into_variant()));
    assert_eq!(told[1].1.status_or_good(), status::BAD_INDEX_RANGE_NO_DATA);
    // Another element is no change of this one.
    value.set(vec![7i32, 2, 3]);
    value.set(vec![7i32, 8, 3]);
    let told = plant.next(100);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].1.value(), Some(&vec![8i32].into_variant()));
    set(&server, value.id(), AttributeId::DisplayName, uaforge_codec::LocalizedText::new("", "other"));
    let told = plant.next(100);
    assert_eq!((told.len(), told[0].0), (1, 3));
}

#[test]
fn a_node_that_goes_is_told_of() {
    let mut plant = Plant::new();
    let server = plant.server.clone();
    let value = variable(&server, 1, scalar(6), 5i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 10));
    let mut sampled = reporting(value.id(), 2, 10);
    sampled.requested_parameters.sampling_interval = 50.0;
    plant.monitor_one(id, sampled);
    assert_eq!(plant.next(100).len(), 2);
    let node = value.id().clone();
    server.space().edit(|edit| edit.remove_node(&node)).expect("it is deleted");
    let told = plant.next(200);
    let statuses: Vec<_> = told.iter().map(|(_, value)| value.status_or_good()).collect();
    assert_eq!(statuses, [status::BAD_NODE_ID_UNKNOWN; 2]);
    // A node of that id is monitored again.
    variable(&server, 1, scalar(6), 6i32);
    assert_eq!(plant.numbers(200), [6.0, 6.0]);
}

#[test]
fn modes() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0i32);
    let id = plant.subscribe();
    let mut item = reporting(value.id(), 1, 10);
    item.monitoring_mode = MonitoringMode::SAMPLING;
    let item = plant.monitor_one(id, item);
    value.set(1);
    assert!(plant.next(100).is_empty(), "the keep-alive of the first cycle");
    set_mode(&mut plant, id, vec![item], MonitoringMode::REPORTING);
    assert_eq!(plant.numbers(100), [0.0, 1.0]);
    let results = set_mode(&mut plant, id, vec![item, 99], MonitoringMode::SAMPLING);
    assert_eq!(results, [StatusCode::GOOD, status::BAD_MONITORED_ITEM_ID_INVALID]);
    assert_eq!(
        delete(&mut plant, id, vec![item, item]),
        [StatusCode::GOOD, status::BAD_MONITORED_ITEM_ID_INVALID]
    );
}

#[test]
fn one_item_triggers_others() {
    let mut plant = Plant::new();
    let server = plant.server.clone();
    let (alarm, detail) = (variable(&server, 1, scalar(6), 0i32), variable(&server, 2, scalar(6), 0i32));
    let id = plant.subscribe();
    let triggering = plant.monitor_one(id, reporting(alarm.id(), 1, 10));
    let mut sampling = reporting(detail.id(), 2, 10);
    sampling.monitoring_mode = MonitoringMode::SAMPLING;
    let linked = plant.monitor_one(id, sampling);
    let link = |plant: &mut Plant, add: Vec<u32>, remove: Vec<u32>| {
        let request = SetTriggeringRequest {
            subscription_id: id,
            triggering_item_id: triggering,
            links_to_add: Array::from(add),
            links_to_remove: Array::from(remove),
            ..Default::default()
        };
        let response = plant.client.call(request)?;
        Ok::<_, StatusCode>((response.add_results.to_vec(), response.remove_results.to_vec()))
    };
    let unknown = status::BAD_MONITORED_ITEM_ID_INVALID;
    assert_eq!(
        link(&mut plant, vec![linked, 99], vec![77]),
        Ok((vec![StatusCode::GOOD, unknown], vec![unknown]))
    );
    assert_eq!(link(&mut plant, vec![], vec![]), Err(status::BAD_NOTHING_TO_DO));
    let handles = |told: Vec<(u32, DataValue)>| -> Vec<(u32, f64)> {
        told.iter().map(|(handle, value)| (*handle, number(value))).collect()
    };
    assert_eq!(handles(plant.next(100)), [(1, 0.0)]);
    // What was sampled waits for the trigger, and is reported once.
    detail.set(5);
    plant.publish(1);
    plant.pass(300);
    assert!(plant.told().is_empty());
    alarm.set(1);
    plant.pass(100);
    let told = handles(crate::harness::changes(&plant.told_one()));
    assert_eq!(told, [(1, 1.0), (2, 0.0), (2, 5.0)]);
    detail.set(6);
    plant.publish(1);
    plant.pass(300);
    assert!(plant.told().is_empty());
    assert_eq!(link(&mut plant, vec![], vec![linked]), Ok((vec![], vec![StatusCode::GOOD])));
    alarm.set(2);
    plant.pass(100);
    assert_eq!(handles(crate::harness::changes(&plant.told_one())), [(1, 2.0)]);
}

/// SemanticsChanged of a StatusCode (OPC 10000-4 §7.39).
const SEMANTICS_CHANGED: u32 = 0x4000;

#[test]
fn a_new_meaning_is_told_once() {
    for interval in [0.0, 50.0] {
        let mut plant = Plant::new();
        let server = plant.server.clone();
        let value = variable(&server, 1, scalar(11), 1.0f64);
        let range = |low, high| Variant::from(ExtensionObject::new(Range { low, high }));
        property(&server, value.id(), 2, "EURange", range(0.0, 200.0));
        property(&server, value.id(), 3, "Definition", UaString::from("a text"));
        let id = plant.subscribe();
        let mut item = reporting(value.id(), 1, 10);
        item.requested_parameters.sampling_interval = interval;
        plant.monitor_one(id, item);
        assert_eq!(plant.numbers(100), [1.0]);
        let set = |property, value: Variant| {
            server.variable(&NodeId::numeric(1, property)).expect("a property").cell().set(value, None);
        };
        let statuses = |plant: &mut Plant| -> Vec<u32> {
            plant.next(100).iter().map(|(_, value)| value.status_or_good().0).collect()
        };
        set(2, range(0.0, 20.0));
        assert_eq!(statuses(&mut plant), [SEMANTICS_CHANGED], "{interval}");
        value.set(2.0);
        assert_eq!(statuses(&mut plant), [0]);
        // A text that nobody computes with means nothing.
        set(3, Variant::from(UaString::from("another")));
        plant.publish(1);
        plant.pass(300);
        assert!(plant.told().is_empty());
    }
}
