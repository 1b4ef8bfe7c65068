//! Texts of node ids and qualified names: parsing and writing.

use std::fmt;
use std::sync::Arc;

use crate::resolved::{Id, Ident, ModelSet, Ns, QName, Span};

/// The namespace part of a NodeId text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamespacePart<'a> {
    /// `ns=`, or none at all.
    Index(u32),
    /// `nsu=`.
    Uri(std::borrow::Cow<'a, str>),
}

/// Splits a NodeId or ExpandedNodeId text (OPC 10000-6 §5.1.12); `None` if it is none.
pub(crate) fn parse_node_id(text: &str) -> Option<(NamespacePart<'_>, Ident)> {
    let mut rest = text.trim();
    if let Some(server) = rest.strip_prefix("svr=") {
        let (index, tail) = server.split_once(';')?;
        index.parse::<u32>().ok()?;
        rest = tail;
    }
    let mut namespace = NamespacePart::Index(0);
    if let Some(tail) = rest.strip_prefix("ns=") {
        let (index, tail) = tail.split_once(';')?;
        namespace = NamespacePart::Index(parse_number(index)?);
        rest = tail;
    } else if let Some(tail) = rest.strip_prefix("nsu=") {
        let (uri, tail) = tail.split_once(';')?;
        namespace = NamespacePart::Uri(unescape_uri(uri));
        rest = tail;
    }
    Some((namespace, parse_ident(rest)?))
}

/// `%3B` and `%25` stand for `;` and `%` in the URI of an ExpandedNodeId text.
fn unescape_uri(uri: &str) -> std::borrow::Cow<'_, str> {
    if uri.contains('%') {
        uri.replace("%3B", ";").replace("%3b", ";").replace("%25", "%").into()
    } else {
        uri.into()
    }
}

fn parse_number(text: &str) -> Option<u32> {
    let digits = text.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Parses `i=`, `s=`, `g=` or `b=`.
pub(crate) fn parse_ident(text: &str) -> Option<Ident> {
    let (kind, value) = text.split_once('=')?;
    match kind {
        "i" => Some(Ident::Numeric(parse_number(value)?)),
        "s" => Some(Ident::String(value.into())),
        "g" => Some(Ident::Guid(parse_guid(value)?)),
        "b" => Some(Ident::Opaque(decode_base64(value)?.into())),
        _ => None,
    }
}

/// Parses a GUID text into its 16 bytes in text order (OPC 10000-6 §5.1.3).
pub(crate) fn parse_guid(text: &str) -> Option<[u8; 16]> {
    let text = text.trim();
    let groups: Vec<&str> = text.split('-').collect();
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return None;
    }
    let digits: Vec<u8> =
        groups.concat().chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().fold(0, |sum, digit| sum << 4 | digit);
    }
    Some(bytes)
}

/// Decodes base64, ignoring white space; `None` for anything else that is not of the alphabet.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut buffer, mut bits, mut padding, mut digits) = (0u32, 0, 0, 0usize);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            padding += 1;
            continue;
        }
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        digits += 1;
        buffer = (buffer << 6 | u32::from(digit)) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((buffer >> bits) as u8);
        }
    }
    let complete = padding <= 2 && digits % 4 != 1 && (padding == 0 || (digits + padding) % 4 == 0);
    complete.then_some(bytes)
}

/// Encodes base64 with padding.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |sum, at| sum << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            if place <= chunk.len() {
                let digit = (word >> (18 - 6 * place) & 0x3F) as usize;
                text.push(char::from(ALPHABET.get(digit).copied().unwrap_or(b'=')));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Splits a qualified name text into the index (0 if there is none) and the name. Only digits up to
/// the first colon are an index: names may be URIs.
pub(crate) fn split_qualified_name(text: &str) -> (u32, &str) {
    match text.split_once(':') {
        Some((index, name)) => match parse_number(index) {
            Some(number) if index.trim().len() == index.len() => (number, name),
            _ => (0, text),
        },
        None => (0, text),
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ident::Numeric(number) => write!(f, "i={number}"),
            Ident::String(text) => write!(f, "s={text}"),
            Ident::Guid(bytes) => {
                f.write_str("g=")?;
                for (at, byte) in bytes.iter().enumerate() {
                    if matches!(at, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
            Ident::Opaque(bytes) => write!(f, "b={}", encode_base64(bytes)),
        }
    }
}

impl Span {
    /// No place in any file.
    pub const NONE: Span = Span { file: u32::MAX, start: 0, end: 0 };
}

impl Ns {
    /// The OPC UA namespace itself.
    pub const UA: Ns = Ns(0);
}

impl Id {
    /// A numeric id of the OPC UA namespace.
    pub const fn ns0(id: u32) -> Id {
        Id { ns: Ns::UA, ident: Ident::Numeric(id) }
    }

    /// The number, if this is a numeric id of the OPC UA namespace.
    pub fn ns0_number(&self) -> Option<u32> {
        match (self.ns, &self.ident) {
            (Ns::UA, Ident::Numeric(number)) => Some(*number),
            _ => None,
        }
    }
}

impl ModelSet {
    /// The URI of a namespace; empty if the set does not have it.
    pub fn uri(&self, ns: Ns) -> &str {
        self.uris.get(usize::from(ns.0)).map_or("", |uri| uri)
    }

    /// The index of a URI.
    pub fn ns(&self, uri: &str) -> Option<Ns> {
        self.uris.iter().position(|known| **known == *uri).map(|at| Ns(at as u16))
    }

    /// `i=85`, or `nsu=<uri>;i=1` outside the OPC UA namespace.
    pub fn id_text(&self, id: &Id) -> String {
        match id.ns {
            Ns::UA => id.ident.to_string(),
            ns => format!("nsu={};{}", self.uri(ns), id.ident),
        }
    }

    /// The name alone, or `nsu=<uri>;<name>` outside the OPC UA namespace.
    pub fn name_text(&self, name: &QName) -> String {
        match name.ns {
            Ns::UA => name.name.to_string(),
            ns => format!("nsu={};{}", self.uri(ns), name.name),
        }
    }

    /// Parses what [`ModelSet::id_text`] writes.
    pub fn parse_id(&self, text: &str) -> Option<Id> {
        let (namespace, ident) = parse_node_id(text)?;
        let ns = match namespace {
            NamespacePart::Index(0) => Ns::UA,
            NamespacePart::Index(_) => return None,
            NamespacePart::Uri(uri) => self.ns(&uri)?,
        };
        Some(Id { ns, ident })
    }
}

/// An `Arc<str>` of a slice.
pub(crate) fn shared(text: &str) -> Arc<str> {
    Arc::from(text)
}
