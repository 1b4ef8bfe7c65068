//! String and XmlElement (OPC 10000-6 §5.2.2.4, §5.2.2.8).

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::{Decode, DecodeError, Decoder, Encode, Encoder};

/// A String: null, empty or text. Cloning is cheap; null is the default and differs from
/// empty (OPC 10000-6 §5.2.2.4).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UaString(Option<Arc<str>>);

impl UaString {
    /// The null string.
    pub const NULL: Self = Self(None);

    /// The text; `None` for the null string.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text; `""` for the null string too.
    #[inline]
    #[must_use]
    pub fn text(&self) -> &str {
        self.as_str().unwrap_or_default()
    }

    /// Whether this is the null string.
    #[inline]
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this is null or has no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// The shared text.
    #[must_use]
    pub fn into_inner(self) -> Option<Arc<str>> {
        self.0
    }
}

impl fmt::Debug for UaString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => fmt::Debug::fmt(text, f),
            None => f.write_str("null"),
        }
    }
}

impl fmt::Display for UaString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl From<&str> for UaString {
    fn from(text: &str) -> Self {
        Self(Some(text.into()))
    }
}

impl From<String> for UaString {
    fn from(text: String) -> Self {
        Self(Some(text.into()))
    }
}

impl From<Arc<str>> for UaString {
    fn from(text: Arc<str>) -> Self {
        Self(Some(text))
    }
}

impl<T: Into<Self>> From<Option<T>> for UaString {
    fn from(text: Option<T>) -> Self {
        text.map_or(Self::NULL, Into::into)
    }
}

impl PartialEq<str> for UaString {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for UaString {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl Encode for UaString {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_str(self.as_str());
    }
}

impl Decode for UaString {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = true;

    /// Invalid UTF-8 becomes U+FFFD: one wrong byte of a peer must not end a session.
    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match d.bytes()? {
            None => self.0 = None,
            // The same text again, as decoding into a reused value often finds, needs no memory.
            Some(bytes) if self.as_str().map(str::as_bytes) == Some(bytes) => {}
            Some(bytes) => self.0 = Some(shared_text(d, bytes)?),
        }
        Ok(())
    }
}

/// Bytes of the two counters in front of shared text.
pub(crate) const ARC_HEADER: usize = 16;

pub(crate) fn shared_text(d: &mut Decoder<'_>, bytes: &[u8]) -> Result<Arc<str>, DecodeError> {
    d.charge(bytes.len() + ARC_HEADER)?;
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => repaired(d, bytes).map(Into::into),
    }
}

/// Text with U+FFFD for what is not UTF-8: up to three times as long, grown by doubling, and copied
/// once by the caller.
#[cold]
pub(crate) fn repaired(d: &mut Decoder<'_>, bytes: &[u8]) -> Result<String, DecodeError> {
    d.charge(bytes.len().saturating_mul(12) + 64)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// For user structures: the null string reads as an empty one.
impl Encode for String {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_str(Some(self));
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.clear();
        let bytes = d.bytes()?.unwrap_or_default();
        match core::str::from_utf8(bytes) {
            Ok(text) => {
                if self.capacity() < text.len() {
                    d.charge(text.len())?;
                    self.reserve_exact(text.len());
                }
                self.push_str(text);
            }
            Err(_) => *self = repaired(d, bytes)?,
        }
        Ok(())
    }
}

/// An XmlElement: an XML fragment as text, kept as it came (OPC 10000-6 §5.2.2.8).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct XmlElement(UaString);

impl XmlElement {
    /// The null element.
    pub const NULL: Self = Self(UaString::NULL);

    /// The fragment; `None` for the null element.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }
}

impl fmt::Debug for XmlElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Into<UaString>> From<T> for XmlElement {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Encode for XmlElement {
    fn encode(&self, e: &mut Encoder<'_>) {
        self.0.encode(e);
    }
}

impl Decode for XmlElement {
    const MIN_SIZE: usize = 4;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.0.decode_into(d)
    }
}
