//! Subscriptions and what they publish (OPC 10000-4 §5.14).

use super::attributes::data_value;
use super::{items, number, truth};
use serde_json::{Value, json};
use uaforge_codec::{Array, DecodeContext, StatusCode};
use uaforge_types::{
    CreateSubscriptionRequest, DataChangeNotification, DeleteSubscriptionsRequest, ModifySubscriptionRequest,
    NotificationMessage, PublishRequest, RepublishRequest, SetPublishingModeRequest,
    StatusChangeNotification, SubscriptionAcknowledgement, TransferSubscriptionsRequest,
};

use super::{Caller, Conversation, Outcome};

/// An id that no server gave.
pub(super) const UNKNOWN: u32 = 4_000_000_000;

/// Responses that one step takes at most.
const RESPONSES: usize = 8;

/// Information bits of a value with which its queue overflowed (OPC 10000-4 §7.39.1).
const OVERFLOW: u32 = 0x0480;

impl<C: Caller> Conversation<C> {
    pub(super) async fn subscribe(&mut self, step: &Value) -> Outcome {
        let request = CreateSubscriptionRequest {
            requested_publishing_interval: double(step, "interval", 50.0),
            requested_lifetime_count: number(step, "lifetime", 1_000),
            requested_max_keep_alive_count: number(step, "keep_alive", 5),
            max_notifications_per_publish: number(step, "most", 0),
            publishing_enabled: truth(step, "enabled", true),
            priority: number(step, "priority", 0),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        self.subscriptions.push(response.subscription_id);
        let counts = (response.revised_lifetime_count, response.revised_max_keep_alive_count);
        Ok(revised(response.response_header.service_result, response.revised_publishing_interval, counts))
    }

    pub(super) async fn modify_subscription(&mut self, step: &Value) -> Outcome {
        let request = ModifySubscriptionRequest {
            subscription_id: self.subscription(step.get("subscription")),
            requested_publishing_interval: double(step, "interval", 50.0),
            requested_lifetime_count: number(step, "lifetime", 1_000),
            requested_max_keep_alive_count: number(step, "keep_alive", 5),
            max_notifications_per_publish: number(step, "most", 0),
            priority: number(step, "priority", 0),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => revised(
                response.response_header.service_result,
                response.revised_publishing_interval,
                (response.revised_lifetime_count, response.revised_max_keep_alive_count),
            ),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn publishing(&mut self, step: &Value) -> Outcome {
        let request = SetPublishingModeRequest {
            publishing_enabled: truth(step, "enabled", true),
            subscription_ids: self.ids_of(step).into(),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => statuses(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn unsubscribe(&mut self, step: &Value) -> Outcome {
        let request =
            DeleteSubscriptionsRequest { subscription_ids: self.ids_of(step).into(), ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => statuses(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    /// Deletes what a check that ended early left behind, so that the next one has no foreign messages.
    pub(super) async fn end_subscriptions(&mut self) {
        if !self.subscriptions.is_empty() {
            let subscription_ids = std::mem::take(&mut self.subscriptions).into();
            let request = DeleteSubscriptionsRequest { subscription_ids, ..Default::default() };
            // Those that the check has deleted itself are refused; nothing follows from it.
            let _ended = self.connection.call(request).await;
        }
    }

    pub(super) async fn transfer(&mut self, step: &Value) -> Outcome {
        let request = TransferSubscriptionsRequest {
            subscription_ids: self.ids_of(step).into(),
            send_initial_values: truth(step, "initial", false),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results = response.results.iter().map(
            |result| json!({ "status": result.status_code.0, "kept": result.available_sequence_numbers.len() }),
        );
        let results: Vec<Value> = results.collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    /// Publishes until there are as many changes as the step wants, or a message without any.
    pub(super) async fn publish(&mut self, step: &Value) -> Outcome {
        let wanted = number(step, "changes", 1_usize);
        let mut acknowledged = self.acknowledgements(step);
        let mut outcome = json!({});
        let mut changes = Vec::new();
        for _ in 0..RESPONSES {
            let request = PublishRequest {
                subscription_acknowledgements: std::mem::take(&mut acknowledged).into(),
                ..Default::default()
            };
            let response = match self.connection.call(request).await? {
                Ok(response) => response,
                Err(status) => return Ok(json!({ "status": status.0 })),
            };
            let message = &response.notification_message;
            let content = content(message)?;
            if outcome.get("acknowledged").is_none() {
                let results: Vec<Value> =
                    response.results.iter().map(|status| json!({ "status": status.0 })).collect();
                outcome["acknowledged"] = results.into();
            }
            let place = self.subscriptions.iter().position(|id| *id == response.subscription_id);
            outcome["status"] = response.response_header.service_result.0.into();
            outcome["subscription"] = place.into();
            outcome["sequence"] = message.sequence_number.into();
            outcome["keep_alive"] = message.notification_data.is_empty().into();
            outcome["ended"] = content.ended.iter().map(|status| json!({ "status": status.0 })).collect();
            if !message.notification_data.is_empty() {
                self.sequence_numbers.push(message.sequence_number);
            }
            changes.extend(content.changes);
            if changes.len() >= wanted || message.notification_data.is_empty() || !content.ended.is_empty() {
                break;
            }
        }
        outcome["changes"] = by_handle(changes);
        Ok(outcome)
    }

    pub(super) async fn republish(&mut self, step: &Value) -> Outcome {
        let sequence = index(step.get("message")).and_then(|index| self.sequence_numbers.get(index));
        let request = RepublishRequest {
            subscription_id: self.subscription(step.get("subscription")),
            retransmit_sequence_number: sequence.copied().unwrap_or(UNKNOWN),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({
                "status": response.response_header.service_result.0,
                "same": sequence == Some(&response.notification_message.sequence_number),
                "changes": by_handle(content(&response.notification_message)?.changes),
            }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    /// The id of a subscription by its number in the check; a number below zero is none.
    pub(super) fn subscription(&self, number: Option<&Value>) -> u32 {
        index(number).and_then(|index| self.subscriptions.get(index)).copied().unwrap_or(UNKNOWN)
    }

    fn ids_of(&self, step: &Value) -> Vec<u32> {
        items(step, "subscriptions").iter().map(|number| self.subscription(Some(number))).collect()
    }

    /// `[subscription, message]` of each that is acknowledged.
    fn acknowledgements(&self, step: &Value) -> Vec<SubscriptionAcknowledgement> {
        let pairs = items(step, "acknowledge").iter();
        pairs
            .map(|pair| {
                let sequence = index(pair.get(1)).and_then(|index| self.sequence_numbers.get(index));
                SubscriptionAcknowledgement {
                    subscription_id: self.subscription(pair.get(0)),
                    sequence_number: sequence.copied().unwrap_or(UNKNOWN),
                }
            })
            .collect()
    }
}

/// What a message says.
#[derive(Default)]
struct Content {
    changes: Vec<(u32, Value)>,
    ended: Vec<StatusCode>,
}

fn content(message: &NotificationMessage) -> Result<Content, String> {
    let mut content = Content::default();
    for data in message.notification_data.iter() {
        let cx = DecodeContext::default();
        if let Ok(change) = data.decode_as::<StatusChangeNotification>(cx) {
            content.ended.push(change.status);
            continue;
        }
        let notification =
            data.decode_as::<DataChangeNotification>(cx).map_err(|error| format!("notification: {error}"))?;
        for item in notification.monitored_items.iter() {
            let mut change = data_value(&item.value);
            change["handle"] = item.client_handle.into();
            change["overflow"] = (item.value.status_or_good().0 & OVERFLOW == OVERFLOW).into();
            content.changes.push((item.client_handle, change));
        }
    }
    Ok(content)
}

/// Changes of several items come in any order, those of one in their own.
fn by_handle(mut changes: Vec<(u32, Value)>) -> Value {
    changes.sort_by_key(|(handle, _)| *handle);
    changes.into_iter().map(|(_, change)| change).collect()
}

fn revised(status: StatusCode, interval: f64, (lifetime, keep_alive): (u32, u32)) -> Value {
    json!({
        "status": status.0,
        "interval": interval,
        "keep_alive": keep_alive,
        "lifetime_suffices": u64::from(lifetime) >= 3 * u64::from(keep_alive),
    })
}

/// The results of a service whose operations have a status each.
pub(super) fn statuses(status: StatusCode, results: &Array<StatusCode>) -> Value {
    let results: Vec<Value> = results.iter().map(|status| json!({ "status": status.0 })).collect();
    json!({ "status": status.0, "results": results })
}

/// A place in a list; what is below zero is none.
pub(super) fn index(number: Option<&Value>) -> Option<usize> {
    number.and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}

/// The number with a fraction in a field, or another one.
pub(super) fn double(step: &Value, field: &str, otherwise: f64) -> f64 {
    step.get(field).and_then(Value::as_f64).unwrap_or(otherwise)
}

/// Waits, so that a server samples meanwhile.
pub(super) fn wait(step: &Value) -> Value {
    let time = number(step, "milliseconds", 200_u64);
    std::thread::sleep(core::time::Duration::from_millis(time));
    json!({})
}
