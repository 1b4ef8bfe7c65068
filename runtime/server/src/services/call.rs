//! Call (OPC 10000-4 §5.12.2).

use uaforge_codec::{Encoder, StatusCode};
use uaforge_types::{CallRequest, status};

use super::ServiceCx;
use crate::manager::{CallCx, CallItem, put_call_status};
use crate::proto::results::{Results, Unfinished};

/// Checks what holds for the request as a whole.
pub(crate) fn check(cx: &ServiceCx<'_>, request: &CallRequest) -> Result<(), StatusCode> {
    match request.methods_to_call.len() {
        0 => Err(status::BAD_NOTHING_TO_DO),
        count if count > cx.core.limits.operations.max_nodes_per_method_call as usize => {
            Err(status::BAD_TOO_MANY_OPERATIONS)
        }
        _ => Ok(()),
    }
}

/// Writes the results array. The items of one manager form one batch.
pub(crate) fn results(
    cx: &mut ServiceCx<'_>,
    request: &CallRequest,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let (core, decode, snapshot) = (cx.core, cx.decode(), cx.snapshot);
    let buffers = &mut *cx.buffers;
    let count = request.methods_to_call.len();
    let mut call = CallCx {
        results: Results::new(e, &mut buffers.results, count, put_call_status),
        access: cx.access,
        now: cx.now,
        snapshot,
        pool: &core.blocking,
        scope: cx.scope,
        deferred: &mut buffers.deferred,
    };
    let mut items: Vec<CallItem<'_>> = Vec::new();
    for manager in 0..=core.managers.len() {
        items.clear();
        items.extend(request.methods_to_call.iter().enumerate().filter_map(|(index, method)| {
            let object = method.object_id.as_ref();
            let inputs = method.input_arguments.as_slice();
            (core.route(object) == manager).then(|| CallItem {
                index,
                object,
                method: method.method_id.as_ref(),
                inputs,
            })
        }));
        if items.is_empty() {
            continue;
        }
        match core.manager(manager) {
            Some(other) => other.call(&mut call, &items),
            None => core.nodes.call(&mut call, decode, &items),
        }
    }
    call.results.finish(status::BAD_INTERNAL_ERROR)
}
