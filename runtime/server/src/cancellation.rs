//! Tokens that tell a handler that nobody waits for its answer any more.

use core::cell::OnceCell;
use core::fmt;
use core::future::Future;
use core::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

use tokio::sync::Notify;
use uaforge_codec::{StatusCode, Ticks};
use uaforge_types::status;

/// Why nobody waits for an answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancelReason {
    /// The request's time is over: that of its timeoutHint (OPC 10000-4 §7.32), or the server's own limit.
    Timeout,
    /// The client cancelled the request (OPC 10000-4 §5.7.5).
    CancelledByClient,
    /// The session was closed or timed out (OPC 10000-4 §5.7.4).
    SessionClosed,
    /// The client's connection is gone. Handlers of Write and Call are not told: they run on.
    Disconnected,
    /// The server stops.
    Shutdown,
}

impl CancelReason {
    const ALL: [Self; 5] =
        [Self::Timeout, Self::CancelledByClient, Self::SessionClosed, Self::Disconnected, Self::Shutdown];

    /// What the client is answered.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Timeout => status::BAD_TIMEOUT,
            Self::CancelledByClient => status::BAD_REQUEST_CANCELLED_BY_CLIENT,
            Self::SessionClosed => status::BAD_SESSION_CLOSED,
            Self::Disconnected => status::BAD_CONNECTION_CLOSED,
            Self::Shutdown => status::BAD_SHUTDOWN,
        }
    }
}

/// A token that is fired when nobody waits for the answer of a request any more; all clones are one token.
///
/// A handler that works for long looks at it from time to time, or waits for it beside its work. The
/// answer of a handler that goes on all the same is not sent.
#[derive(Clone)]
pub struct Cancellation {
    inner: Arc<Inner>,
}

struct Inner {
    deadline: Ticks,
    /// 0, or one more than the index of the reason.
    fired: AtomicU8,
    notify: Notify,
}

impl Cancellation {
    pub(crate) fn new(deadline: Ticks) -> Self {
        Self { inner: Arc::new(Inner { deadline, fired: AtomicU8::new(0), notify: Notify::new() }) }
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.fired.load(Ordering::Acquire) != 0
    }

    /// Why nobody waits any more; `None` while somebody does.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        let fired = self.inner.fired.load(Ordering::Acquire);
        CancelReason::ALL.get(usize::from(fired).checked_sub(1)?).copied()
    }

    /// When the token is fired at the latest.
    #[must_use]
    pub fn deadline(&self) -> Ticks {
        self.inner.deadline
    }

    /// Waits until nobody waits for the answer any more.
    pub fn cancelled(&self) -> impl Future<Output = CancelReason> + Send + 'static {
        let token = self.clone();
        async move {
            loop {
                // Asked for before the look at the reason: what is fired in between wakes it.
                let notified = token.inner.notify.notified();
                if let Some(reason) = token.reason() {
                    return reason;
                }
                notified.await;
            }
        }
    }

    /// Fires the token; only the first reason counts. Whether this was the first.
    pub(crate) fn fire(&self, reason: CancelReason) -> bool {
        let number = CancelReason::ALL.iter().position(|known| *known == reason).unwrap_or_default() + 1;
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        let first = self.inner.fired.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if first {
            self.inner.notify.notify_waiters();
        }
        first
    }

    /// Whether both are one token.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation")
            .field("deadline", &self.inner.deadline)
            .field("reason", &self.reason())
            .finish()
    }
}

/// Deadline and token of one request. The token is made when somebody asks for it, so that a request
/// that is answered at once takes no memory.
#[derive(Debug)]
pub(crate) struct Scope {
    deadline: Ticks,
    token: OnceCell<Cancellation>,
}

impl Scope {
    pub(crate) fn new(deadline: Ticks) -> Self {
        Self { deadline, token: OnceCell::new() }
    }

    /// The scope of a request that goes on later.
    pub(crate) fn of(token: Cancellation) -> Self {
        Self { deadline: token.deadline(), token: OnceCell::from(token) }
    }

    pub(crate) fn deadline(&self) -> Ticks {
        self.deadline
    }

    pub(crate) fn token(&self) -> &Cancellation {
        self.token.get_or_init(|| Cancellation::new(self.deadline))
    }
}

#[cfg(test)]
mod tests {
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn the_first_reason_counts_and_wakes_all() {
        let token = Cancellation::new(Ticks(5));
        let other = token.clone();
        let (mut early, mut cx) = (pin!(other.cancelled()), Context::from_waker(Waker::noop()));
        assert!(early.as_mut().poll(&mut cx).is_pending());
        assert_eq!((token.is_cancelled(), token.reason(), token.deadline()), (false, None, Ticks(5)));
        assert!(token.fire(CancelReason::SessionClosed));
        assert!(!token.fire(CancelReason::Timeout));
        assert_eq!(early.poll(&mut cx), Poll::Ready(CancelReason::SessionClosed));
        assert_eq!(pin!(token.cancelled()).poll(&mut cx), Poll::Ready(CancelReason::SessionClosed));
        assert_eq!(token.reason().map(CancelReason::status), Some(status::BAD_SESSION_CLOSED));
    }
}
