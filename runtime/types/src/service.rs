//! Requests and their responses (OPC 10000-4).

use uaforge_codec::Structure;

use crate::{RequestHeader, ResponseHeader};

/// A request of a service.
pub trait ServiceRequest: Structure {
    /// What answers it, unless a ServiceFault does.
    type Response: ServiceResponse;

    /// The header.
    fn header(&self) -> &RequestHeader;

    /// The header, to be filled in by who sends it.
    fn header_mut(&mut self) -> &mut RequestHeader;
}

/// A response of a service.
pub trait ServiceResponse: Structure {
    /// The header.
    fn header(&self) -> &ResponseHeader;

    /// The header, to be filled in by who sends it.
    fn header_mut(&mut self) -> &mut ResponseHeader;
}
