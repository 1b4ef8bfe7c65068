//! MonitoredItem service set (OPC 10000-4 §5.13).

use core::time::Duration;
use std::sync::Arc;

use uaforge_codec::{Array, ExtensionObject, NumericRange, StatusCode};
use uaforge_nodes::{AttributeId, AttributeValue};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateMonitoredItemsResponse, DeleteMonitoredItemsRequest,
    DeleteMonitoredItemsResponse, EventFilter, ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse,
    MonitoredItemCreateRequest, MonitoredItemCreateResult, MonitoredItemModifyResult, MonitoringMode,
    MonitoringParameters, SetMonitoringModeRequest, SetMonitoringModeResponse, SetTriggeringRequest,
    SetTriggeringResponse, TimestampsToReturn, status,
};

use super::ServiceCx;
use super::subscription::status_of;
use crate::attribute;
use crate::event::filter::{EventItemFilter, EventTypes, Refused};
use crate::node_ids::unknown;
use crate::subscription::filter::{DataFilter, Filter};
use crate::subscription::item::{NewItem, Settings};
use crate::subscription::items::Place;
use crate::subscription::revision;
use crate::subscription::source::{Target, minimum_sampling, tells_changes};

fn check_timestamps(timestamps: TimestampsToReturn) -> Result<(), StatusCode> {
    let known = TimestampsToReturn::SOURCE.0..=TimestampsToReturn::NEITHER.0;
    if known.contains(&timestamps.0) { Ok(()) } else { Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID) }
}

fn check_mode(mode: MonitoringMode) -> Result<(), StatusCode> {
    let known = MonitoringMode::DISABLED.0..=MonitoringMode::REPORTING.0;
    if known.contains(&mode.0) { Ok(()) } else { Err(status::BAD_MONITORING_MODE_INVALID) }
}

/// What the items of a request have in common.
struct Common<'c> {
    /// Publishing interval of the subscription.
    publishing: Duration,
    timestamps: TimestampsToReturn,
    events: EventTypes<'c>,
}

/// Size of the queue of an event item whose client leaves it to the server (OPC 10000-4 §7.21).
const DEFAULT_EVENT_QUEUE: u32 = 1_000;
/// SubscribeToEvents of EventNotifier (OPC 10000-3 §8.59).
const SUBSCRIBE_TO_EVENTS: u8 = 1;

/// CreateMonitoredItems (OPC 10000-4 §5.13.2).
pub(crate) fn create(
    cx: &ServiceCx<'_>,
    request: CreateMonitoredItemsRequest,
) -> Result<CreateMonitoredItemsResponse, StatusCode> {
    check_timestamps(request.timestamps_to_return)?;
    let (id, session) = (request.subscription_id, cx.session.token);
    let publishing = cx.core.subscriptions.using(cx.now).interval(session, id)?;
    let common =
        Common { publishing, timestamps: request.timestamps_to_return, events: EventTypes::new(cx.snapshot) };
    // Managers may be asked, so nothing is locked here.
    let checked: Vec<_> = request.items_to_create.iter().map(|item| check_item(cx, &common, item)).collect();
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = checked.into_iter().map(|item| {
        let created = item.and_then(|(new, filter_result)| {
            let revised = (new.settings.interval, new.settings.queue_size);
            let created = subscriptions.create_item(place, session, id, new);
            created.map(|id| (id, revised, filter_result)).map_err(Refused::from)
        });
        match created {
            Ok((monitored_item_id, (interval, queue_size), filter_result)) => MonitoredItemCreateResult {
                status_code: StatusCode::GOOD,
                monitored_item_id,
                revised_sampling_interval: revision::to_milliseconds(Duration::from_nanos(interval)),
                revised_queue_size: queue_size,
                filter_result,
            },
            Err(Refused { status, result }) => {
                MonitoredItemCreateResult { status_code: status, filter_result: result, ..Default::default() }
            }
        }
    });
    Ok(CreateMonitoredItemsResponse {
        results: Array::from(results.collect::<Vec<_>>()),
        ..Default::default()
    })
}

fn check_item(
    cx: &ServiceCx<'_>,
    common: &Common<'_>,
    item: &MonitoredItemCreateRequest,
) -> Result<(NewItem, ExtensionObject), Refused> {
    check_mode(item.monitoring_mode)?;
    let monitored = &item.item_to_monitor;
    let target = Target {
        node: monitored.node_id.clone(),
        attribute: monitored.attribute_id,
        range: monitored.index_range.clone(),
        encoding: monitored.data_encoding.clone(),
    };
    check_target(cx, &target)?;
    let (settings, filter_result) = check_settings(cx, common, &target, &item.requested_parameters)?;
    Ok((NewItem { target: Arc::new(target), mode: item.monitoring_mode, settings }, filter_result))
}

/// Whether there is such a thing to monitor. That this user may not read it is told with its values.
fn check_target(cx: &ServiceCx<'_>, target: &Target) -> Result<(), StatusCode> {
    if !(1..=attribute::LAST).contains(&target.attribute) {
        return Err(status::BAD_ATTRIBUTE_ID_INVALID);
    }
    let item = target.item(0);
    if !item.range.is_empty() {
        NumericRange::from_wire(item.range)?;
    }
    if cx.core.route(item.node) != 0 {
        let known = cx.core.has_node(cx.snapshot, item.node);
        return if known { Ok(()) } else { Err(unknown(item.node)) };
    }
    let node = cx.snapshot.node(item.node).ok_or_else(|| unknown(item.node))?;
    let attribute = AttributeId::from_u32(target.attribute).ok_or(status::BAD_ATTRIBUTE_ID_INVALID)?;
    let value = node.attribute(attribute)?;
    if let (AttributeId::EventNotifier, AttributeValue::Byte(notifier)) = (attribute, value)
        && notifier & SUBSCRIBE_TO_EVENTS == 0
    {
        return Err(status::BAD_NOT_SUPPORTED);
    }
    if item.encoding.name.is_empty() {
        return Ok(());
    }
    cx.core.nodes.check_encoding(&item, &node, cx.snapshot, attribute)
}

/// What a client may set of an item, and what there is to say of its filter.
fn check_settings(
    cx: &ServiceCx<'_>,
    common: &Common<'_>,
    target: &Target,
    asked: &MonitoringParameters,
) -> Result<(Settings, ExtensionObject), Refused> {
    if target.attribute == attribute::EVENT_NOTIFIER {
        return check_event_settings(cx, common, asked);
    }
    let limits = &cx.core.limits.subscriptions;
    let filter = DataFilter::check(&asked.filter, target, cx.snapshot, cx.decode())?;
    let interval = revision::sampling(
        limits,
        asked.sampling_interval,
        common.publishing,
        tells_changes(cx.core, cx.snapshot, target),
        minimum_sampling(cx.snapshot, target),
    );
    let settings = Settings {
        client_handle: asked.client_handle,
        timestamps: common.timestamps,
        filter: Filter::Data(filter),
        interval: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
        queue_size: asked.queue_size.clamp(1, limits.max_queue_size.max(1)),
        discard_oldest: asked.discard_oldest,
    };
    Ok((settings, ExtensionObject::default()))
}

/// The settings of an item that monitors events: nothing is sampled, and the filter says which fields there are.
fn check_event_settings(
    cx: &ServiceCx<'_>,
    common: &Common<'_>,
    asked: &MonitoringParameters,
) -> Result<(Settings, ExtensionObject), Refused> {
    let limits = &cx.core.limits.subscriptions;
    let filter = asked.filter.downcast_ref::<EventFilter>();
    let filter = filter.ok_or(if asked.filter.is_null() {
        status::BAD_EVENT_FILTER_INVALID
    } else {
        status::BAD_FILTER_NOT_ALLOWED
    })?;
    let (filter, filter_result) = EventItemFilter::check(filter, &common.events, limits)?;
    let queue_size = if asked.queue_size == 0 { DEFAULT_EVENT_QUEUE } else { asked.queue_size };
    let settings = Settings {
        client_handle: asked.client_handle,
        timestamps: common.timestamps,
        filter: Filter::Event(Arc::new(filter)),
        interval: 0,
        queue_size: queue_size.clamp(1, limits.max_queue_size.max(1)),
        discard_oldest: asked.discard_oldest,
    };
    Ok((settings, filter_result))
}

/// ModifyMonitoredItems (OPC 10000-4 §5.13.3).
pub(crate) fn modify(
    cx: &ServiceCx<'_>,
    request: &ModifyMonitoredItemsRequest,
) -> Result<ModifyMonitoredItemsResponse, StatusCode> {
    check_timestamps(request.timestamps_to_return)?;
    let (id, session) = (request.subscription_id, cx.session.token);
    let (publishing, targets) = {
        let mut subscriptions = cx.core.subscriptions.using(cx.now);
        let publishing = subscriptions.interval(session, id)?;
        let items = request.items_to_modify.iter();
        let targets: Vec<_> =
            items.map(|item| subscriptions.target(session, id, item.monitored_item_id)).collect();
        (publishing, targets)
    };
    let common =
        Common { publishing, timestamps: request.timestamps_to_return, events: EventTypes::new(cx.snapshot) };
    let checked: Vec<_> = request
        .items_to_modify
        .iter()
        .zip(targets)
        .map(|(item, target)| check_settings(cx, &common, &*target?, &item.requested_parameters))
        .collect();
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = request.items_to_modify.iter().zip(checked).map(|(item, settings)| {
        let modified = settings.and_then(|(settings, filter_result)| {
            let revised = (settings.interval, settings.queue_size);
            let modified = subscriptions.modify_item(place, id, item.monitored_item_id, settings);
            modified.map(|()| (revised, filter_result)).map_err(Refused::from)
        });
        match modified {
            Ok(((interval, queue_size), filter_result)) => MonitoredItemModifyResult {
                status_code: StatusCode::GOOD,
                revised_sampling_interval: revision::to_milliseconds(Duration::from_nanos(interval)),
                revised_queue_size: queue_size,
                filter_result,
            },
            Err(Refused { status, result }) => {
                MonitoredItemModifyResult { status_code: status, filter_result: result, ..Default::default() }
            }
        }
    });
    Ok(ModifyMonitoredItemsResponse {
        results: Array::from(results.collect::<Vec<_>>()),
        ..Default::default()
    })
}

/// SetMonitoringMode (OPC 10000-4 §5.13.4).
pub(crate) fn set_mode(
    cx: &ServiceCx<'_>,
    request: &SetMonitoringModeRequest,
) -> Result<SetMonitoringModeResponse, StatusCode> {
    let (id, mode) = (request.subscription_id, request.monitoring_mode);
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    subscriptions.interval(cx.session.token, id)?;
    check_mode(mode)?;
    let items = request.monitored_item_ids.iter();
    let results = items.map(|item| status_of(subscriptions.set_mode(place, id, *item, mode)));
    Ok(SetMonitoringModeResponse { results: Array::from(results.collect::<Vec<_>>()), ..Default::default() })
}

/// SetTriggering (OPC 10000-4 §5.13.5).
pub(crate) fn set_triggering(
    cx: &ServiceCx<'_>,
    request: &SetTriggeringRequest,
) -> Result<SetTriggeringResponse, StatusCode> {
    let (id, triggering) = (request.subscription_id, request.triggering_item_id);
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    subscriptions.interval(cx.session.token, id)?;
    let (added, removed) =
        subscriptions.set_triggering(id, triggering, &request.links_to_add, &request.links_to_remove)?;
    Ok(SetTriggeringResponse {
        add_results: Array::from(added),
        remove_results: Array::from(removed),
        ..Default::default()
    })
}

/// DeleteMonitoredItems (OPC 10000-4 §5.13.6).
pub(crate) fn delete(
    cx: &ServiceCx<'_>,
    request: &DeleteMonitoredItemsRequest,
) -> Result<DeleteMonitoredItemsResponse, StatusCode> {
    let id = request.subscription_id;
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    subscriptions.interval(cx.session.token, id)?;
    let items = request.monitored_item_ids.iter();
    let results = items.map(|item| status_of(subscriptions.delete_item(id, *item)));
    Ok(DeleteMonitoredItemsResponse {
        results: Array::from(results.collect::<Vec<_>>()),
        ..Default::default()
    })
}
