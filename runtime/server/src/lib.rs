//! OPC UA server: sessions, services, node managers and typed instances.
//!
//! The protocol is a sans-IO machine per connection: bytes, time and randomness go in, bytes and the
//! next deadline come out. [`Server::run_until`] drives the machines with sockets and clocks of
//! `uaforge-net`.

mod access;
mod application;
mod attribute;
mod binding;
mod blocking;
mod builder;
mod cancellation;
mod config;
mod discovery;
mod encode;
mod event;
mod handle;
mod life;
mod listener;
mod manager;
mod methods;
mod node_ids;
mod proto;
mod security;
mod server;
mod services;
#[cfg(feature = "config")]
mod settings;
mod shared;
mod space;
mod structures;
mod subscription;

pub mod typed;
mod url;
mod variables;

pub use access::{Access, AccessControl, Protection, RoleSet, UserId};
pub use binding::{Bindable, Field, HandlerCx, PollHandle, Reading, Sample, SharedValue, field, simulation};
pub use builder::{BuildError, ServerBuilder};
pub use cancellation::{CancelReason, Cancellation};
pub use config::{Limits, OperationLimits, SubscriptionLimits};
pub use discovery::{DiscoveryServer, Registration};
pub use event::{EmitError, Event};
pub use handle::{Variable, VariableHandle};
pub use manager::{
    BrowseAnswer, BrowseCx, BrowseItem, Browser, CallCx, CallItem, Claim, Description, FollowAnswer,
    FollowCx, FollowItem, NodeManager, ReadCx, ReadItem, Reference, RegisterCx, RegisterItem, WriteCx,
    WriteItem,
};
pub use methods::{MethodBindError, MethodCall, MethodError, MethodResult};
pub use proto::connection::Connection;
pub use security::{
    Authentication, Authenticator, Credentials, Offered, PasswordFile, PasswordFileError, Security, User,
};
pub use server::{Server, ServerError};
#[cfg(feature = "config")]
pub use settings::{ServerSettings, SettingsError};
