//! QualifiedName and LocalizedText (OPC 10000-6 §5.2.2.13, §5.2.2.14).

use core::convert::Infallible;
use core::fmt;
use core::str::FromStr;

use crate::{Decode, DecodeError, DecodeReason, Decoder, Encode, Encoder, StrRef, UaString};

/// A name qualified by a namespace index (OPC 10000-3 §8.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName {
    /// Index into the namespace table of the connection.
    pub namespace_index: u16,
    /// The name, at most 512 characters.
    pub name: UaString,
}

impl QualifiedName {
    /// The null name.
    pub const NULL: Self = Self { namespace_index: 0, name: UaString::NULL };

    /// A name in a namespace.
    #[must_use]
    pub fn new(namespace_index: u16, name: impl Into<UaString>) -> Self {
        Self { namespace_index, name: name.into() }
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace_index {
            0 => write!(f, "{}", self.name),
            index => write!(f, "{index}:{}", self.name),
        }
    }
}

impl FromStr for QualifiedName {
    type Err = Infallible;

    /// Reads `3:Pump`. Without a namespace index before the first colon all of the text is the name
    /// (OPC 10000-6 §5.1.13).
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let digits = |index: &str| index.bytes().all(|byte| byte.is_ascii_digit());
        let split = text.split_once(':').filter(|(index, _)| digits(index));
        let parsed = split.and_then(|(index, name)| Some((index.parse().ok()?, name)));
        Ok(parsed.map_or_else(|| Self::new(0, text), |(index, name)| Self::new(index, name)))
    }
}

impl Encode for QualifiedName {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u16(self.namespace_index);
        self.name.encode(e);
    }
}

impl Decode for QualifiedName {
    const MIN_SIZE: usize = 6;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.namespace_index = d.u16()?;
        self.name.decode_into(d)
    }
}

/// Text with an optional locale (OPC 10000-3 §8.5). A null part is absent on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalizedText {
    /// The locale, such as `en-US`.
    pub locale: UaString,
    /// The text.
    pub text: UaString,
}

impl LocalizedText {
    /// No locale, no text.
    pub const NULL: Self = Self { locale: UaString::NULL, text: UaString::NULL };

    /// Text in a locale.
    #[must_use]
    pub fn new(locale: impl Into<UaString>, text: impl Into<UaString>) -> Self {
        Self { locale: locale.into(), text: text.into() }
    }
}

impl From<&str> for LocalizedText {
    /// Text without a locale.
    fn from(text: &str) -> Self {
        Self { locale: UaString::NULL, text: text.into() }
    }
}

impl fmt::Display for LocalizedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

pub(crate) const HAS_LOCALE: u8 = 0x01;
pub(crate) const HAS_TEXT: u8 = 0x02;

/// The mask byte of a LocalizedText; other bits are not defined.
pub(crate) fn localized_text_mask(d: &mut Decoder<'_>) -> Result<u8, DecodeError> {
    let mask = d.u8()?;
    if mask & !(HAS_LOCALE | HAS_TEXT) != 0 {
        return Err(DecodeReason::BadEncodingByte.into());
    }
    Ok(mask)
}

impl Encode for LocalizedText {
    fn encode(&self, e: &mut Encoder<'_>) {
        put_localized_text(view(&self.locale), view(&self.text), e);
    }
}

fn view(text: &UaString) -> StrRef<'_> {
    StrRef(text.as_str().map(str::as_bytes))
}

pub(crate) fn put_localized_text(locale: StrRef<'_>, text: StrRef<'_>, e: &mut Encoder<'_>) {
    let locale_bit = if locale.is_null() { 0 } else { HAS_LOCALE };
    let text_bit = if text.is_null() { 0 } else { HAS_TEXT };
    e.put_u8(locale_bit | text_bit);
    if locale_bit != 0 {
        locale.encode(e);
    }
    if text_bit != 0 {
        text.encode(e);
    }
}

impl Decode for LocalizedText {
    const MIN_SIZE: usize = 1;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let mask = localized_text_mask(d)?;
        if mask & HAS_LOCALE != 0 {
            self.locale.decode_into(d)?;
        } else {
            self.locale = UaString::NULL;
        }
        if mask & HAS_TEXT != 0 {
            self.text.decode_into(d)?;
        } else {
            self.text = UaString::NULL;
        }
        Ok(())
    }
}
