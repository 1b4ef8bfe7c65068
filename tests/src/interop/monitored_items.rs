//! Monitored items (OPC 10000-4 §5.13).

use super::attributes::timestamps;
use super::subscriptions::{UNKNOWN, double, index, statuses};
use super::{items, number, text, truth};
use serde_json::{Value, json};
use uaforge_codec::{ExtensionObject, StatusCode};
use uaforge_types::{
    CreateMonitoredItemsRequest, DataChangeFilter, DataChangeTrigger, DeleteMonitoredItemsRequest,
    ModifyMonitoredItemsRequest, MonitoredItemCreateRequest, MonitoredItemModifyRequest, MonitoringMode,
    MonitoringParameters, ReadValueId, SetMonitoringModeRequest, SetTriggeringRequest,
};

use super::{Caller, Conversation, Outcome};

impl<C: Caller> Conversation<C> {
    pub(super) async fn monitor(&mut self, step: &Value) -> Outcome {
        let wanted = items(step, "items").iter().map(|item| {
            Ok(MonitoredItemCreateRequest {
                item_to_monitor: ReadValueId {
                    node_id: self.namespace.node(text(item, "node"))?,
                    attribute_id: number(item, "attribute", 13),
                    index_range: item
                        .get("range")
                        .and_then(Value::as_str)
                        .map(Into::into)
                        .unwrap_or_default(),
                    ..Default::default()
                },
                monitoring_mode: MonitoringMode(number(item, "mode", 2)),
                requested_parameters: parameters(item),
            })
        });
        let request = CreateMonitoredItemsRequest {
            subscription_id: self.subscription(step.get("subscription")),
            timestamps_to_return: timestamps(step),
            items_to_create: wanted.collect::<Result<Vec<_>, String>>()?.into(),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        self.items.extend(response.results.iter().map(|result| result.monitored_item_id));
        let results = response.results.iter();
        let results: Vec<Value> =
            results.map(|result| revised(result.status_code, result.revised_queue_size)).collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    pub(super) async fn modify_items(&mut self, step: &Value) -> Outcome {
        let wanted = items(step, "items").iter().map(|item| MonitoredItemModifyRequest {
            monitored_item_id: self.item(item.get("item")),
            requested_parameters: parameters(item),
        });
        let request = ModifyMonitoredItemsRequest {
            subscription_id: self.subscription(step.get("subscription")),
            timestamps_to_return: timestamps(step),
            items_to_modify: wanted.collect::<Vec<_>>().into(),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results = response.results.iter();
        let results: Vec<Value> =
            results.map(|result| revised(result.status_code, result.revised_queue_size)).collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    pub(super) async fn monitoring_mode(&mut self, step: &Value) -> Outcome {
        let request = SetMonitoringModeRequest {
            subscription_id: self.subscription(step.get("subscription")),
            monitoring_mode: MonitoringMode(number(step, "mode", 2)),
            monitored_item_ids: self.item_ids(step, "items").into(),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => statuses(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn delete_items(&mut self, step: &Value) -> Outcome {
        let request = DeleteMonitoredItemsRequest {
            subscription_id: self.subscription(step.get("subscription")),
            monitored_item_ids: self.item_ids(step, "items").into(),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => statuses(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn trigger(&mut self, step: &Value) -> Outcome {
        let request = SetTriggeringRequest {
            subscription_id: self.subscription(step.get("subscription")),
            triggering_item_id: self.item(step.get("item")),
            links_to_add: self.item_ids(step, "add").into(),
            links_to_remove: self.item_ids(step, "remove").into(),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let status = response.response_header.service_result;
        let side = |results| statuses(status, results)["results"].take();
        Ok(json!({
            "status": status.0,
            "added": side(&response.add_results),
            "removed": side(&response.remove_results),
        }))
    }

    /// The id of an item by its number in the check; a number below zero is none.
    fn item(&self, number: Option<&Value>) -> u32 {
        index(number).and_then(|index| self.items.get(index)).copied().unwrap_or(UNKNOWN)
    }

    fn item_ids(&self, step: &Value, field: &str) -> Vec<u32> {
        items(step, field).iter().map(|number| self.item(Some(number))).collect()
    }
}

fn parameters(item: &Value) -> MonitoringParameters {
    MonitoringParameters {
        client_handle: number(item, "handle", 0),
        sampling_interval: double(item, "sampling", 0.0),
        filter: item.get("filter").map(filter).unwrap_or_default(),
        queue_size: number(item, "queue", 1),
        discard_oldest: truth(item, "discard_oldest", true),
    }
}

/// A DataChangeFilter (OPC 10000-4 §7.22.2).
fn filter(filter: &Value) -> ExtensionObject {
    ExtensionObject::new(DataChangeFilter {
        trigger: DataChangeTrigger(number(filter, "trigger", 1)),
        deadband_type: number(filter, "deadband", 0),
        deadband_value: double(filter, "value", 0.0),
    })
}

fn revised(status: StatusCode, queue: u32) -> Value {
    json!({ "status": status.0, "queue": queue })
}
