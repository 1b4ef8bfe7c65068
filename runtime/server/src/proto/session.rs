//! One session (OPC 10000-4 §5.7): an `Arc` with one mutex that a request takes once.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use uaforge_codec::{NodeId, NodeIdRef, StatusCode, Ticks, UaString};
use uaforge_types::status;

use super::continuation::ContinuationPoints;
use super::outstanding::Outstanding;
use super::registered::Registered;
use crate::access::Access;
use crate::cancellation::CancelReason;
use crate::security::SessionSecurity;
use crate::subscription::Subscriptions;

/// The secret that names a session in each request header (OPC 10000-4 §7.35 SessionAuthenticationToken): 256 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Token(pub(crate) [u8; 32]);

impl Token {
    /// The token in a request header, if it has the form of ours.
    pub(crate) fn from_header(id: NodeIdRef<'_>) -> Option<Self> {
        match id {
            NodeIdRef::Opaque(0, bytes) => Some(Self(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// The token as the client gets it.
    pub(crate) fn to_node_id(self) -> NodeId {
        NodeId::opaque(0, &self.0[..])
    }
}

/// A session. Which channel it is bound to, and all that requests change, stands behind the mutex.
pub(crate) struct Session {
    pub(crate) token: Token,
    pub(crate) id: NodeId,
    state: Mutex<SessionState>,
    /// Apart from the state: a browse holds them while managers work, and nothing else waits for that.
    points: Mutex<ContinuationPoints>,
    /// Requests that wait for late answers.
    pub(crate) outstanding: Outstanding,
    /// Ids that managers handed out to it.
    pub(crate) registered: Registered,
    /// Those of the server, to be told of the end.
    subscriptions: Arc<Subscriptions>,
}

impl core::fmt::Debug for Token {
    /// Without the secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Created, waits for its first ActivateSession.
    Created,
    /// Activated on the channel it is bound to.
    Active,
    /// Closed or timed out; only stale handles see it.
    Closed,
}

/// What the mutex of a session guards.
pub(crate) struct SessionState {
    pub(crate) phase: Phase,
    pub(crate) channel: u32,
    pub(crate) timeout: Duration,
    pub(crate) expires: Ticks,
    pub(crate) access: Access,
    pub(crate) nonce: [u8; 32],
    /// Whom the session was made for, if that was on a secured channel.
    pub(crate) security: Option<SessionSecurity>,
    /// LocaleIds, the most wanted first; `None` if the client does not care (OPC 10000-4 §5.7.3.2).
    pub(crate) locales: Option<Arc<[UaString]>>,
}

impl Session {
    /// Whether the session is in use over a channel. One that works right now is.
    pub(crate) fn is_active_on(&self, channel: u32) -> bool {
        match self.state.try_lock() {
            Ok(state) => state.is_active_on(channel),
            Err(TryLockError::Poisoned(state)) => state.get_ref().is_active_on(channel),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// Whether the session is bound to a channel.
    pub(crate) fn is_on(&self, channel: u32) -> bool {
        let state = self.lock();
        state.phase != Phase::Closed && state.channel == channel
    }

    pub(crate) fn new(
        token: Token,
        id: NodeId,
        state: SessionState,
        points: ContinuationPoints,
        subscriptions: Arc<Subscriptions>,
    ) -> Self {
        Self {
            subscriptions,
            token,
            id,
            state: Mutex::new(state),
            points: Mutex::new(points),
            outstanding: Outstanding::default(),
            registered: Registered::default(),
        }
    }

    /// Locks the state. A panic of a handler cannot leave it half changed, so poisoning is ignored.
    pub(crate) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the continuation points; never while the state is locked.
    pub(crate) fn points(&self) -> MutexGuard<'_, ContinuationPoints> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the session and frees what it holds; managers are told, so no lock of the server may be held. Its
    /// subscriptions live on until their time is over, unless they are deleted.
    pub(crate) fn close(&self, delete_subscriptions: bool) {
        self.lock().phase = Phase::Closed;
        self.subscriptions.end_session(self.token, delete_subscriptions);
        // Points that a browse works with are freed with the session.
        match self.points.try_lock() {
            Ok(mut points) => points.clear(),
            Err(TryLockError::Poisoned(points)) => points.into_inner().clear(),
            Err(TryLockError::WouldBlock) => {}
        }
        self.outstanding.cancel_all(CancelReason::SessionClosed);
        self.registered.clear();
    }
}

impl SessionState {
    fn is_active_on(&self, channel: u32) -> bool {
        self.phase == Phase::Active && self.channel == channel
    }

    /// Whether a request on `channel` may use the session now; keeps the session alive if so (OPC 10000-4 §5.7.2, §7.38).
    pub(crate) fn admit(&mut self, channel: u32, now: Ticks) -> Result<Access, StatusCode> {
        self.check_alive(now)?;
        if self.channel != channel {
            return Err(status::BAD_SECURE_CHANNEL_ID_INVALID);
        }
        if self.phase != Phase::Active {
            return Err(status::BAD_SESSION_NOT_ACTIVATED);
        }
        self.expires = now + self.timeout;
        Ok(self.access)
    }

    /// Bad_SessionIdInvalid once the session is closed or its time is over.
    pub(crate) fn check_alive(&self, now: Ticks) -> Result<(), StatusCode> {
        if self.phase == Phase::Closed || now >= self.expires {
            return Err(status::BAD_SESSION_ID_INVALID);
        }
        Ok(())
    }

    /// Whether the session may be activated on a channel: the first activation has to come on that of
    /// CreateSession, later ones may move the session (OPC 10000-4 §5.7.3.1).
    pub(crate) fn check_activation(&self, channel: u32, now: Ticks) -> Result<(), StatusCode> {
        self.check_alive(now)?;
        if self.phase == Phase::Created && self.channel != channel {
            return Err(status::BAD_SECURE_CHANNEL_ID_INVALID);
        }
        Ok(())
    }

    /// Binds the session to a channel and makes it active (ActivateSession, OPC 10000-4 §5.7.3). Another user may
    /// take it over on the same channel only.
    pub(crate) fn activate(&mut self, channel: u32, access: Access, now: Ticks) -> Result<(), StatusCode> {
        self.check_activation(channel, now)?;
        if self.phase == Phase::Active && self.channel != channel && self.access.user != access.user {
            return Err(status::BAD_IDENTITY_CHANGE_NOT_SUPPORTED);
        }
        self.phase = Phase::Active;
        self.channel = channel;
        self.access = access;
        self.expires = now + self.timeout;
        Ok(())
    }
}
