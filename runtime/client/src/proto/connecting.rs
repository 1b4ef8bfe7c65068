//! The way from an open channel to a ready session (OPC 10000-4 §5.5.4, §5.7.2, §5.7.3).

use uaforge_codec::{DataValue, NamespaceMap, Now};
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
        let request = setup::activate_session(chosen);
        let info = setup::info(created, chosen);
        self.liveness.session_timeout(info.timeout);
        setup.info = Some(info);
        self.send(Step::Activate, request, now);
        Ok(())
    }

    pub(super) fn activated(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        body.response::<ActivateSessionRequest>()?;
        self.send(Step::Tables, setup::read_tables(), now);
        Ok(())
    }

    /// Namespace table and limits in one call. A server that does not take so many nodes in one call, and
    /// cannot say so before, is asked for the namespaces alone.
    pub(super) fn tables(&mut self, body: Body<'_>, now: Now) -> Result<(), Error> {
        match body.response::<ReadRequest>() {
            Ok(read) => {
                let results: &[DataValue] = &read.results;
                let namespaces = setup::namespaces(results)?;
                self.finish(namespaces, setup::limits(results));
                Ok(())
            }
            Err(Error::Service { .. }) => {
                self.send(Step::Namespaces, setup::read_namespaces(), now);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn namespaces(&mut self, body: Body<'_>) -> Result<(), Error> {
        let read = body.response::<ReadRequest>()?;
        let namespaces = setup::namespaces(&read.results)?;
        self.finish(namespaces, OperationLimits::default());
        Ok(())
    }

    fn finish(&mut self, namespaces: NamespaceMap, limits: OperationLimits) {
        self.tables.set_namespaces(namespaces);
        let info = match &mut self.state {
            State::Connecting(setup) => setup.info.take(),
            _ => None,
        };
        self.become_ready(info.map(|info| SessionInfo { limits, ..info }));
    }

    pub(super) fn become_ready(&mut self, info: Option<SessionInfo>) {
        if let Some(info) = &info {
            self.subscriptions.limit_items_per_call(info.limits.max_monitored_items_per_call);
        }
        if let State::Connecting(setup) = core::mem::replace(&mut self.state, State::Ready) {
            (setup.report)(Ok(info));
        }
    }
}
