//! The client's side of a channel.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use uaforge_codec::{
    ByteString, Encode as _, EncodeContext, EncodeError, Encoder, NodeIdRef, Now, StatusCode, Ticks,
};
use uaforge_types::{
    CloseSecureChannelRequest, MessageSecurityMode, OpenSecureChannelRequest, OpenSecureChannelResponse,
    RequestHeader, SecurityTokenRequestType, status,
};

use crate::conversation::Conversation;
use crate::frame::{Frame, MessageType};
use crate::hello::{put_hello, read_acknowledge, read_error};
use crate::open::{OpenChunk, OpenHeader, binary_id, put_open, read_body};
use crate::reader::Incoming;
use crate::token::Token;
use crate::{ChannelError, Limits, Negotiated, SecurityProvider};

/// How a client's channel behaves.
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

/// What became of received bytes.
#[derive(Debug)]
pub enum ClientEvent<'c> {
    /// More bytes are needed.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Hello,
    Opening,
    Open,
}

/// One connection to a server, from Hello to CloseSecureChannel. Tokens renew themselves.
#[derive(Debug)]
pub struct ClientChannel {
    config: ClientConfig,
    policy: Box<dyn SecurityProvider>,
    conversation: Conversation,
    state: State,
    next_request: u32,
    /// When an answer to the handshake or to a renewal has to be there.
    answer_by: Option<Ticks>,
    error: Option<ChannelError>,
}

impl ClientChannel {
    /// A channel that is about to begin on a connected socket.
    #[must_use]
    pub fn new(config: ClientConfig, policy: impl SecurityProvider + 'static) -> Self {
        Self {
            conversation: Conversation::new(&policy),
            policy: Box::new(policy),
            config,
            state: State::Idle,
            next_request: 1,
            answer_by: None,
            error: None,
        }
    }

    /// Writes the Hello; the rest of the handshake follows by itself.
    pub fn start(&mut self, out: &mut Vec<u8>, now: Now) {
        if self.state != State::Idle {
            return;
        }
        self.state = State::Hello;
        self.answer_by = Some(now.ticks + self.config.handshake_timeout);
        if let Err(error) = put_hello(out, &self.config.limits, &self.config.endpoint_url) {
            self.conversation.closed = true;
            self.error = Some(error);
        }
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

    /// Whether requests may be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == State::Open && !self.is_closed()
    }

    /// Whether the channel has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.conversation.closed || self.conversation.writer.failure().is_some()
    }

    /// Why the channel ended, unless this side closed it.
    #[must_use]
    pub fn error(&self) -> Option<&ChannelError> {
        self.conversation.writer.failure().or(self.error.as_ref())
    }

    /// Writes one request, straight into its chunks; the id comes back with the response.
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
        self.count_request();
        Ok(request_id)
    }

    fn count_request(&mut self) {
        self.next_request = self.next_request.wrapping_add(1).max(1);
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
            Err(error) => return (input.len(), self.fail(error, out)),
        };
        let size = frame.bytes.len();
        let event = match (frame.kind, self.state) {
            (MessageType::Message, State::Open) => return (size, self.message(frame, now, out)),
            (MessageType::Acknowledge, State::Hello) => self.acknowledged(frame, now, out),
            (MessageType::Open, State::Opening | State::Open) => self.opened(frame, now),
            (MessageType::Error, _) => {
                let error = read_error(frame.body());
                self.conversation.closed = true;
                self.error = Some(error.clone());
                Ok(ClientEvent::Failed(error))
            }
            (MessageType::Close, State::Open) => Err(closed()),
            _ => Err(ChannelError::new(
                status::BAD_TCP_MESSAGE_TYPE_INVALID,
                "a message of this type is not expected now",
            )),
        };
        (size, event.unwrap_or_else(|error| self.fail(error, out)))
    }

    fn message<'c>(&'c mut self, frame: Frame<'c>, now: Now, out: &mut Vec<u8>) -> ClientEvent<'c> {
        let Conversation { reader, writer, tokens, closed } = &mut self.conversation;
        match reader.take(frame, writer.channel, tokens, now.ticks) {
            Ok((incoming, is_other)) => {
                if !is_other {
                    // The server uses the new token; the one before is over.
                    tokens.other = None;
                }
                match incoming {
                    Incoming::Part => ClientEvent::Handled,
                    Incoming::Message { request_id, body } => ClientEvent::Message { request_id, body },
                    Incoming::Abort { request_id, status, reason } => {
                        ClientEvent::Aborted { request_id, status, reason }
                    }
                }
            }
            Err(error) => {
                crate::hello::put_error(out, &error);
                *closed = true;
                self.error = Some(error.clone());
                ClientEvent::Failed(error)
            }
        }
    }

    fn acknowledged(
        &mut self,
        frame: Frame<'_>,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Result<ClientEvent<'static>, ChannelError> {
        let settled = Negotiated::settle(&self.config.limits, &read_acknowledge(frame.body())?)?;
        self.conversation.reader.limits = settled;
        self.conversation.writer.limits = settled;
        self.state = State::Opening;
        self.request_token(SecurityTokenRequestType::ISSUE, now, out);
        Ok(ClientEvent::Handled)
    }

    /// Asks for the first or the next token.
    fn request_token(&mut self, request_type: SecurityTokenRequestType, now: Now, out: &mut Vec<u8>) {
        let request = OpenSecureChannelRequest {
            request_header: RequestHeader {
                timestamp: now.utc,
                request_handle: self.next_request,
                timeout_hint: u32::try_from(self.config.message_timeout.as_millis()).unwrap_or(u32::MAX),
                ..Default::default()
            },
            client_protocol_version: 0,
            request_type,
            security_mode: self.config.mode,
            client_nonce: ByteString::NULL,
            requested_lifetime: u32::try_from(self.config.requested_lifetime.as_millis()).unwrap_or(u32::MAX),
        };
        let header = OpenHeader {
            channel: self.conversation.writer.channel,
            policy: self.policy.policy_uri(),
            sequence: self.conversation.writer.sequence.take(),
            request_id: self.next_request,
        };
        put_open(out, &header, &request);
        self.count_request();
    }

    fn opened(&mut self, frame: Frame<'_>, now: Now) -> Result<ClientEvent<'static>, ChannelError> {
        let chunk = OpenChunk::parse(frame)?;
        if chunk.policy.as_str() != Some(self.policy.policy_uri()) {
            let reason = "the server answers with another security policy";
            return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
        }
        self.conversation.reader.sequence.take(chunk.sequence)?;
        let response: OpenSecureChannelResponse = read_body(chunk.body)?;
        let result = response.response_header.service_result;
        if result.is_bad() {
            return Err(ChannelError::new(result, "the server refused to open a channel"));
        }
        let granted = response.security_token;
        let first = self.state == State::Opening;
        if !first && (granted.channel_id != self.channel_id() || self.answer_by.is_none()) {
            let reason = "the server renewed what was not asked for";
            return Err(ChannelError::new(status::BAD_TCP_SECURE_CHANNEL_UNKNOWN, reason));
        }
        let receive = self.policy.derive(self.config.mode, &[], response.server_nonce.bytes())?;
        let send = self.policy.derive(self.config.mode, response.server_nonce.bytes(), &[])?;
        let lifetime = Duration::from_millis(granted.revised_lifetime.into());
        let token = Token { id: granted.token_id, created: now.ticks, lifetime, receive };
        self.conversation.tokens.other = self.conversation.tokens.current.replace(token);
        self.conversation.writer.channel = granted.channel_id;
        self.conversation.writer.set_token(granted.token_id, send);
        self.state = State::Open;
        self.answer_by = None;
        Ok(if first { ClientEvent::Opened } else { ClientEvent::Handled })
    }

    fn fail(&mut self, error: ChannelError, out: &mut Vec<u8>) -> ClientEvent<'static> {
        self.conversation.fail(&error, out);
        self.error.get_or_insert_with(|| error.clone());
        ClientEvent::Failed(error)
    }

    /// Writes a CloseSecureChannel; nothing is sent after it.
    pub fn close(&mut self, out: &mut Vec<u8>, now: Now) {
        if self.is_open() {
            let request = CloseSecureChannelRequest {
                request_header: RequestHeader { timestamp: now.utc, ..Default::default() },
            };
            let (cx, id) = (EncodeContext::default(), self.next_request);
            // A message this small fits every peer's limits.
            let _ = self.conversation.writer.send_as(MessageType::Close, out, cx, id, |e| {
                NodeIdRef::Numeric(0, binary_id(CLOSE)).encode(e);
                request.encode(e);
            });
        }
        self.conversation.closed = true;
    }

    /// When [`ClientChannel::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Ticks> {
        if self.is_closed() {
            return None;
        }
        let renew = self.conversation.tokens.current.as_ref().map(Token::renew_at);
        let next = if self.answer_by.is_some() { self.answer_by } else { renew };
        [next, self.conversation.deadline(self.config.message_timeout)].into_iter().flatten().min()
    }

    /// Renews the token if it is time, or ends the channel if an answer is overdue. Gives the error then.
    pub fn on_deadline(&mut self, now: Now, out: &mut Vec<u8>) -> Option<ChannelError> {
        if self.is_closed() {
            return None;
        }
        let late = self.answer_by.is_some_and(|by| by <= now.ticks);
        let error = if late {
            Some(ChannelError::new(status::BAD_TIMEOUT, "the server does not answer"))
        } else {
            self.conversation.overdue(now, self.config.message_timeout)
        };
        if let Some(error) = error {
            self.fail(error.clone(), out);
            return Some(error);
        }
        let renew = self.conversation.tokens.current.as_ref().map(Token::renew_at);
        if self.answer_by.is_none() && renew.is_some_and(|at| at <= now.ticks) {
            self.answer_by = Some(now.ticks + self.config.message_timeout);
            self.request_token(SecurityTokenRequestType::RENEW, now, out);
        }
        None
    }

    /// Gives room back that no message needs now.
    pub fn trim(&mut self) {
        self.conversation.reader.trim();
    }
}

const CLOSE: &uaforge_codec::StructureDescriptor =
    <CloseSecureChannelRequest as uaforge_codec::Structure>::DESCRIPTOR;

fn closed() -> ChannelError {
    ChannelError::new(status::BAD_SECURE_CHANNEL_CLOSED, "the channel is closed")
}
