//! The client's side of a channel.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use uaforge_codec::{ByteString, EncodeContext, EncodeError, Encoder, Entropy, Now, StatusCode, Ticks};
use uaforge_types::{
    CloseSecureChannelRequest, MessageSecurityMode, OpenSecureChannelRequest, OpenSecureChannelResponse,
    RequestHeader, SecurityTokenRequestType, status,
};

use crate::conversation::{Conversation, Done};
use crate::error::security_checks_failed;
use crate::frame::{Frame, MessageType};
use crate::hello::{put_hello, read_acknowledge, read_error};
use crate::open::{AsymmetricHeader, Numbered, nonce, put_body, read_body};
use crate::reader::Incoming;
use crate::token::{Token, Tokens};
use crate::{
    AsymmetricChunk, ChannelError, KeyExchange, Limits, Negotiated, Role, SecurityProvider, TokenSecret,
};

/// A token that a server grants for less time is renewed no faster than this.
const SHORTEST_LIFETIME: Duration = Duration::from_millis(100);

/// How a client's channel behaves (OPC 10000-4 §5.6.2).
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The address that the user gave.
    pub endpoint_url: String,
    /// What is received and sent at most.
    pub limits: Limits,
    /// Security mode; has to fit the policy.
    pub mode: MessageSecurityMode,
    /// The lifetime of a token that is asked for.
    pub requested_lifetime: Duration,
    /// How long Hello and OpenSecureChannel may take together.
    pub handshake_timeout: Duration,
    /// How long the chunks of one message, or a renewal, may take.
    pub message_timeout: Duration,
}

impl ClientConfig {
    /// The usual values for policy None.
    #[must_use]
    pub fn new(endpoint_url: impl Into<String>) -> Self {
        Self {
            endpoint_url: endpoint_url.into(),
            limits: Limits::default(),
            mode: MessageSecurityMode::NONE,
            requested_lifetime: Duration::from_secs(3_600),
            handshake_timeout: Duration::from_secs(10),
            message_timeout: Duration::from_secs(60),
        }
    }
}

/// What became of received bytes (OPC 10000-6 §6.7.3).
#[derive(Debug)]
pub enum ClientEvent<'c> {
    /// More bytes are needed, or [`ClientChannel::poll`] has to be ready first.
    Incomplete,
    /// The channel took them for itself; there may be more behind them.
    Handled,
    /// The channel is open: requests may be sent.
    Opened,
    /// A response.
    Message {
        /// The id that [`ClientChannel::send`] gave.
        request_id: u32,
        /// Type id and response.
        body: &'c [u8],
    },
    /// The server gave up one response.
    Aborted {
        /// The id that [`ClientChannel::send`] gave.
        request_id: u32,
        /// Why.
        status: StatusCode,
        /// For people.
        reason: String,
    },
    /// The channel has ended.
    Failed(ChannelError),
}

/// What a channel awaits; the connection protocol's states (OPC 10000-6 §7.1.3) and the channel's.
#[derive(Debug)]
enum State {
    Idle,
    Hello { until: Ticks },
    Opening(Asked),
    Open(Open),
    Closed(Option<ChannelError>),
}

/// An open channel.
#[derive(Debug)]
struct Open {
    tokens: Tokens,
    renewal: Option<Asked>,
    /// The server's nonce of the last token; the next one has to be another.
    nonce: ByteString,
    /// What the keys of the next token depend on.
    secret: Option<TokenSecret>,
}

/// A token that was asked for.
#[derive(Debug)]
struct Asked {
    /// When the answer has to be there.
    until: Ticks,
    request_id: u32,
    exchange: Box<dyn KeyExchange>,
}

/// One connection to a server, from Hello to CloseSecureChannel. Tokens renew
/// themselves (OPC 10000-4 §5.6).
#[derive(Debug)]
pub struct ClientChannel {
    config: ClientConfig,
    policy: Box<dyn SecurityProvider>,
    conversation: Conversation,
    state: State,
    next_request: u32,
    /// The header of the next request of the channel's own.
    header: Option<Box<RequestHeader>>,
    /// The signature of the first request, until its response is there.
    binding: Option<Arc<[u8]>>,
    /// What signatures of sessions are bound to.
    thumbprint: Option<Arc<[u8]>>,
}

impl ClientChannel {
    /// A channel that is about to begin on a connected socket.
    #[must_use]
    pub fn new(
        config: ClientConfig,
        policy: impl SecurityProvider + 'static,
        entropy: impl Entropy + Send + 'static,
    ) -> Self {
        let mut conversation = Conversation::new(entropy);
        conversation.reader.set_rule(policy.sequence_rule());
        conversation.writer.set_rule(policy.sequence_rule());
        Self {
            config,
            policy: Box::new(policy),
            conversation,
            state: State::Idle,
            next_request: 1,
            header: None,
            binding: None,
            thumbprint: None,
        }
    }

    /// Writes the Hello; the rest of the handshake follows by itself.
    pub fn start(&mut self, out: &mut Vec<u8>, now: Now) {
        if !matches!(self.state, State::Idle) {
            return;
        }
        self.state = match put_hello(out, &self.config.limits, &self.config.endpoint_url) {
            Ok(()) => State::Hello { until: now.ticks + self.config.handshake_timeout },
            Err(error) => State::Closed(Some(error)),
        };
    }

    /// The id of the channel; 0 before it is open.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.conversation.writer.channel
    }

    /// The limits that hold once the server has acknowledged.
    #[must_use]
    pub fn limits(&self) -> &Negotiated {
        &self.conversation.writer.limits
    }

    /// The ChannelThumbprint, if the policy has SecureChannelEnhancements (OPC 10000-6 §6.7.5).
    #[must_use]
    pub fn thumbprint(&self) -> Option<&Arc<[u8]>> {
        self.thumbprint.as_ref()
    }

    /// Whether requests may be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_)) && !self.is_closed()
    }

    /// Whether the channel has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_)) || self.conversation.writer.failure().is_some()
    }

    /// Why the channel ended, unless this side closed it.
    #[must_use]
    pub fn error(&self) -> Option<&ChannelError> {
        match &self.state {
            State::Closed(error) => error.as_ref(),
            _ => self.conversation.writer.failure(),
        }
    }

    /// Whether received bytes can be handled now; if not, [`ClientChannel::poll`] has to be ready first.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        !self.conversation.is_waiting()
    }

    /// Writes one request, straight into its chunks; the id comes back with the response. A channel that
    /// is not open sends nothing.
    ///
    /// # Errors
    /// What the encoder could not write, such as a message above the server's limits
    /// (Bad_RequestTooLarge). `out` is then as it was, and nothing is sent.
    pub fn send(
        &mut self,
        out: &mut Vec<u8>,
        cx: EncodeContext<'_>,
        encode: impl FnOnce(&mut Encoder<'_>),
    ) -> Result<u32, EncodeError> {
        let request_id = self.next_request;
        self.conversation.writer.send(out, cx, request_id, encode)?;
        Ok(self.take_request_id())
    }

    fn take_request_id(&mut self) -> u32 {
        let id = self.next_request;
        self.next_request = id.wrapping_add(1).max(1);
        id
    }

    /// The numbers that the next chunk and the next request get, for a conversation that begins with others
    /// than 1 or repeats a recording (OPC 10000-6 §6.7.2.4).
    pub fn set_numbers(&mut self, sequence: u32, request_id: u32) {
        self.conversation.writer.set_sequence(sequence);
        self.next_request = request_id;
    }

    /// The header of the next OpenSecureChannel or CloseSecureChannel request, instead of one with nothing
    /// but time, handle and timeout hint: for an audit entry id, or to repeat a recording
    /// (OPC 10000-4 §7.32).
    pub fn set_request_header(&mut self, header: RequestHeader) {
        self.header = Some(Box::new(header));
    }

    fn take_header(&mut self, request_handle: u32, timeout_hint: u32, now: Now) -> RequestHeader {
        self.header.take().map_or_else(
            || RequestHeader { timestamp: now.utc, request_handle, timeout_hint, ..Default::default() },
            |header| *header,
        )
    }

    /// Takes the first frame of `input`; gives the bytes it took and what they were. What the channel has
    /// to say itself goes to `out`.
    pub fn receive<'c>(
        &'c mut self,
        input: &'c [u8],
        now: Now,
        out: &mut Vec<u8>,
    ) -> (usize, ClientEvent<'c>) {
        if self.is_closed() {
            let error = self.error().cloned().unwrap_or_else(closed);
            return (input.len(), ClientEvent::Failed(error));
        }
        let frame = match self.conversation.frame(input) {
            Ok(Some(frame)) => frame,
            Ok(None) => return (0, ClientEvent::Incomplete),
            Err(error) => return (input.len(), self.fail(error)),
        };
        let size = frame.bytes.len();
        if frame.kind == MessageType::Message && matches!(self.state, State::Open(_)) {
            return (size, self.message(frame, now));
        }
        let event = self.control(frame, now, out).unwrap_or_else(|error| self.fail(error));
        (size, event)
    }

    fn message<'c>(&'c mut self, frame: Frame<'c>, now: Now) -> ClientEvent<'c> {
        let State::Open(Open { tokens, .. }) = &mut self.state else { return ClientEvent::Handled };
        let Conversation { reader, writer, .. } = &mut self.conversation;
        let error = match reader.take(frame, writer.channel, tokens, now.ticks) {
            Ok((incoming, is_other)) => {
                if !is_other {
                    // The server uses the new token; the one before is over.
                    tokens.other = None;
                }
                return match incoming {
                    Incoming::Part => ClientEvent::Handled,
                    Incoming::Message { request_id, body } => ClientEvent::Message { request_id, body },
                    Incoming::Abort { request_id, status, reason } => {
                        ClientEvent::Aborted { request_id, status, reason }
                    }
                };
            }
            Err(error) => error,
        };
        writer.end();
        self.state = State::Closed(Some(error.clone()));
        ClientEvent::Failed(error)
    }

    /// Everything but responses.
    fn control(
        &mut self,
        frame: Frame<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Result<ClientEvent<'static>, ChannelError> {
        match (frame.kind, &self.state) {
            (MessageType::Acknowledge, State::Hello { until }) => {
                let (until, announced) = (*until, read_acknowledge(frame.body())?);
                let settled = Negotiated::settle(&self.config.limits, &announced)?;
                self.conversation.reader.limits = settled;
                self.conversation.writer.limits = settled;
                let asked = self.ask(SecurityTokenRequestType::ISSUE, until, now)?;
                self.state = State::Opening(asked);
            }
            (MessageType::Open, State::Opening(_) | State::Open(_)) => {
                let (header, _) = AsymmetricHeader::parse(frame.bytes)?;
                if header.policy != Some(self.policy.policy_uri().as_bytes()) {
                    let reason = "the server answers with another security policy";
                    return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
                }
                let operation = self.policy.open(frame.bytes.to_vec(), self.binding.clone(), now);
                self.conversation.open(operation);
            }
            (MessageType::Error, _) => return Err(read_error(frame.body())),
            (MessageType::Close, State::Open(_)) => return Err(closed()),
            _ => {
                return Err(ChannelError::new(
                    status::BAD_TCP_MESSAGE_TYPE_INVALID,
                    "a message of this type is not expected now",
                ));
            }
        }
        match self.advance(&mut Context::from_waker(Waker::noop()), now, out)? {
            Poll::Ready(event) => Ok(event),
            Poll::Pending => Ok(ClientEvent::Handled),
        }
    }

    /// Goes on with what a private key is needed for. Ready if something was done; ask again then.
    pub fn poll(&mut self, cx: &mut Context<'_>, now: Now, out: &mut Vec<u8>) -> Poll<ClientEvent<'static>> {
        if self.is_closed() || !self.conversation.is_waiting() {
            return Poll::Pending;
        }
        self.advance(cx, now, out).unwrap_or_else(|error| Poll::Ready(self.fail(error)))
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Result<Poll<ClientEvent<'static>>, ChannelError> {
        match self.conversation.poll(cx, out) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(done) => Ok(Poll::Ready(match done? {
                Done::Opened(chunk) => self.opened(chunk, now)?,
                Done::Sent(signature) => {
                    if self.policy.is_enhanced() && matches!(self.state, State::Opening(_)) {
                        self.binding = signature;
                    }
                    ClientEvent::Handled
                }
            })),
        }
    }

    /// Asks for the first or the next token.
    fn ask(
        &mut self,
        request_type: SecurityTokenRequestType,
        until: Ticks,
        now: Now,
    ) -> Result<Asked, ChannelError> {
        let exchange =
            self.policy.exchange(Role::Client, self.config.mode, &mut *self.conversation.entropy)?;
        let request_id = self.take_request_id();
        let timeout_hint = milliseconds(self.config.message_timeout);
        let request = OpenSecureChannelRequest {
            request_header: self.take_header(request_id, timeout_hint, now),
            client_protocol_version: 0,
            request_type,
            security_mode: self.config.mode,
            client_nonce: nonce(exchange.nonce()),
            requested_lifetime: milliseconds(self.config.requested_lifetime),
        };
        let numbers = (self.conversation.writer.hold(), request_id);
        let chunk = Numbered::chunk(self.channel_id(), None, numbers, &request, None);
        let operation = self.policy.seal(chunk);
        self.conversation.seal(operation);
        Ok(Asked { until, request_id, exchange })
    }

    /// Takes the token that was issued or renewed (OPC 10000-4 §5.6.2).
    fn opened(&mut self, chunk: AsymmetricChunk, now: Now) -> Result<ClientEvent<'static>, ChannelError> {
        let numbered = Numbered::parse(&chunk.content)?;
        self.conversation.reader.sequence.take(numbered.sequence)?;
        let response: OpenSecureChannelResponse = read_body(numbered.body)?;
        let result = response.response_header.service_result;
        if result.is_bad() {
            return Err(ChannelError::new(result, "the server refused to open a channel"));
        }
        let granted = &response.security_token;
        let (first, asked) = match core::mem::replace(&mut self.state, State::Closed(None)) {
            State::Opening(asked) => (None, Some(asked)),
            State::Open(Open { tokens, renewal, nonce, secret }) => (Some((tokens, nonce, secret)), renewal),
            _ => (None, None),
        };
        let asked = asked.filter(|asked| asked.request_id == numbered.request_id);
        let same_channel = first.is_none() || granted.channel_id == self.channel_id();
        let Some(asked) = asked.filter(|_| same_channel && granted.channel_id == chunk.channel_id) else {
            let reason = "the server opened what was not asked for";
            return Err(ChannelError::new(status::BAD_TCP_SECURE_CHANNEL_UNKNOWN, reason));
        };
        let nonce = response.server_nonce;
        if first.as_ref().is_some_and(|(_, before, _)| !nonce.bytes().is_empty() && *before == nonce) {
            return Err(security_checks_failed());
        }
        let before = first.as_ref().and_then(|(_, _, secret)| secret.as_ref());
        let keys = asked.exchange.finish(nonce.bytes(), before)?;
        let secret = keys.secret.clone();
        let lifetime = Duration::from_millis(granted.revised_lifetime.into()).max(SHORTEST_LIFETIME);
        let mut token = Token::new(granted.token_id, now.ticks, lifetime, keys);
        self.conversation.writer.channel = granted.channel_id;
        token.send_with(&mut self.conversation.writer);
        let event = if first.is_none() { ClientEvent::Opened } else { ClientEvent::Handled };
        if first.is_none() && self.policy.is_enhanced() {
            self.binding = None;
            self.thumbprint = chunk.signature;
        }
        let mut tokens = Tokens::new(token);
        tokens.other = first.map(|(before, _, _)| Box::new(before.current));
        self.state = State::Open(Open { tokens, renewal: None, nonce, secret });
        Ok(event)
    }

    /// A client sends no ERR; it closes the connection (OPC 10000-6 §7.1.5).
    fn fail(&mut self, error: ChannelError) -> ClientEvent<'static> {
        self.conversation.writer.end();
        self.state = State::Closed(Some(error.clone()));
        ClientEvent::Failed(error)
    }

    /// Writes a CloseSecureChannel; nothing is sent after it.
    pub fn close(&mut self, out: &mut Vec<u8>, now: Now) {
        if self.is_closed() {
            return;
        }
        if self.is_open() {
            let request_id = self.take_request_id();
            let request = CloseSecureChannelRequest { request_header: self.take_header(request_id, 0, now) };
            let cx = EncodeContext::default();
            // A message this small fits every peer's limits.
            let _ = self.conversation.writer.send_as(MessageType::Close, out, cx, request_id, |e| {
                put_body(e, &request);
            });
        }
        self.conversation.writer.end();
        self.state = State::Closed(None);
    }

    /// When [`ClientChannel::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Ticks> {
        if self.is_closed() {
            return None;
        }
        match &self.state {
            State::Hello { until } | State::Opening(Asked { until, .. }) => Some(*until),
            State::Open(Open { tokens, renewal, .. }) => {
                let next = renewal.as_ref().map_or_else(|| tokens.current.renew_at(), |asked| asked.until);
                Some(next.min(self.conversation.deadline(tokens, self.config.message_timeout)))
            }
            State::Idle | State::Closed(_) => None,
        }
    }

    /// Renews the token if it is time, or ends the channel if an answer is overdue. Gives the error then.
    pub fn on_deadline(&mut self, now: Now, out: &mut Vec<u8>) -> Option<ChannelError> {
        if self.is_closed() {
            return None;
        }
        let error = self.overdue(now, out).err()?;
        self.fail(error.clone());
        Some(error)
    }

    fn overdue(&mut self, now: Now, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        let (until, renew) = match &self.state {
            State::Hello { until } | State::Opening(Asked { until, .. }) => (Some(*until), false),
            State::Open(Open { tokens, renewal, .. }) => {
                self.conversation.overdue(tokens, now, self.config.message_timeout)?;
                let due = tokens.current.renew_at() <= now.ticks;
                (renewal.as_ref().map(|asked| asked.until), renewal.is_none() && due)
            }
            State::Idle | State::Closed(_) => (None, false),
        };
        if until.is_some_and(|until| until <= now.ticks) {
            return Err(ChannelError::new(status::BAD_TIMEOUT, "the server does not answer"));
        }
        if renew && !self.conversation.is_waiting() {
            let until = now.ticks + self.config.message_timeout;
            let asked = self.ask(SecurityTokenRequestType::RENEW, until, now)?;
            if let State::Open(Open { renewal, .. }) = &mut self.state {
                *renewal = Some(asked);
            }
            // What a slow key leaves undone, `poll` goes on with.
            let _ = self.advance(&mut Context::from_waker(Waker::noop()), now, out)?;
        }
        Ok(())
    }

    /// Gives room back that no message needs now.
    pub fn trim(&mut self) {
        self.conversation.reader.trim();
    }
}

fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn closed() -> ChannelError {
    ChannelError::new(status::BAD_SECURE_CHANNEL_CLOSED, "the channel is closed")
}
