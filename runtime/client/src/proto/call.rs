//! A request on its way, with the place its response goes to.

use core::time::Duration;

use uaforge_codec::{Decode, DecodeContext, Decoder, Encode, Encoder, NodeIdRef, Structure};
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
    /// Another time than the usual one.
    fn timeout(&self) -> Option<Duration>;
    /// Hands over the response.
    fn complete(self: Box<Self>, outcome: Result<Body<'_>, Error>);
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

/// A request of a known type whose response goes to a function.
pub(crate) struct ServiceCall<Q, F> {
    request: Request<Q>,
    timeout: Option<Duration>,
    reply: F,
}

impl<Q, F> ServiceCall<Q, F>
where
    Q: ServiceRequest,
    F: FnOnce(Result<Q::Response, Error>) + Send,
{
    pub(crate) fn new(request: Q, timeout: Option<Duration>, reply: F) -> Self {
        Self { request: Request(request), timeout, reply }
    }
}

impl<Q: ServiceRequest, F: Send> Outgoing for ServiceCall<Q, F> {
    fn service(&self) -> &'static str {
        self.request.service()
    }

    fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>) {
        self.request.encode(header, e);
    }
}

impl<Q, F> Call for ServiceCall<Q, F>
where
    Q: ServiceRequest,
    F: FnOnce(Result<Q::Response, Error>) + Send,
{
    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn complete(self: Box<Self>, outcome: Result<Body<'_>, Error>) {
        (self.reply)(outcome.and_then(Body::response::<Q>));
    }
}
