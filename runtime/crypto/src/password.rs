//! Hashes of passwords: Argon2id, as text that names its parameters.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use uaforge_codec::Entropy;

use crate::CryptoError;

const SALT: usize = 16;

/// A hash of a password, such as `$argon2id$v=19$m=19456,t=2,p=1$…`. It takes some 20 MB of memory and some
/// milliseconds, on purpose.
///
/// # Errors
/// There is not enough memory.
pub fn hash_password(password: &[u8], entropy: &mut dyn Entropy) -> Result<String, CryptoError> {
    let mut salt = [0; SALT];
    entropy.fill(&mut salt);
    let hash = Argon2::default().hash_password_with_salt(password, &salt).map_err(|_| CryptoError)?;
    Ok(hash.to_string())
}

/// Whether `hash` is one of `password`; `false` too if it cannot be read.
#[must_use]
pub fn verify_password(hash: &str, password: &[u8]) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| Argon2::default().verify_password(password, &hash).is_ok())
}

/// Whether a text is a hash that [`verify_password`] can use.
#[must_use]
pub fn is_password_hash(hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|hash| hash.algorithm.as_str().starts_with("argon2") && hash.hash.is_some())
}
