//! A server of the test's making on the other end of a client's connection, in virtual time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use uaforge_client::{ClientBuilder, Connecting, Connection, Discovery, Session};
use uaforge_codec::{
    Array, DataValue, Decode as _, DecodeContext, Decoder, EncodeContext, Encoder, IntoVariant as _, NodeId,
    Now, SeededEntropy, StatusCode, Structure, Ticks, TypeRegistry, UaString,
};
use uaforge_net::Machine;
use uaforge_types::{
    ActivateSessionRequest, ActivateSessionResponse, CloseSessionRequest, CloseSessionResponse,
    CreateSessionRequest, CreateSessionResponse, EndpointDescription, GetEndpointsRequest,
    GetEndpointsResponse, MessageSecurityMode, OpenSecureChannelRequest, OpenSecureChannelResponse,
    ReadRequest, ReadResponse, ReadValueId, RequestHeader, ResponseHeader, ServiceFault, UserTokenPolicy,
    UserTokenType, status,
};

use crate::mutator::Mutator;
use crate::peer::start_time;
use crate::raw::{Chunk, NONE, body, field, message};

/// The address that the tests dial.
pub const URL: &str = "opc.tcp://127.0.0.1:14840/srv";
const CHANNEL: u32 = 7;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The id of the channel's message.
    pub id: u32,
    bytes: Vec<u8>,
}

impl Asked {
    /// The request, if it is of this type.
    pub fn get<Q: Structure>(&self) -> Option<Q> {
        let mut types = TypeRegistry::new();
        uaforge_types::register_types(&mut types);
        let mut d = Decoder::new(&self.bytes, DecodeContext { types: &types, ..Default::default() });
        let id = NodeId::decode(&mut d).expect("a type id");
        (id == NodeId::numeric(0, Q::DESCRIPTOR.binary_id())).then(|| Q::decode(&mut d).expect("a request"))
    }

    /// The request handle, which every request begins with.
    pub fn handle(&self) -> u32 {
        let mut d = Decoder::new(&self.bytes, DecodeContext::default());
        NodeId::decode(&mut d).expect("a type id");
        RequestHeader::decode(&mut d).expect("a header").request_handle
    }

    /// The nodes of a Read of a test; those of the client's own Reads are not asked for by a test.
    pub fn read(&self) -> Option<Vec<ReadValueId>> {
        let nodes = self.get::<ReadRequest>()?.nodes_to_read.into_vec();
        let own = nodes.iter().all(|node| node.node_id.namespace() == 0);
        (!own || nodes.is_empty()).then_some(nodes)
    }
}

/// What is sent at its time.
enum Out {
    Raw(Vec<u8>),
    /// A chunk, numbered when it is sent.
    Chunk {
        kind: &'static str,
        request_id: u32,
        content: Vec<u8>,
    },
}

/// What the server says and is.
pub struct Wire {
    /// RevisedLifetime of the tokens, in milliseconds.
    pub token_lifetime: u32,
    /// RevisedSessionTimeout, in milliseconds.
    pub session_timeout: f64,
    /// What the endpoints of GetEndpoints and of CreateSession name.
    pub endpoints: [Vec<EndpointDescription>; 2],
    /// The values of the client's first Read, from the namespaces on.
    pub tables: Vec<DataValue>,
    /// The channel id that chunks carry.
    pub channel: u32,
    /// Every request so far.
    pub log: Vec<Asked>,
    /// The URLs that were named in Hello, GetEndpoints and CreateSession.
    pub urls: Vec<String>,
    /// Damages some of what is sent.
    pub damage: Option<Mutator>,
    now: Ticks,
    token: u32,
    sequence: u32,
    out: VecDeque<(Ticks, Out)>,
    closes: bool,
}

impl Wire {
    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: Vec<u8>) {
        self.out.push_back((self.now, Out::Raw(bytes)));
    }

    /// Sends a chunk with the next number.
    pub fn chunk(&mut self, kind: &'static str, request_id: u32, content: &[u8]) {
        self.out.push_back((self.now, Out::Chunk { kind, request_id, content: content.to_vec() }));
    }

    fn bytes(&mut self, out: Out) -> Vec<u8> {
        let mut bytes = self.sound_bytes(out);
        if let Some(mutator) = &mut self.damage
            && mutator.below(20) == 0
        {
            let other = bytes.clone();
            mutator.mutate(&mut bytes, &other);
        }
        bytes
    }

    fn sound_bytes(&mut self, out: Out) -> Vec<u8> {
        match out {
            Out::Raw(bytes) => bytes,
            Out::Chunk { kind, request_id, mut content } => {
                // More often what is inside of a sound chunk, so that it is read at all.
                if let Some(mutator) = &mut self.damage
                    && mutator.below(4) == 0
                {
                    let other = content.clone();
                    mutator.mutate(&mut content, &other);
                }
                self.sequence += 1;
                let fields = [self.channel, self.token, self.sequence, request_id];
                let fields: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
                message(kind, &[&fields, &content])
            }
        }
    }

    /// Answers a request, in chunks of 60,000 bytes.
    pub fn respond<T: Structure>(&mut self, asked: &Asked, response: &T) {
        let content = body(response);
        let mut rest = content.as_slice();
        while rest.len() > 60_000 {
            let (part, after) = rest.split_at(60_000);
            self.chunk("MSGC", asked.id, part);
            rest = after;
        }
        self.chunk("MSGF", asked.id, rest);
    }

    /// Answers a request with a ServiceFault.
    pub fn fault(&mut self, asked: &Asked, status: StatusCode) {
        let response_header =
            ResponseHeader { service_result: status, request_handle: asked.handle(), ..Default::default() };
        self.respond(asked, &ServiceFault { response_header });
    }

    /// Answers a Read with one value for each node: its own number.
    pub fn values(&mut self, asked: &Asked, nodes: &[ReadValueId]) {
        let results: Vec<_> = nodes.iter().map(|node| DataValue::new(number(&node.node_id))).collect();
        self.respond(asked, &ReadResponse { results: results.into(), ..Default::default() });
    }

    /// Sends what was queued last only after a while.
    pub fn delay(&mut self, time: Duration) {
        if let Some((at, _)) = self.out.back_mut() {
            *at = *at + time;
        }
    }

    /// Closes the connection once everything is sent.
    pub fn close(&mut self) {
        self.closes = true;
    }

    /// How many requests of a type there were.
    pub fn count<Q: Structure>(&self) -> usize {
        self.log.iter().filter(|asked| asked.get::<Q>().is_some()).count()
    }

    fn opened(&mut self, chunk: &Chunk) -> Vec<u8> {
        let mut d = Decoder::new(&chunk.0[12..], DecodeContext::default());
        UaString::decode(&mut d).expect("a policy");
        d.bytes_field();
        d.bytes_field();
        d.u32().expect("a sequence number");
        let request_id = d.u32().expect("a request id");
        NodeId::decode(&mut d).expect("a type id");
        OpenSecureChannelRequest::decode(&mut d).expect("a request");
        self.token += 1;
        self.sequence += 1;
        let mut response = OpenSecureChannelResponse::default();
        response.security_token.channel_id = self.channel;
        response.security_token.token_id = self.token;
        response.security_token.revised_lifetime = self.token_lifetime;
        let mut bytes = b"OPNF\0\0\0\0".to_vec();
        let mut e = Encoder::new(&mut bytes, EncodeContext::default());
        e.put_u32(self.channel);
        e.put_str(Some(NONE));
        e.put_bytes(None);
        e.put_bytes(None);
        e.put_u32(self.sequence);
        e.put_u32(request_id);
        e.put(&body(&response));
        let size = u32::try_from(bytes.len()).expect("a small chunk");
        bytes[4..8].copy_from_slice(&size.to_le_bytes());
        bytes
    }

    /// What an ordinary server answers.
    fn usual(&mut self, asked: &Asked) {
        if let Some(request) = asked.get::<GetEndpointsRequest>() {
            self.urls.push(request.endpoint_url.text().into());
            let endpoints = self.endpoints[0].clone().into();
            self.respond(asked, &GetEndpointsResponse { endpoints, ..Default::default() });
        } else if let Some(request) = asked.get::<CreateSessionRequest>() {
            self.urls.push(request.endpoint_url.text().into());
            let response = CreateSessionResponse {
                session_id: NodeId::numeric(1, 1),
                authentication_token: NodeId::numeric(1, 99),
                revised_session_timeout: self.session_timeout,
                server_endpoints: self.endpoints[1].clone().into(),
                ..Default::default()
            };
            self.respond(asked, &response);
        } else if asked.get::<ActivateSessionRequest>().is_some() {
            self.respond(asked, &ActivateSessionResponse::default());
        } else if asked.get::<CloseSessionRequest>().is_some() {
            self.respond(asked, &CloseSessionResponse::default());
        } else if let Some(request) = asked.get::<ReadRequest>() {
            let first = request.nodes_to_read.first().map(|node| node.node_id.clone());
            if first == Some(NodeId::numeric(0, 2255)) {
                let mut results = self.tables.clone();
                results
                    .resize(request.nodes_to_read.len(), DataValue::from_status(status::BAD_NODE_ID_UNKNOWN));
                self.respond(asked, &ReadResponse { results: results.into(), ..Default::default() });
            } else {
                self.values(asked, &request.nodes_to_read);
            }
        } else {
            self.fault(asked, status::BAD_SERVICE_UNSUPPORTED);
        }
    }
}

/// Reading a byte string without keeping it.
trait Skip {
    fn bytes_field(&mut self);
}

impl Skip for Decoder<'_> {
    fn bytes_field(&mut self) {
        uaforge_codec::ByteString::decode(self).expect("a byte string");
    }
}

/// The number of a numeric id.
pub fn number(node_id: &NodeId) -> u32 {
    match node_id.identifier() {
        uaforge_codec::IdentifierRef::Numeric(number) => number,
        _ => 0,
    }
}

/// A plain endpoint with anonymous users.
pub fn plain_endpoint(url: &str) -> EndpointDescription {
    EndpointDescription {
        endpoint_url: url.into(),
        security_mode: MessageSecurityMode::NONE,
        security_policy_uri: NONE.into(),
        user_identity_tokens: vec![UserTokenPolicy {
            policy_id: "anonymous".into(),
            token_type: UserTokenType::ANONYMOUS,
            ..Default::default()
        }]
        .into(),
        ..Default::default()
    }
}

/// What the server does with a request; `false` leaves it to an ordinary server.
pub type Script = Box<dyn FnMut(&Asked, &mut Wire) -> bool>;

/// A client's connection, the server, and the time between them.
pub struct Pair {
    /// The client's end; gone once it is closed.
    pub connection: Option<Connection>,
    /// The server's state.
    pub wire: Wire,
    /// The time, which moves only when nothing else does.
    pub now: Now,
    script: Script,
    /// Bytes of the client that are no whole chunk yet.
    heard: Vec<u8>,
    /// Content of unfinished requests.
    partial: Vec<u8>,
    /// Bytes that the client has not taken yet.
    unread: Vec<u8>,
}

impl Pair {
    /// A session that is ready, with an ordinary server so far.
    pub fn with_session(builder: ClientBuilder) -> (Self, Session) {
        let (mut pair, connecting) = Self::connecting(builder, Box::new(|_, _| false));
        let session = pair.run(connecting).expect("a session");
        (pair, session)
    }

    /// A connection that is about to begin.
    pub fn connecting(builder: ClientBuilder, script: Script) -> (Self, Connecting<Session>) {
        let (connection, connecting) =
            builder.start(URL, SeededEntropy::new(3), start_time()).expect("an address");
        (Self::new(connection, script), connecting)
    }

    /// A channel for the discovery services.
    pub fn with_discovery(builder: ClientBuilder) -> (Self, Discovery) {
        let (connection, connecting) =
            builder.start_discovery(URL, SeededEntropy::new(3), start_time()).expect("an address");
        let mut pair = Self::new(connection, Box::new(|_, _| false));
        let discovery = pair.run(connecting).expect("a channel");
        (pair, discovery)
    }

    fn new(connection: Connection, script: Script) -> Self {
        let now = start_time();
        let namespaces: Array<UaString> = vec!["http://opcfoundation.org/UA/".into()].into();
        let endpoints = vec![plain_endpoint(URL)];
        let wire = Wire {
            token_lifetime: 3_600_000,
            session_timeout: 60_000.0,
            endpoints: [endpoints.clone(), endpoints],
            tables: vec![DataValue::new(namespaces.into_variant())],
            channel: CHANNEL,
            log: Vec::new(),
            urls: Vec::new(),
            damage: None,
            now: now.ticks,
            token: 0,
            sequence: 0,
            out: VecDeque::new(),
            closes: false,
        };
        Self {
            connection: Some(connection),
            wire,
            now,
            script,
            heard: Vec::new(),
            partial: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// From now on the server does this.
    pub fn script(&mut self, script: impl FnMut(&Asked, &mut Wire) -> bool + 'static) {
        self.script = Box::new(script);
    }

    /// Runs a future to its end. Time moves to the next deadline when nothing else does; a future that
    /// nothing wakes any more panics.
    pub fn run<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..2_000_000 {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                while self.exchange() {}
                return output;
            }
            if !self.exchange() && !self.next_moment() {
                panic!("the client hangs: nothing will wake it");
            }
        }
        panic!("the client goes round in circles");
    }

    /// Lets time pass, with everything that happens meanwhile.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now.ticks + time;
        loop {
            while self.exchange() {}
            if self.due().is_none_or(|at| at > until) {
                self.now.ticks = until;
                return;
            }
            self.next_moment();
        }
    }

    /// When something happens next.
    fn due(&self) -> Option<Ticks> {
        let client = self.connection.as_ref().and_then(Machine::deadline);
        let server = self.wire.out.iter().map(|(at, _)| *at).min();
        [client, server].into_iter().flatten().min()
    }

    fn next_moment(&mut self) -> bool {
        let Some(at) = self.due() else { return false };
        self.now.ticks = self.now.ticks.max(at);
        let now = self.now;
        if let Some(connection) = &mut self.connection
            && connection.deadline().is_some_and(|deadline| deadline <= now.ticks)
        {
            connection.on_deadline(now);
        }
        true
    }

    /// Carries bytes both ways once; whether something moved.
    fn exchange(&mut self) -> bool {
        let now = self.now;
        self.wire.now = now.ticks;
        let Some(connection) = &mut self.connection else { return false };
        let mut cx = Context::from_waker(Waker::noop());
        let mut moved = connection.poll_work(&mut cx, &move || now).is_ready();
        let output = connection.output();
        self.heard.extend_from_slice(output.unsent());
        moved |= !output.is_empty();
        output.advance(output.len());
        if connection.is_closed() {
            self.connection = None;
            return true;
        }
        self.hear();
        moved | self.say()
    }

    /// Handles what the client sent.
    fn hear(&mut self) {
        while self.heard.len() >= 8 && self.heard.len() >= field(&self.heard, 4) as usize {
            let size = field(&self.heard, 4) as usize;
            let chunk = Chunk(self.heard.drain(..size).collect());
            match chunk.kind() {
                "HELF" => {
                    self.wire.urls.push(String::from_utf8_lossy(&chunk.0[32..]).into_owned());
                    let fields = [0u32, 65_536, 65_536, 0, 0];
                    let fields: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
                    self.wire.raw(message("ACKF", &[&fields]));
                }
                "OPNF" => {
                    let answer = self.wire.opened(&chunk);
                    self.wire.raw(answer);
                }
                "MSGC" => self.partial.extend_from_slice(chunk.body()),
                "MSGF" => {
                    self.partial.extend_from_slice(chunk.body());
                    let asked = Asked { id: chunk.request_id(), bytes: std::mem::take(&mut self.partial) };
                    self.wire.log.push(asked.clone());
                    if !(self.script)(&asked, &mut self.wire) {
                        self.wire.usual(&asked);
                    }
                }
                _ => {}
            }
        }
    }

    /// Gives the client what is due.
    fn say(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        let now = self.now;
        let mut moved = false;
        let (due, later): (VecDeque<_>, VecDeque<_>) =
            self.wire.out.drain(..).partition(|(at, _)| *at <= now.ticks);
        self.wire.out = later;
        for (_, out) in due {
            self.unread.extend(self.wire.bytes(out));
            moved = true;
        }
        while !self.unread.is_empty() {
            let taken = connection.receive(&self.unread, now);
            self.unread.drain(..taken);
            if taken == 0 {
                break;
            }
        }
        if self.wire.closes && self.wire.out.is_empty() {
            self.wire.closes = false;
            connection.on_eof(now);
            moved = true;
        }
        moved
    }
}
