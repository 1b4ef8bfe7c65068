//! OpenSecureChannel chunks: signed, and encrypted if the policy is one of RSA (OPC 10000-6 §6.7.4).

use std::sync::Arc;

use uaforge_channel::{
    AsymmetricChunk, AsymmetricHeader, ChannelError, Operation, SealedChunk, security_checks_failed,
};
use uaforge_codec::Now;
use uaforge_types::status;
use zeroize::Zeroizing;

use crate::cbc::without_padding;
use crate::policy::Exchange;
use crate::{
    Certificate, CryptoError, Hash, Identity, Oaep, PeerCheck, Policy, PublicKey, SharedProvider, chain,
};

/// Sequence number and request id.
const SEQUENCE_HEADER: usize = 8;
/// Longest padding whose size fits one byte: above, blocks have more bytes than one can count.
const SMALL_BLOCK: usize = 256;

/// What one side needs for them.
#[derive(Debug)]
pub(crate) struct Asymmetric {
    policy: &'static Policy,
    provider: SharedProvider,
    identity: Identity,
    /// The server that a client expects.
    peer: Option<Peer>,
    check: Arc<dyn PeerCheck>,
}

/// The other side.
#[derive(Clone, Debug)]
struct Peer {
    /// As it is sent.
    bytes: Arc<[u8]>,
    certificates: Vec<Certificate>,
    key: PublicKey,
}

impl Peer {
    fn read(policy: &Policy, bytes: &[u8]) -> Option<Self> {
        let certificates = chain(bytes).ok()?;
        let key = certificates.first()?.key().clone();
        policy.accepts(key.kind()).then(|| Self { bytes: bytes.into(), certificates, key })
    }
}

impl Asymmetric {
    pub(crate) fn new(
        policy: &'static Policy,
        provider: SharedProvider,
        identity: Identity,
        server: Option<&[u8]>,
        check: Arc<dyn PeerCheck>,
    ) -> Result<Self, ChannelError> {
        let unfit = || {
            let reason = "the policy does not allow the kind of the certificate's key";
            ChannelError::new(status::BAD_CERTIFICATE_INVALID, reason)
        };
        if !policy.accepts(identity.certificate().key().kind()) {
            return Err(unfit());
        }
        let peer = server.map(|bytes| Peer::read(policy, bytes).ok_or_else(unfit)).transpose()?;
        Ok(Self { policy, provider, identity, peer, check })
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    fn oaep(&self) -> Option<Oaep> {
        match self.policy.exchange {
            Exchange::Nonces { oaep } => Some(oaep),
            Exchange::Ephemeral { .. } => None,
        }
    }

    /// Decrypts and verifies a chunk.
    pub(crate) fn open(
        this: &Arc<Self>,
        mut chunk: Vec<u8>,
        binding: Option<Arc<[u8]>>,
        now: Now,
    ) -> Operation<AsymmetricChunk> {
        let opening = match this.begin_opening(&chunk, binding, now) {
            Ok(opening) => opening,
            Err(error) => return Operation::failed(error),
        };
        let Some(oaep) = this.oaep() else { return Operation::Ready(this.verify(opening, chunk, true)) };
        let secured = chunk.split_off(opening.plain);
        let this = Arc::clone(this);
        this.identity.key().decrypt(oaep, secured.clone()).then(move |decrypted| {
            // What could not be decrypted is verified all the same, so that nobody can tell the difference.
            let (content, is_decrypted) = match decrypted {
                Ok(content) => (content, true),
                Err(_) => (Zeroizing::new(secured), false),
            };
            chunk.extend_from_slice(&content);
            Operation::Ready(this.verify(opening, chunk, is_decrypted))
        })
    }

    /// Reads the plain part of a chunk.
    fn begin_opening(
        &self,
        chunk: &[u8],
        binding: Option<Arc<[u8]>>,
        now: Now,
    ) -> Result<Opening, ChannelError> {
        let (header, secured) = AsymmetricHeader::parse(chunk)?;
        let sender = header.sender_certificate.unwrap_or_default();
        let for_us = header.policy == Some(self.policy.uri.as_bytes())
            && header.receiver_thumbprint == Some(&**self.identity.thumbprint());
        if !for_us {
            return Err(security_checks_failed());
        }
        let peer = match &self.peer {
            // What stands behind the server's own certificate may differ from what it said before.
            Some(expected) => {
                let same = Peer::read(self.policy, sender)
                    .filter(|peer| peer.certificates.first() == expected.certificates.first());
                same.ok_or_else(security_checks_failed)?
            }
            None => Peer::read(self.policy, sender).ok_or_else(security_checks_failed)?,
        };
        let plain = chunk.len() - secured.len();
        Ok(Opening { plain, channel_id: header.channel_id, peer, binding, now })
    }

    /// Verifies a decrypted chunk.
    fn verify(
        &self,
        opening: Opening,
        mut chunk: Vec<u8>,
        is_decrypted: bool,
    ) -> Result<AsymmetricChunk, ChannelError> {
        let Opening { plain, channel_id, peer, binding, now } = opening;
        let end = chunk.len().saturating_sub(peer.key.kind().signature_len());
        let signature: Arc<[u8]> = chunk.get(end..).unwrap_or_default().into();
        chunk.truncate(end);
        if let Some(request) = binding {
            chunk.extend_from_slice(&request);
        }
        let genuine = self.provider.verify(self.policy.signing, &peer.key, &chunk, &signature);
        chunk.truncate(end);
        let own = self.identity.certificate().key().kind();
        let end = match self.oaep() {
            Some(_) => without_padding(&chunk, own.signature_len() > SMALL_BLOCK),
            None => Some(end),
        };
        let end = end.filter(|end| genuine && is_decrypted && *end >= plain + SEQUENCE_HEADER);
        let end = end.ok_or_else(security_checks_failed)?;
        self.check.check(&peer.certificates, now)?;
        let content = chunk.get(plain..end).unwrap_or_default().to_vec();
        Ok(AsymmetricChunk { channel_id, peer: Some(peer.bytes), content, signature: Some(signature) })
    }

    /// Signs and encrypts a chunk.
    pub(crate) fn seal(this: &Arc<Self>, chunk: AsymmetricChunk) -> Operation<SealedChunk> {
        let peer = match (&chunk.peer, &this.peer) {
            (Some(bytes), _) => Peer::read(this.policy, bytes),
            (None, peer) => peer.clone(),
        };
        let Some(peer) = peer else { return Operation::failed(security_checks_failed()) };
        let mut bytes = this.plain_chunk(&chunk, &peer);
        let plain = bytes.len() - chunk.content.len();
        let size = match this.oaep() {
            Some(oaep) => this.pad(&mut bytes, plain, oaep, peer.key.kind().signature_len()),
            None => Some(bytes.len() + this.signature_len()),
        };
        let Some(size) = size else { return Operation::failed(CryptoError.into()) };
        put_size(&mut bytes, size);
        let signed = match &chunk.signature {
            Some(request) => [&bytes[..], request].concat(),
            None => bytes.clone(),
        };
        let this = Arc::clone(this);
        this.identity.key().sign(this.policy.signing, signed).then(move |signature| {
            Operation::Ready(signature.and_then(|signature| this.finish(bytes, plain, &peer, &signature)))
        })
    }

    fn signature_len(&self) -> usize {
        self.identity.certificate().key().kind().signature_len()
    }

    /// Headers and content.
    fn plain_chunk(&self, chunk: &AsymmetricChunk, peer: &Peer) -> Vec<u8> {
        let thumbprint = peer.certificates.first().map(|leaf| self.provider.digest(Hash::Sha1, leaf.der()));
        let header = AsymmetricHeader {
            channel_id: chunk.channel_id,
            policy: Some(self.policy.uri.as_bytes()),
            sender_certificate: Some(self.identity.chain()),
            receiver_thumbprint: thumbprint.as_deref(),
        };
        header.chunk(&chunk.content)
    }

    /// Appends the padding; gives the size of the chunk once it is encrypted.
    fn pad(&self, bytes: &mut Vec<u8>, plain: usize, oaep: Oaep, block: usize) -> Option<usize> {
        let room = block.checked_sub(oaep.overhead()).filter(|room| *room > 0)?;
        let extra = usize::from(block > SMALL_BLOCK);
        let least = bytes.len() - plain + 1 + extra + self.signature_len();
        let padding = least.next_multiple_of(room) - least;
        let [low, high] = u16::try_from(padding).ok()?.to_le_bytes();
        bytes.extend(core::iter::repeat_n(low, padding + 1));
        bytes.extend(core::iter::repeat_n(high, extra));
        Some(plain + (least + padding) / room * block)
    }

    /// Appends the signature and encrypts.
    fn finish(
        &self,
        mut bytes: Vec<u8>,
        plain: usize,
        peer: &Peer,
        signature: &[u8],
    ) -> Result<SealedChunk, ChannelError> {
        bytes.extend_from_slice(signature);
        if let Some(oaep) = self.oaep() {
            let content = Zeroizing::new(bytes.split_off(plain));
            let room = peer.key.kind().signature_len().saturating_sub(oaep.overhead()).max(1);
            for block in content.chunks(room) {
                bytes.extend_from_slice(&self.provider.encrypt(oaep, &peer.key, block)?);
            }
        }
        Ok(SealedChunk { bytes, signature: Some(signature.into()) })
    }
}

/// A chunk whose plain part was read.
struct Opening {
    plain: usize,
    channel_id: u32,
    peer: Peer,
    binding: Option<Arc<[u8]>>,
    now: Now,
}

/// Overwrites the size in a message header.
fn put_size(chunk: &mut [u8], size: usize) {
    if let Some(slot) = chunk.get_mut(4..8) {
        slot.copy_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    }
}
