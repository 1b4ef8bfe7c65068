//! What a recording gives to our channels: its messages, and its nonces through a policy None.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use uaforge_channel::{
    AsymmetricChunk, ChannelError, KeyExchange, Limits, NonePolicy, Operation, Role, SealedChunk,
    SecurityProvider, SequenceRule, TokenKeys, TokenSecret,
};
use uaforge_codec::{ByteString, Entropy, Now, Structure};
use uaforge_tests::captures::Capture;
use uaforge_tests::raw::{Chunk, NONE, body, decode};
use uaforge_types::MessageSecurityMode;

/// Bytes of an OpenSecureChannel chunk of policy None before its body.
pub(crate) const OPEN_HEADER: usize = 12 + 4 + NONE.len() + 4 + 4 + 8;

/// One message of one side, or what it has said when it was given up.
pub(crate) struct Said<'c> {
    pub(crate) by_client: bool,
    pub(crate) chunks: Vec<&'c Chunk>,
}

impl Said<'_> {
    pub(crate) fn first(&self) -> &Chunk {
        self.chunks[0]
    }

    /// `HEL`, `ACK`, `OPN`, `MSG`, `CLO` or `ERR`.
    pub(crate) fn kind(&self) -> &str {
        &self.first().kind()[..3]
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.chunks.last().is_some_and(|chunk| chunk.kind().ends_with('A'))
    }

    pub(crate) fn request_id(&self) -> u32 {
        self.first().request_id()
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.body().iter().copied()).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect()
    }

    /// Sequence number and request id of the first chunk.
    pub(crate) fn numbers(&self) -> (u32, u32) {
        let at = if self.kind() == "OPN" { OPEN_HEADER - 8 } else { 16 };
        (self.first().field(at), self.first().field(at + 4))
    }

    /// The body of an OpenSecureChannel message, whose bytes our encoder writes again.
    pub(crate) fn open_body<T: Structure>(&self) -> T {
        let bytes = &self.first().0[OPEN_HEADER..];
        let value = decode(bytes).expect("no fault");
        assert_eq!(body(&value), bytes);
        value
    }

    /// The limits in a Hello or an Acknowledge.
    pub(crate) fn limits(&self) -> Limits {
        let [receive_buffer, send_buffer, max_message, max_chunks] =
            [12, 16, 20, 24].map(|at| self.first().field(at));
        Limits { receive_buffer, send_buffer, max_message, max_chunks }
    }
}

/// The messages in the order in which they were complete.
pub(crate) fn messages(capture: &Capture) -> Vec<Said<'_>> {
    let mut done = Vec::new();
    let mut open: Vec<Said<'_>> = Vec::new();
    for frame in &capture.frames {
        let (by_client, chunk) = (frame.to_server, &frame.chunk);
        let is_part = |said: &Said<'_>| {
            said.by_client == by_client && said.kind() == "MSG" && said.request_id() == chunk.request_id()
        };
        let at = open.iter().position(|said| chunk.kind().starts_with("MSG") && is_part(said));
        let mut said = at.map_or(Said { by_client, chunks: Vec::new() }, |at| open.remove(at));
        said.chunks.push(chunk);
        if chunk.kind().ends_with('C') { open.push(said) } else { done.push(said) }
    }
    done
}

/// Whether a message was cut where we cut it: a peer may make smaller chunks than it has to.
pub(crate) fn cut_alike(ours: &[Chunk], recorded: &[&Chunk]) -> bool {
    ours.iter().map(|chunk| chunk.0.len()).eq(recorded.iter().map(|chunk| chunk.0.len()))
}

/// Whether two chunks are the same but for the token: the other stack may go on with the one before for a
/// while after a renewal.
pub(crate) fn same_but_token(ours: &Chunk, recorded: &Chunk) -> bool {
    let but_token = |chunk: &Chunk| [&chunk.0[..12], &chunk.0[16..]].concat();
    but_token(ours) == but_token(recorded)
}

/// Policy None with the recorded nonces, which it neither needs nor forbids.
#[derive(Debug)]
pub(crate) struct RecordedPolicy(Mutex<VecDeque<Option<Vec<u8>>>>);

impl RecordedPolicy {
    pub(crate) fn new<'b>(nonces: impl Iterator<Item = &'b ByteString>) -> Self {
        Self(Mutex::new(nonces.map(|nonce| (!nonce.is_null()).then(|| nonce.bytes().to_vec())).collect()))
    }
}

impl SecurityProvider for RecordedPolicy {
    fn policy_uri(&self) -> &'static str {
        NONE
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        NonePolicy.allows(mode)
    }

    fn sequence_rule(&self) -> SequenceRule {
        NonePolicy.sequence_rule()
    }

    fn open(&self, chunk: Vec<u8>, binding: Option<Arc<[u8]>>, now: Now) -> Operation<AsymmetricChunk> {
        SecurityProvider::open(&NonePolicy, chunk, binding, now)
    }

    fn seal(&self, chunk: AsymmetricChunk) -> Operation<SealedChunk> {
        SecurityProvider::seal(&NonePolicy, chunk)
    }

    fn exchange(
        &self,
        _role: Role,
        _mode: MessageSecurityMode,
        _entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn KeyExchange>, ChannelError> {
        let nonce = self.0.lock().expect("one thread").pop_front();
        Ok(Box::new(RecordedNonce(nonce.expect("a token for each message"))))
    }
}

#[derive(Debug)]
struct RecordedNonce(Option<Vec<u8>>);

impl KeyExchange for RecordedNonce {
    fn nonce(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    fn finish(
        self: Box<Self>,
        _peer_nonce: &[u8],
        _before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError> {
        Ok(TokenKeys { receive: Box::new(NonePolicy), send: Box::new(NonePolicy), secret: None })
    }
}
