//! How others reach a connection: a request to close wakes its task.

use core::task::{Context, Waker};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use uaforge_channel::{ChannelError, security_checks_failed};
use uaforge_codec::Ticks;
use uaforge_types::status;

use super::session::Session;
use crate::config::Limits;
use crate::subscription::parked::Posted;

/// Why and when a connection is to end.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    /// What the client is told; `None` drops what waits for it, as it does not read.
    pub(crate) error: Option<ChannelError>,
    /// Until when requests that wait may be answered.
    pub(crate) until: Ticks,
}

impl Closing {
    /// At once, for want of room.
    pub(crate) fn now(reason: &'static str) -> Self {
        let error = ChannelError::new(status::BAD_TCP_NOT_ENOUGH_RESOURCES, reason);
        Self { error: Some(error), until: Ticks(0) }
    }

    /// At once, without a word.
    const SILENT: Self = Self { error: None, until: Ticks(0) };
}

/// Bytes of answers that wait for a connection; above it, it is given no further ones.
const HIGH_WATER: usize = 256 * 1024;

/// What waits in a box.
pub(crate) struct Mail {
    pub(crate) closing: Option<Closing>,
    /// Whether answers wait.
    pub(crate) has_answers: bool,
}

/// One connection's box.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    address: Option<IpAddr>,
    backlog: Backlog,
}

/// What waits for a client beyond the room that every connection has.
#[derive(Debug, Default)]
struct Backlog {
    bytes: AtomicUsize,
    /// When the client last took something.
    since: AtomicU64,
}

#[derive(Default)]
struct State {
    closing: Option<Closing>,
    waker: Option<Waker>,
    /// Answers of Publish requests. There are not more than requests that wait.
    answers: VecDeque<Posted>,
    /// Bytes of them.
    answer_bytes: usize,
    /// The connection has ended.
    gone: bool,
    /// The channel's id and the sessions that were made or activated on it.
    channel: u32,
    sessions: Vec<Weak<Session>>,
    /// The client's certificate, if the channel is secured.
    peer: Option<Arc<[u8]>>,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the client is; `None` if there is no network between.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Asks the connection to close once it has answered what it is working on.
    pub(crate) fn close(&self, why: Closing) {
        let waker = {
            let mut state = self.lock();
            state.closing.get_or_insert(why);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What waits for the connection; the task of `cx` is woken when that changes.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Mail {
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        Mail { closing: state.closing.clone(), has_answers: !state.answers.is_empty() }
    }

    /// Has an answer sent.
    pub(crate) fn post(&self, answer: Posted) {
        let waker = {
            let mut state = self.lock();
            if state.gone {
                return;
            }
            state.answer_bytes += answer.weight();
            state.answers.push_back(answer);
            // Whoever posts the first one wakes the task for all.
            if state.answers.len() == 1 { state.waker.take() } else { None }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes the oldest answer.
    pub(crate) fn take_answer(&self) -> Option<Posted> {
        let mut state = self.lock();
        let answer = state.answers.pop_front()?;
        state.answer_bytes -= answer.weight();
        if state.answers.is_empty() {
            state.answers = VecDeque::new();
        }
        Some(answer)
    }

    /// Whether the connection can be given a further answer.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().answer_bytes < HIGH_WATER
    }

    /// Whether the connection has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.lock().gone
    }

    /// The connection has ended; its sessions.
    pub(crate) fn end(&self) -> Vec<Weak<Session>> {
        let mut state = self.lock();
        state.gone = true;
        state.answers = VecDeque::new();
        core::mem::take(&mut state.sessions)
    }

    /// Sessions of this connection that are there.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        self.lock().sessions.iter().filter_map(Weak::upgrade).collect()
    }

    /// Notes whose channel it is.
    pub(crate) fn note_peer(&self, peer: &Arc<[u8]>) {
        self.lock().peer = Some(Arc::clone(peer));
    }

    /// Notes that a session was made or activated over this connection.
    pub(crate) fn note_session(&self, channel: u32, session: &Arc<Session>) {
        let mut state = self.lock();
        state.channel = channel;
        let session = Arc::downgrade(session);
        state.sessions.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&session));
        state.sessions.push(session);
    }

    /// Sessions of this connection.
    pub(crate) fn session_count(&self) -> usize {
        let state = self.lock();
        let sessions = state.sessions.iter().filter_map(Weak::upgrade);
        sessions.filter(|session| session.is_on(state.channel)).count()
    }

    /// Notes what waits for the client, and since when it takes nothing.
    pub(crate) fn note_backlog(&self, bytes: usize, since: Ticks) {
        self.backlog.bytes.store(bytes, Ordering::Relaxed);
        self.backlog.since.store(since.0, Ordering::Relaxed);
    }

    /// Whether the connection is not asked to close.
    fn is_open(&self) -> bool {
        self.lock().closing.is_none()
    }

    /// Whether nobody would miss the connection: it has no active session.
    fn is_unused(&self) -> bool {
        let state = self.lock();
        let mut sessions = state.sessions.iter().filter_map(Weak::upgrade);
        !sessions.any(|session| session.is_active_on(state.channel))
    }
}

/// The boxes of all connections.
#[derive(Default)]
pub(crate) struct Mailboxes {
    boxes: Mutex<Boxes>,
}

#[derive(Default)]
struct Boxes {
    open: Vec<Weak<Mailbox>>,
    /// The server stops.
    closing: Option<Closing>,
}

impl Mailboxes {
    /// A box for a new connection, of a client at `address`.
    pub(crate) fn add(&self, address: Option<IpAddr>) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox { state: Mutex::default(), address, backlog: Backlog::default() });
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(closing) = &boxes.closing {
            mailbox.close(closing.clone());
        }
        if boxes.open.len() == boxes.open.capacity() {
            boxes.open.retain(|open| open.strong_count() > 0);
        }
        boxes.open.push(Arc::downgrade(&mailbox));
        mailbox
    }

    /// Closes the connections of clients that are not trusted any more.
    pub(crate) fn close_untrusted(&self, is_trusted: impl Fn(&[u8]) -> bool) {
        let open: Vec<_> = {
            let boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
            boxes.open.iter().filter_map(Weak::upgrade).collect()
        };
        for mailbox in open {
            let peer = mailbox.lock().peer.clone();
            if peer.is_some_and(|peer| !is_trusted(&peer)) {
                mailbox.close(Closing { error: Some(security_checks_failed()), until: Ticks(0) });
            }
        }
    }

    /// Asks every connection to close, those too that come from now on, because the server stops. Requests
    /// that wait may be answered until a time.
    pub(crate) fn close_all(&self, until: Ticks) {
        let error = ChannelError::new(status::BAD_SHUTDOWN, "the server stops");
        let closing = Closing { error: Some(error), until };
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.closing = Some(closing.clone());
        for mailbox in boxes.open.drain(..).filter_map(|open| open.upgrade()) {
            mailbox.close(closing.clone());
        }
    }

    /// Ends connections whose clients do not read, until what waits for all others is at most `limit` bytes:
    /// first those that have taken nothing for the longest time.
    #[cold]
    pub(crate) fn relieve(&self, limit: usize) {
        let boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        let open = boxes.open.iter().filter_map(Weak::upgrade).filter(|mailbox| mailbox.is_open());
        let mut waiting: Vec<_> = open
            .map(|mailbox| {
                let Backlog { bytes, since } = &mailbox.backlog;
                (since.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed), mailbox)
            })
            .filter(|(_, bytes, _)| *bytes > 0)
            .collect();
        waiting.sort_by_key(|(since, ..)| *since);
        let mut held = waiting.iter().fold(0_usize, |sum, (_, bytes, _)| sum.saturating_add(*bytes));
        for (_, bytes, mailbox) in waiting {
            if held <= limit {
                return;
            }
            held -= bytes;
            mailbox.close(Closing::SILENT);
        }
    }

    /// Whether one more connection of `address` may open; closes the oldest without an active session for it
    /// if there are as many as there may be (OPC 10000-4 §5.6.2.1).
    pub(crate) fn make_room(&self, limits: &Limits, address: IpAddr) -> bool {
        let boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || boxes.open.iter().filter_map(Weak::upgrade).filter(|mailbox| mailbox.is_open());
        let same = || open().filter(|mailbox| mailbox.address == Some(address));
        let own_limit = match limits.max_connections_per_address {
            0 => usize::MAX,
            limit => limit,
        };
        let unused = if same().count() >= own_limit {
            same().find(|mailbox| mailbox.is_unused())
        } else if open().count() >= limits.max_connections {
            open().find(|mailbox| mailbox.is_unused())
        } else {
            return true;
        };
        let Some(unused) = unused else { return false };
        unused.close(Closing::now("the connection has no session, and others wait"));
        true
    }
}
