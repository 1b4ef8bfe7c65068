//! Text forms of NodeId and ExpandedNodeId (OPC 10000-6 §5.3.1.10).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{ExpandedNodeId, IdentifierRef, NodeId, UaString};

impl fmt::Display for IdentifierRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numeric(id) => write!(f, "i={id}"),
            Self::String(id) => write!(f, "s={id}"),
            Self::Guid(id) => write!(f, "g={id}"),
            Self::Opaque(id) => {
                f.write_str("b=")?;
                write_base64(id, f)
            }
        }
    }
}

impl fmt::Display for NodeId {
    /// `i=85`, `ns=2;s=Line 4`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace() != 0 {
            write!(f, "ns={};", self.namespace())?;
        }
        self.identifier().fmt(f)
    }
}

impl fmt::Display for ExpandedNodeId {
    /// `svr=1;nsu=http://example.org/;i=1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.server_index != 0 {
            write!(f, "svr={};", self.server_index)?;
        }
        match self.namespace_uri.as_str() {
            Some(uri) => {
                f.write_str("nsu=")?;
                push_uri(uri, f)?;
                write!(f, ";{}", self.node_id.identifier())
            }
            None => self.node_id.fmt(f),
        }
    }
}

/// Writes a URI in an id: the semicolon would end it (OPC 10000-6 §5.1.12).
pub(crate) fn push_uri(uri: &str, f: &mut impl fmt::Write) -> fmt::Result {
    for c in uri.chars() {
        match c {
            ';' => f.write_str("%3B")?,
            '%' => f.write_str("%25")?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

/// Undoes [`push_uri`].
pub(crate) fn unescaped_uri(uri: &str) -> String {
    uri.replace("%3B", ";").replace("%3b", ";").replace("%25", "%")
}

/// The text is not a NodeId such as `ns=2;i=5` (OPC 10000-6 §5.3.1.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a NodeId: write `ns=2;i=5`, `ns=2;s=text`, `g=…` or `b=…`")]
pub struct ParseNodeIdError;

impl FromStr for NodeId {
    type Err = ParseNodeIdError;

    fn from_str(text: &str) -> Result<Self, ParseNodeIdError> {
        let (namespace, rest) = match text.strip_prefix("ns=") {
            Some(rest) => {
                let (index, rest) = rest.split_once(';').ok_or(ParseNodeIdError)?;
                (index.parse().map_err(|_| ParseNodeIdError)?, rest)
            }
            None => (0, text),
        };
        let (kind, id) = rest.split_at_checked(2).ok_or(ParseNodeIdError)?;
        match kind {
            "i=" => id.parse().map(|id| Self::numeric(namespace, id)).map_err(|_| ParseNodeIdError),
            "s=" => Ok(Self::string(namespace, id)),
            "g=" => id.parse().map(|id| Self::guid(namespace, id)).map_err(|_| ParseNodeIdError),
            "b=" => read_base64(id).map(|id| Self::opaque(namespace, id)).ok_or(ParseNodeIdError),
            _ => Err(ParseNodeIdError),
        }
    }
}

impl FromStr for ExpandedNodeId {
    type Err = ParseNodeIdError;

    fn from_str(text: &str) -> Result<Self, ParseNodeIdError> {
        let (server_index, rest) = match text.strip_prefix("svr=") {
            Some(rest) => {
                let (index, rest) = rest.split_once(';').ok_or(ParseNodeIdError)?;
                (index.parse().map_err(|_| ParseNodeIdError)?, rest)
            }
            None => (0, text),
        };
        let (namespace_uri, rest) = match rest.strip_prefix("nsu=") {
            Some(rest) => {
                let (uri, rest) = rest.split_once(';').ok_or(ParseNodeIdError)?;
                (unescaped_uri(uri).into(), rest)
            }
            None => (UaString::NULL, rest),
        };
        Ok(Self { node_id: rest.parse()?, namespace_uri, server_index })
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn write_base64(bytes: &[u8], f: &mut impl fmt::Write) -> fmt::Result {
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0_u32, |word, byte| (word << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for position in 0..4 {
            let digit = (word >> (18 - 6 * position)) & 0x3F;
            match ALPHABET.get(digit as usize) {
                Some(letter) if position <= group.len() => f.write_char(char::from(*letter))?,
                _ => f.write_char('=')?,
            }
        }
    }
    Ok(())
}

pub(crate) fn read_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut word, mut bits) = (0_u32, 0);
    for letter in digits.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == letter)?;
        word = ((word << 6) | u32::try_from(digit).ok()?) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((word >> bits) & 0xFF).ok()?);
        }
    }
    Some(out)
}
