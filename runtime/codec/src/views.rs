//! Borrowed views: values read in place, nothing built (D7).

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;

use crate::names::{HAS_LOCALE, HAS_TEXT, localized_text_mask, put_localized_text};
use crate::node_id::form;
use crate::{
    ByteString, DecodeError, DecodeReason, Decoder, Encode, Encoder, ExpandedNodeId, Guid, LocalizedText,
    NodeId, QualifiedName, UaString,
};

/// A value that can be read as a view into the message (OPC 10000-6 §5.2).
pub trait DecodeRef<'a>: Sized {
    /// The fewest bytes that an encoded value takes; 0 where unknown.
    const MIN_SIZE: usize = 0;

    /// Reads the next value.
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError>;
}

/// A view that ends with an array, whose elements are handed over while they are checked: whoever needs each of
/// them once need not read them twice, as with an [`ArrayRef`] alone (OPC 10000-6 §5.2.5).
pub trait DecodeEach<'a>: DecodeRef<'a> {
    /// The elements.
    type Element: DecodeRef<'a>;

    /// Reads the next value; `take` gets each element with its index. If there is an error, those before it were
    /// taken.
    ///
    /// # Errors
    /// As [`DecodeRef::decode_ref`].
    fn decode_each(d: &mut Decoder<'a>, take: impl FnMut(usize, Self::Element)) -> Result<Self, DecodeError>;
}

/// A String in a message; its bytes may be invalid UTF-8 (OPC 10000-6 §5.2.2.4).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StrRef<'a>(pub Option<&'a [u8]>);

impl<'a> StrRef<'a> {
    /// Whether this is the null string.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0.is_none()
    }

    /// Whether this is null or has no characters.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.unwrap_or_default().is_empty()
    }

    /// The text, if it is valid UTF-8 and not null.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        core::str::from_utf8(self.0?).ok()
    }

    /// The text with U+FFFD for invalid bytes; empty for null.
    #[must_use]
    pub fn to_str_lossy(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0.unwrap_or_default())
    }

    /// An owned copy.
    #[must_use]
    pub fn to_owned(self) -> UaString {
        self.0.map(|bytes| UaString::from(&*String::from_utf8_lossy(bytes))).into()
    }
}

impl fmt::Debug for StrRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(_) => fmt::Debug::fmt(&self.to_str_lossy(), f),
            None => f.write_str("null"),
        }
    }
}

impl<'a> DecodeRef<'a> for StrRef<'a> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        d.bytes().map(Self)
    }
}

impl Encode for StrRef<'_> {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_bytes(self.0);
    }
}

impl<'a> From<&'a str> for StrRef<'a> {
    fn from(text: &'a str) -> Self {
        Self(Some(text.as_bytes()))
    }
}

/// A ByteString in a message (OPC 10000-6 §5.2.2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BytesRef<'a>(pub Option<&'a [u8]>);

impl BytesRef<'_> {
    /// An owned copy.
    #[must_use]
    pub fn to_owned(self) -> ByteString {
        self.0.map_or(ByteString::NULL, ByteString::from)
    }
}

impl<'a> DecodeRef<'a> for BytesRef<'a> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        d.bytes().map(Self)
    }
}

impl Encode for BytesRef<'_> {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_bytes(self.0);
    }
}

/// A NodeId in a message: namespace index and identifier (OPC 10000-6 §5.2.2.9).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeIdRef<'a> {
    /// `i=`
    Numeric(u16, u32),
    /// `s=`; the bytes may be invalid UTF-8
    String(u16, &'a [u8]),
    /// `g=`
    Guid(u16, Guid),
    /// `b=`
    Opaque(u16, &'a [u8]),
}

impl NodeIdRef<'_> {
    /// `i=0`
    pub const NULL: Self = Self::Numeric(0, 0);

    /// The namespace index.
    #[inline]
    #[must_use]
    pub const fn namespace(self) -> u16 {
        match self {
            Self::Numeric(ns, _) | Self::String(ns, _) | Self::Guid(ns, _) | Self::Opaque(ns, _) => ns,
        }
    }

    /// The number of a numeric id.
    #[inline]
    #[must_use]
    pub const fn as_numeric(self) -> Option<u32> {
        match self {
            Self::Numeric(_, id) => Some(id),
            _ => None,
        }
    }

    /// Whether this is the null NodeId (OPC 10000-3 §8.2.4).
    #[must_use]
    pub fn is_null(self) -> bool {
        match self {
            Self::Numeric(0, 0) => true,
            Self::String(0, bytes) | Self::Opaque(0, bytes) => bytes.is_empty(),
            Self::Guid(0, guid) => guid == Guid::NULL,
            _ => false,
        }
    }

    /// An owned copy.
    #[inline]
    #[must_use]
    pub fn to_owned(self) -> NodeId {
        match self {
            Self::Numeric(ns, id) => NodeId::numeric(ns, id),
            Self::String(ns, bytes) => NodeId::string(ns, &*String::from_utf8_lossy(bytes)),
            Self::Guid(ns, id) => NodeId::guid(ns, id),
            Self::Opaque(ns, bytes) => NodeId::opaque(ns, bytes),
        }
    }
}

impl Default for NodeIdRef<'_> {
    fn default() -> Self {
        Self::NULL
    }
}

impl fmt::Debug for NodeIdRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_owned(), f)
    }
}

impl PartialEq<NodeId> for NodeIdRef<'_> {
    fn eq(&self, other: &NodeId) -> bool {
        *self == other.as_ref()
    }
}

impl Encode for NodeIdRef<'_> {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        self.encode_with_flags(0, e);
    }
}

impl<'a> DecodeRef<'a> for NodeIdRef<'a> {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let form = d.u8()?;
        Self::decode_form(form, d)
    }
}

/// An ExpandedNodeId in a message (OPC 10000-6 §5.2.2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExpandedNodeIdRef<'a> {
    /// The id; its namespace index counts only without a URI.
    pub node_id: NodeIdRef<'a>,
    /// The namespace URI, or null.
    pub namespace_uri: StrRef<'a>,
    /// Index into the server table; 0 is the local server.
    pub server_index: u32,
}

impl ExpandedNodeIdRef<'_> {
    /// An owned copy.
    #[must_use]
    pub fn to_owned(self) -> ExpandedNodeId {
        ExpandedNodeId {
            node_id: self.node_id.to_owned(),
            namespace_uri: self.namespace_uri.to_owned(),
            server_index: self.server_index,
        }
    }
}

impl<'a> DecodeRef<'a> for ExpandedNodeIdRef<'a> {
    const MIN_SIZE: usize = 2;

    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let form = d.u8()?;
        let flags = form::HAS_NAMESPACE_URI | form::HAS_SERVER_INDEX;
        let node_id = NodeIdRef::decode_form(form & !flags, d)?;
        let uri = form & form::HAS_NAMESPACE_URI != 0;
        let namespace_uri = if uri { StrRef::decode_ref(d)? } else { StrRef(None) };
        let server_index = if form & form::HAS_SERVER_INDEX != 0 { d.u32()? } else { 0 };
        Ok(Self { node_id, namespace_uri, server_index })
    }
}

impl Encode for ExpandedNodeIdRef<'_> {
    fn encode(&self, e: &mut Encoder<'_>) {
        let uri = if self.namespace_uri.is_null() { 0 } else { form::HAS_NAMESPACE_URI };
        let server = if self.server_index == 0 { 0 } else { form::HAS_SERVER_INDEX };
        self.node_id.encode_with_flags(uri | server, e);
        if uri != 0 {
            self.namespace_uri.encode(e);
        }
        if server != 0 {
            e.put_u32(self.server_index);
        }
    }
}

/// A QualifiedName in a message (OPC 10000-6 §5.2.2.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QualifiedNameRef<'a> {
    /// Index into the namespace table of the connection.
    pub namespace_index: u16,
    /// The name.
    pub name: StrRef<'a>,
}

impl QualifiedNameRef<'_> {
    /// An owned copy.
    #[must_use]
    pub fn to_owned(self) -> QualifiedName {
        QualifiedName { namespace_index: self.namespace_index, name: self.name.to_owned() }
    }
}

impl<'a> DecodeRef<'a> for QualifiedNameRef<'a> {
    const MIN_SIZE: usize = 6;

    #[inline]
    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { namespace_index: d.u16()?, name: StrRef::decode_ref(d)? })
    }
}

impl Encode for QualifiedNameRef<'_> {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u16(self.namespace_index);
        self.name.encode(e);
    }
}

/// A LocalizedText in a message (OPC 10000-6 §5.2.2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocalizedTextRef<'a> {
    /// The locale.
    pub locale: StrRef<'a>,
    /// The text.
    pub text: StrRef<'a>,
}

impl LocalizedTextRef<'_> {
    /// An owned copy.
    #[must_use]
    pub fn to_owned(self) -> LocalizedText {
        LocalizedText { locale: self.locale.to_owned(), text: self.text.to_owned() }
    }
}

impl<'a> DecodeRef<'a> for LocalizedTextRef<'a> {
    const MIN_SIZE: usize = 1;

    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = localized_text_mask(d)?;
        let locale = if mask & HAS_LOCALE != 0 { StrRef::decode_ref(d)? } else { StrRef(None) };
        let text = if mask & HAS_TEXT != 0 { StrRef::decode_ref(d)? } else { StrRef(None) };
        Ok(Self { locale, text })
    }
}

impl Encode for LocalizedTextRef<'_> {
    fn encode(&self, e: &mut Encoder<'_>) {
        put_localized_text(self.locale, self.text, e);
    }
}

/// An ExtensionObject in a message: its type and its body, unread (OPC 10000-6 §5.2.2.15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExtensionObjectRef<'a> {
    /// The encoding's id.
    pub type_id: NodeIdRef<'a>,
    /// The encoding byte: 0 no body, 1 binary, 2 XML.
    pub encoding: u8,
    /// The body.
    pub body: BytesRef<'a>,
}

impl<'a> DecodeRef<'a> for ExtensionObjectRef<'a> {
    const MIN_SIZE: usize = 3;

    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let type_id = NodeIdRef::decode_ref(d)?;
        let encoding = d.u8()?;
        let body = match encoding {
            0 => BytesRef(None),
            // Without its length nobody knows where the body ends.
            1 if d.rest().first_chunk().is_some_and(|len| i32::from_le_bytes(*len) < 0) => {
                return Err(DecodeReason::BadLength.into());
            }
            1 | 2 => BytesRef::decode_ref(d)?,
            _ => return Err(DecodeReason::BadEncodingByte.into()),
        };
        Ok(Self { type_id, encoding, body })
    }
}

/// An array in a message. Its elements were checked when it was read and are read again, in place,
/// as the iterator walks (OPC 10000-6 §5.2.5).
#[derive(Clone, Debug)]
pub struct ArrayRef<'a, T> {
    at: Decoder<'a>,
    len: usize,
    null: bool,
    item: PhantomData<fn() -> T>,
}

impl<'a, T: DecodeRef<'a>> ArrayRef<'a, T> {
    /// Number of elements; 0 for the null array.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether this is the null array.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        self.null
    }

    /// The elements.
    #[must_use]
    pub fn iter(&self) -> ArrayRefIter<'a, T> {
        ArrayRefIter { at: self.at.clone(), left: self.len, item: PhantomData }
    }
}

impl<'a, T: DecodeRef<'a>> DecodeRef<'a> for ArrayRef<'a, T> {
    const MIN_SIZE: usize = 4;

    fn decode_ref(d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Self::decode_each(d, |_, _| {})
    }
}

impl<'a, T: DecodeRef<'a>> DecodeEach<'a> for ArrayRef<'a, T> {
    type Element = T;

    #[inline]
    fn decode_each(d: &mut Decoder<'a>, mut take: impl FnMut(usize, T)) -> Result<Self, DecodeError> {
        let len = d.array_len(T::MIN_SIZE)?;
        let at = d.clone();
        for index in 0..len.unwrap_or_default() {
            match T::decode_ref(d) {
                Ok(element) => take(index, element),
                Err(error) => return Err(error.at_index(index)),
            }
        }
        Ok(Self { at, len: len.unwrap_or_default(), null: len.is_none(), item: PhantomData })
    }
}

/// Walks the elements of an [`ArrayRef`] (OPC 10000-6 §5.2.5).
#[derive(Clone, Debug)]
pub struct ArrayRefIter<'a, T> {
    at: Decoder<'a>,
    left: usize,
    item: PhantomData<fn() -> T>,
}

impl<'a, T: DecodeRef<'a>> Iterator for ArrayRefIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // Checked once already: an error cannot happen, and would end the iteration.
        T::decode_ref(&mut self.at).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: DecodeRef<'a>> ExactSizeIterator for ArrayRefIter<'a, T> {}
