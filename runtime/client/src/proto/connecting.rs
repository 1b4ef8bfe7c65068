//! The way from an open channel to a ready session (OPC 10000-4 §5.5.4, §5.7.2, §5.7.3).

use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll};

use uaforge_codec::{ByteString, DataValue, NamespaceMap, Now};
use uaforge_types::{ActivateSessionRequest, CreateSessionRequest, GetEndpointsRequest, ReadRequest};

use super::call::Body;
use super::core::{Core, State};
use super::endpoints;
use super::pending::Step;
use super::setup::{self, OperationLimits, SessionInfo};
use crate::Error;

impl Core {
    pub(super) fn endpoints(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        let endpoints = body.response::<GetEndpointsRequest>()?.endpoints;
        let chosen = endpoints::choose(&endpoints, self.config.insecure, &self.url)?;
        let request = setup::create_session(&self.url, &self.config, &chosen, &mut *self.entropy);
        self.send(Step::Create, request, now);
        if let State::Connecting(setup) = &mut self.state {
            setup.endpoints = endpoints;
            setup.chosen = Some(chosen);
        }
        Ok(())
    }

    pub(super) fn created(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        let created = body.response::<CreateSessionRequest>()?;
        let State::Connecting(setup) = &mut self.state else {
            return Ok(());
        };
        if !endpoints::agree(&setup.endpoints, &created.server_endpoints) {
            return Err(Error::EndpointsDiffer);
        }
        let Some(chosen) = &setup.chosen else {
            return Ok(());
        };
        self.authentication_token = created.authentication_token.clone();
        let nonce = created.server_nonce.clone();
        self.recovery.server_nonce = nonce.clone();
        if let Some(secured) = &setup.secured {
            secured.check(&created)?;
            setup.activation = Some(secured.activate(&self.config.user, nonce.bytes()));
        }
        let request = setup::activate_session(chosen);
        let info = setup::info(created, chosen);
        self.liveness.session_timeout(info.timeout);
        setup.info = Some(info);
        if setup.activation.is_none() {
            self.send(Step::Activate, request, now);
        }
        Ok(())
    }

    /// CreateSession on a secured channel, whose endpoint was chosen before.
    pub(super) fn create_secured(&mut self, now: Now) {
        let State::Connecting(setup) = &mut self.state else { return };
        let (Some(chosen), Some(secured)) = (&setup.chosen, &setup.secured) else { return };
        let mut request = setup::create_session(&self.url, &self.config, chosen, &mut *self.entropy);
        let own = secured.endpoint.identity.chain();
        request.client_certificate = ByteString::from(&own[..]);
        request.client_nonce = ByteString::from(secured.client_nonce);
        // The application is the one in the certificate (OPC 10000-4 §6.1.3).
        if let Some(uri) = secured.endpoint.identity.certificate().names().uris.first() {
            request.client_description.application_uri = uri.as_str().into();
        }
        self.send(Step::Create, request, now);
    }

    /// Goes on with the signature that an ActivateSession request waits for; whether there was something to do.
    pub(crate) fn poll_activation(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        let State::Connecting(setup) = &mut self.state else { return false };
        let Some(activation) = &mut setup.activation else { return false };
        let Poll::Ready(signed) = Pin::new(activation).poll(cx) else { return false };
        setup.activation = None;
        match signed {
            Ok(request) => self.send(Step::Activate, request, now()),
            Err(error) => {
                let reason = error.reason.to_string().into();
                self.end(Error::Channel { status: error.status, reason });
            }
        }
        true
    }

    pub(super) fn activated(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        let resumes = matches!(&self.state, State::Connecting(setup) if setup.resumes);
        match body.response::<ActivateSessionRequest>() {
            Ok(activated) => {
                self.recovery.server_nonce = activated.server_nonce;
                if resumes {
                    self.become_ready(None, now);
                } else {
                    self.send(Step::Tables, setup::read_tables(), now);
                }
                Ok(())
            }
            Err(Error::Service { .. }) if resumes => {
                self.renew(now);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Namespace table and limits in one call. A server that does not take so many nodes in one call, and
    /// cannot say so before, is asked for the namespaces alone.
    pub(super) fn tables(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        match body.response::<ReadRequest>() {
            Ok(read) => {
                let results: &[DataValue] = &read.results;
                let namespaces = setup::namespaces(results)?;
                self.finish(namespaces, setup::limits(results), now);
                Ok(())
            }
            Err(Error::Service { .. }) => {
                self.send(Step::Namespaces, setup::read_namespaces(), now);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn namespaces(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        let read = body.response::<ReadRequest>()?;
        let namespaces = setup::namespaces(&read.results)?;
        self.finish(namespaces, OperationLimits::default(), now);
        Ok(())
    }

    fn finish(&mut self, namespaces: NamespaceMap, limits: OperationLimits, now: Now) {
        let before = self.tables.snapshot().namespaces;
        self.tables.set_namespaces(namespaces.clone());
        self.subscriptions.limit_items_per_call(limits.max_monitored_items_per_call);
        let State::Connecting(setup) = &mut self.state else { return };
        let info = setup.info.take().map(|info| SessionInfo { limits, ..info });
        if !setup.is_again || !self.take_over(&before, &namespaces, now) {
            self.become_ready(info, now);
        }
    }

    pub(super) fn become_ready(&mut self, info: Option<SessionInfo>, now: Now) {
        let State::Connecting(setup) = core::mem::replace(&mut self.state, State::Ready) else { return };
        self.recovery.chosen = setup.chosen;
        self.recovery.secured = setup.secured;
        self.recovery.ready();
        if setup.is_again {
            self.subscriptions.resumed(now.ticks);
            self.ask_for_subscriptions(now);
        }
        (setup.report)(Ok(info));
    }
}
