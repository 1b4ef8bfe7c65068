//! Call (OPC 10000-4 §5.12.2).

use uaforge_codec::{Encoder, StatusCode};
use uaforge_types::{CallRequest, status};

use super::ServiceCx;
use crate::manager::{CallCx, CallItem, contain, put_call_status, shield};
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
    let nodes = request.methods_to_call.iter().map(|method| method.object_id.as_ref());
    buffers.routes.fill(&core.routes, &core.managers, nodes);
    for manager in (0..=core.managers.len()).filter(|route| buffers.routes.occurs(*route)) {
        items.clear();
        items.extend(request.methods_to_call.iter().enumerate().filter_map(|(index, method)| {
            let object = method.object_id.as_ref();
            let inputs = method.input_arguments.as_slice();
            (buffers.routes.of(index) == manager).then(|| CallItem {
                index,
                object,
                method: method.method_id.as_ref(),
                inputs,
            })
        }));
        let Some(first) = items.first() else { continue };
        let done = match core.manager(manager) {
            None => shield("Call", first.method, || core.nodes.call(&mut call, decode, &items)),
            Some(other) => contain("Call", first.method, || other.call(&mut call, &items)),
        };
        if done.is_none() {
            call.results.mend();
        }
    }
    call.results.finish(status::BAD_INTERNAL_ERROR)
}
