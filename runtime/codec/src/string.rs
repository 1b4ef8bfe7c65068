//! String and XmlElement (OPC 10000-6 §5.2.2.4, §5.2.2.8).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::{Decode, DecodeError, Decoder, Encode, Encoder};

/// A String: null, empty or text. Cloning is cheap; null is the default and differs from empty.
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
    /// Invalid UTF-8 becomes U+FFFD: one wrong byte of a peer must not end a session.
    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match d.bytes()? {
            None => self.0 = None,
            Some(bytes) => self.0 = Some(shared_text(d, bytes)?),
        }
        Ok(())
    }
}

/// Bytes of the two counters in front of shared text.
pub(crate) const ARC_HEADER: usize = 16;

#[cold]
fn shared_text(d: &mut Decoder<'_>, bytes: &[u8]) -> Result<Arc<str>, DecodeError> {
    d.charge(bytes.len() + ARC_HEADER)?;
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Ok(text.into()),
        Cow::Owned(text) => {
            // The repaired copy is up to three times as long, and exists twice for a moment.
            d.charge(text.len() * 2)?;
            Ok(text.into())
        }
    }
}

/// For user structures: the null string reads as an empty one.
impl Encode for String {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_str(Some(self));
    }
}

impl Decode for String {
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.clear();
        if let Some(bytes) = d.bytes()? {
            d.charge(bytes.len().saturating_mul(2))?;
            self.push_str(&Self::from_utf8_lossy(bytes));
        }
        Ok(())
    }
}

/// An XmlElement: an XML fragment as text, kept as it came.
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
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.0.decode_into(d)
    }
}
