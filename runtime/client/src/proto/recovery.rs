//! From a lost connection back to a ready session (OPC 10000-4 §6.7): the same session over a new channel if the
//! server still has it, else a new one that takes over the subscriptions.

use core::time::Duration;

use tokio::sync::watch;
use uaforge_codec::{Array, ByteString, NamespaceMap, NodeId, Now, StatusCode};
use uaforge_types::{ActivateSessionRequest, EndpointDescription, TransferSubscriptionsRequest, status};

use super::call::Body;
use super::core::{Core, Goal, State};
use super::endpoints::Chosen;
use super::liveness::Liveness;
use super::pending::{Step, Waiting};
use super::secured::Secured;
use super::setup::{self, Setup};
use crate::Error;
use crate::recovery::{ConnectionState, Reconnect};
use crate::security::SecuredEndpoint;

/// What outlives a connection.
pub(super) struct Recovery {
    policy: Option<Reconnect>,
    /// A session was ready once, and whoever has it does not want to leave.
    wanted: bool,
    pub(super) chosen: Option<Chosen>,
    /// With what the session was made, if it is secured.
    pub(super) secured: Option<Box<Secured>>,
    /// What the next ActivateSession signs.
    pub(super) server_nonce: ByteString,
    failed: u32,
    refused: u32,
    wait: Duration,
    state: watch::Sender<ConnectionState>,
}

impl Recovery {
    pub(super) fn new(policy: Option<Reconnect>, state: watch::Sender<ConnectionState>) -> Self {
        Self {
            policy,
            wanted: false,
            chosen: None,
            secured: None,
            server_nonce: ByteString::default(),
            failed: 0,
            refused: 0,
            wait: Duration::ZERO,
            state,
        }
    }

    /// The session is ready, for the first time or again.
    pub(super) fn ready(&mut self) {
        (self.wanted, self.failed, self.refused) = (true, 0, 0);
        self.state.send_replace(ConnectionState::Connected);
    }

    /// Nobody wants to come back.
    pub(super) fn leave(&mut self) {
        self.wanted = false;
    }

    pub(super) fn ended(&self, reason: &Error) {
        self.state.send_replace(ConnectionState::Ended(reason.clone()));
    }
}

/// Whether an error is one that another attempt does not mend.
fn is_refusal(error: &Error) -> bool {
    match error {
        Error::Channel { status, .. } | Error::Service { status, .. } => {
            is_certificate_error(*status)
                || [
                    status::BAD_SECURITY_CHECKS_FAILED,
                    status::BAD_SECURITY_POLICY_REJECTED,
                    status::BAD_SECURITY_MODE_REJECTED,
                    status::BAD_IDENTITY_TOKEN_INVALID,
                    status::BAD_IDENTITY_TOKEN_REJECTED,
                    status::BAD_USER_ACCESS_DENIED,
                ]
                .contains(status)
        }
        Error::Connect { .. } | Error::Closed(_) | Error::Timeout { .. } | Error::SessionOver { .. } => false,
        _ => true,
    }
}

/// The statuses about certificates are one range (OPC 10000-6 Annex A): Bad_CertificateInvalid to
/// Bad_CertificateIssuerRevoked, and Bad_CertificateChainIncomplete.
fn is_certificate_error(found: StatusCode) -> bool {
    (status::BAD_CERTIFICATE_INVALID.0..=status::BAD_CERTIFICATE_ISSUER_REVOKED.0).contains(&found.0)
        || found == status::BAD_CERTIFICATE_CHAIN_INCOMPLETE
}

impl Core {
    /// Whether the connection is gone and a new one is wanted.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// Time to wait before the next attempt.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.is_lost().then_some(self.recovery.wait)
    }

    /// An attempt did not even get as far as a connection.
    pub(crate) fn attempt_failed(&mut self, error: Error) {
        if self.is_lost() {
            self.note_failure(error);
        }
    }

    /// Whether an end is only that of the connection.
    pub(super) fn comes_back(&self) -> bool {
        let recovery = &self.recovery;
        let is_open = matches!(self.state, State::Connecting(_) | State::Ready);
        is_open && recovery.wanted && recovery.policy.is_some() && self.goal == Goal::Session
    }

    /// The connection is gone, but not what callers have of the session: calls that wait get the reason, subscriptions
    /// stay.
    pub(super) fn suspend(&mut self, error: Error) {
        if matches!(error, Error::SessionOver { .. }) {
            self.authentication_token = NodeId::NULL;
        }
        let before = core::mem::replace(&mut self.state, State::Lost);
        self.outbox.clear();
        for waiting in self.drain_pending() {
            if let Waiting::User(call) = waiting {
                call.complete(Err(error.clone()));
            }
        }
        self.subscriptions.suspend(&error);
        if matches!(before, State::Ready) {
            self.set_wait();
            let state = ConnectionState::Reconnecting { failed: 0, reason: error };
            self.recovery.state.send_replace(state);
        } else {
            self.note_failure(error);
        }
    }

    fn note_failure(&mut self, error: Error) {
        let Some(policy) = &self.recovery.policy else { return };
        let refused = if is_refusal(&error) { self.recovery.refused + 1 } else { 0 };
        if refused >= policy.most_refusals {
            self.recovery.leave();
            self.end(error);
            return;
        }
        let failed = self.recovery.failed.saturating_add(1);
        (self.recovery.failed, self.recovery.refused) = (failed, refused);
        self.set_wait();
        self.recovery.state.send_replace(ConnectionState::Reconnecting { failed, reason: error });
    }

    fn set_wait(&mut self) {
        let mut random = [0; 4];
        self.entropy.fill(&mut random);
        if let Some(policy) = &self.recovery.policy {
            self.recovery.wait = policy.wait(self.recovery.failed, u32::from_le_bytes(random));
        }
    }

    /// A new connection is there: whatever there was on the old one is over.
    pub(crate) fn restart(
        &mut self,
        secured: Option<(SecuredEndpoint, Array<EndpointDescription>)>,
        now: Now,
    ) {
        let mut setup = Setup::new(Box::new(drop), now.ticks + self.config.connect_timeout);
        setup.is_again = true;
        setup.chosen.clone_from(&self.recovery.chosen);
        self.state = State::Connecting(Box::new(setup));
        self.liveness = Liveness::new(self.config.keep_alive, now.ticks);
        if let Some((endpoint, endpoints)) = secured {
            self.secure(endpoint, endpoints);
        }
    }

    /// The channel is open again: whether the session of before is tried first.
    pub(super) fn resume(&mut self, now: Now) -> bool {
        let State::Connecting(setup) = &mut self.state else { return false };
        if !setup.is_again || self.authentication_token.is_null() {
            return false;
        }
        let Some(chosen) = &setup.chosen else { return false };
        setup.resumes = true;
        match (&mut setup.secured, &self.recovery.secured) {
            (Some(secured), Some(before)) => {
                // The session keeps the nonce that it was made with.
                secured.client_nonce = before.client_nonce;
                let nonce = self.recovery.server_nonce.bytes();
                setup.activation = Some(secured.activate(&self.config.user, nonce));
            }
            (None, None) => {
                let request = setup::activate_session(chosen);
                self.send::<ActivateSessionRequest>(Step::Activate, request, now);
            }
            // What the session was secured with is not known any more.
            _ => return false,
        }
        true
    }

    /// The server does not have the session any more: a new one is made on this channel.
    pub(super) fn renew(&mut self, now: Now) {
        self.authentication_token = NodeId::NULL;
        if let State::Connecting(setup) = &mut self.state {
            setup.resumes = false;
        }
        self.begin(now);
    }

    /// A new session is ready: it takes over the subscriptions of the one before, if the server still has them.
    /// Whether that has to be asked first.
    pub(super) fn take_over(&mut self, before: &NamespaceMap, namespaces: &NamespaceMap, now: Now) -> bool {
        if before != namespaces {
            self.subscriptions.renumber(before, namespaces);
        }
        let ids = self.subscriptions.ids();
        if ids.is_empty() {
            return false;
        }
        let request = TransferSubscriptionsRequest {
            subscription_ids: Array::from(ids),
            send_initial_values: true,
            ..Default::default()
        };
        self.send::<TransferSubscriptionsRequest>(Step::Transfer, request, now);
        true
    }

    /// What came of taking over the subscriptions. Those that are lost are made anew.
    pub(super) fn taken_over(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        let ids = self.subscriptions.ids();
        let results = match body.response::<TransferSubscriptionsRequest>() {
            Ok(response) => response.results.into_vec(),
            Err(Error::Service { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        for (place, id) in ids.into_iter().enumerate() {
            if results.get(place).is_none_or(|result| result.status_code.is_bad()) {
                self.subscriptions.lost_id(id, now.ticks);
            }
        }
        self.become_ready(None, now);
        Ok(())
    }
}
