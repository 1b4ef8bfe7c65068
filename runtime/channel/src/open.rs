//! OpenSecureChannel messages and their asymmetric security header (OPC 10000-6 §6.7.2.3, §6.7.4).

use alloc::vec::Vec;

use uaforge_codec::{
    BytesRef, ConstIdentifier, Decode, DecodeContext, DecodeRef as _, Decoder, Encode as _, EncodeContext,
    Encoder, NodeIdRef, StatusCode, StrRef, Structure, StructureDescriptor, TypeKey,
};
use uaforge_types::{ServiceFault, status};

use crate::ChannelError;
use crate::frame::{FINAL, Frame, HEADER, MessageType, put_header};

/// Longest policy URI.
const MAX_POLICY: usize = 255;

/// The parts of an OpenSecureChannel chunk.
pub(crate) struct OpenChunk<'c> {
    pub(crate) channel: u32,
    pub(crate) policy: StrRef<'c>,
    pub(crate) sequence: u32,
    pub(crate) request_id: u32,
    pub(crate) body: &'c [u8],
}

impl<'c> OpenChunk<'c> {
    pub(crate) fn parse(frame: Frame<'c>) -> Result<Self, ChannelError> {
        let mut d = Decoder::new(frame.body(), DecodeContext::default());
        let channel = d.u32()?;
        let policy = StrRef::decode_ref(&mut d)?;
        if policy.0.unwrap_or_default().len() > MAX_POLICY {
            return Err(ChannelError::new(
                status::BAD_SECURITY_POLICY_REJECTED,
                "the policy URI is too long",
            ));
        }
        // Sender certificate and receiver thumbprint: without meaning for policy None.
        BytesRef::decode_ref(&mut d)?;
        BytesRef::decode_ref(&mut d)?;
        let sequence = d.u32()?;
        let request_id = d.u32()?;
        Ok(Self { channel, policy, sequence, request_id, body: d.rest() })
    }
}

/// The number of a structure's binary encoding.
pub(crate) fn binary_id(descriptor: &StructureDescriptor) -> u32 {
    match descriptor.binary_encoding {
        Some(TypeKey { id: ConstIdentifier::Numeric(id), .. }) => id,
        _ => 0,
    }
}

/// Reads a body that has to be a `T`; a ServiceFault becomes its status.
pub(crate) fn read_body<T: Structure>(body: &[u8]) -> Result<T, ChannelError> {
    let mut d = Decoder::new(body, DecodeContext::default());
    let id = NodeIdRef::decode_ref(&mut d)?;
    if id == NodeIdRef::Numeric(0, binary_id(ServiceFault::DESCRIPTOR)) {
        let fault = ServiceFault::decode(&mut d)?;
        let status: StatusCode = fault.response_header.service_result;
        return Err(ChannelError::new(status, "the peer refused to open a channel"));
    }
    if id != NodeIdRef::Numeric(0, binary_id(T::DESCRIPTOR)) {
        return Err(ChannelError {
            status: status::BAD_DECODING_ERROR,
            reason: alloc::format!("expected {}", T::DESCRIPTOR.name).into(),
        });
    }
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

/// Who sends an OpenSecureChannel message, and its numbers.
pub(crate) struct OpenHeader<'a> {
    pub(crate) channel: u32,
    pub(crate) policy: &'a str,
    pub(crate) sequence: u32,
    pub(crate) request_id: u32,
}

/// Writes an OpenSecureChannel message in one chunk. It is written once per token, so it may allocate.
pub(crate) fn put_open<T: Structure>(out: &mut Vec<u8>, header: &OpenHeader<'_>, body: &T) {
    let start = out.len();
    out.resize(start + HEADER, 0);
    let mut e = Encoder::new(out, EncodeContext::default());
    e.put_u32(header.channel);
    e.put_str(Some(header.policy));
    e.put_bytes(None);
    e.put_bytes(None);
    e.put_u32(header.sequence);
    e.put_u32(header.request_id);
    NodeIdRef::Numeric(0, binary_id(T::DESCRIPTOR)).encode(&mut e);
    body.encode(&mut e);
    let size = out.len() - start;
    put_header(out.get_mut(start..).unwrap_or_default(), MessageType::Open, FINAL, size);
}
