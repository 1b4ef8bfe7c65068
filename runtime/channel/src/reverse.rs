//! Reverse Hello: a server that dials (OPC 10000-6 §7.1.2.6).

use alloc::string::String;
use alloc::vec::Vec;

use uaforge_codec::{DecodeContext, DecodeRef as _, Decoder, StrRef};
use uaforge_types::status;

use crate::ChannelError;
use crate::frame::{Frame, MessageType};
use crate::hello::{MAX_TEXT, put_message, put_text};

/// Two texts of the longest kind, their lengths and a header.
const LARGEST: usize = 2 * (MAX_TEXT + 4) + 8;

/// The first message on a connection that the server has opened. The client answers with a Hello for one
/// of the server's endpoints, and from there on everything is as usual (OPC 10000-6 §7.1.2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReverseHello {
    /// The ApplicationUri of the server.
    pub server_uri: String,
    /// The endpoint that the client shall name in its Hello.
    pub endpoint_url: String,
}

impl ReverseHello {
    /// Reads the message at the start of `input`, with its length; `None` if more bytes have to come.
    ///
    /// # Errors
    /// It is something else, or a text in it is too long.
    pub fn read(input: &[u8]) -> Result<Option<(usize, Self)>, ChannelError> {
        let Some(frame) = Frame::parse(input, LARGEST)? else { return Ok(None) };
        if frame.kind != MessageType::ReverseHello {
            let reason = "a ReverseHello is expected first";
            return Err(ChannelError::new(status::BAD_TCP_MESSAGE_TYPE_INVALID, reason));
        }
        let mut d = Decoder::new(frame.body(), DecodeContext::default());
        let mut text = || {
            let text = StrRef::decode_ref(&mut d)?;
            if text.0.unwrap_or_default().len() > MAX_TEXT {
                let reason = "a text of the ReverseHello is too long";
                return Err(ChannelError::new(status::BAD_TCP_ENDPOINT_URL_INVALID, reason));
            }
            Ok(text.to_str_lossy().into_owned())
        };
        let hello = Self { server_uri: text()?, endpoint_url: text()? };
        d.finish()?;
        Ok(Some((frame.bytes.len(), hello)))
    }

    /// Writes the message.
    ///
    /// # Errors
    /// A text is too long.
    pub fn put(&self, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        if self.server_uri.len() > MAX_TEXT || self.endpoint_url.len() > MAX_TEXT {
            return Err(ChannelError::new(status::BAD_TCP_ENDPOINT_URL_INVALID, "a text is too long"));
        }
        put_message(out, MessageType::ReverseHello, |out| {
            put_text(out, &self.server_uri);
            put_text(out, &self.endpoint_url);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_written() {
        let hello =
            ReverseHello { server_uri: "urn:plant".into(), endpoint_url: "opc.tcp://plant:4840".into() };
        let mut bytes = Vec::new();
        hello.put(&mut bytes).unwrap();
        bytes.push(b'H');
        assert_eq!(ReverseHello::read(&bytes[..20]), Ok(None));
        assert_eq!(ReverseHello::read(&bytes), Ok(Some((bytes.len() - 1, hello))));
        assert!(ReverseHello::read(b"HELF\x08\0\0\0").is_err());
    }

    #[test]
    fn long_texts_are_refused() {
        let hello = ReverseHello { server_uri: String::new(), endpoint_url: "x".repeat(MAX_TEXT + 1) };
        assert!(hello.put(&mut Vec::new()).is_err());
        let mut bytes = Vec::new();
        put_message(&mut bytes, MessageType::ReverseHello, |out| {
            put_text(out, &hello.server_uri);
            put_text(out, &hello.endpoint_url);
        });
        assert_eq!(ReverseHello::read(&bytes).unwrap_err().status, status::BAD_TCP_ENDPOINT_URL_INVALID);
    }
}
