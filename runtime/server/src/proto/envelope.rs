//! What all messages have in common: type ids, request headers in, response headers out.

use uaforge_codec::{Encode, Encoder, NodeIdRef, Now, StatusCode, Structure};
use uaforge_types::{RequestHeader, RequestHeaderRef, ServiceFault};

const SERVICE_FAULT: u32 = ServiceFault::DESCRIPTOR.binary_id();

/// What the server uses of a RequestHeader (OPC 10000-4 §7.32). Its timestamp is for logs only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) token: NodeIdRef<'a>,
    pub(crate) handle: u32,
    /// Milliseconds that the client waits; 0 is no limit.
    pub(crate) timeout_hint: u32,
    /// Bits of what the client wants to know of errors.
    pub(crate) diagnostics: u32,
}

impl<'a> From<&RequestHeaderRef<'a>> for Head<'a> {
    fn from(header: &RequestHeaderRef<'a>) -> Self {
        Self {
            token: header.authentication_token,
            handle: header.request_handle,
            timeout_hint: header.timeout_hint,
            diagnostics: header.return_diagnostics,
        }
    }
}

impl<'a> From<&'a RequestHeader> for Head<'a> {
    fn from(header: &'a RequestHeader) -> Self {
        Self {
            token: header.authentication_token.as_ref(),
            handle: header.request_handle,
            timeout_hint: header.timeout_hint,
            diagnostics: header.return_diagnostics,
        }
    }
}

/// Writes the type id of a response and its good ResponseHeader (OPC 10000-4 §7.33), the longer form of
/// whose parts is null.
pub(crate) fn put_header(e: &mut Encoder<'_>, response: u32, now: Now, handle: u32) {
    put_header_with(e, response, now, handle, StatusCode::GOOD);
}

fn put_header_with(e: &mut Encoder<'_>, response: u32, now: Now, handle: u32, result: StatusCode) {
    NodeIdRef::Numeric(0, response).encode(e);
    e.put_i64(now.utc.0);
    e.put_u32(handle);
    e.put_u32(result.0);
    // No diagnostics (one byte), no string table, no additional header (null id and no body).
    e.put_u8(0);
    e.put_array_len(None);
    NodeIdRef::NULL.encode(e);
    e.put_u8(0);
}

/// Writes a ServiceFault (OPC 10000-4 §7.34).
pub(crate) fn put_fault(e: &mut Encoder<'_>, now: Now, handle: u32, status: StatusCode) {
    put_header_with(e, SERVICE_FAULT, now, handle, status);
}

/// Writes a response that is a structure.
pub(crate) fn put_response<T: Structure>(e: &mut Encoder<'_>, response: &T) {
    NodeIdRef::Numeric(0, T::DESCRIPTOR.binary_id()).encode(e);
    response.encode(e);
}
