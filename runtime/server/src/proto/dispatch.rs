//! From the body of a request message to the body of its response: one small function per service.

use std::sync::Arc;

use uaforge_codec::{DecodeRef as _, Decoder, Encoder, NodeIdRef, StatusCode, Structure as _};
use uaforge_types::{
    ActivateSessionRequest, BrowseNextRequest, BrowseNextRequestRef, BrowseNextResponse, BrowseRequest,
    BrowseRequestRef, BrowseResponse, CallRequest, CallResponse, CancelRequest, CloseSessionRequest,
    CloseSessionResponse, CreateSessionRequest, FindServersOnNetworkRequest, FindServersRequest,
    GetEndpointsRequest, ReadRequest, ReadRequestRef, ReadResponse, RegisterNodesRequest,
    RegisterNodesRequestRef, RegisterNodesResponse, RegisterServer2Request, RegisterServerRequest,
    TranslateBrowsePathsToNodeIdsRequest, TranslateBrowsePathsToNodeIdsRequestRef,
    TranslateBrowsePathsToNodeIdsResponse, UnregisterNodesRequest, UnregisterNodesRequestRef,
    UnregisterNodesResponse, WriteRequest, WriteRequestRef, WriteResponse, status,
};

use super::buffers::recycle;
use super::envelope::{put_header, put_response};
use super::late_session::LateSession;
use super::turn::{Answered, Turn};
use crate::discovery::Registrant;
use crate::life::Phase;
use crate::manager::ReadItem;
use crate::security::{Credentials, Login};
use crate::services::write::WriteHead;
use crate::services::{browse, call, discovery, read, register, registration, session, translate, write};
use crate::subscription::items::Place;

const FIND_SERVERS: u32 = FindServersRequest::DESCRIPTOR.binary_id();
const FIND_SERVERS_ON_NETWORK: u32 = FindServersOnNetworkRequest::DESCRIPTOR.binary_id();
const REGISTER_SERVER: u32 = RegisterServerRequest::DESCRIPTOR.binary_id();
const REGISTER_SERVER2: u32 = RegisterServer2Request::DESCRIPTOR.binary_id();
const GET_ENDPOINTS: u32 = GetEndpointsRequest::DESCRIPTOR.binary_id();
const CREATE_SESSION: u32 = CreateSessionRequest::DESCRIPTOR.binary_id();
const ACTIVATE_SESSION: u32 = ActivateSessionRequest::DESCRIPTOR.binary_id();
const CANCEL: u32 = CancelRequest::DESCRIPTOR.binary_id();
const CLOSE_SESSION: u32 = CloseSessionRequest::DESCRIPTOR.binary_id();
const READ: u32 = ReadRequest::DESCRIPTOR.binary_id();
const WRITE: u32 = WriteRequest::DESCRIPTOR.binary_id();
const BROWSE: u32 = BrowseRequest::DESCRIPTOR.binary_id();
const BROWSE_NEXT: u32 = BrowseNextRequest::DESCRIPTOR.binary_id();
const REGISTER_NODES: u32 = RegisterNodesRequest::DESCRIPTOR.binary_id();
const UNREGISTER_NODES: u32 = UnregisterNodesRequest::DESCRIPTOR.binary_id();
const CALL: u32 = CallRequest::DESCRIPTOR.binary_id();
const TRANSLATE: u32 = TranslateBrowsePathsToNodeIdsRequest::DESCRIPTOR.binary_id();

const READ_RESPONSE: u32 = ReadResponse::DESCRIPTOR.binary_id();
const WRITE_RESPONSE: u32 = WriteResponse::DESCRIPTOR.binary_id();
const BROWSE_RESPONSE: u32 = BrowseResponse::DESCRIPTOR.binary_id();
const BROWSE_NEXT_RESPONSE: u32 = BrowseNextResponse::DESCRIPTOR.binary_id();
const REGISTER_NODES_RESPONSE: u32 = RegisterNodesResponse::DESCRIPTOR.binary_id();
const CALL_RESPONSE: u32 = CallResponse::DESCRIPTOR.binary_id();
const TRANSLATE_RESPONSE: u32 = TranslateBrowsePathsToNodeIdsResponse::DESCRIPTOR.binary_id();

impl Turn<'_> {
    pub(super) fn serve(&mut self, body: &[u8], e: &mut Encoder<'_>) -> Answered {
        self.spend(1);
        let mut d = Decoder::new(body, self.core.decode_context());
        let service = match NodeIdRef::decode_ref(&mut d) {
            Ok(NodeIdRef::Numeric(0, service)) => service,
            Ok(_) => 0,
            Err(error) => return Err(error.status()),
        };
        match service {
            READ => self.read(d, e),
            WRITE => self.write(d, e),
            BROWSE => self.browse(d, e),
            BROWSE_NEXT => self.browse_next(d, e),
            TRANSLATE => self.translate(d, e),
            CALL => self.call(d, e),
            REGISTER_NODES => self.register_nodes(d, e),
            UNREGISTER_NODES => self.unregister_nodes(d, e),
            GET_ENDPOINTS => self.get_endpoints(d, e),
            FIND_SERVERS => self.find_servers(d, e),
            FIND_SERVERS_ON_NETWORK => self.find_servers_on_network(d, e),
            REGISTER_SERVER => self.register_server(d, e),
            REGISTER_SERVER2 => self.register_server2(d, e),
            CREATE_SESSION => self.create_session(d, e),
            ACTIVATE_SESSION => self.activate_session(d, e),
            CANCEL => self.cancel(d, e),
            CLOSE_SESSION => self.close_session(d, e),
            other => self.serve_subscriptions(other, d, e),
        }
    }

    fn read(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let mut items = recycle!(core::mem::take(&mut self.buffers.read_items));
        let answered = self.read_items(d, e, &mut items);
        self.buffers.read_items = recycle!(items);
        answered
    }

    fn read_items<'a>(
        &mut self,
        d: Decoder<'a>,
        e: &mut Encoder<'_>,
        items: &mut Vec<ReadItem<'a>>,
    ) -> Answered {
        // What is too much is checked for form, but not kept.
        let most = self.core.limits.operations.max_nodes_per_read as usize;
        let request: ReadRequestRef<'_> = self.view_each(d, |index, node| {
            if index < most {
                items.push(ReadItem::new(index, &node));
            }
        })?;
        let admitted = self.admit(&request.request_header, request.nodes_to_read.len())?;
        self.answer(admitted, READ_RESPONSE, e, |cx, e| {
            let settings = read::check(cx, &request)?;
            Ok(read::results(cx, items, settings, e))
        })
    }

    fn write(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let mut heads = recycle!(core::mem::take(&mut self.buffers.write_heads));
        let answered = self.write_items(d, e, &mut heads);
        self.buffers.write_heads = recycle!(heads);
        answered
    }

    fn write_items<'a>(
        &mut self,
        d: Decoder<'a>,
        e: &mut Encoder<'_>,
        heads: &mut Vec<WriteHead<'a>>,
    ) -> Answered {
        let mut message = d.clone();
        let most = self.core.limits.operations.max_nodes_per_write as usize;
        let request: WriteRequestRef<'_> = self.view_each(d, |index, node| {
            if index < most {
                heads.push(WriteHead::new(node));
            }
        })?;
        let admitted = self.admit(&request.request_header, request.nodes_to_write.len())?;
        self.check_handlers()?;
        self.answer(admitted, WRITE_RESPONSE, e, |cx, e| {
            write::check(cx, &request)?;
            Ok(write::results(cx, heads, &mut message, e))
        })
    }

    fn browse(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: BrowseRequestRef<'_> = self.view(d)?;
        let admitted = self.admit(&request.request_header, request.nodes_to_browse.len())?;
        self.answer(admitted, BROWSE_RESPONSE, e, |cx, e| {
            browse::check(cx, &request)?;
            Ok(browse::results(cx, &request, e))
        })
    }

    fn browse_next(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: BrowseNextRequestRef<'_> = self.view(d)?;
        let admitted = self.admit(&request.request_header, request.continuation_points.len())?;
        self.answer(admitted, BROWSE_NEXT_RESPONSE, e, |cx, e| {
            browse::check_count(cx, request.continuation_points.len())?;
            if request.release_continuation_points {
                browse::release(cx, &request, e);
                return Ok(None);
            }
            Ok(browse::next_results(cx, &request, e))
        })
    }

    fn translate(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: TranslateBrowsePathsToNodeIdsRequestRef<'_> = self.view(d)?;
        let admitted = self.admit(&request.request_header, request.browse_paths.len())?;
        self.answer(admitted, TRANSLATE_RESPONSE, e, |cx, e| {
            translate::check(cx, &request)?;
            Ok(translate::results(cx, &request, e))
        })
    }

    /// Handlers of Write and Call outlive their requests; there are not more and more of them.
    fn check_handlers(&self) -> Result<(), StatusCode> {
        let most = self.core.limits.max_handlers_beyond_requests;
        if self.core.orphans.len() < most { Ok(()) } else { Err(status::BAD_SERVER_TOO_BUSY) }
    }

    fn call(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CallRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, request.methods_to_call.len())?;
        self.check_handlers()?;
        self.answer(admitted, CALL_RESPONSE, e, |cx, e| {
            call::check(cx, &request)?;
            Ok(call::results(cx, &request, e))
        })
    }

    fn register_nodes(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: RegisterNodesRequestRef<'_> = self.view(d)?;
        let admitted = self.admit(&request.request_header, request.nodes_to_register.len())?;
        put_header(e, REGISTER_NODES_RESPONSE, self.now, self.handle);
        let mut cx = self.service(&admitted);
        register::check(&cx, &request)?;
        register::register(&mut cx, &request, e);
        Ok(None)
    }

    fn unregister_nodes(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: UnregisterNodesRequestRef<'_> = self.view(d)?;
        let admitted = self.admit(&request.request_header, request.nodes_to_unregister.len())?;
        let cx = self.service(&admitted);
        register::check_count(&cx, request.nodes_to_unregister.len())?;
        register::unregister(&cx, &request);
        put_response(e, &UnregisterNodesResponse { response_header: self.header() });
        Ok(None)
    }

    fn get_endpoints(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: GetEndpointsRequest = self.owned(d)?;
        self.note(&request.request_header);
        let mut response = discovery::get_endpoints(self.core, &request, self.channel.dialled);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn find_servers(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: FindServersRequest = self.owned(d)?;
        self.note(&request.request_header);
        let mut response = discovery::find_servers(self.core, &request, self.channel.dialled, self.now.ticks);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn find_servers_on_network(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: FindServersOnNetworkRequest = self.owned(d)?;
        self.note(&request.request_header);
        let mut response = registration::find_servers_on_network(self.core, &request, self.now.ticks)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn registrant(&self) -> Registrant<'_> {
        Registrant { address: self.mailbox.address(), channel: self.channel.security }
    }

    fn register_server(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: RegisterServerRequest = self.owned(d)?;
        self.note(&request.request_header);
        self.check_protection()?;
        let mut response =
            registration::register_server(self.core, &self.registrant(), request, self.now.ticks)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn register_server2(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: RegisterServer2Request = self.owned(d)?;
        self.note(&request.request_header);
        self.check_protection()?;
        let mut response =
            registration::register_server2(self.core, &self.registrant(), request, self.now.ticks)?;
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn create_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CreateSessionRequest = self.owned(d)?;
        self.note(&request.request_header);
        self.check_protection()?;
        if self.core.life.phase() >= Phase::Stopping {
            return Err(status::BAD_SHUTDOWN);
        }
        if self.mailbox.session_count() >= self.core.limits.max_sessions_per_connection as usize {
            return Err(status::BAD_TOO_MANY_SESSIONS);
        }
        let created = session::create(self.core, &request, self.channel, self.now.ticks)?;
        let session::Created { mut response, session, signature } = created;
        self.mailbox.note_session(self.channel.id, &session);
        self.know(Arc::clone(&session));
        response.response_header = self.header();
        match signature {
            None => put_response(e, &*response),
            Some(signature) => {
                let ids = self.later();
                self.late_sessions.push(LateSession::create(ids, response, session, signature));
            }
        }
        Ok(None)
    }

    /// Whether more than discovery may be done over the channel (OPC 10000-4 §5.5.4.1, §5.7.2.1).
    fn check_protection(&self) -> Result<(), StatusCode> {
        let allowed = self.channel.security.is_some() || self.core.secured().plain;
        if allowed { Ok(()) } else { Err(status::BAD_SECURITY_POLICY_REJECTED) }
    }

    fn activate_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: ActivateSessionRequest = self.owned(d)?;
        self.note(&request.request_header);
        let session = self.find(request.request_header.authentication_token.as_ref())?;
        let (channel, now) = (self.channel, self.now);
        let (activating, login) =
            session::begin_activation(self.core, &request, session, channel, now.ticks)?;
        if !matches!(login, Login::Now(Credentials::Anonymous)) {
            let ids = self.later();
            let authenticator = Arc::clone(&self.core.authenticator);
            self.late_sessions.push(LateSession::activate(ids, activating, login, authenticator, now));
            return Ok(None);
        }
        let session = Arc::clone(&activating.session);
        let mut response = session::finish_activation(self.core, activating, None, now.ticks)?;
        self.mailbox.note_session(self.channel.id, &session);
        let place = Place { core: self.core, snapshot: self.snapshot, now };
        self.core.subscriptions.session_activated(place, &session, self.mailbox);
        self.activated = true;
        self.know(session);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    /// Request id and handle of a request whose response comes later; nothing is written for it now.
    fn later(&mut self) -> (u32, u32) {
        self.diagnostics = 0;
        (self.request_id, self.handle)
    }

    fn cancel(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CancelRequest = self.owned(d)?;
        let admitted = self.admit(&request.request_header, 0)?;
        let mut response = session::cancel(&request, &admitted.session);
        let mut subscriptions = self.core.subscriptions.using(self.now);
        response.cancel_count += subscriptions.cancel(admitted.session.token, request.request_handle);
        drop(subscriptions);
        response.response_header = self.header();
        put_response(e, &response);
        Ok(None)
    }

    fn close_session(&mut self, d: Decoder<'_>, e: &mut Encoder<'_>) -> Answered {
        let request: CloseSessionRequest = self.owned(d)?;
        self.note(&request.request_header);
        let session = self.find(request.request_header.authentication_token.as_ref())?;
        let delete = request.delete_subscriptions;
        session::close(self.core, &session, self.channel.id, delete, self.now.ticks)?;
        self.known.retain(|known| !Arc::ptr_eq(known, &session));
        put_response(e, &CloseSessionResponse { response_header: self.header() });
        Ok(None)
    }
}
