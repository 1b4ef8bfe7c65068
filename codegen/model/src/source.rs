//! Input files: their text, and lines from byte offsets.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Span;

/// Largest file that is read unless told otherwise; real models stay below 10 MB.
pub(crate) const MAX_BYTES: usize = 512 * 1024 * 1024;

/// One input file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name for messages: the path as given.
    pub name: String,
    /// Decoded text, without a byte order mark.
    pub text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
}

/// All input files, in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// The file with this index.
    pub fn get(&self, file: u32) -> Option<&Source> {
        self.files.get(file as usize)
    }

    /// All files.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// File name, line and column (both from 1, the column in characters) of a span's start.
    pub fn position(&self, span: Span) -> Option<(&str, usize, usize)> {
        let source = self.get(span.file)?;
        let (line, column) = source.position(span.start);
        Some((&source.name, line, column))
    }

    pub(crate) fn push(&mut self, name: String, text: String) -> u32 {
        let index = self.files.len() as u32;
        self.files.push(Source { name, text: text.into(), lines: OnceLock::new() });
        index
    }
}

impl Source {
    /// Line and column, both from 1, of a byte offset.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= offset).max(1);
        let start = starts.get(line - 1).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len());
        let before = self.text.get(start..end).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        })
    }
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: usize) -> Result<Vec<u8>, Box<Diagnostic>> {
    let name = path.display();
    let unreadable = |error: std::io::Error| {
        Box::new(
            Diagnostic::error(codes::UNREADABLE, format!("cannot read {name}: {error}"))
                .help("paths are relative to the current folder"),
        )
    };
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > limit as u64 {
        return Err(too_large(&name.to_string(), limit));
    }
    std::fs::read(path).map_err(unreadable)
}

/// Turns bytes into text: UTF-8 with or without a byte order mark, UTF-16 with one or told by its
/// zero bytes (XML 1.0, Appendix F).
pub(crate) fn decode(name: &str, bytes: Vec<u8>, limit: usize) -> Result<String, Box<Diagnostic>> {
    if bytes.len() > limit {
        return Err(too_large(name, limit));
    }
    let wide = match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => Some((rest, false)),
        [0xFE, 0xFF, rest @ ..] => Some((rest, true)),
        [b'<', 0, ..] => Some((bytes.as_slice(), false)),
        [0, b'<', ..] => Some((bytes.as_slice(), true)),
        _ => None,
    };
    match wide {
        Some((rest, big_endian)) => decode_utf16(name, rest, big_endian),
        None => decode_utf8(name, bytes),
    }
}

fn decode_utf8(name: &str, mut bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        not_text(format!("{name} is not UTF-8: invalid byte at offset {at}, line {line}"))
    })
}

fn decode_utf16(name: &str, bytes: &[u8], big_endian: bool) -> Result<String, Box<Diagnostic>> {
    if !bytes.len().is_multiple_of(2) {
        return Err(not_text(format!("{name} is not UTF-16: odd number of bytes")));
    }
    let units = bytes.chunks_exact(2).map(|pair| match *pair {
        [first, second] if big_endian => u16::from_be_bytes([first, second]),
        [first, second] => u16::from_le_bytes([first, second]),
        _ => 0,
    });
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .map_err(|error| not_text(format!("{name} is not UTF-16: {error}")))
}

fn not_text(message: String) -> Box<Diagnostic> {
    let help = "save the file as UTF-8; other encodings are not read";
    Box::new(Diagnostic::error(codes::NOT_TEXT, message).help(help))
}

fn too_large(name: &str, limit: usize) -> Box<Diagnostic> {
    let message = format!("{name} is larger than {limit} bytes");
    Box::new(Diagnostic::error(codes::TOO_LARGE, message).help("raise the limit if the file is trusted"))
}
