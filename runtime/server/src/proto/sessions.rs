//! The table of all sessions of a server.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use uaforge_codec::{Entropy, Guid, NodeId, StatusCode, Ticks};
use uaforge_types::status;

use super::continuation::ContinuationPoints;
use super::session::{Phase, Session, SessionState, Token};
use crate::access::Access;
use crate::config::Limits;
use crate::security::SessionSecurity;
use crate::subscription::Subscriptions;

/// All sessions, by authentication token. A connection keeps the ones it uses, so a request rarely comes here.
pub(crate) struct Sessions {
    table: Mutex<Table>,
    subscriptions: Arc<Subscriptions>,
}

struct Table {
    by_token: HashMap<Token, Arc<Session>, RandomState>,
}

/// What CreateSession settles (OPC 10000-4 §5.7.2).
pub(crate) struct NewSession {
    pub(crate) session: Arc<Session>,
    pub(crate) timeout: Duration,
    pub(crate) nonce: [u8; 32],
}

/// Random bytes of a new session. They are drawn before anything is locked: whoever waits for
/// randomness must not hold what another one needs to give it back.
#[derive(Clone, Copy)]
pub(crate) struct Secrets {
    token: [u8; 32],
    id: [u8; 16],
    nonce: [u8; 32],
    salt: [u8; 8],
}

impl Secrets {
    pub(crate) fn draw(entropy: &mut dyn Entropy) -> Self {
        let mut secrets = Self { token: [0; 32], id: [0; 16], nonce: [0; 32], salt: [0; 8] };
        entropy.fill(&mut secrets.token);
        entropy.fill(&mut secrets.id);
        entropy.fill(&mut secrets.nonce);
        entropy.fill(&mut secrets.salt);
        secrets
    }
}

impl Sessions {
    pub(crate) fn new(subscriptions: Arc<Subscriptions>) -> Self {
        let table = Mutex::new(Table { by_token: HashMap::with_hasher(RandomState::default()) });
        Self { table, subscriptions }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a session bound to `channel`; it has to be activated within the activation timeout.
    pub(crate) fn create(
        &self,
        requested: Duration,
        channel: u32,
        security: Option<SessionSecurity>,
        limits: &Limits,
        secrets: &Secrets,
        now: Ticks,
    ) -> Result<NewSession, StatusCode> {
        let timeout = requested.clamp(limits.min_session_timeout, limits.max_session_timeout);
        let Secrets { token, id, nonce, salt } = *secrets;
        let session = Arc::new(Session::new(
            Token(token),
            NodeId::guid(1, Guid(id)),
            SessionState {
                phase: Phase::Created,
                channel,
                timeout,
                expires: now + limits.activation_timeout.min(timeout),
                access: Access::default(),
                nonce,
                security,
                locales: None,
            },
            ContinuationPoints::new(limits.max_continuation_points, u64::from_le_bytes(salt)),
            Arc::clone(&self.subscriptions),
        ));
        let mut ended = Vec::new();
        let inserted = self.lock().insert(&session, limits.max_sessions as usize, now, &mut ended);
        close_all(ended);
        inserted.map(|()| NewSession { session, timeout, nonce })
    }

    pub(crate) fn find(&self, token: Token) -> Option<Arc<Session>> {
        self.lock().by_token.get(&token).cloned()
    }

    pub(crate) fn remove(&self, token: Token) {
        let removed = self.lock().by_token.remove(&token);
        drop(removed);
    }

    /// Closes the sessions whose time is over and returns when the next one ends.
    pub(crate) fn sweep(&self, now: Ticks) -> Option<Ticks> {
        let mut ended = Vec::new();
        let next = self.lock().sweep(now, &mut ended);
        close_all(ended);
        next
    }

    /// Sessions now.
    pub(crate) fn len(&self) -> usize {
        self.lock().by_token.len()
    }
}

/// Closes sessions that are out of the table. Managers are told, so this is done with no lock held.
fn close_all(ended: Vec<Arc<Session>>) {
    ended.iter().for_each(|session| session.close(false));
}

impl Table {
    /// Adds a session, in the place of others if need be: those whose time is over, or one that is not used.
    fn insert(
        &mut self,
        session: &Arc<Session>,
        most: usize,
        now: Ticks,
        ended: &mut Vec<Arc<Session>>,
    ) -> Result<(), StatusCode> {
        if self.by_token.len() >= most {
            self.sweep(now, ended);
            if self.by_token.len() >= most {
                ended.push(self.take_unused().ok_or(status::BAD_TOO_MANY_SESSIONS)?);
            }
        }
        self.by_token.insert(session.token, Arc::clone(session));
        Ok(())
    }

    /// Takes out the oldest session that was never activated, so that such ones cannot keep others out
    /// (OPC 10000-4 §5.7.2.1).
    fn take_unused(&mut self) -> Option<Arc<Session>> {
        let unused = |session: &Session| {
            let state = session.lock();
            (state.phase == Phase::Created).then_some(state.expires)
        };
        let sessions = self.by_token.values();
        let oldest =
            sessions.filter_map(|session| Some((unused(session)?, session.token))).min_by_key(|s| s.0);
        oldest.and_then(|(_, token)| self.by_token.remove(&token))
    }

    /// Takes out the sessions whose time is over; when the next one ends.
    fn sweep(&mut self, now: Ticks, ended: &mut Vec<Arc<Session>>) -> Option<Ticks> {
        let mut next: Option<Ticks> = None;
        self.by_token.retain(|_, session| {
            let state = session.lock();
            let (alive, expires) = (state.check_alive(now).is_ok(), state.expires);
            drop(state);
            if alive {
                next = Some(next.map_or(expires, |n| n.min(expires)));
            } else {
                ended.push(Arc::clone(session));
            }
            alive
        });
        next
    }
}
