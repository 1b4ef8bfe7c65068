//! The operating system's randomness.

use uaforge_codec::Entropy;

/// Random bytes of the operating system, for tokens, nonces and session ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    /// # Panics
    /// If the operating system has no randomness to give: nothing secret can be made then.
    fn fill(&mut self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }
}
