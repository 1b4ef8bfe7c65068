//! The session machine: bytes, calls and the time come in, bytes, completions and the next deadline go out.
//! It owns no socket, reads no clock and starts no task.

mod call;
mod connecting;
mod core;
mod endpoints;
mod handles;
mod liveness;
mod machine;
mod pending;
mod recovery;
mod secured;
mod setup;
mod subscribing;
mod subscriptions;

pub(crate) use call::{Call, Exchanged, ServiceCall};
pub(crate) use core::{Goal, Ties};
pub(crate) use handles::Handles;
pub use machine::Connection;
pub(crate) use machine::Plan;
pub use setup::{OperationLimits, SessionInfo};
pub use subscriptions::SubscriptionStatus;
pub(crate) use subscriptions::{NewItem, Parameters, Refused, Revised, RevisedItem, Sink, Wish};
