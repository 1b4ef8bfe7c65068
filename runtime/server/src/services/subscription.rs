//! Subscription service set (OPC 10000-4 §5.14).

use core::time::Duration;

use uaforge_codec::{Array, StatusCode, Ticks};
use uaforge_types::{
    CreateSubscriptionRequest, CreateSubscriptionResponse, DeleteSubscriptionsRequest,
    DeleteSubscriptionsResponse, ModifySubscriptionRequest, ModifySubscriptionResponse,
    SetPublishingModeRequest, SetPublishingModeResponse, TransferResult, TransferSubscriptionsRequest,
    TransferSubscriptionsResponse,
};

use super::ServiceCx;
use crate::subscription::items::Place;
use crate::subscription::revision;

/// Until when a Publish request may wait: as long as the client does. The limit of other requests does not hold,
/// because a response comes when there is something to tell.
pub(crate) fn publish_deadline(timeout_hint: u32, now: Ticks) -> Ticks {
    match timeout_hint {
        0 => Ticks::NEVER,
        hint => now + Duration::from_millis(hint.into()),
    }
}

/// CreateSubscription (OPC 10000-4 §5.14.2).
pub(crate) fn create(
    cx: &ServiceCx<'_>,
    request: &CreateSubscriptionRequest,
) -> Result<CreateSubscriptionResponse, StatusCode> {
    let revised = revision::subscription(
        &cx.core.limits.subscriptions,
        request.requested_publishing_interval,
        request.requested_lifetime_count,
        request.requested_max_keep_alive_count,
        request.max_notifications_per_publish,
    );
    let subscription_id = cx.core.subscriptions.using(cx.now).create(
        cx.session.token,
        cx.access,
        &revised,
        request.publishing_enabled,
        request.priority,
        cx.now.ticks,
    )?;
    Ok(CreateSubscriptionResponse {
        subscription_id,
        revised_publishing_interval: revision::to_milliseconds(revised.interval),
        revised_lifetime_count: revised.lifetime,
        revised_max_keep_alive_count: revised.keep_alive,
        ..Default::default()
    })
}

/// ModifySubscription (OPC 10000-4 §5.14.3).
pub(crate) fn modify(
    cx: &ServiceCx<'_>,
    request: &ModifySubscriptionRequest,
) -> Result<ModifySubscriptionResponse, StatusCode> {
    let revised = revision::subscription(
        &cx.core.limits.subscriptions,
        request.requested_publishing_interval,
        request.requested_lifetime_count,
        request.requested_max_keep_alive_count,
        request.max_notifications_per_publish,
    );
    let (id, session, now) = (request.subscription_id, cx.session.token, cx.now);
    cx.core.subscriptions.using(now).modify(session, id, &revised, request.priority, now.ticks)?;
    Ok(ModifySubscriptionResponse {
        revised_publishing_interval: revision::to_milliseconds(revised.interval),
        revised_lifetime_count: revised.lifetime,
        revised_max_keep_alive_count: revised.keep_alive,
        ..Default::default()
    })
}

/// The status of an operation.
pub(super) fn status_of<T>(result: Result<T, StatusCode>) -> StatusCode {
    result.err().unwrap_or(StatusCode::GOOD)
}

/// SetPublishingMode (OPC 10000-4 §5.14.4).
pub(crate) fn set_publishing_mode(
    cx: &ServiceCx<'_>,
    request: &SetPublishingModeRequest,
) -> SetPublishingModeResponse {
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = request
        .subscription_ids
        .iter()
        .map(|id| status_of(subscriptions.set_publishing(cx.session.token, *id, request.publishing_enabled)));
    SetPublishingModeResponse { results: Array::from(results.collect::<Vec<_>>()), ..Default::default() }
}

/// TransferSubscriptions (OPC 10000-4 §5.14.7).
pub(crate) fn transfer(
    cx: &ServiceCx<'_>,
    request: &TransferSubscriptionsRequest,
) -> TransferSubscriptionsResponse {
    let place = Place { core: cx.core, snapshot: cx.snapshot, now: cx.now };
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let results = request.subscription_ids.iter().map(|id| {
        let moved =
            subscriptions.transfer(place, cx.session.token, cx.access, *id, request.send_initial_values);
        match moved {
            Ok(available) => TransferResult {
                status_code: StatusCode::GOOD,
                available_sequence_numbers: Array::from(available),
            },
            Err(status) => TransferResult { status_code: status, ..Default::default() },
        }
    });
    TransferSubscriptionsResponse { results: Array::from(results.collect::<Vec<_>>()), ..Default::default() }
}

/// DeleteSubscriptions (OPC 10000-4 §5.14.8).
pub(crate) fn delete(
    cx: &ServiceCx<'_>,
    request: &DeleteSubscriptionsRequest,
) -> DeleteSubscriptionsResponse {
    let mut subscriptions = cx.core.subscriptions.using(cx.now);
    let ids = request.subscription_ids.iter();
    let results = ids.map(|id| status_of(subscriptions.delete(cx.session.token, *id)));
    DeleteSubscriptionsResponse { results: Array::from(results.collect::<Vec<_>>()), ..Default::default() }
}
