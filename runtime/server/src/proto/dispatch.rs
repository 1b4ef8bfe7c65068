//! From the body of a request message to the body of its response.

use std::sync::Arc;

use uaforge_codec::{
    ConstIdentifier, Decode, DecodeRef, Decoder, Encode, Encoder, NodeIdRef, Now, StatusCode, Structure,
    StructureDescriptor, TypeKey,
};
use uaforge_nodes::Snapshot;
use uaforge_types::{
    ActivateSessionRequest, BrowseNextRequest, BrowseNextRequestRef, BrowseNextResponse, BrowseRequest,
    BrowseRequestRef, BrowseResponse, CallRequest, CallResponse, CloseSessionRequest, CloseSessionResponse,
    CreateSessionRequest, FindServersRequest, GetEndpointsRequest, ReadRequest, ReadRequestRef, ReadResponse,
    RequestHeaderRef, ResponseHeader, ServiceFault, TranslateBrowsePathsToNodeIdsRequest,
    TranslateBrowsePathsToNodeIdsRequestRef, TranslateBrowsePathsToNodeIdsResponse, status,
};

use super::buffers::Buffers;
use super::pending::Pending;
use super::results::Unfinished;
use super::session::{Phase, Session, Token};
use crate::access::Access;
use crate::manager::ReadSettings;
use crate::services::session::ChannelInfo;
use crate::services::{ServiceCx, browse, call, discovery, read, session, translate};
use crate::shared::Core;

/// The number of a structure's binary encoding in the OPC UA namespace.
const fn binary_id(descriptor: &StructureDescriptor) -> u32 {
    match descriptor.binary_encoding {
        Some(TypeKey { id: ConstIdentifier::Numeric(id), .. }) => id,
        _ => 0,
    }
}

const FIND_SERVERS: u32 = binary_id(FindServersRequest::DESCRIPTOR);
const GET_ENDPOINTS: u32 = binary_id(GetEndpointsRequest::DESCRIPTOR);
const CREATE_SESSION: u32 = binary_id(CreateSessionRequest::DESCRIPTOR);
const ACTIVATE_SESSION: u32 = binary_id(ActivateSessionRequest::DESCRIPTOR);
const CLOSE_SESSION: u32 = binary_id(CloseSessionRequest::DESCRIPTOR);
const READ: u32 = binary_id(ReadRequest::DESCRIPTOR);
const BROWSE: u32 = binary_id(BrowseRequest::DESCRIPTOR);
const BROWSE_NEXT: u32 = binary_id(BrowseNextRequest::DESCRIPTOR);
const CALL: u32 = binary_id(CallRequest::DESCRIPTOR);
const TRANSLATE: u32 = binary_id(TranslateBrowsePathsToNodeIdsRequest::DESCRIPTOR);

const READ_RESPONSE: u32 = binary_id(ReadResponse::DESCRIPTOR);
const BROWSE_RESPONSE: u32 = binary_id(BrowseResponse::DESCRIPTOR);
const BROWSE_NEXT_RESPONSE: u32 = binary_id(BrowseNextResponse::DESCRIPTOR);
const CALL_RESPONSE: u32 = binary_id(CallResponse::DESCRIPTOR);
const TRANSLATE_RESPONSE: u32 = binary_id(TranslateBrowsePathsToNodeIdsResponse::DESCRIPTOR);
const SERVICE_FAULT: u32 = binary_id(ServiceFault::DESCRIPTOR);

/// Sessions of one channel that are found without the table of all.
const KNOWN_SESSIONS: usize = 8;

/// What one request works with: the connection's parts, borrowed.
pub(crate) struct Turn<'t> {
    pub(crate) core: &'t Core,
    pub(crate) snapshot: &'t Snapshot,
    pub(crate) buffers: &'t mut Buffers,
    /// Sessions that requests of this channel used lately.
    pub(crate) known: &'t mut Vec<Arc<Session>>,
    pub(crate) channel: ChannelInfo<'t>,
    pub(crate) now: Now,
    /// Operations done in this turn.
    pub(crate) operations: u32,
}

/// Why a request gets a ServiceFault (OPC 10000-4 §7.34).
struct Fault {
    handle: u32,
    status: StatusCode,
}

/// The handle of the request, and what is still to come.
type Answered = Result<(u32, Option<Pending>), Fault>;

/// A response whose results array may have gaps.
struct Waiting {
    request_id: u32,
    handle: u32,
    response: u32,
    settings: Option<ReadSettings>,
}

impl Turn<'_> {
    /// Answers one request into `e`. `Some`: nothing was written, the response comes later.
    pub(crate) fn handle(&mut self, request_id: u32, body: &[u8], e: &mut Encoder<'_>) -> Option<Pending> {
        let start = e.mark();
        let fault = match self.serve(request_id, body, e) {
            Ok((_, Some(pending))) => {
                e.rewind(start);
                return Some(pending);
            }
            Ok((handle, None)) => match e.error() {
                None => return None,
                Some(error) => Fault { handle, status: error.status() },
            },
            Err(fault) => fault,
        };
        self.buffers.deferred.clear();
        e.rewind(start);
        put_fault(e, self.now, fault.handle, fault.status);
        None
    }

    fn serve(&mut self, request_id: u32, body: &[u8], e: &mut Encoder<'_>) -> Answered {
        self.spend(1);
        let mut d = Decoder::new(body, self.core.decode_context());
        let service = match NodeIdRef::decode_ref(&mut d) {
            Ok(NodeIdRef::Numeric(0, service)) => service,
            Ok(_) => 0,
            Err(error) => return Err(Fault { handle: 0, status: error.status() }),
        };
        match service {
            READ => self.read(request_id, d, e),
            BROWSE => self.browse(request_id, d, e),
            BROWSE_NEXT => self.browse_next(request_id, d, e),
            TRANSLATE => self.translate(d, e),
            CALL => self.call(request_id, d, e),
            GET_ENDPOINTS => self.get_endpoints(d, e),
            FIND_SERVERS => self.find_servers(d, e),
            CREATE_SESSION => self.create_session(d, e),
            ACTIVATE_SESSION => self.activate_session(d, e),
            CLOSE_SESSION => self.close_session(d, e),
            _ => Err(Fault { handle: handle_of(&d), status: status::BAD_SERVICE_UNSUPPORTED }),
        }
    }

    fn read(&mut self, request_id: u32, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: ReadRequestRef<'_> = view(d)?;
        let handle = request.request_header.request_handle;
        let session = self.find(request.request_header.authentication_token).map_err(fault(handle))?;
        let mut state = session.lock();
        state.admit(self.channel.id, self.now.ticks).map_err(fault(handle))?;
        self.spend(request.nodes_to_read.len());
        let mut cx = self.service(state.access);
        let settings = read::check(&cx, &request).map_err(fault(handle))?;
        put_header(e, READ_RESPONSE, cx.now, handle);
        let unfinished = read::results(&mut cx, &request, settings, e);
        e.put_array_len(None);
        drop(state);
        let waiting = Waiting { request_id, handle, response: READ_RESPONSE, settings: Some(settings) };
        Ok((handle, self.pending(waiting, session, unfinished)))
    }

    fn browse(&mut self, request_id: u32, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: BrowseRequestRef<'_> = view(d)?;
        let handle = request.request_header.request_handle;
        let session = self.find(request.request_header.authentication_token).map_err(fault(handle))?;
        let mut state = session.lock();
        state.admit(self.channel.id, self.now.ticks).map_err(fault(handle))?;
        self.spend(request.nodes_to_browse.len());
        let mut cx = self.service(state.access);
        browse::check(&cx, &request).map_err(fault(handle))?;
        put_header(e, BROWSE_RESPONSE, cx.now, handle);
        let unfinished = browse::results(&mut cx, &mut state.continuation, &request, e);
        e.put_array_len(None);
        drop(state);
        let waiting = Waiting { request_id, handle, response: BROWSE_RESPONSE, settings: None };
        Ok((handle, self.pending(waiting, session, unfinished)))
    }

    fn browse_next(&mut self, request_id: u32, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: BrowseNextRequestRef<'_> = view(d)?;
        let handle = request.request_header.request_handle;
        let session = self.find(request.request_header.authentication_token).map_err(fault(handle))?;
        let mut state = session.lock();
        state.admit(self.channel.id, self.now.ticks).map_err(fault(handle))?;
        self.spend(request.continuation_points.len());
        let mut cx = self.service(state.access);
        browse::check_count(&cx, request.continuation_points.len()).map_err(fault(handle))?;
        put_header(e, BROWSE_NEXT_RESPONSE, cx.now, handle);
        let mut unfinished = None;
        if request.release_continuation_points {
            browse::release(&mut state.continuation, &request, e);
        } else {
            unfinished = browse::next_results(&mut cx, &mut state.continuation, &request, e);
        }
        e.put_array_len(None);
        drop(state);
        let waiting = Waiting { request_id, handle, response: BROWSE_NEXT_RESPONSE, settings: None };
        Ok((handle, self.pending(waiting, session, unfinished)))
    }

    fn translate(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: TranslateBrowsePathsToNodeIdsRequestRef<'_> = view(d)?;
        let handle = request.request_header.request_handle;
        let session = self.find(request.request_header.authentication_token).map_err(fault(handle))?;
        let mut state = session.lock();
        state.admit(self.channel.id, self.now.ticks).map_err(fault(handle))?;
        self.spend(request.browse_paths.len());
        let mut cx = self.service(state.access);
        translate::check(&cx, &request).map_err(fault(handle))?;
        put_header(e, TRANSLATE_RESPONSE, cx.now, handle);
        translate::results(&mut cx, &request, e);
        e.put_array_len(None);
        Ok((handle, None))
    }

    fn call(&mut self, request_id: u32, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CallRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let session =
            self.find(request.request_header.authentication_token.as_ref()).map_err(fault(handle))?;
        let mut state = session.lock();
        state.admit(self.channel.id, self.now.ticks).map_err(fault(handle))?;
        let access = state.access;
        // Handlers may take their time: nobody waits for the session meanwhile.
        drop(state);
        self.spend(request.methods_to_call.len());
        let mut cx = self.service(access);
        call::check(&cx, &request).map_err(fault(handle))?;
        put_header(e, CALL_RESPONSE, cx.now, handle);
        let unfinished = call::results(&mut cx, &request, e);
        e.put_array_len(None);
        let waiting = Waiting { request_id, handle, response: CALL_RESPONSE, settings: None };
        Ok((handle, self.pending(waiting, session, unfinished)))
    }

    fn get_endpoints(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: GetEndpointsRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let mut response = discovery::get_endpoints(self.core, &request, self.channel.dialled);
        response.response_header = self.header(handle);
        put_response(e, &response);
        Ok((handle, None))
    }

    fn find_servers(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: FindServersRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let mut response = discovery::find_servers(self.core, &request, self.channel.dialled);
        response.response_header = self.header(handle);
        put_response(e, &response);
        Ok((handle, None))
    }

    fn create_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CreateSessionRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let created = session::create(self.core, &request, self.channel, self.now.ticks);
        let (mut response, session) = created.map_err(fault(handle))?;
        self.know(session);
        response.response_header = self.header(handle);
        put_response(e, &response);
        Ok((handle, None))
    }

    fn activate_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: ActivateSessionRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let session =
            self.find(request.request_header.authentication_token.as_ref()).map_err(fault(handle))?;
        let activated = session::activate(self.core, &request, &session, self.channel, self.now.ticks);
        let mut response = activated.map_err(fault(handle))?;
        self.know(session);
        response.response_header = self.header(handle);
        put_response(e, &response);
        Ok((handle, None))
    }

    fn close_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CloseSessionRequest = owned(d)?;
        let handle = request.request_header.request_handle;
        let session =
            self.find(request.request_header.authentication_token.as_ref()).map_err(fault(handle))?;
        session::close(self.core, &session, self.channel.id, self.now.ticks).map_err(fault(handle))?;
        self.known.retain(|known| !Arc::ptr_eq(known, &session));
        put_response(e, &CloseSessionResponse { response_header: self.header(handle) });
        Ok((handle, None))
    }

    /// The session of an authentication token, wherever it is bound.
    fn find(&mut self, token: NodeIdRef<'_>) -> Result<Arc<Session>, StatusCode> {
        let token = Token::from_header(token).ok_or(status::BAD_SESSION_ID_INVALID)?;
        if let Some(session) = self.known.iter().find(|session| session.token == token) {
            return Ok(Arc::clone(session));
        }
        let session = self.core.sessions.find(token).ok_or(status::BAD_SESSION_ID_INVALID)?;
        Ok(session)
    }

    /// Keeps a session of this channel at hand.
    fn know(&mut self, session: Arc<Session>) {
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

    fn spend(&mut self, operations: usize) {
        self.operations = self.operations.saturating_add(u32::try_from(operations).unwrap_or(u32::MAX));
    }

    fn service(&mut self, access: Access) -> ServiceCx<'_> {
        ServiceCx { core: self.core, snapshot: self.snapshot, buffers: self.buffers, access, now: self.now }
    }

    fn header(&self, handle: u32) -> ResponseHeader {
        ResponseHeader { timestamp: self.now.utc, request_handle: handle, ..Default::default() }
    }

    fn pending(
        &mut self,
        waiting: Waiting,
        session: Arc<Session>,
        rest: Option<Unfinished>,
    ) -> Option<Pending> {
        let Waiting { request_id, handle, response, settings } = waiting;
        let deferred = core::mem::take(&mut self.buffers.deferred);
        rest.map(|unfinished| Pending {
            request_id,
            handle,
            response,
            session,
            settings,
            unfinished,
            deferred,
        })
    }
}

/// Reads a request as a view into the message.
fn view<'a, T: DecodeRef<'a>>(mut d: Decoder<'a>) -> Result<T, Fault> {
    let start = d.clone();
    let request = T::decode_ref(&mut d).and_then(|request| d.finish().map(|()| request));
    request.map_err(|error| Fault { handle: handle_of(&start), status: error.status() })
}

/// Reads a request as a structure.
fn owned<T: Decode>(mut d: Decoder<'_>) -> Result<T, Fault> {
    let start = d.clone();
    let request = T::decode(&mut d).and_then(|request| d.finish().map(|()| request));
    request.map_err(|error| Fault { handle: handle_of(&start), status: error.status() })
}

/// The handle of a request that cannot be read as a whole; 0 if its header cannot be read either.
#[cold]
fn handle_of(start: &Decoder<'_>) -> u32 {
    RequestHeaderRef::decode_ref(&mut start.clone()).map_or(0, |header| header.request_handle)
}

fn fault(handle: u32) -> impl Fn(StatusCode) -> Fault {
    move |status| Fault { handle, status }
}

/// Writes the type id of a response and its good ResponseHeader (OPC 10000-4 §7.33), the longer form of
/// whose parts is null.
pub(crate) fn put_header(e: &mut Encoder<'_>, response: u32, now: Now, handle: u32) {
    put_header_with(e, response, now, handle, StatusCode::GOOD);
}

fn put_header_with(e: &mut Encoder<'_>, response: u32, now: Now, handle: u32, result: StatusCode) {
    NodeIdRef::Numeric(0, response).encode(e);
    e.put_i64(now.utc.0);
    e.put_u32(handle);
    e.put_u32(result.0);
    // No diagnostics (one byte), no string table, no additional header (null id and no body).
    e.put_u8(0);
    e.put_array_len(None);
    NodeIdRef::NULL.encode(e);
    e.put_u8(0);
}

/// Writes a ServiceFault.
pub(crate) fn put_fault(e: &mut Encoder<'_>, now: Now, handle: u32, status: StatusCode) {
    put_header_with(e, SERVICE_FAULT, now, handle, status);
}

fn put_response<T: Structure>(e: &mut Encoder<'_>, response: &T) {
    NodeIdRef::Numeric(0, binary_id(T::DESCRIPTOR)).encode(e);
    response.encode(e);
}
