//! Subscriptions and monitored items of the server, in virtual time (OPC 10000-4 §5.13, §5.14).

mod bounds;
mod events;
mod harness;
mod items;
mod managers;
mod publishing;
mod timing;

use harness::{Plant, Told, reporting};
