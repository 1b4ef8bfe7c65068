//! Errors of encoding and decoding, with the path to the value that failed.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::StatusCode;

/// Why a value could not be written (OPC 10000-6 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The message, or one length in it, is larger than the receiver or the format allows.
    #[error("the message is larger than the receiver accepts")]
    TooLarge,
    /// Values are nested too deeply.
    #[error("values are nested too deeply")]
    TooDeep,
    /// A value cannot be written: its namespace is not known to the receiver.
    #[error("a namespace of the value is not in the namespace table")]
    UnknownNamespace,
    /// A value breaks a rule of its type, such as matrix dimensions that do not fit its elements.
    #[error("the value is inconsistent")]
    Inconsistent,
}

impl EncodeError {
    /// The status that tells a peer.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::BAD_RESPONSE_TOO_LARGE,
            Self::TooDeep => StatusCode::BAD_ENCODING_LIMITS_EXCEEDED,
            Self::UnknownNamespace | Self::Inconsistent => StatusCode::BAD_ENCODING_ERROR,
        }
    }
}

/// What was wrong with the bytes (OPC 10000-6 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeReason {
    /// The input ends inside the value.
    #[error("the input ends inside the value")]
    Truncated,
    /// A length is larger than what remains, or missing where the type is not known.
    #[error("the length does not fit what remains of the input")]
    BadLength,
    /// An encoding byte or mask has a value that the format does not define.
    #[error("the encoding byte or mask is not defined")]
    BadEncodingByte,
    /// A union's switch value names no field.
    #[error("the switch value names no field of the union")]
    BadSwitch,
    /// Matrix dimensions do not fit the elements.
    #[error("the array dimensions do not fit the elements")]
    BadDimensions,
    /// A body's stated length is not the length of its type.
    #[error("the body is longer or shorter than its type")]
    BodyLength,
    /// The body of an ExtensionObject is not of the expected type.
    #[error("the body is not of the expected type")]
    WrongType,
    /// Bytes are left after the value.
    #[error("bytes are left after the value")]
    TrailingBytes,
    /// A field holds a structure that is not a subtype of the field's DataType.
    #[error("the structure is not a subtype of the field's DataType")]
    NotASubtype,
    /// Nested more deeply than allowed.
    #[error("nested more deeply than allowed")]
    TooDeep,
    /// An array, string or the whole message exceeds its limit.
    #[error("larger than allowed")]
    LimitExceeded,
}

/// A decoding error with the path to the place, such as `ReadRequest.nodesToRead[3].nodeId`.
///
/// One pointer wide, so that results on the way without an error stay in registers.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    reason: DecodeReason,
    /// Innermost segment first.
    path: Vec<Segment>,
}

#[derive(Clone, PartialEq, Eq)]
enum Segment {
    Field(Cow<'static, str>),
    Index(usize),
}

impl DecodeError {
    /// An error without a path yet.
    #[cold]
    #[must_use]
    pub fn new(reason: DecodeReason) -> Self {
        Self(Box::new(Inner { reason, path: Vec::new() }))
    }

    /// What was wrong.
    #[must_use]
    pub fn reason(&self) -> DecodeReason {
        self.0.reason
    }

    /// The status that tells a peer (OPC 10000-4 §7.38).
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.0.reason {
            DecodeReason::TooDeep | DecodeReason::LimitExceeded => StatusCode::BAD_ENCODING_LIMITS_EXCEEDED,
            _ => StatusCode::BAD_DECODING_ERROR,
        }
    }

    /// Adds the field or type in which the error happened; the outermost is added last.
    #[cold]
    #[must_use]
    pub fn in_field(mut self, name: &'static str) -> Self {
        if self.0.path.len() < MAX_PATH {
            self.0.path.push(Segment::Field(Cow::Borrowed(name)));
        }
        self
    }

    /// As [`DecodeError::in_field`], with a name that is known at run time only.
    #[cold]
    pub(crate) fn in_owned_field(mut self, name: String) -> Self {
        if self.0.path.len() < MAX_PATH {
            self.0.path.push(Segment::Field(Cow::Owned(name)));
        }
        self
    }

    /// Adds the array index at which the error happened.
    #[cold]
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        if self.0.path.len() < MAX_PATH {
            self.0.path.push(Segment::Index(index));
        }
        self
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
}

/// Paths are for people; deeper ones say no more.
const MAX_PATH: usize = 32;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if path.is_empty() { write!(f, "{}", self.0.reason) } else { write!(f, "{path}: {}", self.0.reason) }
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodeError({self})")
    }
}

impl core::error::Error for DecodeError {}

impl From<DecodeReason> for DecodeError {
    #[cold]
    fn from(reason: DecodeReason) -> Self {
        Self::new(reason)
    }
}
