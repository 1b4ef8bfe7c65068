//! The closures that answer reads and writes of one cell.

use core::future::Future;
use core::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use uaforge_codec::{DataValue, DateTime, FromVariant, IntoVariant, NumericRange, StatusCode, Variant};
use uaforge_nodes::ValueCell;
use uaforge_types::status;

use super::handler::HandlerCx;
use super::line::Line;
use super::reading::Reading;
use crate::manager::{ReadCx, ReadItem, WriteCx, WriteItem, contain};

type LateReading = Pin<Box<dyn Future<Output = DataValue> + Send>>;
/// The value to store, or why nothing is.
type Written = Result<Variant, StatusCode>;
type WriteFn<R> = dyn Fn(&Variant, HandlerCx) -> R + Send + Sync;
type LateWriting = Pin<Box<dyn Future<Output = Written> + Send>>;

/// Who answers a read.
pub(crate) enum ReadHook {
    Now(Box<dyn Fn(DateTime) -> DataValue + Send + Sync>),
    Late(Box<dyn Fn(HandlerCx) -> LateReading + Send + Sync>),
    Blocking(Arc<dyn Fn(HandlerCx) -> DataValue + Send + Sync>),
}

/// Who takes a write; gives the value to store.
pub(crate) enum WriteHook {
    Now(Box<dyn Fn(&Variant) -> Written + Send + Sync>),
    Late(Box<WriteFn<LateWriting>>),
    Blocking(Arc<WriteFn<Written>>),
}

/// What is attached to a cell.
#[derive(Default)]
pub(crate) struct Hooks {
    read: RwLock<Option<Arc<ReadHook>>>,
    write: RwLock<Option<Arc<WriteHook>>>,
    /// Held while a closure takes a value and the value is stored, so that both have one order.
    storing: Mutex<()>,
    line: Line,
}

/// Parts of a written DataValue beside the value.
struct Beside {
    status: StatusCode,
    source: Option<DateTime>,
    server: Option<DateTime>,
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

fn typed<T: FromVariant>(value: &Variant) -> Result<T, StatusCode> {
    T::from_variant(value).map_err(|_| status::BAD_TYPE_MISMATCH)
}

impl WriteHook {
    pub(crate) fn now<T: FromVariant + IntoVariant>(
        write: impl Fn(T) -> Result<T, StatusCode> + Send + Sync + 'static,
    ) -> Self {
        Self::Now(Box::new(move |value| write(typed(value)?).map(IntoVariant::into_variant)))
    }

    pub(crate) fn late<T: FromVariant + IntoVariant, F>(
        write: impl Fn(T, HandlerCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, StatusCode>> + Send + 'static,
    {
        Self::Late(Box::new(move |value, cx| {
            let writing = typed(value).map(|value| write(value, cx));
            Box::pin(async move { writing?.await.map(IntoVariant::into_variant) })
        }))
    }

    pub(crate) fn blocking<T: FromVariant + IntoVariant>(
        write: impl Fn(T, HandlerCx) -> Result<T, StatusCode> + Send + Sync + 'static,
    ) -> Self {
        Self::Blocking(Arc::new(move |value, cx| write(typed(value)?, cx).map(IntoVariant::into_variant)))
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

    pub(crate) fn set_write(&self, hook: WriteHook) {
        *self.write.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
    }

    pub(crate) fn clear(&self) {
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = None;
        *self.write.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Who answers reads.
    pub(crate) fn read(&self) -> Option<Arc<ReadHook>> {
        self.read.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who takes writes.
    pub(crate) fn write(&self) -> Option<Arc<WriteHook>> {
        self.write.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Beside {
    fn store(self, cell: &ValueCell, value: Variant) {
        cell.write(value, self.status, self.source, self.server);
    }
}

/// What a client writes.
enum Incoming {
    Whole(Variant),
    Part(NumericRange, Variant),
}

impl Incoming {
    /// The whole value. A part is put into what the Variable shows when it is the part's turn.
    fn whole(self, cell: &ValueCell) -> Written {
        let (range, part) = match self {
            Self::Whole(value) => return Ok(value),
            Self::Part(range, part) => (range, part),
        };
        let mut whole = shown(cell);
        range.replace(&mut whole, &part)?;
        Ok(whole)
    }
}

/// The value that a Variable shows, as far as that is known without waiting.
pub(crate) fn shown(cell: &ValueCell) -> Variant {
    let read = Hooks::of(cell).and_then(Hooks::read);
    match read.as_deref() {
        Some(ReadHook::Now(read)) => read(DateTime::NULL).into_value(),
        _ => cell.value(),
    }
}

/// Has a checked value taken by a closure, and stores what it gives.
///
/// # Errors
/// The range is no range, or the request asks for too much copying.
pub(crate) fn take(
    hook: Arc<WriteHook>,
    cx: &mut WriteCx<'_, '_>,
    item: &WriteItem<'_>,
    cell: &Arc<ValueCell>,
    value: Variant,
) -> Result<(), StatusCode> {
    let hooks = Hooks::of(cell).ok_or(status::BAD_INTERNAL_ERROR)?;
    let incoming = if item.range.is_empty() {
        Incoming::Whole(value)
    } else {
        let cost = NumericRange::replace_cost(&cell.value());
        cx.copy_left = cx.copy_left.checked_sub(cost).ok_or(status::BAD_RESOURCE_UNAVAILABLE)?;
        Incoming::Part(NumericRange::from_wire(item.range)?, value)
    };
    let written = item.value;
    let beside = Beside {
        status: written.status_or_good(),
        source: written.source_timestamp().or(Some(cx.now().utc)),
        server: written.server_timestamp(),
    };
    if let WriteHook::Now(write) = &*hook {
        let order = hooks.storing.lock().unwrap_or_else(PoisonError::into_inner);
        let status = match contain("on_write", item.node, || write(&incoming.whole(cell)?)) {
            Some(Ok(value)) => {
                beside.store(cell, value);
                StatusCode::GOOD
            }
            Some(Err(status)) => status,
            None => status::BAD_INTERNAL_ERROR,
        };
        drop(order);
        cx.status(item, status);
        return Ok(());
    }
    let (mut place, handler, pool) = (hooks.line.join(), cx.handler(), cx.pool.clone());
    let cell = Arc::clone(cell);
    cx.defer(item, async move {
        place.turn().await;
        // Nobody is told any more what becomes of a write that has not begun: it is left out.
        if let Some(reason) = handler.cancellation.reason() {
            return reason.status();
        }
        let value = match incoming.whole(&cell) {
            Ok(value) => value,
            Err(status) => return status,
        };
        let taken = match &*hook {
            WriteHook::Now(write) => write(&value),
            WriteHook::Late(write) => write(&value, handler).await,
            WriteHook::Blocking(write) => {
                let write = Arc::clone(write);
                pool.run(handler.cancellation.clone(), move || write(&value, handler))
                    .await
                    .unwrap_or_else(Err)
            }
        };
        match taken {
            Ok(value) => {
                beside.store(&cell, value);
                StatusCode::GOOD
            }
            Err(status) => status,
        }
    });
    Ok(())
}
