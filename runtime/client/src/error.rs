//! What can go wrong for a client, as data.

use std::sync::Arc;

use uaforge_codec::{DecodeError, EncodeError, NodeId, StatusCode, UnknownNamespace, VariantTypeError};
use uaforge_types::status;

use crate::advice::StatusText;

/// Why something a client asked for did not come back. Its text names service, node or browse path and
/// place of the operation, the status with its meaning (OPC 10000-4 §7.38), and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not an `opc.tcp` URL with a host (OPC 10000-6 §7.2).
    #[error("`{0}` is not an address such as opc.tcp://host:4840/path")]
    Address(Arc<str>),
    /// The connection could not be made.
    #[error("cannot connect to {address}: {reason}; check address, port and firewall")]
    Connect {
        /// Host and port that were dialled.
        address: Arc<str>,
        /// What the operating system said.
        reason: Arc<std::io::Error>,
    },
    /// The server offers endpoints without security only (OPC 10000-4 §5.5.4), and `.insecure()` was not
    /// said.
    #[error("{url} offers endpoints without security only; say `.insecure()` if that is what you want")]
    PlainOnly {
        /// The address that was typed.
        url: Arc<str>,
    },
    /// A secured endpoint exists, but this client was given nothing to secure a channel with.
    #[error(
        "{url} offers secured endpoints, but this client has no certificate: say `.security(…)`; `.insecure()` takes the plain endpoint if there is one"
    )]
    NoSecurityProvider {
        /// The address that was typed.
        url: Arc<str>,
    },
    /// No secured endpoint of the server is one that this client can use for its user.
    #[error(
        "{url} offers no secured endpoint that this client can use: it offers [{offered}], the client has [{supported}]; \
         add a certificate of the right kind, allow a policy, or log in as the server asks for"
    )]
    NoCommonEndpoint {
        /// The address that was typed.
        url: Arc<str>,
        /// The server's endpoints: policy, mode and kinds of users.
        offered: Arc<str>,
        /// The client's policies.
        supported: Arc<str>,
    },
    /// The server's certificate is for other hosts than the one that was dialled (OPC 10000-4 §6.1.3).
    #[error(
        "the server's certificate is for [{named}], not for `{host}` (Bad_CertificateHostNameInvalid); \
         dial one of those, or say `.any_host()` if the address is translated on the way"
    )]
    HostName {
        /// The host that was dialled.
        host: Arc<str>,
        /// The hosts in the certificate.
        named: Arc<str>,
    },
    /// A user was named, but the channel is to have no security.
    #[error("a user cannot log in over a channel without security: leave `.insecure()` out")]
    UserInClear,
    /// The server did not prove that the session is with the owner of its certificate (OPC 10000-4 §5.7.2).
    #[error("the server did not prove who it is (Bad_SecurityChecksFailed); somebody may sit in between")]
    NotProved,
    /// `.insecure()` was said, but the server has no endpoint without security.
    #[error("{url} offers no endpoint without security")]
    NoPlainEndpoint {
        /// The address that was typed.
        url: Arc<str>,
    },
    /// The endpoint does not accept anonymous users (OPC 10000-4 §7.41 UserTokenPolicy).
    #[error("{url} does not accept anonymous users on its plain endpoint")]
    AnonymousRefused {
        /// The address that was typed.
        url: Arc<str>,
    },
    /// CreateSession named other endpoints than GetEndpoints (OPC 10000-4 §5.7.2).
    #[error(
        "the endpoints of the session differ from those of GetEndpoints in more than the host (Bad_SecurityChecksFailed)"
    )]
    EndpointsDiffer,
    /// The connection is closed, or was lost.
    #[error("the connection is closed: {0}; connect again")]
    Closed(Arc<str>),
    /// No response came in time: that of the call, or of the session's builder.
    #[error("{service}: no response in time; give the call more time, or ask for less at once")]
    Timeout {
        /// The request.
        service: &'static str,
    },
    /// The service failed as a whole (ServiceFault or bad serviceResult, OPC 10000-4 §7.34).
    #[error("{service}: {}", StatusText(*status))]
    Service {
        /// The request.
        service: &'static str,
        /// The serviceResult.
        status: StatusCode,
    },
    /// The peer ended the connection with an Error message (OPC 10000-6 §7.1.2.5), or broke its rules.
    #[error("the secure channel failed ({reason}): {}", StatusText(*status))]
    Channel {
        /// The status.
        status: StatusCode,
        /// The peer's or the channel's words.
        reason: Arc<str>,
    },
    /// The server no longer knows the session or its channel, such as after a restart (OPC 10000-4 §5.7.2).
    #[error("the session is over: {}", StatusText(*status))]
    SessionOver {
        /// The serviceResult that says so.
        status: StatusCode,
    },
    /// One operation of a service failed (OPC 10000-4 §7.38).
    #[error("{}{what}: {}", Operation(*service, *index), StatusText(*status))]
    Operation {
        /// The request, if it is one.
        service: Option<&'static str>,
        /// The place of the operation among those of the call, from 0; `None` if there was one.
        index: Option<usize>,
        /// The node or path.
        what: Arc<str>,
        /// Its status.
        status: StatusCode,
    },
    /// The response is of another type than the request asks for.
    #[error("{service}: the response is of type {found}: the server is broken")]
    UnexpectedResponse {
        /// The request.
        service: &'static str,
        /// The encoding id that came.
        found: NodeId,
    },
    /// The response has another number of results than the request has operations.
    #[error("{service}: {found} results for {asked} operations: the server is broken")]
    ResultCount {
        /// The request.
        service: &'static str,
        /// Operations of the request.
        asked: usize,
        /// Results of the response.
        found: usize,
    },
    /// The response cannot be decoded.
    #[error("{0}")]
    Decode(Arc<DecodeError>),
    /// The request cannot be encoded.
    #[error("{service}: {reason}")]
    Encode {
        /// The request.
        service: &'static str,
        /// Why.
        reason: EncodeError,
    },
    /// Something of a server does not end, or is more than may be in memory.
    #[error("{what}: {reason} (limit {limit}); raise the limit of the call if the server is right")]
    Endless {
        /// The node.
        what: Arc<str>,
        /// What there is too much of.
        reason: &'static str,
        /// How much was taken.
        limit: usize,
    },
    /// The server lacks the namespace of a model.
    #[error(transparent)]
    UnknownNamespace(#[from] UnknownNamespace),
    /// A variable holds a value of another type than its declaration says.
    #[error("{what}: {reason}")]
    ValueType {
        /// The variable.
        what: Arc<str>,
        /// Expected and found.
        reason: VariantTypeError,
    },
    /// An object is not of the type it was bound as.
    #[error("{what} is of type {found}, which is no {expected}")]
    ObjectType {
        /// The object.
        what: Arc<str>,
        /// Browse name of the wanted type.
        expected: &'static str,
        /// Its TypeDefinition.
        found: NodeId,
    },
    /// A Method failed, or did not take its arguments (OPC 10000-4 §5.12.2).
    #[error("{what}: {}", MethodText(*status, arguments))]
    Method {
        /// The Method.
        what: Arc<str>,
        /// Its status.
        status: StatusCode,
        /// What is wrong with which input argument.
        arguments: Arc<[ArgumentStatus]>,
    },
    /// A Method gave another number of output arguments than the model says.
    #[error("{what}: {found} output arguments where the model has {expected}")]
    OutputCount {
        /// The Method.
        what: Arc<str>,
        /// Output arguments of the model.
        expected: usize,
        /// Those that came.
        found: usize,
    },
    /// A browse path leads to more than one node.
    #[error("{what} leads to {count} nodes")]
    Ambiguous {
        /// The path.
        what: Arc<str>,
        /// How many.
        count: usize,
    },
}

impl Error {
    /// What to do about it, if a status says so: for people, without a promise of its words.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        crate::advice::meaning(self.status()).map(|(_, advice)| advice)
    }

    /// The status that says it best (OPC 10000-4 §7.38).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Service { status, .. }
            | Self::Operation { status, .. }
            | Self::Method { status, .. }
            | Self::Channel { status, .. }
            | Self::SessionOver { status } => *status,
            Self::Address(_) => status::BAD_TCP_ENDPOINT_URL_INVALID,
            Self::Connect { .. } => status::BAD_NOT_CONNECTED,
            Self::PlainOnly { .. } | Self::NoSecurityProvider { .. } | Self::UserInClear => {
                status::BAD_SECURITY_MODE_INSUFFICIENT
            }
            Self::NoCommonEndpoint { .. } => status::BAD_SECURITY_POLICY_REJECTED,
            Self::HostName { .. } => status::BAD_CERTIFICATE_HOST_NAME_INVALID,
            Self::NotProved => status::BAD_SECURITY_CHECKS_FAILED,
            Self::NoPlainEndpoint { .. } => status::BAD_SECURITY_MODE_REJECTED,
            Self::AnonymousRefused { .. } => status::BAD_IDENTITY_TOKEN_REJECTED,
            Self::EndpointsDiffer => status::BAD_SECURITY_CHECKS_FAILED,
            Self::Closed(_) => status::BAD_CONNECTION_CLOSED,
            Self::Timeout { .. } => status::BAD_TIMEOUT,
            Self::UnexpectedResponse { .. } | Self::ResultCount { .. } | Self::OutputCount { .. } => {
                status::BAD_UNKNOWN_RESPONSE
            }
            Self::Endless { .. } => status::BAD_RESPONSE_TOO_LARGE,
            Self::Decode(error) => error.status(),
            // The server's limits, kept on this side (OPC 10000-6 §7.1.2.4).
            Self::Encode { reason: EncodeError::TooLarge, .. } => status::BAD_REQUEST_TOO_LARGE,
            Self::Encode { reason, .. } => reason.status(),
            Self::UnknownNamespace(_) => status::BAD_NODE_ID_UNKNOWN,
            Self::ValueType { .. } | Self::ObjectType { .. } => status::BAD_TYPE_MISMATCH,
            Self::Ambiguous { .. } => status::BAD_BROWSE_NAME_DUPLICATED,
        }
    }

    pub(crate) fn operation(what: impl std::fmt::Display, status: StatusCode) -> Self {
        Self::Operation { service: None, index: None, what: shortened(&what), status }
    }

    /// Names the request of a failed operation.
    pub(crate) fn of(mut self, request: &'static str) -> Self {
        if let Self::Operation { service, .. } = &mut self {
            *service = Some(request);
        }
        self
    }

    /// Names the place of a failed operation.
    pub(crate) fn at(mut self, place: usize) -> Self {
        if let Self::Operation { index, .. } = &mut self {
            *index = Some(place);
        }
        self
    }

    pub(crate) fn too_many_references(what: impl std::fmt::Display, limit: usize) -> Self {
        Self::endless(what, "there are more references than are taken", limit)
    }

    pub(crate) fn endless(what: impl std::fmt::Display, reason: &'static str, limit: usize) -> Self {
        Self::Endless { what: shortened(&what), reason, limit }
    }

    pub(crate) fn closed(why: &str) -> Self {
        Self::Closed(why.into())
    }
}

/// What is wrong with an input argument of a Method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentStatus {
    /// Its place, from 0.
    pub index: usize,
    /// Its name, if the model is known; else its place in words.
    pub name: Arc<str>,
    /// Bad_TypeMismatch, Bad_OutOfRange or what the Method says.
    pub status: StatusCode,
}

/// What is wrong with the call, or with each of its arguments.
struct MethodText<'a>(StatusCode, &'a [ArgumentStatus]);

impl std::fmt::Display for MethodText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(status, arguments) = self;
        let (Some(name), false) = (status::name(*status), arguments.is_empty()) else {
            return StatusText(*status).fmt(f);
        };
        write!(f, "{name} (")?;
        for (at, argument) in arguments.iter().enumerate() {
            let before = if at == 0 { "" } else { "; " };
            write!(f, "{before}{}: {}", argument.name, StatusText(argument.status))?;
        }
        f.write_str(")")
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(Arc::new(error))
    }
}

/// The name of a node or path; a peer's ids may be longer than anybody wants to read.
fn shortened(what: &dyn std::fmt::Display) -> Arc<str> {
    const LONGEST: usize = 500;
    let mut name = what.to_string();
    if let Some((end, _)) = name.char_indices().nth(LONGEST) {
        name.truncate(end);
        name.push('…');
    }
    name.into()
}

/// Request and place of an operation, in front of its node.
struct Operation(Option<&'static str>, Option<usize>);

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self(Some(service), Some(index)) => write!(f, "{service}[{index}] "),
            Self(Some(service), None) => write!(f, "{service} "),
            Self(None, Some(index)) => write!(f, "[{index}] "),
            Self(None, None) => Ok(()),
        }
    }
}
