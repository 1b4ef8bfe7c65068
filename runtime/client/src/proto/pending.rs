//! Requests that wait for their response, by request id, with their deadlines.

use std::collections::{BTreeSet, HashMap};

use uaforge_codec::Ticks;

use super::call::Call;

/// What the connection itself waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// GetEndpoints, before the session.
    Endpoints,
    /// CreateSession.
    Create,
    /// ActivateSession.
    Activate,
    /// Namespace table and operation limits.
    Tables,
    /// The state of a silent server.
    KeepAlive,
    /// CloseSession.
    Close,
}

/// Who waits.
pub(crate) enum Waiting {
    User(Box<dyn Call>),
    Own(Step, &'static str),
}

impl Waiting {
    pub(crate) fn service(&self) -> &'static str {
        match self {
            Self::User(call) => call.service(),
            Self::Own(_, service) => service,
        }
    }
}

/// Outstanding requests. The ids are our own, so the peer cannot choose keys.
#[derive(Default)]
pub(crate) struct Pending {
    waiting: HashMap<u32, (Ticks, Waiting)>,
    deadlines: BTreeSet<(Ticks, u32)>,
}

impl Pending {
    pub(crate) fn insert(&mut self, request_id: u32, deadline: Ticks, waiting: Waiting) {
        self.waiting.insert(request_id, (deadline, waiting));
        self.deadlines.insert((deadline, request_id));
    }

    /// The waiter of a response; `None` if it gave up or never was.
    pub(crate) fn take(&mut self, request_id: u32) -> Option<Waiting> {
        let (deadline, waiting) = self.waiting.remove(&request_id)?;
        self.deadlines.remove(&(deadline, request_id));
        Some(waiting)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn next_deadline(&self) -> Option<Ticks> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The next waiter whose time is over.
    pub(crate) fn expired(&mut self, now: Ticks) -> Option<Waiting> {
        let (deadline, request_id) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.take(request_id)
    }

    /// Everybody who waits.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Waiting> {
        self.deadlines.clear();
        core::mem::take(&mut self.waiting).into_values().map(|(_, waiting)| waiting)
    }
}
