//! The security header of OpenSecureChannel chunks (OPC 10000-6 §6.7.2.3).

use alloc::vec::Vec;

use uaforge_codec::{BytesRef, DecodeContext, DecodeRef, Decoder, EncodeContext, Encoder, StrRef};
use uaforge_types::status;

use crate::ChannelError;

/// Who opens the channel, and how it is secured.
#[derive(Clone, Copy, Debug)]
pub struct OpenHeader<'a> {
    /// The channel; 0 before the server gave one.
    pub channel_id: u32,
    /// URI of the policy.
    pub policy_uri: StrRef<'a>,
    /// Certificate of the sender; null without security.
    pub sender_certificate: BytesRef<'a>,
    /// SHA-1 of the receiver's certificate; null without security.
    pub receiver_thumbprint: BytesRef<'a>,
}

impl<'a> OpenHeader<'a> {
    /// Reads what follows the message header; gives the rest too.
    pub(crate) fn parse(content: &'a [u8]) -> Result<(Self, &'a [u8]), ChannelError> {
        let mut d = Decoder::new(content, DecodeContext::default());
        let header = Self {
            channel_id: d.u32()?,
            policy_uri: StrRef::decode_ref(&mut d)?,
            sender_certificate: BytesRef::decode_ref(&mut d)?,
            receiver_thumbprint: BytesRef::decode_ref(&mut d)?,
        };
        if header.policy_uri.0.is_some_and(|uri| uri.len() > 255) {
            return Err(ChannelError::new(
                status::BAD_SECURITY_POLICY_REJECTED,
                "the policy's URI is too long",
            ));
        }
        Ok((header, d.rest()))
    }

    /// Appends the header.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut e = Encoder::new(out, EncodeContext::default());
        e.put_u32(self.channel_id);
        e.put_bytes(self.policy_uri.0);
        e.put_bytes(self.sender_certificate.0);
        e.put_bytes(self.receiver_thumbprint.0);
    }
}
