//! Typed access: what generated models are made of on the client side.
//!
//! A proxy knows its node by a path from a bound object. Paths are followed when something is read for
//! the first time, all mandatory members of an object in one call, and kept.

mod call;
mod find;
mod object;
mod place;
mod placeholder;
mod samples;
mod var;

pub use call::{OutputArguments, optional_input};
pub use find::FindObject;
pub use object::{Found, Maybe, ObjectProxy, ProxyOf, ProxyType};
pub use placeholder::Named;
pub use samples::TypedSamples;
pub use var::{Sample, Var};
