//! The server's side of a channel.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use uaforge_codec::{ByteString, Entropy, Now, StatusCode, Ticks};
use uaforge_types::{
    ChannelSecurityToken, MessageSecurityMode, OpenSecureChannelRequest, OpenSecureChannelResponse,
    ResponseHeader, SecurityTokenRequestType, status,
};

use crate::conversation::{Conversation, Done};
use crate::error::security_checks_failed;
use crate::frame::{Frame, MessageType};
use crate::hello::{put_acknowledge, put_error, read_error, read_hello};
use crate::open::{AsymmetricHeader, Numbered, nonce, read_body};
use crate::reader::Incoming;
use crate::token::{Token, Tokens};
use crate::{
    AsymmetricChunk, ChannelError, Limits, MemoryQuota, Negotiated, Role, SecurityProvider, TokenKeys,
    TokenSecret, Writer,
};

/// How a server's channel behaves (OPC 10000-4 §5.6.2).
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The id that the channel gets; unique in the server and not 0.
    pub channel_id: u32,
    /// What is received and sent at most.
    pub limits: Limits,
    /// The policies that are offered.
    pub policies: Arc<[Box<dyn SecurityProvider>]>,
    /// Shortest and longest lifetime of a token.
    pub lifetime: (Duration, Duration),
    /// How long Hello and OpenSecureChannel may take together.
    pub handshake_timeout: Duration,
    /// How long the chunks of one message may take.
    pub message_timeout: Duration,
}

/// What became of received bytes (OPC 10000-6 §6.7.3).
pub enum ServerEvent<'c> {
    /// More bytes are needed, or [`ServerChannel::poll`] has to be ready first.
    Incomplete,
    /// The channel took them for itself; there may be more behind them.
    Handled,
    /// A request; answer it with the writer, now or later.
    Message {
        /// To be repeated in the response.
        request_id: u32,
        /// Type id and request.
        body: &'c [u8],
        /// Writes the answer.
        writer: &'c mut Writer,
    },
    /// The channel is closed: flush what was written, then close the connection.
    Closed,
}

/// What a channel awaits; the connection protocol's states (OPC 10000-6 §7.1.3) and the channel's.
#[derive(Debug)]
enum State {
    Hello { until: Ticks },
    Opening { until: Ticks },
    Open(Open),
    Closed(Option<ChannelError>),
}

/// An open channel.
#[derive(Debug)]
struct Open {
    mode: MessageSecurityMode,
    tokens: Tokens,
    /// The client's nonce of the last token; the next one has to be another.
    nonce: ByteString,
    /// What the keys of the next token depend on.
    secret: Option<TokenSecret>,
    /// The client's certificate; a renewal comes with the same one (OPC 10000-4 §5.6.2.1).
    peer: Option<Arc<[u8]>>,
}

/// One connection of a client, from Hello to CloseSecureChannel (OPC 10000-4 §5.6).
#[derive(Debug)]
pub struct ServerChannel {
    config: ServerConfig,
    conversation: Conversation,
    state: State,
    /// Index of the policy that OpenSecureChannel named.
    policy: usize,
    /// Id of the last token; 0 before the first.
    last_token: u32,
    endpoint_url: String,
    /// Longest message before [`ServerChannel::lift_message_limit`].
    early_message: usize,
    /// The header of the next OpenSecureChannel response.
    header: Option<Box<ResponseHeader>>,
    /// What signatures of sessions are bound to.
    thumbprint: Option<Arc<[u8]>>,
}

impl ServerChannel {
    /// A connection that was just accepted.
    #[must_use]
    pub fn new(config: ServerConfig, entropy: impl Entropy + Send + 'static, now: Now) -> Self {
        let mut conversation = Conversation::new(entropy);
        conversation.writer.channel = config.channel_id;
        Self {
            state: State::Hello { until: now.ticks + config.handshake_timeout },
            config,
            conversation,
            policy: 0,
            last_token: 0,
            endpoint_url: String::new(),
            early_message: usize::MAX,
            header: None,
            thumbprint: None,
        }
    }

    /// The id of the channel.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.config.channel_id
    }

    /// The address that the client dialled, as it stands in its Hello.
    #[must_use]
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// The security mode of the channel; Invalid before it is open.
    #[must_use]
    pub fn security_mode(&self) -> MessageSecurityMode {
        match &self.state {
            State::Open(open) => open.mode,
            _ => MessageSecurityMode::INVALID,
        }
    }

    /// The security policy of the channel, once it is open.
    #[must_use]
    pub fn security_policy(&self) -> Option<&dyn SecurityProvider> {
        match &self.state {
            State::Open(_) => self.config.policies.get(self.policy).map(|policy| &**policy),
            _ => None,
        }
    }

    /// The client's certificate with the chain it sent, once a secured channel is open.
    #[must_use]
    pub fn peer_certificate(&self) -> Option<&Arc<[u8]>> {
        match &self.state {
            State::Open(open) => open.peer.as_ref(),
            _ => None,
        }
    }

    /// The ChannelThumbprint, if the policy has SecureChannelEnhancements (OPC 10000-6 §6.7.5).
    #[must_use]
    pub fn thumbprint(&self) -> Option<&Arc<[u8]>> {
        self.thumbprint.as_ref()
    }

    /// Whether requests may come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_)) && !self.is_closed()
    }

    /// Whether the channel has ended; what is written may still be flushed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_)) || self.conversation.writer.failure().is_some()
    }

    /// Why the channel ended, unless the client closed it.
    #[must_use]
    pub fn error(&self) -> Option<&ChannelError> {
        match &self.state {
            State::Closed(error) => error.as_ref(),
            _ => self.conversation.writer.failure(),
        }
    }

    /// The limits that hold, after Hello.
    #[must_use]
    pub fn limits(&self) -> &Negotiated {
        &self.conversation.writer.limits
    }

    /// Writes responses that come later than their request was handled.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.conversation.writer
    }

    /// The id of the next token and the header of the response that grants it, instead of the next number
    /// and one with nothing but the time: for a server that counts tokens over all its channels, or to
    /// repeat a recording (OPC 10000-4 §5.6.2).
    pub fn set_next_token(&mut self, token_id: u32, header: ResponseHeader) {
        self.last_token = token_id.wrapping_sub(1);
        self.header = Some(Box::new(header));
    }

    /// Whether received bytes can be handled now; if not, [`ServerChannel::poll`] has to be ready first.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        !self.conversation.is_waiting()
    }

    /// Takes the first frame of `input`; gives the bytes it took and what they were. What the channel has
    /// to say itself goes to `out`.
    pub fn receive<'c>(
        &'c mut self,
        input: &'c [u8],
        now: Now,
        out: &mut Vec<u8>,
    ) -> (usize, ServerEvent<'c>) {
        if self.is_closed() {
            return (input.len(), ServerEvent::Closed);
        }
        let frame = match self.conversation.frame(input) {
            Ok(Some(frame)) => frame,
            Ok(None) => return (0, ServerEvent::Incomplete),
            Err(error) => return (input.len(), self.fail(error, out)),
        };
        let size = frame.bytes.len();
        if frame.kind == MessageType::Message && matches!(self.state, State::Open(_)) {
            return (size, self.message(frame, now, out));
        }
        let event = match self.control(frame, now, out) {
            Ok(()) if self.is_closed() => ServerEvent::Closed,
            Ok(()) => ServerEvent::Handled,
            Err(error) => self.fail(error, out),
        };
        (size, event)
    }

    fn message<'c>(&'c mut self, frame: Frame<'c>, now: Now, out: &mut Vec<u8>) -> ServerEvent<'c> {
        let State::Open(Open { tokens, .. }) = &mut self.state else { return ServerEvent::Handled };
        let Conversation { reader, writer, .. } = &mut self.conversation;
        let error = match reader.take(frame, self.config.channel_id, tokens, now.ticks) {
            Ok((incoming, is_other)) => {
                if is_other {
                    tokens.advance(writer);
                }
                return match incoming {
                    Incoming::Message { request_id, body } => {
                        ServerEvent::Message { request_id, body, writer }
                    }
                    Incoming::Part | Incoming::Abort { .. } => ServerEvent::Handled,
                };
            }
            Err(error) => error,
        };
        put_error(out, &error);
        writer.end();
        self.state = State::Closed(Some(error));
        ServerEvent::Closed
    }

    /// Everything but requests.
    fn control(&mut self, frame: Frame<'_>, now: Now, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        match (frame.kind, &mut self.state) {
            (MessageType::Hello, State::Hello { until }) => {
                let until = *until;
                self.hello(frame, until, out)
            }
            (MessageType::Open, State::Opening { .. } | State::Open(_)) => {
                let policy = self.choose_policy(frame)?;
                let operation = policy.open(frame.bytes.to_vec(), None, now);
                self.conversation.open(operation);
                self.advance(&mut Context::from_waker(Waker::noop()), now, out).map(|_| ())
            }
            (MessageType::Close, State::Open(open)) => {
                let reader = &mut self.conversation.reader;
                reader.take_close(frame, self.config.channel_id, &mut open.tokens, now.ticks)?;
                self.end(None);
                Ok(())
            }
            (MessageType::Error, _) => {
                self.end(Some(read_error(frame.body())));
                Ok(())
            }
            (MessageType::Message | MessageType::Close, State::Opening { .. }) => Err(unknown_channel()),
            _ => Err(ChannelError::new(
                status::BAD_TCP_MESSAGE_TYPE_INVALID,
                "a message of this type is not expected now",
            )),
        }
    }

    /// The policy that an OpenSecureChannel message names; a renewal cannot change it.
    fn choose_policy(&mut self, frame: Frame<'_>) -> Result<&dyn SecurityProvider, ChannelError> {
        let (header, _) = AsymmetricHeader::parse(frame.bytes)?;
        let named = header.policy.unwrap_or_default();
        let mut policies = self.config.policies.iter().enumerate();
        let found = policies.find(|(_, policy)| policy.policy_uri().as_bytes() == named);
        let (index, policy) = found.ok_or_else(policy_rejected)?;
        if matches!(self.state, State::Open(_)) && index != self.policy {
            let reason = "a renewal cannot change the security policy";
            return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
        }
        self.policy = index;
        Ok(&**policy)
    }

    fn hello(&mut self, frame: Frame<'_>, until: Ticks, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        let (announced, endpoint_url) = read_hello(frame.body())?;
        let settled = Negotiated::settle(&self.config.limits, &announced)?;
        self.endpoint_url = endpoint_url;
        self.conversation.reader.limits =
            Negotiated { receive_message: settled.receive_message.min(self.early_message), ..settled };
        self.conversation.writer.limits = settled;
        put_acknowledge(out, &announced.acknowledge(&self.config.limits));
        self.state = State::Opening { until };
        Ok(())
    }

    /// Takes no longer messages than this until [`ServerChannel::lift_message_limit`], whatever the limits that
    /// are announced; for clients that are not known yet. The messages of all of them share `memory`.
    pub fn limit_messages(&mut self, longest: usize, memory: Arc<MemoryQuota>) {
        self.early_message = longest;
        let reader = &mut self.conversation.reader;
        reader.limits.receive_message = reader.limits.receive_message.min(longest);
        reader.share.move_to(memory);
    }

    /// Takes messages as long as was announced; those of all such channels share `memory`.
    pub fn lift_message_limit(&mut self, memory: Arc<MemoryQuota>) {
        self.early_message = usize::MAX;
        let Conversation { reader, writer, .. } = &mut self.conversation;
        reader.limits.receive_message = writer.limits.receive_message;
        reader.share.move_to(memory);
    }

    /// Goes on with what a private key is needed for. Ready if something was done; ask again then.
    pub fn poll(&mut self, cx: &mut Context<'_>, now: Now, out: &mut Vec<u8>) -> Poll<()> {
        if self.is_closed() || !self.conversation.is_waiting() {
            return Poll::Pending;
        }
        match self.advance(cx, now, out) {
            Ok(progress) => progress,
            Err(error) => {
                self.fail(error, out);
                Poll::Ready(())
            }
        }
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Result<Poll<()>, ChannelError> {
        let mut progress = Poll::Pending;
        while let Poll::Ready(done) = self.conversation.poll(cx, out) {
            progress = Poll::Ready(());
            match done? {
                Done::Opened(chunk) => self.opened(chunk, now)?,
                Done::Sent(signature) => self.sent(signature),
            }
        }
        Ok(progress)
    }

    /// The signature of the first response is the channel's thumbprint (OPC 10000-6 §6.7.5).
    fn sent(&mut self, signature: Option<Arc<[u8]>>) {
        let policy = self.config.policies.get(self.policy);
        if self.thumbprint.is_none() && policy.is_some_and(|policy| policy.is_enhanced()) {
            self.thumbprint = signature;
        }
    }

    /// Issues or renews a token (OPC 10000-4 §5.6.2).
    fn opened(&mut self, chunk: AsymmetricChunk, now: Now) -> Result<(), ChannelError> {
        let policies = Arc::clone(&self.config.policies);
        let policy = policies.get(self.policy).ok_or_else(policy_rejected)?;
        let Conversation { reader, writer, entropy, .. } = &mut self.conversation;
        let known = match &self.state {
            State::Open(_) => self.config.channel_id,
            _ => {
                reader.set_rule(policy.sequence_rule());
                writer.set_rule(policy.sequence_rule());
                0
            }
        };
        if chunk.channel_id != known {
            return Err(unknown_channel());
        }
        let numbered = Numbered::parse(&chunk.content)?;
        reader.sequence.take(numbered.sequence)?;
        let request: OpenSecureChannelRequest = read_body(numbered.body)?;
        check_request(&request, &**policy, &self.state)?;
        let exchange = policy.exchange(Role::Server, request.security_mode, &mut **entropy)?;
        let server_nonce = nonce(exchange.nonce());
        let (before, binding) = match &self.state {
            State::Open(open) if open.peer != chunk.peer => return Err(security_checks_failed()),
            State::Open(open) => (open.secret.as_ref(), None),
            _ => (None, chunk.signature.filter(|_| policy.is_enhanced())),
        };
        let keys = exchange.finish(request.client_nonce.bytes(), before)?;
        let token = self.issue(&request, keys, chunk.peer.clone(), now);
        let response = OpenSecureChannelResponse {
            response_header: ResponseHeader {
                request_handle: request.request_header.request_handle,
                service_result: StatusCode::GOOD,
                ..self.header.take().map_or_else(|| at(now), |header| *header)
            },
            server_protocol_version: 0,
            security_token: token,
            server_nonce,
        };
        let numbers = (self.conversation.writer.hold(), numbered.request_id);
        let chunk = Numbered::chunk(self.config.channel_id, chunk.peer, numbers, &response, binding);
        self.conversation.seal(policy.seal(chunk));
        Ok(())
    }

    /// Makes the token that the response names.
    fn issue(
        &mut self,
        request: &OpenSecureChannelRequest,
        keys: TokenKeys,
        peer: Option<Arc<[u8]>>,
        now: Now,
    ) -> ChannelSecurityToken {
        let lifetime = Duration::from_millis(request.requested_lifetime.into())
            .clamp(self.config.lifetime.0, self.config.lifetime.1);
        self.last_token = self.last_token.wrapping_add(1).max(1);
        let secret = keys.secret.clone();
        let mut token = Token::new(self.last_token, now.ticks, lifetime, keys);
        let nonce = request.client_nonce.clone();
        match &mut self.state {
            State::Open(open) => {
                open.tokens.issue(token);
                open.nonce = nonce;
                open.secret = secret;
            }
            state => {
                token.send_with(&mut self.conversation.writer);
                let tokens = Tokens::new(token);
                *state = State::Open(Open { mode: request.security_mode, tokens, nonce, secret, peer });
            }
        }
        ChannelSecurityToken {
            channel_id: self.config.channel_id,
            token_id: self.last_token,
            created_at: now.utc,
            revised_lifetime: u32::try_from(lifetime.as_millis()).unwrap_or(u32::MAX),
        }
    }

    /// Ends the channel and tells the client why.
    pub fn close(&mut self, error: ChannelError, out: &mut Vec<u8>) {
        if !self.is_closed() {
            self.fail(error, out);
        }
    }

    fn fail(&mut self, error: ChannelError, out: &mut Vec<u8>) -> ServerEvent<'static> {
        put_error(out, &error);
        self.end(Some(error));
        ServerEvent::Closed
    }

    fn end(&mut self, error: Option<ChannelError>) {
        self.conversation.writer.end();
        self.state = State::Closed(error);
    }

    /// When [`ServerChannel::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Ticks> {
        if self.is_closed() {
            return None;
        }
        match &self.state {
            State::Hello { until } | State::Opening { until } => Some(*until),
            State::Open(open) => {
                let last = self.conversation.deadline(&open.tokens, self.config.message_timeout);
                Some(open.tokens.switch_at().map_or(last, |at| last.min(at)))
            }
            State::Closed(_) => None,
        }
    }

    /// Ends the channel if a deadline has come.
    pub fn on_deadline(&mut self, now: Now, out: &mut Vec<u8>) {
        if self.is_closed() {
            return;
        }
        let result = match &mut self.state {
            State::Hello { until } | State::Opening { until } if *until <= now.ticks => {
                Err(ChannelError::new(status::BAD_TIMEOUT, "the channel was not opened in time"))
            }
            State::Open(open) => {
                open.tokens.switch(now.ticks, &mut self.conversation.writer);
                self.conversation.overdue(&open.tokens, now, self.config.message_timeout)
            }
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.fail(error, out);
        }
    }

    /// Gives room back that no message needs now.
    pub fn trim(&mut self) {
        self.conversation.reader.trim();
    }
}

/// Whether a token may be asked for like this.
fn check_request(
    request: &OpenSecureChannelRequest,
    policy: &dyn SecurityProvider,
    state: &State,
) -> Result<(), ChannelError> {
    let error = |status, reason| Err(ChannelError::new(status, reason));
    let (fits, expected) = match state {
        State::Open(open) => (request.security_mode == open.mode, SecurityTokenRequestType::RENEW),
        _ => (policy.allows(request.security_mode), SecurityTokenRequestType::ISSUE),
    };
    if !fits {
        return error(status::BAD_SECURITY_MODE_REJECTED, "the security mode does not fit");
    }
    if request.request_type != expected {
        return error(status::BAD_REQUEST_TYPE_INVALID, "the request type does not fit the channel");
    }
    match state {
        State::Open(open) if !open.nonce.bytes().is_empty() && open.nonce == request.client_nonce => {
            Err(security_checks_failed())
        }
        _ => Ok(()),
    }
}

fn at(now: Now) -> ResponseHeader {
    ResponseHeader { timestamp: now.utc, ..Default::default() }
}

fn policy_rejected() -> ChannelError {
    ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, "the security policy is not offered")
}

fn unknown_channel() -> ChannelError {
    let reason = "the channel id does not belong to this connection";
    ChannelError::new(status::BAD_TCP_SECURE_CHANNEL_UNKNOWN, reason)
}
