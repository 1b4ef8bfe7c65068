//! The session machine: bytes, calls and the time come in, bytes, completions and the next deadline go out.
//! It owns no socket, reads no clock and starts no task.

mod call;
mod core;
mod endpoints;
mod machine;
mod pending;
mod setup;

pub(crate) use call::{Call, ServiceCall};
pub(crate) use machine::SessionMachine;
pub use setup::{OperationLimits, SessionInfo};
