//! What a client may decide before it connects.

use core::time::Duration;
use std::sync::Arc;

use uaforge_codec::DecodeLimits;

use crate::recovery::Reconnect;
use crate::security::{Security, UserIdentity};

/// Everything about a connection that is not its address.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The word was said: an endpoint without security may be used.
    pub(crate) insecure: bool,
    /// What channels are secured with.
    pub(crate) security: Option<Security>,
    /// Whom sessions are for.
    pub(crate) user: UserIdentity,
    /// ApplicationUri of the client (OPC 10000-4 §7.2).
    pub(crate) application_uri: Arc<str>,
    /// ApplicationName of the client.
    pub(crate) application_name: Arc<str>,
    /// SessionName; shown by servers in their diagnostics.
    pub(crate) session_name: Arc<str>,
    /// Time for everything up to the ready session.
    pub(crate) connect_timeout: Duration,
    /// Time for one call unless the call says otherwise; the request's timeoutHint.
    pub(crate) request_timeout: Duration,
    /// RequestedSessionTimeout.
    pub(crate) session_timeout: Duration,
    /// Silence after which ServerStatus.State is read.
    pub(crate) keep_alive: Duration,
    /// How to come back after the connection was lost; without it the session ends.
    pub(crate) reconnect: Option<Reconnect>,
    /// RequestedLifetime of a security token.
    pub(crate) token_lifetime: Duration,
    /// Requests that may wait for their response; more calls wait.
    pub(crate) max_outstanding: usize,
    /// Publish requests that wait at the server; fewer if it takes fewer.
    pub(crate) max_publish_requests: usize,
    /// Requests on their way at once for one call that was taken apart.
    pub(crate) parallel_parts: usize,
    /// Longest message that is accepted.
    pub(crate) max_message_size: u32,
    /// Chunks of one message that are accepted.
    pub(crate) max_chunk_count: u32,
    /// Bounds of decoding one response.
    pub(crate) decode_limits: DecodeLimits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            insecure: false,
            security: None,
            user: UserIdentity::Anonymous,
            application_uri: "urn:uaforge:client".into(),
            application_name: "uaforge client".into(),
            session_name: "uaforge".into(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(10),
            session_timeout: Duration::from_secs(60),
            keep_alive: Duration::from_secs(5),
            reconnect: None,
            token_lifetime: Duration::from_secs(3600),
            max_outstanding: 1000,
            max_publish_requests: 10,
            parallel_parts: 4,
            max_message_size: 64 << 20,
            max_chunk_count: 8192,
            decode_limits: DecodeLimits::DEFAULT,
        }
    }
}
