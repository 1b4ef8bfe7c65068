//! A client's and a server's channel with each other, in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use uaforge_channel::{
    AsymmetricChunk, ChannelError, ChunkSecurity, KeyExchange, Limits, NonePolicy, Operation, POLICY_NONE,
    Role, SealedChunk, SecurityProvider, SequenceRule, TokenKeys, TokenSecret,
};
use uaforge_codec::{EncodeError, Entropy, Now, SeededEntropy};
use uaforge_tests::pair::{Pair, PairConfig};
use uaforge_types::{MessageSecurityMode, status};

const SMALL: Limits = Limits { receive_buffer: 8192, send_buffer: 8192, max_message: 0, max_chunks: 0 };

#[test]
fn opens_byte_by_byte_and_echoes() {
    let mut pair = Pair::open(PairConfig { piece: 1, ..PairConfig::default() });
    assert_eq!((pair.client.channel_id(), pair.server.channel_id()), (7, 7));
    assert_eq!(pair.server.endpoint_url(), "opc.tcp://plant:4840/srv");
    assert_eq!(pair.server.security_mode(), MessageSecurityMode::NONE);
    let first = pair.send(b"one").unwrap();
    let second = pair.send(b"two").unwrap();
    pair.settle();
    assert_eq!(pair.responses, [(first, b"one".to_vec()), (second, b"two".to_vec())]);
}

#[test]
fn long_messages_come_in_chunks() {
    let mut pair = Pair::open(PairConfig { client_limits: SMALL, piece: 5000, ..PairConfig::default() });
    let body: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    let id = pair.send(&body).unwrap();
    pair.settle();
    assert_eq!(pair.responses, [(id, body)]);
}

#[test]
fn limits_hold_on_both_sides() {
    let tight = Limits { max_message: 10_000, max_chunks: 4, ..Limits::default() };
    let mut pair = Pair::open(PairConfig { server_limits: tight, ..PairConfig::default() });
    assert_eq!(pair.send(&[0; 10_001]), Err(EncodeError::TooLarge));
    assert!(pair.send(&[0; 10_000]).is_ok());
    pair.settle();
    assert_eq!((pair.requests.len(), pair.responses.len()), (1, 1));

    let mut pair = Pair::open(PairConfig { client_limits: tight, ..PairConfig::default() });
    pair.echo = false;
    let id = pair.send(b"large, please").unwrap();
    pair.settle();
    assert_eq!(pair.respond(id, &[0; 10_001]), Err(EncodeError::TooLarge));
    // Nothing was numbered, so that something else can be said instead.
    pair.respond(id, b"too large").unwrap();
    pair.settle();
    assert_eq!(pair.responses, [(id, b"too large".to_vec())]);
}

#[test]
fn tokens_are_renewed_a_thousand_times() {
    let lifetime = Duration::from_secs(1);
    let mut pair =
        Pair::open(PairConfig { lifetime, latency: Duration::from_millis(20), ..PairConfig::default() });
    for _ in 0..1000 {
        pair.send(b"in flight").unwrap();
        pair.pass(Duration::from_millis(750));
        pair.send(b"after").unwrap();
    }
    pair.settle();
    assert_eq!(pair.failure, None);
    assert_eq!(pair.responses.len(), 2000);
}

#[test]
fn a_server_uses_the_new_token_once_the_old_one_has_ended() {
    let mut pair = Pair::open(PairConfig { lifetime: Duration::from_secs(10), ..PairConfig::default() });
    pair.echo = false;
    let id = pair.send(b"publish").unwrap();
    // Renewed at 7.5 s; the client says nothing with the new token.
    pair.pass(Duration::from_secs(9));
    assert_eq!(pair.server.deadline(), Some(pair.now.ticks + Duration::from_secs(1)));
    pair.pass(Duration::from_secs(5));
    // The old token has expired at 12.5 s: only the new one can carry this.
    pair.respond(id, b"late").unwrap();
    pair.settle();
    assert_eq!((pair.failure, pair.responses), (None, vec![(id, b"late".to_vec())]));
}

#[test]
fn a_channel_whose_client_is_gone_ends() {
    let mut pair = Pair::open(PairConfig { lifetime: Duration::from_secs(4), ..PairConfig::default() });
    pair.cut();
    pair.pass(Duration::from_millis(4_999));
    assert!(pair.server.is_open());
    pair.pass(Duration::from_millis(2));
    assert_eq!(pair.server.error().unwrap().status, status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN);
    assert_eq!(pair.server.deadline(), None);
    // So does the client's, whose renewal is not answered.
    assert!(pair.client.is_closed() && pair.failure.is_some());
}

#[test]
fn a_handshake_has_its_time() {
    let mut pair = Pair::new(PairConfig { latency: Duration::from_secs(6), ..PairConfig::default() });
    pair.pass(Duration::from_secs(5));
    assert_eq!(pair.server.error().unwrap().status, status::BAD_TIMEOUT);
    pair.pass(Duration::from_secs(6));
    assert_eq!(pair.failure.unwrap().status, status::BAD_TIMEOUT);
}

#[test]
fn a_message_that_is_not_finished_has_its_time() {
    let mut pair = Pair::open(PairConfig::default());
    let mut chunk = b"MSGC\x19\0\0\0".to_vec();
    for field in [7u32, 1, 2, 2] {
        chunk.extend(field.to_le_bytes());
    }
    pair.inject(&[&chunk[..], b"x"].concat());
    pair.pass(Duration::from_millis(29_999));
    assert!(pair.server.is_open());
    pair.pass(Duration::from_millis(2));
    assert_eq!(pair.failure.unwrap().status, status::BAD_TIMEOUT);
}

#[test]
fn a_client_closes() {
    let mut pair = Pair::open(PairConfig::default());
    pair.send(b"last").unwrap();
    pair.close();
    assert!(pair.send(b"too late").is_ok(), "nobody is told, and nothing is sent");
    pair.settle();
    assert!(pair.server.is_closed());
    assert_eq!((pair.server.error(), pair.requests.len()), (None, 1));
    // Nothing is sent on a closed channel.
    pair.respond(2, b"nobody listens").unwrap();
    let answered = pair.responses.len();
    pair.settle();
    assert_eq!(pair.responses.len(), answered);
}

/// A policy None whose private key takes its time, and whose seals fail when they are told to.
#[derive(Clone, Debug, Default)]
struct Slow {
    open_waits: Arc<AtomicBool>,
    seal_waits: Arc<AtomicBool>,
    /// Seals until one fails; 0 for never.
    seals: Arc<AtomicUsize>,
}

impl Slow {
    fn later<T: Send + 'static>(waits: &Arc<AtomicBool>, operation: Operation<T>) -> Operation<T> {
        let waits = Arc::clone(waits);
        let Operation::Ready(result) = operation else { return operation };
        let mut result = Some(result);
        Operation::Pending(Box::pin(std::future::poll_fn(move |_| {
            if waits.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
            result.take().map_or(Poll::Pending, Poll::Ready)
        })))
    }
}

impl SecurityProvider for Slow {
    fn policy_uri(&self) -> &'static str {
        POLICY_NONE
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        NonePolicy.allows(mode)
    }

    fn sequence_rule(&self) -> SequenceRule {
        SequenceRule::Full
    }

    fn open(&self, chunk: Vec<u8>, binding: Option<Arc<[u8]>>, now: Now) -> Operation<AsymmetricChunk> {
        Self::later(&self.open_waits, SecurityProvider::open(&NonePolicy, chunk, binding, now))
    }

    fn seal(&self, chunk: AsymmetricChunk) -> Operation<SealedChunk> {
        Self::later(&self.seal_waits, SecurityProvider::seal(&NonePolicy, chunk))
    }

    fn exchange(
        &self,
        _role: Role,
        _mode: MessageSecurityMode,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn KeyExchange>, ChannelError> {
        let mut nonce = [0; 32];
        entropy.fill(&mut nonce);
        Ok(Box::new(Nonce { nonce, slow: self.clone() }))
    }
}

#[derive(Debug)]
struct Nonce {
    nonce: [u8; 32],
    slow: Slow,
}

impl KeyExchange for Nonce {
    fn nonce(&self) -> Option<&[u8]> {
        Some(&self.nonce)
    }

    fn finish(
        self: Box<Self>,
        peer_nonce: &[u8],
        _before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError> {
        if peer_nonce.len() != 32 {
            return Err(ChannelError::new(status::BAD_NONCE_INVALID, "a nonce has 32 bytes"));
        }
        let mask = self.nonce[0] ^ peer_nonce[0];
        let keys = |seals| Box::new(Masked { mask, seals });
        Ok(TokenKeys { receive: keys(Arc::default()), send: keys(self.slow.seals), secret: None })
    }
}

/// Masks each byte, pads to 16 bytes and puts a sum behind: the shape of real policies, not their use.
#[derive(Debug)]
struct Masked {
    mask: u8,
    seals: Arc<AtomicUsize>,
}

impl ChunkSecurity for Masked {
    fn chunk_size(&self, largest: usize, plain: usize) -> usize {
        plain + (largest - plain) / 16 * 16
    }

    fn trailer(&self, _chunk_size: usize, _plain: usize) -> usize {
        2
    }

    fn last_trailer(&self, len: usize) -> usize {
        2 + (16 - (len + 2) % 16) % 16
    }

    fn seal(&mut self, chunk: &mut [u8], plain: usize, trailer: usize) -> Result<(), ChannelError> {
        let left = self.seals.load(Ordering::Relaxed);
        self.seals.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 1 {
            return Err(ChannelError::new(status::BAD_INTERNAL_ERROR, "the key is gone"));
        }
        assert_eq!((chunk.len() - plain) % 16, 0);
        let at = chunk.len() - trailer;
        assert!(chunk[at..].iter().all(|byte| *byte == 0), "the trailer is left free");
        *chunk.last_mut().unwrap() = u8::try_from(trailer).unwrap();
        let end = chunk.len() - 2;
        chunk[end] = chunk[..end].iter().fold(0, |sum, byte| sum ^ byte);
        chunk[plain..].iter_mut().for_each(|byte| *byte ^= self.mask);
        Ok(())
    }

    fn open(&mut self, chunk: &mut [u8], plain: usize, _last: u32) -> Result<usize, ChannelError> {
        chunk[plain..].iter_mut().for_each(|byte| *byte ^= self.mask);
        let (sum, trailer) = (chunk[chunk.len() - 2], usize::from(chunk[chunk.len() - 1]));
        if chunk[..chunk.len() - 2].iter().fold(0, |sum, byte| sum ^ byte) != sum {
            return Err(ChannelError::new(status::BAD_SECURITY_CHECKS_FAILED, "the sum is wrong"));
        }
        Ok(chunk.len() - trailer)
    }
}

#[test]
fn sealed_chunks_are_opened_again() {
    let limits = Limits { receive_buffer: 8200, ..SMALL };
    let mut config = PairConfig::with_policies(Slow::default(), Slow::default());
    (config.client_limits, config.server_limits, config.piece) = (limits, limits, 10_000);
    let mut pair = Pair::open(config);
    let mut dice = SeededEntropy::new(5);
    let sizes = (8100..8200).chain([0, 1, 16_000, 16_336, 100_000]);
    let bodies: Vec<Vec<u8>> = sizes
        .map(|size| {
            let mut b = vec![0; size];
            dice.fill(&mut b);
            b
        })
        .collect();
    for body in &bodies {
        pair.send(body).unwrap();
        pair.settle();
    }
    let responses = pair.responses.into_iter().map(|(_, body)| body);
    // A message without a body is none.
    assert!(responses.eq(bodies.into_iter().filter(|body| !body.is_empty())));
}

#[test]
fn what_is_sent_while_a_key_works_keeps_its_order() {
    let (client, server) = (Slow::default(), Slow::default());
    let mut config = PairConfig::with_policies(client.clone(), server.clone());
    config.lifetime = Duration::from_secs(10);
    let mut pair = Pair::open(config);
    pair.echo = false;
    let id = pair.send(b"publish").unwrap();
    pair.settle();
    // The client's key is slow: what follows its renewal waits for it.
    client.seal_waits.store(true, Ordering::Relaxed);
    pair.pass(Duration::from_millis(7_600));
    pair.send(b"behind the renewal").unwrap();
    pair.settle();
    assert!(!pair.client.wants_input());
    assert_eq!(pair.requests.len(), 1);
    // The server's key is slow as well: it does not read past the renewal, and still answers.
    server.open_waits.store(true, Ordering::Relaxed);
    client.seal_waits.store(false, Ordering::Relaxed);
    pair.settle();
    assert!(pair.client.wants_input() && !pair.server.wants_input());
    assert_eq!(pair.requests.len(), 1);
    pair.respond(id, b"before the renewal").unwrap();
    pair.settle();
    assert_eq!(pair.responses.len(), 1);
    server.open_waits.store(false, Ordering::Relaxed);
    pair.settle();
    let id = pair.requests[1].0;
    pair.respond(id, b"after it").unwrap();
    pair.settle();
    assert_eq!((pair.failure, pair.responses.len()), (None, 2));
}

#[test]
fn a_response_behind_an_unsealed_renewal_waits() {
    let server = Slow::default();
    let mut config = PairConfig::with_policies(Slow::default(), server.clone());
    config.lifetime = Duration::from_secs(10);
    let mut pair = Pair::open(config);
    pair.echo = false;
    let id = pair.send(b"publish").unwrap();
    server.seal_waits.store(true, Ordering::Relaxed);
    // The renewal is opened, its answer numbered, and not sealed.
    pair.pass(Duration::from_millis(7_600));
    assert!(!pair.server.wants_input());
    pair.respond(id, b"behind").unwrap();
    pair.settle();
    assert_eq!(pair.responses, []);
    server.seal_waits.store(false, Ordering::Relaxed);
    pair.settle();
    assert_eq!((pair.failure, pair.responses), (None, vec![(id, b"behind".to_vec())]));
}

#[test]
fn a_failed_seal_poisons_the_channel_once() {
    let server = Slow::default();
    let mut pair = Pair::open(PairConfig::with_policies(Slow::default(), server.clone()));
    server.seals.store(2, Ordering::Relaxed);
    for body in [&b"sealed"[..], b"not sealed", b"after that"] {
        pair.send(body).unwrap();
    }
    pair.settle();
    assert_eq!(pair.responses.len(), 1);
    assert!(pair.server.is_closed() && !pair.server.is_open());
    assert_eq!(pair.server.error().unwrap().status, status::BAD_INTERNAL_ERROR);
    // Nothing follows, not even an ERR: its place in the stream is lost.
    assert_eq!(pair.failure, None);
    assert_eq!(pair.server.deadline(), None);
}

/// Messages of any size, any time between them, renewals, any pieces: all arrives, once and in order; or
/// the wire is cut, and both sides notice.
#[test]
fn every_seed_ends_well() {
    for seed in 0..60 {
        let mut dice = SeededEntropy::new(seed);
        let mut roll = |most: u64| dice.next_u64() % most;
        let mut config = PairConfig::with_policies(Slow::default(), Slow::default());
        config.seed = seed;
        config.lifetime = Duration::from_millis(1000 + roll(9000));
        config.latency = Duration::from_millis(roll(200));
        config.piece = 1 + roll(9000) as usize;
        let buffer = 8192 + roll(30_000) as u32;
        config.client_limits = Limits { receive_buffer: buffer, ..Limits::default() };
        let mut pair = Pair::open(config);
        let cut = (roll(3) == 0).then(|| roll(40));
        let mut sent = Vec::new();
        for turn in 0..40 {
            let size = if roll(4) == 0 { roll(60_000) } else { roll(200) };
            let body = vec![turn as u8; 1 + size as usize];
            if pair.client.is_open() {
                sent.push((pair.send(&body).unwrap(), body));
            }
            pair.pass(Duration::from_millis(roll(900)));
            if cut == Some(turn) {
                pair.cut();
            }
        }
        if cut.is_none() {
            pair.settle();
            assert_eq!((pair.failure, pair.responses == sent), (None, true), "seed {seed}");
        } else {
            pair.pass(Duration::from_secs(60));
            assert!(pair.client.is_closed() && pair.server.is_closed(), "seed {seed}");
            assert!(sent.starts_with(&pair.responses), "seed {seed}");
        }
    }
}
