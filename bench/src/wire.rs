//! A connection that is opened by hand: frames as bytes, and typed calls for what is not measured.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use uaforge_codec::{
    DateTime, Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder, NodeId, NodeIdRef,
    Structure, TypeRegistry, UaString,
};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, ApplicationDescription, ApplicationType,
    CloseSessionRequest, CreateSessionRequest, CreateSessionResponse, MessageSecurityMode,
    OpenSecureChannelRequest, OpenSecureChannelResponse, RequestHeader, SecurityTokenRequestType,
    ServiceFault, ServiceRequest, UserTokenType,
};

/// Bytes of message header, secure conversation header and sequence header (OPC 10000-6 §6.7.2).
pub const HEADERS: usize = 24;
/// Offset of the sequence number in a symmetric chunk.
pub const SEQUENCE_AT: usize = 16;
/// Offset of the request id in a symmetric chunk.
pub const REQUEST_ID_AT: usize = 20;

const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";
const PATIENCE: Duration = Duration::from_secs(20);
/// Buffer sizes that every peer takes.
const BUFFER: u32 = 65_535;

/// An open channel with an activated session.
pub struct Connection {
    /// The socket, blocking.
    pub stream: TcpStream,
    /// SecureChannelId.
    pub channel: u32,
    /// TokenId.
    pub token: u32,
    /// The last sequence number that was sent.
    pub sequence: u32,
    /// AuthenticationToken of the session.
    pub session: NodeId,
    /// Size of the largest chunk that may be sent.
    pub send_limit: usize,
}

impl Connection {
    /// Dials, opens a channel with policy None, creates and activates a session of an anonymous user.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn open(address: SocketAddr) -> Result<Self> {
        let url = format!("opc.tcp://{address}");
        let stream = TcpStream::connect(address).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut this =
            Self { stream, channel: 0, token: 0, sequence: 0, session: NodeId::NULL, send_limit: 8192 };
        this.hello(&url)?;
        this.open_channel()?;
        this.open_session(&url)?;
        Ok(this)
    }

    fn hello(&mut self, url: &str) -> Result<()> {
        let mut fields = Vec::new();
        let mut e = Encoder::new(&mut fields, EncodeContext::default());
        for field in [0, BUFFER, BUFFER, 0, 0] {
            e.put_u32(field);
        }
        e.put_str(Some(url));
        self.stream.write_all(&message(b"HELF", &fields))?;
        let answer = self.chunk(b"ACKF")?;
        let receive = answer.get(12..16).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        self.send_limit = receive.context("a short Acknowledge")? as usize;
        Ok(())
    }

    fn open_channel(&mut self) -> Result<()> {
        let request = OpenSecureChannelRequest {
            request_type: SecurityTokenRequestType::ISSUE,
            security_mode: MessageSecurityMode::NONE,
            requested_lifetime: 3_600_000,
            ..Default::default()
        };
        let mut fields = Vec::new();
        let mut e = Encoder::new(&mut fields, EncodeContext::default());
        e.put_u32(0);
        e.put_str(Some(POLICY_NONE));
        e.put_bytes(None);
        e.put_bytes(None);
        self.sequence += 1;
        e.put_u32(self.sequence);
        e.put_u32(self.sequence);
        e.put(&body(&request));
        self.stream.write_all(&message(b"OPNF", &fields))?;
        let answer = self.chunk(b"OPNF")?;
        let mut d = Decoder::new(answer.get(12..).unwrap_or_default(), DecodeContext::default());
        UaString::decode(&mut d)?;
        d.bytes()?;
        d.bytes()?;
        d.u32()?;
        d.u32()?;
        let response: OpenSecureChannelResponse = response(d.rest())?;
        self.channel = response.security_token.channel_id;
        self.token = response.security_token.token_id;
        Ok(())
    }

    fn open_session(&mut self, url: &str) -> Result<()> {
        let created: CreateSessionResponse = self.call(CreateSessionRequest {
            client_description: ApplicationDescription {
                application_uri: "urn:uaforge:bench".into(),
                application_type: ApplicationType::CLIENT,
                ..Default::default()
            },
            endpoint_url: url.into(),
            session_name: "bench".into(),
            client_nonce: vec![7_u8; 32].into(),
            requested_session_timeout: 3_600_000.0,
            max_response_message_size: 0,
            ..Default::default()
        })?;
        self.session = created.authentication_token;
        let mut tokens =
            created.server_endpoints.iter().flat_map(|endpoint| endpoint.user_identity_tokens.iter());
        let policy = tokens.find(|token| token.token_type == UserTokenType::ANONYMOUS);
        let policy_id = policy.map(|policy| policy.policy_id.clone()).unwrap_or_default();
        let token = uaforge_codec::ExtensionObject::new(AnonymousIdentityToken { policy_id });
        self.call(ActivateSessionRequest { user_identity_token: token, ..Default::default() })?;
        Ok(())
    }

    /// Calls a service in single chunks.
    ///
    /// # Errors
    /// The service failed, or there was no response.
    pub fn call<Q: ServiceRequest>(&mut self, mut request: Q) -> Result<Q::Response> {
        *request.header_mut() = self.header(self.sequence);
        let frame = self.frame(&body(&request));
        ensure!(
            frame.len() <= self.send_limit,
            "a request of {} bytes is too long for this peer",
            frame.len()
        );
        self.stream.write_all(&frame)?;
        let mut bytes = Vec::new();
        loop {
            let chunk = self.any_chunk()?;
            bytes.extend_from_slice(chunk.get(HEADERS..).unwrap_or_default());
            match chunk.get(..4) {
                Some(b"MSGF") => return response(&bytes),
                Some(b"MSGC") => {}
                _ => bail!("the peer sent {:?}", chunk.get(..16)),
            }
        }
    }

    /// The header of a request. Some servers refuse a request without a timestamp.
    #[must_use]
    pub fn header(&self, handle: u32) -> RequestHeader {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        RequestHeader {
            authentication_token: self.session.clone(),
            timestamp: DateTime::from_unix(unix),
            request_handle: handle,
            timeout_hint: 60_000,
            ..Default::default()
        }
    }

    /// A request chunk with the next sequence number, which is its request id too.
    pub fn frame(&mut self, body: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut fields = Vec::with_capacity(HEADERS + body.len());
        for field in [self.channel, self.token, self.sequence, self.sequence] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend(body);
        message(b"MSGF", &fields)
    }

    fn chunk(&mut self, kind: &[u8; 4]) -> Result<Vec<u8>> {
        let chunk = self.any_chunk()?;
        ensure!(chunk.get(..4) == Some(kind), "the peer sent {:?}", String::from_utf8_lossy(&chunk));
        Ok(chunk)
    }

    /// The next chunk, headers included.
    ///
    /// # Errors
    /// The peer closed the connection, was silent, or sent no chunk.
    pub fn any_chunk(&mut self) -> Result<Vec<u8>> {
        let mut header = [0; 8];
        self.stream.read_exact(&mut header).context("the peer does not answer")?;
        let [.., a, b, c, d] = header;
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        ensure!((8..=1 << 20).contains(&size), "a chunk of {size} bytes");
        let mut chunk = header.to_vec();
        chunk.resize(size, 0);
        self.stream.read_exact(chunk.get_mut(8..).unwrap_or_default())?;
        Ok(chunk)
    }

    /// Closes session and channel.
    ///
    /// # Errors
    /// The service failed.
    pub fn close(mut self) -> Result<()> {
        self.call(CloseSessionRequest { delete_subscriptions: true, ..Default::default() })?;
        let request = uaforge_types::CloseSecureChannelRequest::default();
        let mut frame = self.frame(&body(&request));
        frame.splice(..3, *b"CLO");
        self.stream.write_all(&frame)?;
        Ok(())
    }
}

/// A message of the connection protocol: header and fields.
fn message(kind: &[u8; 4], fields: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    bytes.extend(u32::try_from(fields.len() + 8).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(fields);
    bytes
}

/// Type id and body of a structure.
#[must_use]
pub fn body<T: Structure>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext::default());
    NodeIdRef::Numeric(0, T::DESCRIPTOR.binary_id()).encode(&mut e);
    value.encode(&mut e);
    bytes
}

/// Reads the body of a response.
///
/// # Errors
/// It is a ServiceFault, or no such response.
pub fn response<T: Structure>(bytes: &[u8]) -> Result<T> {
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    let mut d = Decoder::new(bytes, DecodeContext { types: &types, ..Default::default() });
    let id = NodeId::decode(&mut d)?;
    if id == NodeId::numeric(0, ServiceFault::DESCRIPTOR.binary_id()) {
        let fault = ServiceFault::decode(&mut d)?;
        bail!("the service failed: {}", fault.response_header.service_result);
    }
    ensure!(id == NodeId::numeric(0, T::DESCRIPTOR.binary_id()), "{id} is no {}", T::DESCRIPTOR.name);
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}
