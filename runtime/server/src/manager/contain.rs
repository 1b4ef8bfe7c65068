//! Code of the application on the task of a connection: what panics is contained, what holds the
//! connection up is logged.

use core::fmt;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

use uaforge_codec::NodeIdRef;

/// How long a handler may hold up its connection before a line is logged: others wait as long.
const SLOW: Duration = Duration::from_millis(1);

/// Runs a handler; `None` if it panicked. A run above a millisecond is logged with the first node of
/// its batch.
pub(crate) fn contain<R>(service: &str, node: NodeIdRef<'_>, run: impl FnOnce() -> R) -> Option<R> {
    let begun = uaforge_net::clock().ticks;
    let result = shield(service, node, run);
    let took = uaforge_net::clock().ticks.since(begun);
    if took > SLOW {
        log_slow(service, &node.to_owned(), took);
    }
    result
}

/// Runs what may call handlers; `None` if one panicked. Takes no time worth measuring.
#[inline]
pub(crate) fn shield<R>(service: &str, node: NodeIdRef<'_>, run: impl FnOnce() -> R) -> Option<R> {
    let result = catch_unwind(AssertUnwindSafe(run));
    if result.is_err() {
        log_panic(service, &node.to_owned());
    }
    result.ok()
}

#[cold]
fn log_slow(service: &str, node: &dyn fmt::Display, took: Duration) {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    tracing::warn!(service, %node, micros, "a handler held up its connection for more than a millisecond");
}

#[cold]
fn log_panic(service: &str, node: &dyn fmt::Display) {
    tracing::error!(service, %node, "a handler panicked; what it left unanswered is Bad_InternalError");
}
