//! The closures that answer reads and writes of one cell.

use core::future::Future;
use core::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use uaforge_codec::{DataValue, DateTime};
use uaforge_nodes::ValueCell;
use uaforge_types::status;

use super::handler::HandlerCx;
use super::reading::Reading;
use crate::manager::{ReadCx, ReadItem, contain};

type LateReading = Pin<Box<dyn Future<Output = DataValue> + Send>>;

/// Who answers a read.
pub(crate) enum ReadHook {
    Now(Box<dyn Fn(DateTime) -> DataValue + Send + Sync>),
    Late(Box<dyn Fn(HandlerCx) -> LateReading + Send + Sync>),
    Blocking(Arc<dyn Fn(HandlerCx) -> DataValue + Send + Sync>),
}

/// What is attached to a cell.
#[derive(Default)]
pub(crate) struct Hooks {
    read: RwLock<Option<Arc<ReadHook>>>,
}

impl ReadHook {
    pub(crate) fn now<T, R: Reading<T>>(read: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self::Now(Box::new(move |now| read().into_data_value(now)))
    }

    pub(crate) fn late<T, F>(read: impl Fn(HandlerCx) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Reading<T>> + Send + 'static,
    {
        Self::Late(Box::new(move |cx| {
            let reading = read(cx);
            Box::pin(async move { reading.await.into_data_value(uaforge_net::clock().utc) })
        }))
    }

    pub(crate) fn blocking<T, R: Reading<T>>(read: impl Fn(HandlerCx) -> R + Send + Sync + 'static) -> Self {
        Self::Blocking(Arc::new(move |cx| read(cx).into_data_value(uaforge_net::clock().utc)))
    }

    /// Answers a read of the Value.
    pub(crate) fn run(self: &Arc<Self>, cx: &mut ReadCx<'_, '_>, item: &ReadItem<'_>) {
        match &**self {
            Self::Now(read) => {
                let now = cx.now().utc;
                match contain("on_read", item.node, || read(now)) {
                    Some(value) => cx.answer(item, &value),
                    None => cx.status(item, status::BAD_INTERNAL_ERROR),
                }
            }
            Self::Late(read) => {
                let handler = cx.handler();
                match contain("on_read", item.node, || read(handler)) {
                    Some(reading) => cx.defer(item, reading),
                    None => cx.status(item, status::BAD_INTERNAL_ERROR),
                }
            }
            Self::Blocking(read) => {
                let (read, handler) = (Arc::clone(read), cx.handler());
                cx.blocking(item, move || read(handler));
            }
        }
    }
}

impl Hooks {
    /// The hooks of a cell; a cell without any is known by one look at it.
    #[inline]
    pub(crate) fn of(cell: &ValueCell) -> Option<&Self> {
        cell.attachment()?.downcast_ref()
    }

    /// The hooks of a cell, made if need be.
    pub(crate) fn of_or_new(cell: &ValueCell) -> Arc<Self> {
        let attachment = Arc::clone(cell.attach(|| Arc::new(Self::default())));
        attachment.downcast().unwrap_or_default()
    }

    pub(crate) fn set_read(&self, hook: ReadHook) {
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
    }

    pub(crate) fn clear(&self) {
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Who answers reads.
    pub(crate) fn read(&self) -> Option<Arc<ReadHook>> {
        self.read.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
