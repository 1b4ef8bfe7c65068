//! Sans-IO UA TCP and secure conversation: hello, framing, chunks, tokens (OPC 10000-6 §6.7, §7.1).
//!
//! Channels take bytes and time and give bytes and events. They know nothing of sessions, sockets and
//! clocks. [`ServerChannel`] and [`ClientChannel`] share one reader and one writer.
#![no_std]

extern crate alloc;

mod client;
mod conversation;
mod error;
mod frame;
mod hello;
mod limits;
mod open;
mod quota;
mod reader;
mod reverse;
mod security;
mod sequence;
mod server;
mod token;
mod writer;

pub use client::{ClientChannel, ClientConfig, ClientEvent};
pub use error::{ChannelError, security_checks_failed};
pub use limits::{Limits, Negotiated};
pub use open::AsymmetricHeader;
pub use quota::MemoryQuota;
pub use reverse::ReverseHello;
pub use security::{
    AsymmetricChunk, ChunkSecurity, KeyExchange, NonePolicy, Operation, POLICY_NONE, Role, SealedChunk,
    SecurityProvider, TokenKeys, TokenSecret,
};
pub use sequence::{SequenceCheck, SequenceRule, Sequencer};
pub use server::{ServerChannel, ServerConfig, ServerEvent};
pub use writer::Writer;
