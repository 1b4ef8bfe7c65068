//! ByteString (OPC 10000-6 §5.2.2.7).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::string::ARC_HEADER;
use crate::{Decode, DecodeError, Decoder, Encode, Encoder};

/// A ByteString: null, empty or bytes. Cloning is cheap; null is the default and differs from
/// empty (OPC 10000-6 §5.2.2.7).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(Option<Arc<[u8]>>);

impl ByteString {
    /// The null byte string.
    pub const NULL: Self = Self(None);

    /// The bytes; `None` for the null byte string.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// The bytes; none for the null byte string too.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.as_bytes().unwrap_or_default()
    }

    /// Whether this is the null byte string.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(bytes) = self.as_bytes() else {
            return f.write_str("null");
        };
        const SHOWN: usize = 64;
        f.write_str("0x")?;
        for byte in bytes.iter().take(SHOWN) {
            write!(f, "{byte:02x}")?;
        }
        if bytes.len() > SHOWN { write!(f, "… ({} bytes)", bytes.len()) } else { Ok(()) }
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(Some(bytes.into()))
    }
}

impl<const N: usize> From<[u8; N]> for ByteString {
    fn from(bytes: [u8; N]) -> Self {
        Self(Some(Arc::new(bytes)))
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Some(bytes.into()))
    }
}

impl From<Arc<[u8]>> for ByteString {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Some(bytes))
    }
}

impl Encode for ByteString {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_bytes(self.as_bytes());
    }
}

impl Decode for ByteString {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let Some(bytes) = d.bytes()? else {
            self.0 = None;
            return Ok(());
        };
        if let Some(own) = self.0.as_mut().and_then(Arc::get_mut)
            && own.len() == bytes.len()
        {
            own.copy_from_slice(bytes);
        } else if self.as_bytes() != Some(bytes) {
            d.charge(bytes.len() + ARC_HEADER)?;
            self.0 = Some(bytes.into());
        }
        Ok(())
    }
}
