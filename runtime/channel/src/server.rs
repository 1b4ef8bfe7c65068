//! The server's side of a channel.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use uaforge_codec::{ByteString, Now, StatusCode, Ticks};
use uaforge_types::{
    ChannelSecurityToken, OpenSecureChannelRequest, OpenSecureChannelResponse, ResponseHeader,
    SecurityTokenRequestType, status,
};

use crate::conversation::Conversation;
use crate::frame::{Frame, MessageType};
use crate::hello::{Announced, put_acknowledge, read_hello};
use crate::open::{OpenChunk, OpenHeader, put_open, read_body};
use crate::reader::Incoming;
use crate::token::Token;
use crate::{ChannelError, ChunkSecurity, Limits, Negotiated, SecurityProvider, Writer};

/// How a server's channel behaves.
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

/// What became of received bytes.
pub enum ServerEvent<'c> {
    /// More bytes are needed.
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

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum State {
    Hello,
    Opening,
    Open,
}

/// One connection of a client, from Hello to CloseSecureChannel.
#[derive(Debug)]
pub struct ServerChannel {
    config: ServerConfig,
    conversation: Conversation,
    state: State,
    /// Index of the policy in use.
    policy: usize,
    mode: uaforge_types::MessageSecurityMode,
    /// What seals with the token that the client has not used yet.
    next_send: Option<Box<dyn ChunkSecurity>>,
    last_token: u32,
    endpoint_url: String,
    opened_by: Ticks,
    error: Option<ChannelError>,
}

impl ServerChannel {
    /// A connection that was just accepted.
    #[must_use]
    pub fn new(config: ServerConfig, now: Now) -> Self {
        let none: &dyn SecurityProvider = &crate::NonePolicy;
        let conversation = Conversation::new(config.policies.first().map_or(none, |policy| &**policy));
        Self {
            opened_by: now.ticks + config.handshake_timeout,
            config,
            conversation,
            state: State::Hello,
            policy: 0,
            mode: uaforge_types::MessageSecurityMode::NONE,
            next_send: None,
            last_token: 0,
            endpoint_url: String::new(),
            error: None,
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

    /// The security mode of the channel.
    #[must_use]
    pub fn security_mode(&self) -> uaforge_types::MessageSecurityMode {
        self.mode
    }

    /// Whether requests may come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == State::Open && !self.is_closed()
    }

    /// Whether the channel has ended; what is written may still be flushed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.conversation.closed || self.conversation.writer.failure().is_some()
    }

    /// Why the channel ended, unless the client closed it.
    #[must_use]
    pub fn error(&self) -> Option<&ChannelError> {
        self.conversation.writer.failure().or(self.error.as_ref())
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
        if frame.kind != MessageType::Message {
            let event = match self.control(frame, now, out) {
                Ok(()) if self.conversation.closed => ServerEvent::Closed,
                Ok(()) => ServerEvent::Handled,
                Err(error) => self.fail(error, out),
            };
            return (size, event);
        }
        if self.state != State::Open {
            let error = self.not_open();
            return (input.len(), self.fail(error, out));
        }
        (size, self.message(frame, now, out))
    }

    fn message<'c>(&'c mut self, frame: Frame<'c>, now: Now, out: &mut Vec<u8>) -> ServerEvent<'c> {
        let id = self.config.channel_id;
        let Conversation { reader, writer, tokens, closed } = &mut self.conversation;
        match reader.take(frame, id, tokens, now.ticks) {
            Ok((incoming, is_other)) => {
                if is_other {
                    // The client uses the new token: the old one is over, and so do we from here on.
                    tokens.current = tokens.other.take();
                    if let (Some(token), Some(send)) = (&tokens.current, self.next_send.take()) {
                        writer.set_token(token.id, send);
                    }
                }
                match incoming {
                    Incoming::Message { request_id, body } => {
                        ServerEvent::Message { request_id, body, writer }
                    }
                    Incoming::Part | Incoming::Abort { .. } => ServerEvent::Handled,
                }
            }
            Err(error) => {
                crate::hello::put_error(out, &error);
                *closed = true;
                self.error = Some(error);
                ServerEvent::Closed
            }
        }
    }

    fn control(&mut self, frame: Frame<'_>, now: Now, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        match (frame.kind, self.state) {
            (MessageType::Hello, State::Hello) => self.hello(frame, out),
            (MessageType::Open, State::Opening | State::Open) => self.open(frame, now, out),
            (MessageType::Close, State::Open) => {
                let conversation = &mut self.conversation;
                let tokens = &mut conversation.tokens;
                conversation.reader.take_close(frame, self.config.channel_id, tokens, now.ticks)?;
                conversation.closed = true;
                Ok(())
            }
            (MessageType::Error, _) => {
                self.error = Some(crate::hello::read_error(frame.body()));
                self.conversation.closed = true;
                Ok(())
            }
            (MessageType::Close, _) => Err(self.not_open()),
            _ => Err(ChannelError::new(
                status::BAD_TCP_MESSAGE_TYPE_INVALID,
                "a message of this type is not expected now",
            )),
        }
    }

    /// What a chunk of a channel gets that is not open. Before Hello there is nothing a channel could be on.
    fn not_open(&self) -> ChannelError {
        let status = match self.state {
            State::Hello => status::BAD_TCP_MESSAGE_TYPE_INVALID,
            State::Opening | State::Open => status::BAD_TCP_SECURE_CHANNEL_UNKNOWN,
        };
        ChannelError::new(status, "the channel is not open")
    }

    fn hello(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        let (announced, endpoint_url) = read_hello(frame.body())?;
        let settled = Negotiated::settle(&self.config.limits, &announced)?;
        self.endpoint_url = endpoint_url;
        self.conversation.reader.limits = settled;
        self.conversation.writer.limits = settled;
        self.conversation.writer.channel = self.config.channel_id;
        put_acknowledge(out, &Announced::acknowledge(&self.config.limits, &settled));
        self.state = State::Opening;
        Ok(())
    }

    /// Issues or renews a token (OPC 10000-4 §5.6.2).
    fn open(&mut self, frame: Frame<'_>, now: Now, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        let chunk = OpenChunk::parse(frame)?;
        let index = self.find_policy(&chunk)?;
        let issued = self.state == State::Open;
        if chunk.channel != if issued { self.config.channel_id } else { 0 } {
            let reason = "the channel id does not belong to this connection";
            return Err(ChannelError::new(status::BAD_TCP_SECURE_CHANNEL_UNKNOWN, reason));
        }
        self.conversation.reader.sequence.take(chunk.sequence)?;
        let request: OpenSecureChannelRequest = read_body(chunk.body)?;
        self.check_open(&request, index, issued)?;
        let lifetime = Duration::from_millis(request.requested_lifetime.into())
            .clamp(self.config.lifetime.0, self.config.lifetime.1);
        self.policy = index;
        self.mode = request.security_mode;
        self.last_token = self.last_token.wrapping_add(1).max(1);
        self.issue(&request, lifetime, now)?;
        let response = OpenSecureChannelResponse {
            response_header: ResponseHeader {
                timestamp: now.utc,
                request_handle: request.request_header.request_handle,
                service_result: StatusCode::GOOD,
                ..Default::default()
            },
            server_protocol_version: 0,
            security_token: ChannelSecurityToken {
                channel_id: self.config.channel_id,
                token_id: self.last_token,
                created_at: now.utc,
                revised_lifetime: u32::try_from(lifetime.as_millis()).unwrap_or(u32::MAX),
            },
            server_nonce: ByteString::NULL,
        };
        let header = OpenHeader {
            channel: self.config.channel_id,
            policy: self.config.policies.get(index).map_or("", |policy| policy.policy_uri()),
            sequence: self.conversation.writer.sequence.take(),
            request_id: chunk.request_id,
        };
        put_open(out, &header, &response);
        self.state = State::Open;
        Ok(())
    }

    /// Makes the token that the response names.
    fn issue(
        &mut self,
        request: &OpenSecureChannelRequest,
        lifetime: Duration,
        now: Now,
    ) -> Result<(), ChannelError> {
        let Some(policy) = self.config.policies.get(self.policy) else {
            return Err(policy_rejected());
        };
        let (client, server) = (request.client_nonce.bytes(), &[][..]);
        let receive = policy.derive(self.mode, server, client)?;
        let send = policy.derive(self.mode, client, server)?;
        let token = Token { id: self.last_token, created: now.ticks, lifetime, receive };
        if self.conversation.tokens.current.is_none() {
            self.conversation.tokens.current = Some(token);
            self.conversation.writer.set_token(self.last_token, send);
        } else {
            self.conversation.tokens.other = Some(token);
            self.next_send = Some(send);
        }
        Ok(())
    }

    fn find_policy(&self, chunk: &OpenChunk<'_>) -> Result<usize, ChannelError> {
        let named = chunk.policy.as_str().unwrap_or_default();
        let mut policies = self.config.policies.iter();
        policies.position(|policy| policy.policy_uri() == named).ok_or_else(policy_rejected)
    }

    fn check_open(
        &self,
        request: &OpenSecureChannelRequest,
        policy: usize,
        issued: bool,
    ) -> Result<(), ChannelError> {
        let error = |status, reason| Err(ChannelError::new(status, reason));
        let allowed = self.config.policies.get(policy).is_some_and(|p| p.allows(request.security_mode));
        if !allowed || (issued && request.security_mode != self.mode) {
            return error(status::BAD_SECURITY_MODE_REJECTED, "the security mode does not fit the policy");
        }
        if issued && policy != self.policy {
            return error(status::BAD_SECURITY_POLICY_REJECTED, "a renewal cannot change the policy");
        }
        match (request.request_type, issued) {
            (SecurityTokenRequestType::ISSUE, false) | (SecurityTokenRequestType::RENEW, true) => Ok(()),
            _ => error(status::BAD_REQUEST_TYPE_INVALID, "the request type does not fit the channel"),
        }
    }

    /// Ends the channel and tells the client why.
    pub fn close(&mut self, error: ChannelError, out: &mut Vec<u8>) {
        self.fail(error, out);
    }

    fn fail(&mut self, error: ChannelError, out: &mut Vec<u8>) -> ServerEvent<'static> {
        self.conversation.fail(&error, out);
        self.error.get_or_insert(error);
        ServerEvent::Closed
    }

    /// When [`ServerChannel::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Ticks> {
        if self.is_closed() {
            return None;
        }
        if self.state != State::Open {
            return Some(self.opened_by);
        }
        self.conversation.deadline(self.config.message_timeout)
    }

    /// Ends the channel if a deadline has come.
    pub fn on_deadline(&mut self, now: Now, out: &mut Vec<u8>) {
        if self.is_closed() {
            return;
        }
        if self.state != State::Open {
            if self.opened_by <= now.ticks {
                self.fail(ChannelError::new(status::BAD_TIMEOUT, "the channel was not opened in time"), out);
            }
            return;
        }
        if let Some(error) = self.conversation.overdue(now, self.config.message_timeout) {
            self.fail(error, out);
        }
    }

    /// Gives room back that no message needs now.
    pub fn trim(&mut self) {
        self.conversation.reader.trim();
    }
}

fn policy_rejected() -> ChannelError {
    ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, "the security policy is not offered")
}
