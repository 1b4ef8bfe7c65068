//! Write (OPC 10000-4 §5.11.4).

use uaforge_codec::{DataValue, DataValueRef, Decoder, Encoder, NodeIdRef, NumericRange, StatusCode, StrRef};
use uaforge_types::{WriteRequestRef, WriteValueRef, status};

use super::ServiceCx;
use crate::attribute;
use crate::manager::{Malformed, WriteCx, WriteItem, contain, put_write_status, shield};
use crate::proto::buffers::recycle;
use crate::proto::results::{Results, Unfinished};

/// Bytes that the index ranges of one request may have copied beside what they write: more is answered with
/// Bad_ResourceUnavailable.
const RANGE_COPY: usize = 256 << 20;

/// Checks what holds for the request as a whole.
pub(crate) fn check(cx: &ServiceCx<'_>, request: &WriteRequestRef<'_>) -> Result<(), StatusCode> {
    match request.nodes_to_write.len() {
        0 => Err(status::BAD_NOTHING_TO_DO),
        nodes if nodes > cx.core.limits.operations.max_nodes_per_write as usize => {
            Err(status::BAD_TOO_MANY_OPERATIONS)
        }
        _ => Ok(()),
    }
}

/// Writes the results array. The items of one manager form one batch. `message` is a decoder over the request,
/// whose budget the values share.
pub(crate) fn results<'a>(
    cx: &mut ServiceCx<'_>,
    heads: &[WriteHead<'a>],
    message: &mut Decoder<'a>,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let core = cx.core;
    let buffers = &mut *cx.buffers;
    let mut values = core::mem::take(&mut buffers.write_values);
    values.clear();
    values.extend(heads.iter().map(|head| head.decode(message)));
    let mut write = WriteCx {
        results: Results::new(e, &mut buffers.results, values.len(), put_write_status),
        access: cx.access,
        now: cx.now,
        snapshot: cx.snapshot,
        copy_left: RANGE_COPY,
        pool: &core.blocking,
        scope: cx.scope,
        deferred: &mut buffers.deferred,
    };
    buffers.routes.fill(&core.routes, &core.managers, heads.iter().map(|head| head.node));
    let items =
        || heads.iter().zip(&values).enumerate().map(|(index, (head, value))| head.item(index, value));
    let (space, decode) = (&core.space, core.decode_context());
    if buffers.routes.is_space() {
        let node = heads.first().map_or(NodeIdRef::NULL, |head| head.node);
        if shield("Write", node, || core.nodes.write(&mut write, space, decode, items())).is_none() {
            write.results.mend();
        }
        let unfinished = write.results.finish(status::BAD_INTERNAL_ERROR);
        values.clear();
        buffers.write_values = values;
        return unfinished;
    }
    let mut batch: Vec<WriteItem<'_>> = recycle!(core::mem::take(&mut buffers.write_items));
    for manager in (0..=core.managers.len()).filter(|route| buffers.routes.occurs(*route)) {
        batch.clear();
        for (_, item) in items().enumerate().filter(|(index, _)| buffers.routes.of(*index) == manager) {
            match item {
                Ok(item) => batch.push(item),
                Err(Malformed { index, status }) => write.results.status(index, status),
            }
        }
        let Some(first) = batch.first() else { continue };
        let of_space = batch.iter().copied().map(Ok);
        let done = match core.manager(manager) {
            None => shield("Write", first.node, || core.nodes.write(&mut write, space, decode, of_space)),
            Some(other) => contain("Write", first.node, || other.write(&mut write, &batch)),
        };
        if done.is_none() {
            write.results.mend();
        }
    }
    let unfinished = write.results.finish(status::BAD_INTERNAL_ERROR);
    buffers.write_items = recycle!(batch);
    values.clear();
    buffers.write_values = values;
    unfinished
}

/// An item of the message, its value not decoded yet.
pub(crate) struct WriteHead<'a> {
    node: NodeIdRef<'a>,
    attribute: u32,
    range: StrRef<'a>,
    value: DataValueRef<'a>,
}

impl<'a> WriteHead<'a> {
    pub(crate) fn new(item: WriteValueRef<'a>) -> Self {
        Self { node: item.node_id, attribute: item.attribute_id, range: item.index_range, value: item.value }
    }

    /// The value. One that cannot be decoded costs its item only.
    fn decode(&self, message: &mut Decoder<'a>) -> Result<DataValue, StatusCode> {
        self.value.decode(message).map_err(|error| error.status())
    }

    /// The item, unless it can be told to be wrong without a look at its node.
    fn item<'i>(
        &self,
        index: usize,
        value: &'i Result<DataValue, StatusCode>,
    ) -> Result<WriteItem<'i>, Malformed>
    where
        'a: 'i,
    {
        self.check()
            .and_then(|()| value.as_ref().map_err(|status| *status))
            .map(|value| WriteItem {
                index,
                node: self.node,
                attribute: self.attribute,
                range: self.range,
                value,
            })
            .map_err(|status| Malformed { index, status })
    }

    fn check(&self) -> Result<(), StatusCode> {
        if !(1..=attribute::LAST).contains(&self.attribute) {
            return Err(status::BAD_ATTRIBUTE_ID_INVALID);
        }
        if !self.range.is_empty() {
            NumericRange::from_wire(self.range)?;
        }
        Ok(())
    }
}
