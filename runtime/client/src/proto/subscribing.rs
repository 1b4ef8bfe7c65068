//! The session's part in its subscriptions: it sends what they ask for, and tells them what comes back.

use uaforge_codec::Now;

use super::call::Body;
use super::core::{Core, State, session_over};
use super::pending::Step;
use super::subscriptions::{Ask, Wish};
use crate::Error;

impl Core {
    /// Takes what a caller wants of the subscriptions.
    pub(crate) fn wish(&mut self, wish: Wish, now: Now) {
        let is_wanted = match self.state {
            State::Connecting(_) | State::Ready => true,
            // What is given up is given up; nobody is made to wait for a connection.
            State::Lost => matches!(wish, Wish::Unwatch(_) | Wish::Unsubscribe(_)),
            State::Closing | State::Closed => false,
        };
        if is_wanted {
            self.subscriptions.wish(wish, now.ticks);
            self.ask_for_subscriptions(now);
        }
    }

    pub(super) fn subscriptions_answered(&mut self, ask: Ask, body: Body<'_>, now: Now) -> Result<(), Error> {
        match self.subscriptions.answered(ask, body, now.ticks) {
            Some(status) if self.is_over(status) => return Err(session_over(status)),
            _ => self.ask_for_subscriptions(now),
        }
        Ok(())
    }

    pub(super) fn subscriptions_failed(&mut self, ask: Ask, error: &Error, now: Now) {
        self.subscriptions.failed(ask, error, now.ticks);
        self.ask_for_subscriptions(now);
    }

    pub(super) fn subscriptions_due(&mut self, now: Now) {
        if self.subscriptions.deadline().is_some_and(|at| at <= now.ticks) {
            self.subscriptions.on_deadline(now.ticks);
            self.ask_for_subscriptions(now);
        }
    }

    pub(super) fn ask_for_subscriptions(&mut self, now: Now) {
        while matches!(self.state, State::Ready)
            && let Some(asked) = self.subscriptions.next_request(now.ticks)
        {
            let time = asked.time.unwrap_or(self.config.request_timeout);
            self.send_until(now.ticks + time, Step::Subscriptions(asked.ask), asked.request);
        }
    }
}
