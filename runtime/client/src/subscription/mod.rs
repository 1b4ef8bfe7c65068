//! Subscriptions and monitored items as callers have them (OPC 10000-4 §5.13, §5.14).

mod events;
mod handle;
mod item;
mod pool;
mod queue;
mod streams;

pub use events::EventQuery;
pub use handle::{Subscribe, Subscription};
pub use item::{Deadband, ItemInfo, WatchItem};
pub(crate) use pool::Pool;
pub use pool::Watch;
pub use queue::Missed;
pub(crate) use queue::Queue;
pub use streams::{Change, Event, Events, SampleGroup, Samples};
