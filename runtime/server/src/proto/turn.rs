//! What one request works with, and what every service does alike: find the session, answer, wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use uaforge_codec::{
    Decode, DecodeEach, DecodeError, DecodeRef, Decoder, Encoder, Mark, NodeIdRef, Now, StatusCode, UaString,
};
use uaforge_nodes::Snapshot;
use uaforge_types::{RequestHeaderRef, ResponseHeader, status};

use super::buffers::Buffers;
use super::diagnose;
use super::envelope::{Head, put_fault, put_header};
use super::late_session::LateSession;
use super::mailbox::Mailbox;
use super::pending::Pending;
use super::results::Unfinished;
use super::session::{Phase, Session, Token};
use crate::access::Access;
use crate::cancellation::Scope;
use crate::services::ServiceCx;
use crate::services::session::ChannelInfo;
use crate::shared::Core;

/// Sessions of one channel that are found without the table of all.
const KNOWN_SESSIONS: usize = 8;

/// Bytes of a response that came to nothing that count as one operation.
const BYTES_PER_OPERATION: usize = 64;

/// What one request works with: the connection's parts, borrowed.
pub(crate) struct Turn<'t> {
    pub(crate) core: &'t Core,
    pub(crate) snapshot: &'t Snapshot,
    pub(crate) buffers: &'t mut Buffers,
    /// Sessions that requests of this channel used lately.
    pub(crate) known: &'t mut Vec<Arc<Session>>,
    pub(crate) mailbox: &'t Arc<Mailbox>,
    /// Requests for sessions that are answered later.
    pub(crate) late_sessions: &'t mut Vec<LateSession>,
    pub(crate) channel: ChannelInfo<'t>,
    pub(crate) now: Now,
    /// Of the message.
    pub(crate) request_id: u32,
    /// Of the request's header, as soon as it is read.
    pub(crate) handle: u32,
    /// What the client wants to know of errors (returnDiagnostics, OPC 10000-4 §7.32), as soon as it is read.
    pub(crate) diagnostics: u32,
    /// Why the request could not be read.
    pub(crate) reason: Option<DecodeError>,
    /// Deadline and token of the request.
    pub(crate) scope: Scope,
    /// The client has activated a session.
    pub(crate) activated: bool,
    /// Operations done in this turn.
    pub(crate) operations: u32,
}

/// What became of a request: `None` if the response is written, or what it waits for; or the status of its
/// ServiceFault.
pub(crate) type Answered = Result<Option<Pending>, StatusCode>;

/// A request that may use its session.
pub(crate) struct Admitted {
    pub(crate) session: Arc<Session>,
    pub(crate) access: Access,
    /// What the client wants texts in.
    locales: Option<Arc<[UaString]>>,
}

impl Turn<'_> {
    /// Answers one request into `e`. `Some`: nothing was written, the response comes later.
    ///
    /// A handler that panics costs the request it worked for: the client gets Bad_InternalError.
    pub(crate) fn handle(&mut self, body: &[u8], e: &mut Encoder<'_>) -> Option<Pending> {
        let start = e.mark();
        let served = catch_unwind(AssertUnwindSafe(|| self.serve(body, e)));
        let fault = match served {
            Ok(Ok(Some(pending))) => {
                e.rewind(start);
                return Some(pending);
            }
            Ok(Ok(None)) => match e.error() {
                None => {
                    self.diagnose(e, start);
                    return None;
                }
                Some(error) => error.status(),
            },
            Ok(Err(status)) => status,
            Err(_) => status::BAD_INTERNAL_ERROR,
        };
        for deferred in self.buffers.deferred.drain(..).filter(|deferred| deferred.lasting) {
            self.core.orphans.adopt(deferred, self.scope.token().clone());
        }
        // Work that leads to no answer counts too.
        self.spend(e.body_len() / BYTES_PER_OPERATION);
        e.rewind(start);
        put_fault(e, self.now, self.handle, fault);
        self.diagnose(e, start);
        None
    }

    /// Says more of what went wrong, if the client wants to know.
    #[inline]
    fn diagnose(&mut self, e: &mut Encoder<'_>, start: Mark) {
        if self.diagnostics != 0 {
            let reason = self.reason.take();
            diagnose::add(e, start, self.diagnostics, reason.as_ref(), self.core.decode_context());
        }
    }

    /// Takes over what a request's header says.
    pub(crate) fn note<'h>(&mut self, header: impl Into<Head<'h>>) -> Head<'h> {
        let head = header.into();
        (self.handle, self.diagnostics) = (head.handle, head.diagnostics);
        head
    }

    /// As [`Self::note`], for a request that cannot be read as a whole; nothing if its header cannot either.
    pub(crate) fn note_unread(&mut self, start: &Decoder<'_>) {
        if let Ok(header) = RequestHeaderRef::decode_ref(&mut start.clone()) {
            self.note(&header);
        }
    }

    /// Reads a request as a view into the message.
    pub(crate) fn view<'a, T: DecodeRef<'a>>(&mut self, d: Decoder<'a>) -> Result<T, StatusCode> {
        self.decoded(d, T::decode_ref)
    }

    /// As [`Self::view`]; `take` gets the elements of the array at its end.
    pub(crate) fn view_each<'a, T: DecodeEach<'a>>(
        &mut self,
        d: Decoder<'a>,
        take: impl FnMut(usize, T::Element),
    ) -> Result<T, StatusCode> {
        self.decoded(d, |d| T::decode_each(d, take))
    }

    /// Reads a request as a structure.
    pub(crate) fn owned<T: Decode>(&mut self, d: Decoder<'_>) -> Result<T, StatusCode> {
        self.decoded(d, T::decode)
    }

    /// Reads a request, which is all there is of the message.
    #[inline]
    fn decoded<'a, T>(
        &mut self,
        mut d: Decoder<'a>,
        decode: impl FnOnce(&mut Decoder<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, StatusCode> {
        let start = d.clone();
        let request = decode(&mut d).and_then(|request| d.finish().map(|()| request));
        request.map_err(|error| self.undecoded(&start, error))
    }

    /// Takes over what there is to say of a request that cannot be read.
    #[cold]
    fn undecoded(&mut self, start: &Decoder<'_>, error: DecodeError) -> StatusCode {
        self.note_unread(start);
        let status = error.status();
        self.reason = Some(error);
        status
    }

    /// Lets a request with so many operations use its session, if it may.
    pub(crate) fn admit<'h>(
        &mut self,
        header: impl Into<Head<'h>>,
        operations: usize,
    ) -> Result<Admitted, StatusCode> {
        let head = self.note(header);
        let session = self.find(head.token)?;
        let mut state = session.lock();
        let (access, locales) = (state.admit(self.channel.id, self.now.ticks)?, state.locales.clone());
        drop(state);
        self.spend(operations);
        self.scope = Scope::new(self.core.request_deadline(head.timeout_hint, self.now.ticks));
        Ok(Admitted { session, access, locales })
    }

    /// What the services of a session work with.
    pub(crate) fn service<'s>(&'s mut self, admitted: &'s Admitted) -> ServiceCx<'s> {
        ServiceCx {
            core: self.core,
            snapshot: self.snapshot,
            buffers: self.buffers,
            session: &admitted.session,
            scope: &self.scope,
            access: admitted.access,
            locales: admitted.locales.as_deref().unwrap_or_default(),
            now: self.now,
            spent: 0,
        }
    }

    /// Writes a response whose body `serve` writes: an array of results, some of which may come later.
    pub(crate) fn answer(
        &mut self,
        admitted: Admitted,
        response: u32,
        e: &mut Encoder<'_>,
        serve: impl FnOnce(&mut ServiceCx<'_>, &mut Encoder<'_>) -> Result<Option<Unfinished>, StatusCode>,
    ) -> Answered {
        put_header(e, response, self.now, self.handle);
        let mut cx = self.service(&admitted);
        let served = serve(&mut cx, e);
        let spent = cx.spent;
        let Admitted { session, access, .. } = admitted;
        self.spend(spent as usize);
        let unfinished = served?;
        e.put_array_len(None);
        let Some(unfinished) = unfinished else { return Ok(None) };
        Ok(Some(Pending {
            request_id: self.request_id,
            handle: self.handle,
            diagnostics: self.diagnostics,
            response,
            session,
            access,
            token: self.scope.token().clone(),
            unfinished,
            deferred: core::mem::take(&mut self.buffers.deferred),
            ended: None,
        }))
    }

    /// The session of an authentication token, wherever it is bound.
    pub(crate) fn find(&mut self, token: NodeIdRef<'_>) -> Result<Arc<Session>, StatusCode> {
        let token = Token::from_header(token).ok_or(status::BAD_SESSION_ID_INVALID)?;
        if let Some(session) = self.known.iter().find(|session| session.token == token) {
            return Ok(Arc::clone(session));
        }
        self.core.sessions.find(token).ok_or(status::BAD_SESSION_ID_INVALID)
    }

    /// Keeps a session of this channel at hand.
    pub(crate) fn know(&mut self, session: Arc<Session>) {
        let channel = self.channel.id;
        self.known.retain(|known| {
            let state = known.lock();
            !Arc::ptr_eq(known, &session) && state.phase != Phase::Closed && state.channel == channel
        });
        if self.known.len() >= KNOWN_SESSIONS {
            self.known.remove(0);
        }
        self.known.push(session);
    }

    pub(crate) fn spend(&mut self, operations: usize) {
        self.operations = self.operations.saturating_add(u32::try_from(operations).unwrap_or(u32::MAX));
    }

    pub(crate) fn header(&self) -> ResponseHeader {
        ResponseHeader { timestamp: self.now.utc, request_handle: self.handle, ..Default::default() }
    }
}
