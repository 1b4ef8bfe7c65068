//! Hello, Acknowledge and Error (OPC 10000-6 §7.1.2.3 to §7.1.2.5).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use uaforge_codec::{DecodeContext, DecodeRef as _, Decoder, StatusCode, StrRef};
use uaforge_types::status;

use crate::frame::{FINAL, HEADER, MessageType};
use crate::{ChannelError, Limits};

/// Longest endpoint URL and reason (OPC 10000-6 §7.1.2.3, §7.1.2.5).
pub(crate) const MAX_TEXT: usize = 4096;
/// The version of the protocol.
const VERSION: u32 = 0;

/// What a peer says of itself in Hello or Acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) receive_buffer: u32,
    pub(crate) send_buffer: u32,
    pub(crate) max_message: u32,
    pub(crate) max_chunks: u32,
}

impl Announced {
    fn read(d: &mut Decoder<'_>) -> Result<Self, ChannelError> {
        // A newer peer speaks older versions too.
        d.u32()?;
        Ok(Self {
            receive_buffer: d.u32()?,
            send_buffer: d.u32()?,
            max_message: d.u32()?,
            max_chunks: d.u32()?,
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        let fields = [VERSION, self.receive_buffer, self.send_buffer, self.max_message, self.max_chunks];
        for field in fields {
            out.extend_from_slice(&field.to_le_bytes());
        }
    }
}

impl From<&Limits> for Announced {
    fn from(limits: &Limits) -> Self {
        Self {
            receive_buffer: limits.receive_buffer(),
            send_buffer: limits.send_buffer(),
            max_message: limits.max_message,
            max_chunks: limits.max_chunks,
        }
    }
}

impl Announced {
    /// The answer to a Hello: no buffer larger than the client's, own limits of messages.
    pub(crate) fn acknowledge(&self, own: &Limits) -> Self {
        Self {
            receive_buffer: own.receive_buffer().min(self.send_buffer),
            send_buffer: own.send_buffer().min(self.receive_buffer),
            max_message: own.max_message,
            max_chunks: own.max_chunks,
        }
    }
}

/// Reads the body of a Hello.
pub(crate) fn read_hello(body: &[u8]) -> Result<(Announced, String), ChannelError> {
    let mut d = Decoder::new(body, DecodeContext::default());
    let announced = Announced::read(&mut d)?;
    let url = StrRef::decode_ref(&mut d)?;
    if url.0.unwrap_or_default().len() > MAX_TEXT {
        return Err(ChannelError::new(status::BAD_TCP_ENDPOINT_URL_INVALID, "the endpoint URL is too long"));
    }
    d.finish()?;
    Ok((announced, url.to_str_lossy().into_owned()))
}

/// Reads the body of an Acknowledge.
pub(crate) fn read_acknowledge(body: &[u8]) -> Result<Announced, ChannelError> {
    let mut d = Decoder::new(body, DecodeContext::default());
    let announced = Announced::read(&mut d)?;
    d.finish()?;
    Ok(announced)
}

/// Reads the body of an Error, whatever is wrong with it.
pub(crate) fn read_error(body: &[u8]) -> ChannelError {
    let mut d = Decoder::new(body, DecodeContext::default());
    let mut read = || {
        let status = StatusCode(d.u32()?);
        let reason = StrRef::decode_ref(&mut d)?;
        Ok::<_, uaforge_codec::DecodeError>((
            status,
            reason.to_str_lossy().chars().take(MAX_TEXT).collect::<String>(),
        ))
    };
    match read() {
        Ok((status, reason)) if status.is_bad() => ChannelError { status, reason: Cow::Owned(reason) },
        _ => ChannelError::new(status::BAD_TCP_INTERNAL_ERROR, "the peer sent an error without a status"),
    }
}

/// Writes a Hello.
pub(crate) fn put_hello(out: &mut Vec<u8>, own: &Limits, url: &str) -> Result<(), ChannelError> {
    if url.len() > MAX_TEXT {
        return Err(ChannelError::new(status::BAD_TCP_ENDPOINT_URL_INVALID, "the endpoint URL is too long"));
    }
    put_message(out, MessageType::Hello, |out| {
        Announced::from(own).put(out);
        put_text(out, url);
    });
    Ok(())
}

/// Writes an Acknowledge.
pub(crate) fn put_acknowledge(out: &mut Vec<u8>, announced: &Announced) {
    put_message(out, MessageType::Acknowledge, |out| announced.put(out));
}

/// Writes an Error.
pub(crate) fn put_error(out: &mut Vec<u8>, error: &ChannelError) {
    put_message(out, MessageType::Error, |out| {
        out.extend_from_slice(&error.status.0.to_le_bytes());
        let cut = error.reason.char_indices().map(|(at, _)| at).find(|at| *at > MAX_TEXT - 4);
        put_text(out, error.reason.get(..cut.unwrap_or(error.reason.len())).unwrap_or_default());
    });
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_message(out: &mut Vec<u8>, kind: MessageType, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.resize(start + HEADER, 0);
    body(out);
    let size = out.len() - start;
    crate::frame::put_header(out.get_mut(start..).unwrap_or_default(), kind, FINAL, size);
}
