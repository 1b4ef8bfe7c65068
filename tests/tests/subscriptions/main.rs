//! Subscriptions and monitored items of the server, in virtual time (OPC 10000-4 §5.13, §5.14).

mod harness;
mod items;
mod publishing;

use harness::{Plant, Told, reporting};
