//! The sans-IO part: bytes, time and randomness in, bytes and the next deadline out.

pub(crate) mod backlog;
pub(crate) mod buffers;
pub(crate) mod connection;
pub(crate) mod continuation;
pub(crate) mod diagnose;
pub(crate) mod dispatch;
mod dispatch_subscriptions;
pub(crate) mod envelope;
pub(crate) mod in_flight;
mod late_session;
pub(crate) mod mailbox;
pub(crate) mod orphans;
pub(crate) mod outstanding;
pub(crate) mod pending;
pub(crate) mod registered;
pub(crate) mod results;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod tasks;
pub(crate) mod turn;
