//! Session service set (OPC 10000-4 §5.7): CreateSession, ActivateSession, CloseSession.

use core::time::Duration;
use std::sync::Arc;

use uaforge_codec::{Array, ByteString, ExtensionObject, StatusCode, UaString};
use uaforge_types::{
    ActivateSessionRequest, ActivateSessionResponse, AnonymousIdentityToken, CancelRequest, CancelResponse,
    CreateSessionRequest, CreateSessionResponse, IssuedIdentityToken, SignatureData, UserNameIdentityToken,
    X509IdentityToken, status,
};

use super::discovery::{ANONYMOUS_POLICY, endpoints, reached};
use crate::access::{Access, Protection};
use crate::proto::session::Session;
use crate::proto::sessions::Secrets;
use crate::shared::Core;

/// Locales that a session keeps; the rest of a longer list is ignored.
const MAX_LOCALES: usize = 32;
/// Bytes of a locale id that is kept; real ones are far shorter (OPC 10000-3 §8.4).
const MAX_LOCALE: usize = 64;

/// The channel a session request came on.
#[derive(Clone, Copy)]
pub(crate) struct ChannelInfo<'a> {
    pub(crate) id: u32,
    pub(crate) protection: Protection,
    pub(crate) dialled: &'a str,
}

/// CreateSession (OPC 10000-4 §5.7.2).
pub(crate) fn create(
    core: &Core,
    request: &CreateSessionRequest,
    channel: ChannelInfo<'_>,
    now: uaforge_codec::Ticks,
) -> Result<(CreateSessionResponse, Arc<Session>), StatusCode> {
    let requested = requested_timeout(request.requested_session_timeout);
    let secrets = core.with_entropy(Secrets::draw);
    let new = core.sessions.create(requested, channel.id, &core.limits, &secrets, now)?;
    let dialled = reached(request.endpoint_url.as_str(), channel.dialled);
    let response = CreateSessionResponse {
        session_id: new.session.id.clone(),
        authentication_token: new.session.token.to_node_id(),
        revised_session_timeout: new.timeout.as_secs_f64() * 1000.0,
        server_nonce: ByteString::from(&new.nonce[..]),
        server_certificate: ByteString::default(),
        server_endpoints: Array::from(endpoints(core, dialled)),
        server_signature: SignatureData::default(),
        max_request_message_size: core.limits.max_message_size,
        ..Default::default()
    };
    Ok((response, new.session))
}

/// Milliseconds from the wire; what is no number, negative or 0 asks for the shortest.
fn requested_timeout(milliseconds: f64) -> Duration {
    if milliseconds.is_nan() || milliseconds <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX)
}

/// ActivateSession (OPC 10000-4 §5.7.3): an anonymous user, on this channel from now on.
pub(crate) fn activate(
    core: &Core,
    request: &ActivateSessionRequest,
    session: &Session,
    channel: ChannelInfo<'_>,
    now: uaforge_codec::Ticks,
) -> Result<ActivateSessionResponse, StatusCode> {
    let mut nonce = [0; 32];
    core.with_entropy(|entropy| entropy.fill(&mut nonce));
    let mut state = session.lock();
    state.check_alive(now)?;
    check_identity(&request.user_identity_token)?;
    state.activate(channel.id, Access::anonymous(channel.protection), now)?;
    if !request.locale_ids.is_empty() {
        let sane = |locale: &&UaString| locale.text().len() <= MAX_LOCALE;
        let locales: Vec<_> = request.locale_ids.iter().filter(sane).take(MAX_LOCALES).cloned().collect();
        state.locales = Array::from(locales);
    }
    state.nonce = nonce;
    Ok(ActivateSessionResponse { server_nonce: ByteString::from(&state.nonce[..]), ..Default::default() })
}

/// Cancel (OPC 10000-4 §5.7.5): the requests of the session with a handle are answered with
/// Bad_RequestCancelledByClient.
pub(crate) fn cancel(request: &CancelRequest, session: &Session) -> CancelResponse {
    let cancel_count = session.outstanding.cancel(request.request_handle);
    CancelResponse { cancel_count, ..Default::default() }
}

/// Anonymous is the only user there is: null, or an AnonymousIdentityToken with our policy id (OPC 10000-4 §7.40.3).
fn check_identity(token: &ExtensionObject) -> Result<(), StatusCode> {
    if token.is_null() {
        return Ok(());
    }
    if let Some(anonymous) = token.downcast_ref::<AnonymousIdentityToken>() {
        let policy = anonymous.policy_id.as_str().unwrap_or_default();
        return if policy.is_empty() || policy == ANONYMOUS_POLICY {
            Ok(())
        } else {
            Err(status::BAD_IDENTITY_TOKEN_INVALID)
        };
    }
    let known = token.downcast_ref::<UserNameIdentityToken>().is_some()
        || token.downcast_ref::<X509IdentityToken>().is_some()
        || token.downcast_ref::<IssuedIdentityToken>().is_some();
    Err(if known { status::BAD_IDENTITY_TOKEN_REJECTED } else { status::BAD_IDENTITY_TOKEN_INVALID })
}

/// CloseSession (OPC 10000-4 §5.7.4): also of a session that was never activated, but only on its channel.
pub(crate) fn close(
    core: &Core,
    session: &Session,
    channel: u32,
    now: uaforge_codec::Ticks,
) -> Result<(), StatusCode> {
    let state = session.lock();
    state.check_alive(now)?;
    if state.channel != channel {
        return Err(status::BAD_SECURE_CHANNEL_ID_INVALID);
    }
    drop(state);
    session.close();
    core.sessions.remove(session.token);
    Ok(())
}
