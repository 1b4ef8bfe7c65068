//! Requests that wait to be sent or for their response, with their deadlines.

use std::collections::{BTreeSet, HashMap};

use uaforge_codec::{Encoder, Ticks};
use uaforge_types::RequestHeader;

use super::call::{Call, Outgoing};
use super::subscriptions::Ask;

/// What the connection itself waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// GetEndpoints, before the session.
    Endpoints,
    /// CreateSession.
    Create,
    /// ActivateSession.
    Activate,
    /// Namespace table and limits.
    Tables,
    /// The namespace table alone, from a server that does not take more.
    Namespaces,
    /// The state of a silent server.
    KeepAlive,
    /// Cancel for a call that nobody waits for any more.
    Cancel,
    /// What subscriptions ask for.
    Subscriptions(Ask),
    /// TransferSubscriptions to a session that takes the place of one that is gone.
    Transfer,
    /// CloseSession.
    Close,
}

/// Who waits.
pub(crate) enum Waiting {
    User(Box<dyn Call>),
    Own(Step, Box<dyn Outgoing>),
}

impl Waiting {
    pub(crate) fn service(&self) -> &'static str {
        match self {
            Self::User(call) => call.service(),
            Self::Own(_, request) => request.service(),
        }
    }

    pub(crate) fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>) {
        match self {
            Self::User(call) => call.encode(header, e),
            Self::Own(_, request) => request.encode(header, e),
        }
    }
}

struct Entry {
    deadline: Ticks,
    /// `None` before it is sent.
    request_id: Option<u32>,
    waiting: Waiting,
}

/// Outstanding requests by requestHandle. Handles and request ids are our own, so the peer cannot choose
/// keys.
#[derive(Default)]
pub(crate) struct Pending {
    entries: HashMap<u32, Entry>,
    /// Handles by request id.
    sent: HashMap<u32, u32>,
    deadlines: BTreeSet<(Ticks, u32)>,
}

impl Pending {
    pub(crate) fn insert(&mut self, handle: u32, deadline: Ticks, waiting: Waiting) {
        self.entries.insert(handle, Entry { deadline, request_id: None, waiting });
        self.deadlines.insert((deadline, handle));
    }

    /// What is to be sent under a handle and its deadline; `None` if nobody waits any more.
    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<(Ticks, &mut Waiting)> {
        self.entries.get_mut(&handle).map(|entry| (entry.deadline, &mut entry.waiting))
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, handle: u32, request_id: u32) {
        if let Some(entry) = self.entries.get_mut(&handle) {
            entry.request_id = Some(request_id);
            self.sent.insert(request_id, handle);
        }
    }

    /// The waiter of a handle, and whether its request was sent.
    pub(crate) fn take(&mut self, handle: u32) -> Option<(Waiting, bool)> {
        let entry = self.entries.remove(&handle)?;
        self.deadlines.remove(&(entry.deadline, handle));
        if let Some(request_id) = entry.request_id {
            self.sent.remove(&request_id);
        }
        Some((entry.waiting, entry.request_id.is_some()))
    }

    /// The waiter of a response; `None` if it gave up or never was.
    pub(crate) fn answered(&mut self, request_id: u32) -> Option<Waiting> {
        let handle = *self.sent.get(&request_id)?;
        self.take(handle).map(|(waiting, _)| waiting)
    }

    pub(crate) fn next_deadline(&self) -> Option<Ticks> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The next waiter whose time is over.
    pub(crate) fn expired(&mut self, now: Ticks) -> Option<Waiting> {
        let (deadline, handle) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.take(handle).map(|(waiting, _)| waiting)
    }

    /// Everybody who waits.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Waiting> {
        self.deadlines.clear();
        self.sent.clear();
        core::mem::take(&mut self.entries).into_values().map(|entry| entry.waiting)
    }
}
