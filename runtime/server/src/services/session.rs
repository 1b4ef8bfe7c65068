//! Session service set (OPC 10000-4 §5.7): CreateSession, ActivateSession, CloseSession.

use core::time::Duration;
use std::sync::Arc;

use uaforge_channel::Operation;
use uaforge_codec::{Array, ByteString, StatusCode, UaString};
use uaforge_crypto::session_signature;
use uaforge_types::{
    ActivateSessionRequest, ActivateSessionResponse, CancelRequest, CancelResponse, CreateSessionRequest,
    CreateSessionResponse, MessageSecurityMode, SignatureData, status,
};

use super::discovery::{endpoints, reached};
use crate::access::{Access, Protection, RoleSet};
use crate::proto::session::Session;
use crate::proto::sessions::Secrets;
use crate::security::{ChannelSecurity, Login, Secured, TokenPolicies, User};
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
    /// `None` on a channel without security.
    pub(crate) security: Option<&'a ChannelSecurity>,
}

impl ChannelInfo<'_> {
    /// The token policies that hold on the channel.
    fn tokens<'s>(&self, core: &Core, secured: &'s Secured) -> TokenPolicies<'s> {
        let mode = if self.protection.encrypted {
            MessageSecurityMode::SIGN_AND_ENCRYPT
        } else {
            MessageSecurityMode::SIGN
        };
        let channel = self.security.map(|security| (security.policy, mode));
        TokenPolicies { offered: core.authenticator.offered(), secured, channel }
    }
}

/// A session that was made.
pub(crate) struct Created {
    pub(crate) response: Box<CreateSessionResponse>,
    pub(crate) session: Arc<Session>,
    /// What the response waits for on a secured channel.
    pub(crate) signature: Option<Operation<SignatureData>>,
}

/// CreateSession (OPC 10000-4 §5.7.2).
pub(crate) fn create(
    core: &Core,
    request: &CreateSessionRequest,
    channel: ChannelInfo<'_>,
    now: uaforge_codec::Ticks,
) -> Result<Created, StatusCode> {
    let checked = channel.security.map(|security| security.check_create(request)).transpose()?;
    let requested = requested_timeout(request.requested_session_timeout);
    let secrets = core.with_entropy(Secrets::draw);
    let new = core.sessions.create(requested, channel.id, checked.clone(), &core.limits, &secrets, now)?;
    let dialled = reached(request.endpoint_url.as_str(), channel.dialled);
    let secured = core.secured();
    let own = channel.security.map(|security| &security.identity);
    let own = own.or_else(|| secured.for_secrets().map(|offer| &offer.identity));
    let signature = channel.security.zip(checked.as_ref()).map(|(security, checked)| {
        let signatures = security.signatures(checked, &new.nonce);
        let data = signatures.of_server(security.policy, &*security.provider);
        session_signature(security.policy, &security.identity, data)
    });
    let response = CreateSessionResponse {
        session_id: new.session.id.clone(),
        authentication_token: new.session.token.to_node_id(),
        revised_session_timeout: new.timeout.as_secs_f64() * 1000.0,
        server_nonce: ByteString::from(&new.nonce[..]),
        server_certificate: own.map_or(ByteString::NULL, |own| ByteString::from(&own.chain()[..])),
        server_endpoints: Array::from(endpoints(core, dialled)),
        max_request_message_size: core.limits.max_message_size,
        ..Default::default()
    };
    Ok(Created { response: Box::new(response), session: new.session, signature })
}

/// Milliseconds from the wire; what is no number, negative or 0 asks for the shortest.
fn requested_timeout(milliseconds: f64) -> Duration {
    if milliseconds.is_nan() || milliseconds <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX)
}

/// A session that is about to be activated.
pub(crate) struct Activating {
    pub(crate) session: Arc<Session>,
    channel: u32,
    protection: Protection,
    /// The nonce that the client has signed; good once.
    nonce: [u8; 32],
    locales: Arc<[UaString]>,
}

/// Begins ActivateSession (OPC 10000-4 §5.7.3): what the client has proved, and the identity to be decided on.
pub(crate) fn begin_activation(
    core: &Core,
    request: &ActivateSessionRequest,
    session: Arc<Session>,
    channel: ChannelInfo<'_>,
    now: uaforge_codec::Ticks,
) -> Result<(Activating, Login), StatusCode> {
    let (nonce, created) = {
        let state = session.lock();
        state.check_activation(channel.id, now)?;
        (state.nonce, state.security.clone())
    };
    match (channel.security, &created) {
        (Some(security), created) => security.check_activate(created.as_ref(), &nonce, request)?,
        // A session does not lose its protection.
        (None, Some(_)) => return Err(status::BAD_SECURITY_CHECKS_FAILED),
        (None, None) => {}
    }
    let secured = core.secured();
    let tokens = channel.tokens(core, &secured);
    let login = tokens.read(request, &nonce, channel.security.zip(created.as_ref()))?;
    let sane = |locale: &&UaString| locale.text().len() <= MAX_LOCALE;
    let locales = request.locale_ids.iter().filter(sane).take(MAX_LOCALES).cloned().collect();
    let activating =
        Activating { session, channel: channel.id, protection: channel.protection, nonce, locales };
    Ok((activating, login))
}

/// Finishes ActivateSession for a user; `None` is an anonymous one.
pub(crate) fn finish_activation(
    core: &Core,
    activating: Activating,
    user: Option<User>,
    now: uaforge_codec::Ticks,
) -> Result<ActivateSessionResponse, StatusCode> {
    let mut nonce = [0; 32];
    core.with_entropy(|entropy| entropy.fill(&mut nonce));
    let mut access = Access::anonymous(activating.protection);
    if let Some(user) = user {
        access.user = user.id;
        access.roles = access.roles.union(RoleSet::AUTHENTICATED_USER).union(user.roles);
    }
    let mut state = activating.session.lock();
    if state.nonce != activating.nonce {
        return Err(status::BAD_NONCE_INVALID);
    }
    state.activate(activating.channel, access, now)?;
    if !activating.locales.is_empty() {
        state.locales = Some(activating.locales);
    }
    state.nonce = nonce;
    Ok(ActivateSessionResponse { server_nonce: ByteString::from(&nonce[..]), ..Default::default() })
}

/// Cancel (OPC 10000-4 §5.7.5): the requests of the session with a handle are answered with
/// Bad_RequestCancelledByClient.
pub(crate) fn cancel(request: &CancelRequest, session: &Session) -> CancelResponse {
    let cancel_count = session.outstanding.cancel(request.request_handle);
    CancelResponse { cancel_count, ..Default::default() }
}

/// CloseSession (OPC 10000-4 §5.7.4): also of a session that was never activated, but only on its channel.
pub(crate) fn close(
    core: &Core,
    session: &Session,
    channel: u32,
    delete_subscriptions: bool,
    now: uaforge_codec::Ticks,
) -> Result<(), StatusCode> {
    let state = session.lock();
    state.check_alive(now)?;
    if state.channel != channel {
        return Err(status::BAD_SECURE_CHANNEL_ID_INVALID);
    }
    drop(state);
    session.close(delete_subscriptions);
    core.sessions.remove(session.token);
    Ok(())
}
