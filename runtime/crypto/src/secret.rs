//! Secrets in user identity tokens, encrypted for the server (OPC 10000-4 §7.40.2).

use subtle::ConstantTimeEq as _;
use uaforge_channel::{ChannelError, Operation, security_checks_failed};
use zeroize::Zeroizing;

use crate::policy::Exchange;
use crate::{Certificate, CryptoError, Identity, Policy, Provider};

/// Bytes of the length before secret and nonce.
const LENGTH: usize = 4;

/// Encrypts a secret in the legacy format: with the nonce of the server behind it, in blocks of RSA
/// (OPC 10000-4 §7.40.2.2).
///
/// # Errors
/// The policy is none of RSA, or the secret is too long.
pub fn seal_password(
    policy: &Policy,
    provider: &dyn Provider,
    server: &Certificate,
    secret: &[u8],
    server_nonce: &[u8],
) -> Result<Vec<u8>, CryptoError> {
    let Exchange::Nonces { oaep } = policy.exchange else { return Err(CryptoError) };
    let room = server.key().kind().signature_len().checked_sub(oaep.overhead()).ok_or(CryptoError)?;
    let len = u32::try_from(secret.len() + server_nonce.len()).map_err(|_| CryptoError)?;
    let plain = Zeroizing::new([&len.to_le_bytes()[..], secret, server_nonce].concat());
    let mut sealed = Vec::new();
    for block in plain.chunks(room.max(1)) {
        sealed.extend_from_slice(&provider.encrypt(oaep, server.key(), block)?);
    }
    Ok(sealed)
}

/// Decrypts a secret in the legacy format (OPC 10000-4 §7.40.2.2).
///
/// Fails with Bad_SecurityChecksFailed, whatever is wrong.
#[must_use]
pub fn open_password(
    policy: &Policy,
    server: &Identity,
    sealed: &[u8],
    server_nonce: &[u8],
) -> Operation<Zeroizing<Vec<u8>>> {
    let Exchange::Nonces { oaep } = policy.exchange else {
        return Operation::failed(security_checks_failed());
    };
    let nonce = server_nonce.to_vec();
    server.key().decrypt(oaep, sealed.to_vec()).then(move |plain| {
        let opened = plain.ok().and_then(|plain| without_nonce(&plain, &nonce));
        Operation::Ready(opened.ok_or_else::<ChannelError, _>(security_checks_failed))
    })
}

/// The secret before the nonce. Peers fill the last block up, so that the length counts, not the end.
fn without_nonce(plain: &[u8], nonce: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (len, rest) = plain.split_first_chunk::<LENGTH>()?;
    let counted = rest.get(..usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
    let (secret, tail) = counted.split_at(counted.len().checked_sub(nonce.len())?);
    bool::from(tail.ct_eq(nonce)).then(|| Zeroizing::new(secret.to_vec()))
}
