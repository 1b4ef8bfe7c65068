//! A request on its way, with the place its response goes to.

use core::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use uaforge_codec::{Decode, DecodeContext, Decoder, Encode, Encoder, NodeIdRef, StatusCode, Structure};
use uaforge_types::{RequestHeader, ServiceFault, ServiceRequest, ServiceResponse};

use crate::Error;

/// A request that can be written once its header is known.
pub(crate) trait Outgoing: Send {
    /// The name of the request, for errors.
    fn service(&self) -> &'static str;
    /// Writes encoding id and request.
    fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>);
}

/// A request with somebody who waits for the response.
pub(crate) trait Call: Outgoing {
    /// The requestHandle that the caller knows it by.
    fn handle(&self) -> u32;
    /// How long it may take from now on.
    fn timeout(&self) -> Duration;
    /// Hands over the response. Gives back the status that the service failed with as a whole.
    fn complete(self: Box<Self>, outcome: Result<Body<'_>, Error>) -> Option<StatusCode>;
}

/// The body of a response: encoding id and structure.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) cx: DecodeContext<'a>,
}

impl Body<'_> {
    /// The response of request `Q`; a ServiceFault or a bad serviceResult is an error (OPC 10000-4 §7.34).
    pub(crate) fn response<Q: ServiceRequest>(self) -> Result<Q::Response, Error> {
        let service = Q::DESCRIPTOR.name;
        let mut decoder = Decoder::new(self.bytes, self.cx);
        let found = <NodeIdRef<'_> as uaforge_codec::DecodeRef>::decode_ref(&mut decoder)?;
        if is_encoding::<ServiceFault>(found) {
            let fault = ServiceFault::decode(&mut decoder)?;
            return Err(Error::Service { service, status: fault.response_header.service_result });
        }
        if !is_encoding::<Q::Response>(found) {
            return Err(Error::UnexpectedResponse { service, found: found.to_owned() });
        }
        let response = Q::Response::decode(&mut decoder)
            .map_err(|error| error.in_field(Q::Response::DESCRIPTOR.name))?;
        let status = response.header().service_result;
        if status.is_bad() {
            return Err(Error::Service { service, status });
        }
        Ok(response)
    }
}

/// Requests and responses are of the OPC UA namespace, which is at index 0 everywhere.
fn is_encoding<T: Structure>(id: NodeIdRef<'_>) -> bool {
    T::DESCRIPTOR.binary_encoding.is_some_and(|key| key.id.in_namespace(0) == id)
}

/// A request of a known type.
pub(crate) struct Request<Q>(pub(crate) Q);

impl<Q: ServiceRequest> Outgoing for Request<Q> {
    fn service(&self) -> &'static str {
        Q::DESCRIPTOR.name
    }

    fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>) {
        *self.0.header_mut() = header;
        if let Some(key) = Q::DESCRIPTOR.binary_encoding {
            key.id.in_namespace(0).encode(e);
        }
        self.0.encode(e);
    }
}

/// What a caller waits for: the outcome, and the request, which it may want to send again in parts.
pub(crate) type Exchanged<Q> = (Result<<Q as ServiceRequest>::Response, Error>, Q);

/// A request of a known type whose response somebody waits for.
pub(crate) struct ServiceCall<Q: ServiceRequest> {
    request: Request<Q>,
    handle: u32,
    timeout: Duration,
    reply: oneshot::Sender<Exchanged<Q>>,
    /// Room among the outstanding requests, free again when this goes away.
    _permit: OwnedSemaphorePermit,
}

impl<Q: ServiceRequest> ServiceCall<Q> {
    pub(crate) fn new(
        request: Q,
        handle: u32,
        timeout: Duration,
        reply: oneshot::Sender<Exchanged<Q>>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { request: Request(request), handle, timeout, reply, _permit: permit }
    }
}

impl<Q: ServiceRequest> Outgoing for ServiceCall<Q> {
    fn service(&self) -> &'static str {
        self.request.service()
    }

    fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>) {
        self.request.encode(header, e);
    }
}

impl<Q: ServiceRequest> Call for ServiceCall<Q> {
    fn handle(&self) -> u32 {
        self.handle
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn complete(self: Box<Self>, outcome: Result<Body<'_>, Error>) -> Option<StatusCode> {
        let outcome = outcome.and_then(Body::response::<Q>);
        let failed = match &outcome {
            Err(Error::Service { status, .. }) => Some(*status),
            _ => None,
        };
        // A caller that went away does not want the response any more.
        drop(self.reply.send((outcome, self.request.0)));
        failed
    }
}
