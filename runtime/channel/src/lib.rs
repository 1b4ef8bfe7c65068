//! Sans-IO UA TCP and secure conversation: hello, chunks, sequence numbers, tokens
//! (OPC 10000-6 §6.7, §7.1).
//!
//! Reading and writing are apart, so that the answer to a message is written while its body is still
//! borrowed. Bodies that came in one chunk are lent from the bytes that arrived; messages are written
//! straight into the output buffer and sealed in place.
#![no_std]
extern crate alloc;

mod error;
mod handshake;
mod header;
mod limits;
mod open;
mod reader;
mod security;
mod sequence;
mod token;
mod writer;

pub use error::ChannelError;
pub use handshake::{Acknowledge, ErrorMessage, Hello, MAX_TEXT};
pub use header::{ChunkKind, Header, MessageKind};
pub use limits::TransportLimits;
pub use open::OpenHeader;
pub use reader::{Incoming, Reader, Step};
pub use security::{ChunkLayoutOf, NonePolicy, POLICY_NONE, SecurityProvider};
pub use sequence::SequenceRule;
pub use token::{Token, Tokens};
pub use writer::{WriteError, Writer};
