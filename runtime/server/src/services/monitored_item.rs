//! MonitoredItem service set (OPC 10000-4 §5.13).

use core::time::Duration;
use std::sync::Arc;

use uaforge_codec::{Array, NumericRange, StatusCode};
use uaforge_nodes::AttributeId;
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateMonitoredItemsResponse, DeleteMonitoredItemsRequest,
    DeleteMonitoredItemsResponse, ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse,
    MonitoredItemCreateRequest, MonitoredItemCreateResult, MonitoredItemModifyResult, MonitoringMode,
    MonitoringParameters, SetMonitoringModeRequest, SetMonitoringModeResponse, SetTriggeringRequest,
    SetTriggeringResponse, TimestampsToReturn, status,
};

use super::ServiceCx;
use super::subscription::status_of;
use crate::attribute;
use crate::node_ids::unknown;
use crate::subscription::filter::DataFilter;
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
struct Common {
    /// Publishing interval of the subscription.
    publishing: Duration,
    timestamps: TimestampsToReturn,
}

/// CreateMonitoredItems (OPC 10000-4 §5.13.2).
pub(crate) fn create(
    cx: &ServiceCx<'_>,
    request: CreateMonitoredItemsRequest,
) -> Result<CreateMonitoredItemsResponse, StatusCode> {
    check_timestamps(request.timestamps_to_return)?;
    let (id, session) = (request.subscription_id, cx.session.token);
    let publishing = cx.core.subscriptions.using(cx.now).interval(session, id)?;
    let common = Common { publishing, timestamps: request.timestamps_to_return };
    // Managers may be asked, so nothing is locked here.
    let checked: Vec<_> = request.items_to_create.iter().map(|item| check_item(cx, &common, item)).collect();
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = checked.into_iter().map(|item| {
        let created = item.and_then(|new| {
            let revised = (new.settings.interval, new.settings.queue_size);
            subscriptions.create_item(place, session, id, new).map(|id| (id, revised))
        });
        match created {
            Ok((monitored_item_id, (interval, queue_size))) => MonitoredItemCreateResult {
                status_code: StatusCode::GOOD,
                monitored_item_id,
                revised_sampling_interval: revision::to_milliseconds(Duration::from_nanos(interval)),
                revised_queue_size: queue_size,
                ..Default::default()
            },
            Err(status) => MonitoredItemCreateResult { status_code: status, ..Default::default() },
        }
    });
    Ok(CreateMonitoredItemsResponse {
        results: Array::from(results.collect::<Vec<_>>()),
        ..Default::default()
    })
}

fn check_item(
    cx: &ServiceCx<'_>,
    common: &Common,
    item: &MonitoredItemCreateRequest,
) -> Result<NewItem, StatusCode> {
    check_mode(item.monitoring_mode)?;
    let monitored = &item.item_to_monitor;
    let target = Target {
        node: monitored.node_id.clone(),
        attribute: monitored.attribute_id,
        range: monitored.index_range.clone(),
        encoding: monitored.data_encoding.clone(),
    };
    check_target(cx, &target)?;
    let settings = check_settings(cx, common, &target, &item.requested_parameters)?;
    Ok(NewItem { target: Arc::new(target), mode: item.monitoring_mode, settings })
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
    node.attribute(attribute)?;
    if item.encoding.name.is_empty() {
        return Ok(());
    }
    cx.core.nodes.check_encoding(&item, &node, cx.snapshot, attribute)
}

fn check_settings(
    cx: &ServiceCx<'_>,
    common: &Common,
    target: &Target,
    asked: &MonitoringParameters,
) -> Result<Settings, StatusCode> {
    let limits = &cx.core.limits.subscriptions;
    let filter = DataFilter::check(&asked.filter, target, cx.snapshot, cx.decode())?;
    let interval = revision::sampling(
        limits,
        asked.sampling_interval,
        common.publishing,
        tells_changes(cx.core, cx.snapshot, target),
        minimum_sampling(cx.snapshot, target),
    );
    Ok(Settings {
        client_handle: asked.client_handle,
        timestamps: common.timestamps,
        filter,
        interval: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
        queue_size: asked.queue_size.clamp(1, limits.max_queue_size.max(1)),
        discard_oldest: asked.discard_oldest,
    })
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
    let common = Common { publishing, timestamps: request.timestamps_to_return };
    let checked: Vec<_> = request
        .items_to_modify
        .iter()
        .zip(targets)
        .map(|(item, target)| check_settings(cx, &common, &*target?, &item.requested_parameters))
        .collect();
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = request.items_to_modify.iter().zip(checked).map(|(item, settings)| {
        let modified = settings.and_then(|settings| {
            let revised = (settings.interval, settings.queue_size);
            subscriptions.modify_item(place, id, item.monitored_item_id, settings).map(|()| revised)
        });
        match modified {
            Ok((interval, queue_size)) => MonitoredItemModifyResult {
                status_code: StatusCode::GOOD,
                revised_sampling_interval: revision::to_milliseconds(Duration::from_nanos(interval)),
                revised_queue_size: queue_size,
                ..Default::default()
            },
            Err(status) => MonitoredItemModifyResult { status_code: status, ..Default::default() },
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
