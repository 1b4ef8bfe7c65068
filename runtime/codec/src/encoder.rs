//! Writes values into a buffer, whole or straight into the chunks of a message (OPC 10000-6 §6.7.2).

use alloc::vec::Vec;

use crate::{Encode, EncodeContext, EncodeError, NamespaceMap};

/// Where the body bytes of a chunked message may go (OPC 10000-6 §6.7.2).
///
/// Every chunk but the last is exactly `chunk_size` bytes long, so that the channel finds and seals
/// them at a fixed stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLayout {
    /// Bytes left free at the start of each chunk: message, security and sequence header.
    pub header: usize,
    /// Bytes left free at the end of each full chunk: padding and signature.
    pub trailer: usize,
    /// Length of a full chunk in bytes.
    pub chunk_size: usize,
    /// Most body bytes of the whole message; `usize::MAX` for no limit.
    pub max_message: usize,
    /// Most chunks of the message; `usize::MAX` for no limit.
    pub max_chunks: usize,
}

impl ChunkLayout {
    const PLAIN: Self = Self {
        header: 0,
        trailer: 0,
        chunk_size: usize::MAX,
        max_message: usize::MAX,
        max_chunks: usize::MAX,
    };

    /// Body bytes that fit into one chunk.
    #[must_use]
    pub fn body_per_chunk(&self) -> usize {
        self.chunk_size.saturating_sub(self.header).saturating_sub(self.trailer)
    }
}

/// A position to return to with [`Encoder::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    len: usize,
    chunk_end: usize,
    chunks: usize,
    error: Option<EncodeError>,
}

/// Appends values to a buffer. The first error sticks and later writes do nothing (OPC 10000-6 §5.2).
#[derive(Debug)]
pub struct Encoder<'a> {
    buf: &'a mut Vec<u8>,
    cx: EncodeContext<'a>,
    layout: ChunkLayout,
    /// Index in `buf` at which the current chunk's body ends; after an error the end of `buf`, so that one
    /// comparison tells both.
    chunk_end: usize,
    start: usize,
    chunks: usize,
    depth: u32,
    error: Option<EncodeError>,
}

impl<'a> Encoder<'a> {
    /// Writes without chunks.
    pub fn new(buf: &'a mut Vec<u8>, cx: EncodeContext<'a>) -> Self {
        let start = buf.len();
        Self {
            buf,
            cx,
            layout: ChunkLayout::PLAIN,
            chunk_end: usize::MAX,
            start,
            chunks: 1,
            depth: 0,
            error: None,
        }
    }

    /// Writes the body of one message into chunks laid out after what `buf` already holds.
    pub fn chunked(buf: &'a mut Vec<u8>, cx: EncodeContext<'a>, layout: ChunkLayout) -> Self {
        let start = buf.len();
        buf.resize(start + layout.header, 0);
        let mut chunk_end = start.saturating_add(layout.header).saturating_add(layout.body_per_chunk());
        // The message limit may end before the first chunk does.
        chunk_end = chunk_end.min((start + layout.header).saturating_add(layout.max_message));
        Self { buf, cx, layout, chunk_end, start, chunks: 1, depth: 0, error: None }
    }

    /// Namespace table of the receiver.
    #[must_use]
    pub fn namespaces(&self) -> &'a NamespaceMap {
        self.cx.namespaces
    }

    /// What the encoder was made with.
    #[must_use]
    pub fn context(&self) -> EncodeContext<'a> {
        self.cx
    }

    /// The first error, if any.
    #[must_use]
    pub fn error(&self) -> Option<EncodeError> {
        self.error
    }

    /// Records an error unless there is one already.
    #[cold]
    pub fn fail(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
        self.chunk_end = self.buf.len();
    }

    /// Chunks begun so far.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Body bytes that still fit the message.
    #[must_use]
    pub fn room(&self) -> usize {
        self.layout.max_message.saturating_sub(self.body_len())
    }

    /// Body bytes written so far, headers and trailers not counted.
    #[must_use]
    pub fn body_len(&self) -> usize {
        let gaps = self.chunks * self.layout.header + (self.chunks - 1) * self.layout.trailer;
        self.buf.len() - self.start - gaps
    }

    /// Ends the message: its chunk count, or the first error.
    pub fn finish(self) -> Result<usize, EncodeError> {
        self.error.map_or(Ok(self.chunks), Err)
    }

    /// The current position.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { len: self.buf.len(), chunk_end: self.chunk_end, chunks: self.chunks, error: self.error }
    }

    /// Drops everything written since `mark`, the error included.
    pub fn rewind(&mut self, mark: Mark) {
        self.buf.truncate(mark.len);
        self.chunk_end = mark.chunk_end;
        self.chunks = mark.chunks;
        self.error = mark.error;
    }

    /// Appends the body bytes written since `mark` to `out`, without the gaps between chunks.
    pub fn copy_since(&self, mark: Mark, out: &mut Vec<u8>) {
        let (mut at, mut end) = (mark.len, mark.chunk_end);
        while at < self.buf.len() {
            let stop = end.min(self.buf.len());
            out.extend_from_slice(self.buf.get(at..stop).unwrap_or_default());
            if stop == self.buf.len() {
                break;
            }
            at = stop + self.layout.trailer + self.layout.header;
            end = stop + self.layout.chunk_size;
        }
    }

    /// Appends bytes as they are, splitting them over chunks.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        if bytes.len() <= self.chunk_end.wrapping_sub(self.buf.len()) {
            self.buf.extend_from_slice(bytes);
        } else {
            self.put_split(bytes);
        }
    }

    /// The first `len` bytes of a number, at most 8: written as eight, which needs no loop, and cut.
    #[inline]
    pub(crate) fn put_short(&mut self, bytes: u64, len: usize) {
        let start = self.buf.len();
        let bytes = bytes.to_le_bytes();
        if bytes.len() <= self.chunk_end.wrapping_sub(start) {
            self.buf.extend_from_slice(&bytes);
            self.buf.truncate(start + len);
        } else {
            self.put(bytes.get(..len).unwrap_or_default());
        }
    }

    #[cold]
    fn put_split(&mut self, mut bytes: &[u8]) {
        while self.error.is_none() {
            let room = self.chunk_end - self.buf.len();
            if bytes.len() <= room {
                self.buf.extend_from_slice(bytes);
                return;
            }
            let (now, rest) = bytes.split_at(room);
            self.buf.extend_from_slice(now);
            bytes = rest;
            self.next_chunk();
        }
    }

    fn next_chunk(&mut self) {
        let left = self.room();
        if left == 0 || self.chunks >= self.layout.max_chunks || self.layout.body_per_chunk() == 0 {
            self.fail(EncodeError::TooLarge);
            return;
        }
        let gap = self.layout.trailer + self.layout.header;
        self.buf.resize(self.buf.len() + gap, 0);
        self.chunks += 1;
        self.chunk_end = self.buf.len() + self.layout.body_per_chunk().min(left);
    }

    /// One byte.
    #[inline]
    pub fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    /// Two bytes, little-endian.
    #[inline]
    pub fn put_u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn put_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn put_i32(&mut self, value: i32) {
        self.put(&value.to_le_bytes());
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn put_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn put_i64(&mut self, value: i64) {
        self.put(&value.to_le_bytes());
    }

    /// A String or ByteString: Int32 length (−1 for null) and bytes (OPC 10000-6 §5.2.2.4).
    #[inline]
    pub fn put_bytes(&mut self, bytes: Option<&[u8]>) {
        self.put_array_len(bytes.map(<[u8]>::len));
        if let Some(bytes) = bytes {
            self.put(bytes);
        }
    }

    /// A String.
    #[inline]
    pub fn put_str(&mut self, text: Option<&str>) {
        self.put_bytes(text.map(str::as_bytes));
    }

    /// The length of an array; `None` is the null array (−1).
    #[inline]
    pub fn put_array_len(&mut self, len: Option<usize>) {
        match len {
            None => self.put_i32(-1),
            Some(len) => match i32::try_from(len) {
                Ok(len) => self.put_i32(len),
                Err(_) => self.fail(EncodeError::TooLarge),
            },
        }
    }

    /// An array with its length.
    pub fn put_slice<T: Encode>(&mut self, items: &[T]) {
        self.put_array_len(Some(items.len()));
        T::encode_items(items, self);
    }

    /// Runs `write` one level deeper; more levels than any decoder must take are an error.
    pub fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        const MAX_DEPTH: u32 = 1_000;
        if self.depth >= MAX_DEPTH {
            self.fail(EncodeError::TooDeep);
            return;
        }
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// Writes what `write` writes after its length in bytes (Int32), as ExtensionObject bodies have it.
    pub fn put_sized(&mut self, write: impl FnOnce(&mut Self)) {
        let before = self.mark();
        self.put_i32(0);
        let body_start = self.body_len();
        write(self);
        if self.error.is_some() {
            return;
        }
        match i32::try_from(self.body_len() - body_start) {
            Ok(len) => self.patch(before, len.to_le_bytes()),
            Err(_) => self.fail(EncodeError::TooLarge),
        }
    }

    /// Overwrites the four body bytes at `mark`, which may lie in two chunks.
    fn patch(&mut self, mark: Mark, bytes: [u8; 4]) {
        let (mut at, mut end) = (mark.len, mark.chunk_end);
        for byte in bytes {
            if at == end {
                at += self.layout.trailer + self.layout.header;
                end = end.saturating_add(self.layout.chunk_size);
            }
            if let Some(slot) = self.buf.get_mut(at) {
                *slot = byte;
            }
            at += 1;
        }
    }
}
