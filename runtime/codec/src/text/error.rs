//! Errors of text formats, with the path to the value and its place in the text.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::{DecodeError, EncodeError, StatusCode};

/// What was wrong with a text or a value (OPC 10000-6 §5.3, §5.4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextReason {
    /// The text is not well-formed JSON or XML.
    #[error("{0}")]
    Syntax(Box<str>),
    /// A value of another kind was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A number does not fit its type.
    #[error("the number does not fit its type")]
    OutOfRange,
    /// A member stands more than once.
    #[error("the field stands more than once")]
    Duplicate,
    /// A member that the type does not have.
    #[error("the type has no such field")]
    UnknownField,
    /// An enumeration has no such member.
    #[error("the enumeration has no such member")]
    UnknownMember,
    /// The structure of an ExtensionObject is not known.
    #[error("the type of the structure is not known")]
    UnknownType,
    /// A namespace is not in the namespace table.
    #[error("the namespace is not in the namespace table")]
    UnknownNamespace,
    /// Array dimensions do not fit the elements.
    #[error("the array dimensions do not fit the elements")]
    BadDimensions,
    /// A union's switch names no field, or a mask has bits that are not defined.
    #[error("the switch or mask does not fit the fields")]
    BadSwitch,
    /// Nested more deeply than allowed.
    #[error("nested more deeply than allowed")]
    TooDeep,
    /// Larger than allowed.
    #[error("larger than allowed")]
    LimitExceeded,
    /// The value's bytes are not those of its type.
    #[error("{0}")]
    Decode(DecodeError),
    /// The value cannot be encoded.
    #[error("{0}")]
    Encode(EncodeError),
}

/// An error with the path to the place, such as `Recipe.steps[3].name`, and where that is in the text.
#[derive(Clone, PartialEq, Eq)]
pub struct TextError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    reason: TextReason,
    /// Innermost segment first.
    path: Vec<Segment>,
    offset: Option<usize>,
}

#[derive(Clone, PartialEq, Eq)]
enum Segment {
    Field(String),
    Index(usize),
}

/// Paths are for people; deeper ones say no more.
const MAX_PATH: usize = 32;

impl TextError {
    /// What was wrong.
    #[must_use]
    pub fn reason(&self) -> &TextReason {
        &self.0.reason
    }

    /// The byte of the text at which the value stands; `None` when a value is written.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// The status that tells a peer (OPC 10000-4 §7.38).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match &self.0.reason {
            TextReason::TooDeep | TextReason::LimitExceeded => StatusCode::BAD_ENCODING_LIMITS_EXCEEDED,
            TextReason::Decode(error) => error.status(),
            TextReason::Encode(error) => error.status(),
            _ => StatusCode::BAD_DECODING_ERROR,
        }
    }

    /// The path as text; empty for a bare value.
    #[must_use]
    pub fn path(&self) -> String {
        use fmt::Write as _;
        let mut text = String::new();
        for segment in self.0.path.iter().rev() {
            // Writing to a String cannot fail.
            let _ = match segment {
                Segment::Index(index) => write!(text, "[{index}]"),
                Segment::Field(name) if text.is_empty() => write!(text, "{name}"),
                Segment::Field(name) => write!(text, ".{name}"),
            };
        }
        text
    }

    #[cold]
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        if self.0.path.len() < MAX_PATH {
            self.0.path.push(Segment::Field(name.to_owned()));
        }
        self
    }

    #[cold]
    pub(crate) fn at_index(mut self, index: usize) -> Self {
        if self.0.path.len() < MAX_PATH {
            self.0.path.push(Segment::Index(index));
        }
        self
    }

    /// Says where in the text, unless that is known more exactly already.
    #[cold]
    pub(crate) fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }
}

impl From<TextReason> for TextError {
    #[cold]
    fn from(reason: TextReason) -> Self {
        Self(Box::new(Inner { reason, path: Vec::new(), offset: None }))
    }
}

impl From<DecodeError> for TextError {
    #[cold]
    fn from(error: DecodeError) -> Self {
        TextReason::Decode(error).into()
    }
}

impl From<EncodeError> for TextError {
    #[cold]
    fn from(error: EncodeError) -> Self {
        TextReason::Encode(error).into()
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{}", self.0.reason)?;
        match self.0.offset {
            Some(offset) => write!(f, " (byte {offset})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextError({self})")
    }
}

impl core::error::Error for TextError {}
