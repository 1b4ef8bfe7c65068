//! Read, Write and Call (OPC 10000-4 §5.11, §5.12).

use super::{items, number, text, truth, value, value_text};
use serde_json::{Value, json};
use uaforge_codec::{DataValue, DateTime, QualifiedName, StatusCode, Variant};
use uaforge_types::{
    CallMethodRequest, CallRequest, ReadRequest, ReadValueId, TimestampsToReturn, WriteRequest, WriteValue,
};

use super::{Caller, Conversation, Outcome};

/// What servers are told when a step wants a timestamp written.
fn moment() -> DateTime {
    DateTime::from_utc(2024, 2, 29, 0, 0)
}

impl<C: Caller> Conversation<C> {
    pub(super) async fn read(&mut self, step: &Value) -> Outcome {
        let nodes = items(step, "nodes")
            .iter()
            .map(|item| self.read_value_id(item))
            .collect::<Result<Vec<_>, _>>()?;
        let request = ReadRequest {
            max_age: step.get("max_age").and_then(Value::as_f64).unwrap_or(0.0),
            timestamps_to_return: timestamps(step),
            nodes_to_read: nodes.into(),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results: Vec<Value> = response.results.iter().map(data_value).collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    /// `[node, attribute, index range, encoding]`, the last two if wanted.
    fn read_value_id(&self, item: &Value) -> Result<ReadValueId, String> {
        let part = |index: usize| item.get(index).and_then(Value::as_str);
        let attribute = item.get(1).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        Ok(ReadValueId {
            node_id: self.namespace.node(part(0).unwrap_or_default())?,
            attribute_id: attribute.unwrap_or_default(),
            index_range: part(2).map(Into::into).unwrap_or_default(),
            data_encoding: part(3).map(name).unwrap_or_default(),
        })
    }

    pub(super) async fn write(&mut self, step: &Value) -> Outcome {
        let nodes =
            items(step, "nodes").iter().map(|item| self.write_value(item)).collect::<Result<Vec<_>, _>>()?;
        let request = WriteRequest { nodes_to_write: nodes.into(), ..Default::default() };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results: Vec<Value> =
            response.results.iter().map(|status| json!({ "status": status.0 })).collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    fn write_value(&self, item: &Value) -> Result<WriteValue, String> {
        let mut data = DataValue::default();
        if let Some(written) = item.get("value").and_then(Value::as_str) {
            data = DataValue::new(value(written)?);
        }
        if let Some(status) = item.get("status").and_then(Value::as_u64) {
            data = data.with_status(StatusCode(u32::try_from(status).unwrap_or_default()));
        }
        if truth(item, "source", false) {
            data = data.with_source_timestamp(moment());
        }
        if truth(item, "server", false) {
            data = data.with_server_timestamp(moment());
        }
        Ok(WriteValue {
            node_id: self.namespace.node(text(item, "node"))?,
            attribute_id: number(item, "attribute", 13),
            index_range: item.get("range").and_then(Value::as_str).map(Into::into).unwrap_or_default(),
            value: data,
        })
    }

    pub(super) async fn call(&mut self, step: &Value) -> Outcome {
        let methods =
            items(step, "methods").iter().map(|item| self.method(item)).collect::<Result<Vec<_>, _>>()?;
        let request = CallRequest { methods_to_call: methods.into(), ..Default::default() };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results = response.results.iter().map(|result| {
            let arguments: Vec<u32> = result.input_argument_results.iter().map(|status| status.0).collect();
            let outputs: Vec<Value> =
                result.output_arguments.iter().map(|output| value_text(Some(output))).collect();
            json!({ "status": result.status_code.0, "arguments": arguments, "outputs": outputs })
        });
        let results: Vec<Value> = results.collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    fn method(&self, item: &Value) -> Result<CallMethodRequest, String> {
        let inputs = items(item, "inputs").iter().filter_map(Value::as_str).map(value);
        Ok(CallMethodRequest {
            object_id: self.namespace.node(text(item, "object"))?,
            method_id: self.namespace.node(text(item, "method"))?,
            input_arguments: inputs.collect::<Result<Vec<Variant>, _>>()?.into(),
        })
    }
}

pub(super) fn timestamps(step: &Value) -> TimestampsToReturn {
    match step.get("timestamps") {
        Some(Value::Number(number)) => {
            TimestampsToReturn(number.as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or_default())
        }
        Some(Value::String(name)) if name == "source" => TimestampsToReturn::SOURCE,
        Some(Value::String(name)) if name == "server" => TimestampsToReturn::SERVER,
        Some(Value::String(name)) if name == "neither" => TimestampsToReturn::NEITHER,
        _ => TimestampsToReturn::BOTH,
    }
}

fn name(text: &str) -> QualifiedName {
    QualifiedName { namespace_index: 0, name: text.into() }
}

pub(super) fn data_value(data: &DataValue) -> Value {
    json!({
        "status": data.status_or_good().0,
        "value": value_text(data.value()),
        "source": data.source_timestamp().is_some(),
        "server": data.server_timestamp().is_some(),
    })
}
