//! Hello, Acknowledge and Error messages (OPC 10000-6 §7.1.2.3 to §7.1.2.5).

use alloc::vec::Vec;

use uaforge_codec::{
    Decode, DecodeContext, DecodeRef, Decoder, Encode, EncodeContext, Encoder, StatusCode, StrRef, UaString,
};
use uaforge_types::status;

use crate::header::Header;
use crate::{ChannelError, ChunkKind, MessageKind};

/// Longest EndpointUrl and Reason in bytes.
pub const MAX_TEXT: usize = 4096;

/// What a client begins with.
#[derive(Clone, Copy, Debug)]
pub struct Hello<'a> {
    /// ProtocolVersion; a newer client is accepted.
    pub protocol_version: u32,
    /// Longest chunk that the sender receives.
    pub receive_buffer_size: u32,
    /// Longest chunk that the sender sends.
    pub send_buffer_size: u32,
    /// Longest response that the sender takes; 0 is no limit.
    pub max_message_size: u32,
    /// Most chunks of a response that the sender takes; 0 is no limit.
    pub max_chunk_count: u32,
    /// The URL that the client dialled.
    pub endpoint_url: StrRef<'a>,
}

impl<'a> Hello<'a> {
    /// Longest Hello message.
    pub(crate) const MAX_LEN: usize = Header::LEN + 24 + MAX_TEXT;

    pub(crate) fn parse(content: &'a [u8]) -> Result<Self, ChannelError> {
        let mut d = Decoder::new(content, DecodeContext::default());
        let hello = Self {
            protocol_version: d.u32()?,
            receive_buffer_size: d.u32()?,
            send_buffer_size: d.u32()?,
            max_message_size: d.u32()?,
            max_chunk_count: d.u32()?,
            endpoint_url: StrRef::decode_ref(&mut d)?,
        };
        if hello.endpoint_url.0.is_some_and(|url| url.len() > MAX_TEXT) {
            return Err(ChannelError::new(status::BAD_TCP_ENDPOINT_URL_INVALID, "the URL is too long"));
        }
        Ok(hello)
    }

    /// Appends the message.
    pub fn write(&self, out: &mut Vec<u8>) {
        message(MessageKind::Hello, out, |e| {
            e.put_u32(self.protocol_version);
            e.put_u32(self.receive_buffer_size);
            e.put_u32(self.send_buffer_size);
            e.put_u32(self.max_message_size);
            e.put_u32(self.max_chunk_count);
            e.put_bytes(self.endpoint_url.0);
        });
    }
}

/// What a server answers to a Hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledge {
    /// ProtocolVersion.
    pub protocol_version: u32,
    /// Longest chunk that the sender receives.
    pub receive_buffer_size: u32,
    /// Longest chunk that the sender sends.
    pub send_buffer_size: u32,
    /// Longest request that the sender takes; 0 is no limit.
    pub max_message_size: u32,
    /// Most chunks of a request that the sender takes; 0 is no limit.
    pub max_chunk_count: u32,
}

impl Acknowledge {
    pub(crate) fn parse(content: &[u8]) -> Result<Self, ChannelError> {
        let mut d = Decoder::new(content, DecodeContext::default());
        Ok(Self {
            protocol_version: d.u32()?,
            receive_buffer_size: d.u32()?,
            send_buffer_size: d.u32()?,
            max_message_size: d.u32()?,
            max_chunk_count: d.u32()?,
        })
    }

    /// Appends the message.
    pub fn write(&self, out: &mut Vec<u8>) {
        message(MessageKind::Acknowledge, out, |e| {
            e.put_u32(self.protocol_version);
            e.put_u32(self.receive_buffer_size);
            e.put_u32(self.send_buffer_size);
            e.put_u32(self.max_message_size);
            e.put_u32(self.max_chunk_count);
        });
    }
}

/// What ends a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMessage {
    /// The status.
    pub status: StatusCode,
    /// For people.
    pub reason: UaString,
}

impl ErrorMessage {
    /// Longest Error message.
    pub(crate) const MAX_LEN: usize = Header::LEN + 8 + MAX_TEXT;

    /// Reads content of an Error message, or of an abort chunk (§6.7.3), which is the same.
    pub(crate) fn parse(content: &[u8]) -> Result<Self, ChannelError> {
        let mut d = Decoder::new(content, DecodeContext::default());
        Ok(Self { status: Decode::decode(&mut d)?, reason: Decode::decode(&mut d)? })
    }

    /// Appends the message.
    pub fn write(&self, out: &mut Vec<u8>) {
        message(MessageKind::Error, out, |e| {
            self.status.encode(e);
            let text = self.reason.as_str().filter(|text| text.len() <= MAX_TEXT);
            e.put_str(text);
        });
    }
}

impl From<&ChannelError> for ErrorMessage {
    fn from(error: &ChannelError) -> Self {
        Self { status: error.status, reason: error.reason.clone() }
    }
}

fn message(kind: MessageKind, out: &mut Vec<u8>, write: impl FnOnce(&mut Encoder<'_>)) {
    let start = out.len();
    out.extend_from_slice(&[0; Header::LEN]);
    write(&mut Encoder::new(out, EncodeContext::default()));
    if let Some(message) = out.get_mut(start..) {
        Header::write(kind, ChunkKind::Final, message);
    }
}
