//! Subscriptions and monitored items (OPC 10000-4 §5.13, §5.14).
//!
//! [`Subscriptions`] is one machine for the whole server, as subscriptions outlive sessions and share what they
//! sample: time goes in, answers of Publish requests and the next deadline come out. Connections use it under its
//! lock; [`driver`] samples, reads and publishes when something is due.

mod arena;
mod deadband;
mod driver;
mod engine;
mod events;
pub(crate) mod filter;
pub(crate) mod item;
pub(crate) mod items;
mod machine;
mod message;
pub(crate) mod parked;
mod publishing;
mod queue;
mod retransmission;
pub(crate) mod revision;
mod sample;
mod sampling;
mod semantics;
pub(crate) mod source;
mod state;
mod timers;
mod transfer;

use core::future::Future;
use core::ops::{Deref, DerefMut};
use core::task::Context;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uaforge_codec::{Now, Ticks};

use driver::Driver;
pub(crate) use driver::drive;
use engine::Engine;
use items::Place;
use source::Dirty;

use crate::config::SubscriptionLimits;
use crate::proto::mailbox::Mailbox;
use crate::proto::session::{Session, Token};
use crate::shared::Core;

/// The subscriptions of a server.
pub(crate) struct Subscriptions {
    engine: Mutex<Engine>,
    driver: Mutex<Driver>,
    dirty: Arc<Dirty>,
}

/// The engine while it is used; whoever drives it is woken if that gave it something to do.
pub(crate) struct Using<'u> {
    engine: MutexGuard<'u, Engine>,
    dirty: &'u Dirty,
}

impl Deref for Using<'_> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Using<'_> {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        if self.engine.needs_driver() {
            self.dirty.wake.notify_one();
        }
    }
}

impl Subscriptions {
    /// No subscriptions yet. The first one gets an id that is random, so that a client of an earlier run does not
    /// take another one's for its own.
    pub(crate) fn new(limits: &SubscriptionLimits, first_id: u32, start: Ticks) -> Self {
        let dirty = Arc::new(Dirty::default());
        let engine = Engine::new(limits.clone(), Arc::clone(&dirty), first_id, start);
        Self { engine: Mutex::new(engine), driver: Mutex::default(), dirty }
    }

    fn lock(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine, for a service; changes that were told are taken first.
    pub(crate) fn using(&self, now: Now) -> Using<'_> {
        let mut engine = self.lock();
        engine.drain(now);
        Using { engine, dirty: &self.dirty }
    }

    /// A session has ended; `delete` takes its subscriptions along.
    pub(crate) fn end_session(&self, session: Token, delete: bool) {
        self.lock().end_session(session, delete);
    }

    /// The session is on this connection now, perhaps with another user: its items have the user's rights, and
    /// requests that came over other connections are not answered any more.
    pub(crate) fn session_activated(&self, place: Place<'_>, session: &Session, mailbox: &Mailbox) {
        let access = session.lock().access;
        let mut engine = self.using(place.now);
        engine.keep_requests_of(session.token, Some(mailbox));
        engine.set_access(place, session.token, access);
    }

    /// The session's connection is gone.
    pub(crate) fn session_disconnected(&self, session: Token) {
        self.lock().keep_requests_of(session, None);
    }

    /// Does what is due; when there is more to do. The task of `cx` is woken for late answers of handlers.
    pub(crate) fn turn(&self, core: &Core, cx: &mut Context<'_>, now: Now) -> Ticks {
        let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        driver.turn(self, core, cx, now)
    }

    /// Waits until there is something to do out of turn.
    pub(crate) fn told(&self) -> impl Future<Output = ()> + '_ {
        self.dirty.wake.notified()
    }
}
