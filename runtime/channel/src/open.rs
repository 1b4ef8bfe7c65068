//! OpenSecureChannel messages and their asymmetric security header (OPC 10000-6 §6.7.2.3, §6.7.4).

use alloc::sync::Arc;
use alloc::vec::Vec;

use uaforge_codec::{
    ByteString, Decode as _, DecodeContext, DecodeRef as _, Decoder, Encode as _, EncodeContext, Encoder,
    NodeIdRef, Structure,
};
use uaforge_types::{ServiceFault, status};

use crate::frame::{FINAL, HEADER, MessageType, put_header};
use crate::{AsymmetricChunk, ChannelError};

/// Longest policy URI (OPC 10000-6 §6.7.2.3).
const MAX_POLICY: usize = 255;

/// The plain part of an OpenSecureChannel chunk (OPC 10000-6 §6.7.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsymmetricHeader<'c> {
    /// Channel id; 0 in the first request.
    pub channel_id: u32,
    /// URI of the security policy.
    pub policy: Option<&'c [u8]>,
    /// The sender's certificate, with its chain if it has one.
    pub sender_certificate: Option<&'c [u8]>,
    /// SHA-1 of the certificate that the chunk is encrypted for.
    pub receiver_thumbprint: Option<&'c [u8]>,
}

impl<'c> AsymmetricHeader<'c> {
    /// Reads the header of a whole chunk; what follows it is the secured part.
    ///
    /// # Errors
    /// Bad_SecurityPolicyRejected if the URI is too long, Bad_DecodingError if something is missing.
    pub fn parse(chunk: &'c [u8]) -> Result<(Self, &'c [u8]), ChannelError> {
        let mut d = Decoder::new(chunk.get(HEADER..).unwrap_or_default(), DecodeContext::default());
        let channel_id = d.u32()?;
        let policy = d.bytes()?;
        if policy.unwrap_or_default().len() > MAX_POLICY {
            let reason = "the policy URI is too long";
            return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
        }
        let sender_certificate = d.bytes()?;
        let receiver_thumbprint = d.bytes()?;
        Ok((Self { channel_id, policy, sender_certificate, receiver_thumbprint }, d.rest()))
    }

    /// Makes a whole chunk of this header and its secured part.
    #[must_use]
    pub fn chunk(&self, secured: &[u8]) -> Vec<u8> {
        let mut chunk = alloc::vec![0; HEADER];
        let mut e = Encoder::new(&mut chunk, EncodeContext::default());
        e.put_u32(self.channel_id);
        e.put_bytes(self.policy);
        e.put_bytes(self.sender_certificate);
        e.put_bytes(self.receiver_thumbprint);
        e.put(secured);
        let size = chunk.len();
        put_header(&mut chunk, MessageType::Open, FINAL, size);
        chunk
    }
}

/// The numbers of an OpenSecureChannel chunk, and its body.
pub(crate) struct Numbered<'c> {
    pub(crate) sequence: u32,
    pub(crate) request_id: u32,
    pub(crate) body: &'c [u8],
}

impl<'c> Numbered<'c> {
    /// Splits the content of a chunk.
    pub(crate) fn parse(content: &'c [u8]) -> Result<Self, ChannelError> {
        let mut d = Decoder::new(content, DecodeContext::default());
        Ok(Self { sequence: d.u32()?, request_id: d.u32()?, body: d.rest() })
    }

    /// A chunk with these numbers and this body.
    pub(crate) fn chunk<T: Structure>(
        channel_id: u32,
        peer: Option<Arc<[u8]>>,
        numbers: (u32, u32),
        body: &T,
        binding: Option<Arc<[u8]>>,
    ) -> AsymmetricChunk {
        let mut content = Vec::new();
        let mut e = Encoder::new(&mut content, EncodeContext::default());
        e.put_u32(numbers.0);
        e.put_u32(numbers.1);
        put_body(&mut e, body);
        AsymmetricChunk { channel_id, peer, content, signature: binding }
    }
}

/// A nonce as it stands in a message; null if the policy has none.
pub(crate) fn nonce(bytes: Option<&[u8]>) -> ByteString {
    bytes.map_or(ByteString::NULL, ByteString::from)
}

/// Writes type id and body.
pub(crate) fn put_body<T: Structure>(e: &mut Encoder<'_>, body: &T) {
    NodeIdRef::Numeric(0, T::DESCRIPTOR.binary_id()).encode(e);
    body.encode(e);
}

/// Reads a body that has to be a `T`; a ServiceFault becomes its status.
pub(crate) fn read_body<T: Structure>(body: &[u8]) -> Result<T, ChannelError> {
    let mut d = Decoder::new(body, DecodeContext::default());
    let id = NodeIdRef::decode_ref(&mut d)?;
    if id == NodeIdRef::Numeric(0, ServiceFault::DESCRIPTOR.binary_id()) {
        let fault = ServiceFault::decode(&mut d)?;
        let reason = "the peer refused to open a channel";
        return Err(ChannelError::new(fault.response_header.service_result, reason));
    }
    if id != NodeIdRef::Numeric(0, T::DESCRIPTOR.binary_id()) {
        return Err(ChannelError {
            status: status::BAD_DECODING_ERROR,
            reason: alloc::format!("expected {}", T::DESCRIPTOR.name).into(),
        });
    }
    let value = T::decode(&mut d)?;
    // open62541 leaves the size of a padding that is not there behind messages that are signed only.
    if d.rest() != [0] {
        d.finish()?;
    }
    Ok(value)
}
