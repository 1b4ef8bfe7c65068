//! Results of a batch, written in request order whatever the order of the answers.

use core::ops::Range;

use uaforge_codec::{EncodeContext, EncodeError, Encoder, Mark, StatusCode};

/// What became of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Nobody answered yet.
    Missing,
    /// A future will answer.
    Deferred,
    /// Encoded, in these bytes of the side buffer.
    Ready(Range<usize>),
    /// Already in the output.
    Written,
}

/// Buffers that live as long as the connection, so that a batch allocates nothing in steady state.
#[derive(Default)]
pub(crate) struct ResultBuffers {
    /// Empty while all answers come in the order of their items.
    pieces: Vec<Piece>,
    side: Vec<u8>,
}

impl ResultBuffers {
    /// Gives room above `keep` bytes back.
    pub(crate) fn trim(&mut self, keep: usize) {
        self.pieces.clear();
        self.pieces.shrink_to(keep / size_of::<Piece>());
        self.side.clear();
        self.side.shrink_to(keep);
    }
}

/// Results that wait for futures, taken out of the output.
pub(crate) struct Unfinished {
    put_status: PutStatus,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) bytes: Vec<u8>,
    /// Bytes that the response may hold; what is above them is not kept.
    limit: usize,
}

/// How a service writes a result that is a status and nothing else.
pub(crate) type PutStatus = fn(&mut Encoder<'_>, StatusCode);

/// The results of one batch: an answer for the next item goes straight to the output, an early one waits in the side buffer.
pub(crate) struct Results<'r, 'e> {
    out: &'r mut Encoder<'e>,
    buffers: &'r mut ResultBuffers,
    put_status: PutStatus,
    start: Mark,
    count: usize,
    next: usize,
    deferred: usize,
    /// Where the last whole answers end in the output and in the side buffer.
    whole: (Mark, usize),
}

impl<'r, 'e> Results<'r, 'e> {
    /// Writes the length of the results array and begins.
    pub(crate) fn new(
        out: &'r mut Encoder<'e>,
        buffers: &'r mut ResultBuffers,
        count: usize,
        put_status: PutStatus,
    ) -> Self {
        buffers.side.clear();
        buffers.pieces.clear();
        out.put_array_len(Some(count));
        let start = out.mark();
        Self { out, buffers, put_status, start, count, next: 0, deferred: 0, whole: (start, 0) }
    }

    /// Begins a batch whose answers are no array of a response: each is kept apart.
    pub(crate) fn apart(
        out: &'r mut Encoder<'e>,
        buffers: &'r mut ResultBuffers,
        count: usize,
        put_status: PutStatus,
    ) -> Self {
        buffers.side.clear();
        buffers.pieces.clear();
        buffers.pieces.resize(count, Piece::Missing);
        let start = out.mark();
        // No answer is ever the next one.
        Self { out, buffers, put_status, start, count, next: usize::MAX, deferred: 0, whole: (start, 0) }
    }

    /// Hands out the answers that are kept apart; items that nobody answered have this status.
    pub(crate) fn each(mut self, missing: StatusCode, mut answer: impl FnMut(usize, &[u8])) {
        for index in 0..self.count {
            self.status(index, missing);
        }
        for (index, piece) in self.buffers.pieces.iter().enumerate() {
            if let Piece::Ready(range) = piece {
                answer(index, self.buffers.side.get(range.clone()).unwrap_or_default());
            }
        }
    }

    /// Encodes the answer of `index`. A second answer of one item is ignored.
    #[inline]
    pub(crate) fn put(&mut self, index: usize, encode: impl FnOnce(&mut Encoder<'_>)) {
        if index != self.next || !self.buffers.pieces.is_empty() || index >= self.count {
            return self.put_apart(index, encode);
        }
        self.put_next(encode);
        self.next += 1;
    }

    /// Encodes the next answer into the output.
    #[inline]
    fn put_next(&mut self, encode: impl FnOnce(&mut Encoder<'_>)) {
        // What cannot be sent is not built: the response is a fault already.
        if self.out.error().is_none() {
            encode(self.out);
            if let Some(error) = self.out.error() {
                let (mark, _) = self.whole;
                replace(self.out, mark, self.put_status, error);
            }
            self.whole.0 = self.out.mark();
        }
    }

    /// Encodes the answer of an item whose turn it is not, or that does not follow all earlier ones.
    #[inline(never)]
    fn put_apart(&mut self, index: usize, encode: impl FnOnce(&mut Encoder<'_>)) {
        self.note_pieces();
        if self.buffers.pieces.get(index) != Some(&Piece::Missing) {
            return;
        }
        let piece = if index == self.next || self.out.error().is_some() {
            self.put_next(encode);
            Piece::Written
        } else {
            let start = self.buffers.side.len();
            let mut side = Encoder::new(&mut self.buffers.side, self.out.context());
            put_or_status(&mut side, self.put_status, encode);
            let end = self.buffers.side.len();
            if end > self.out.room() {
                self.out.fail(EncodeError::TooLarge);
            }
            self.whole = (self.out.mark(), end);
            Piece::Ready(start..end)
        };
        if let Some(slot) = self.buffers.pieces.get_mut(index) {
            *slot = piece;
        }
        self.flush();
    }

    /// Keeps count of each item from now on, because answers do not come in the order of the items.
    fn note_pieces(&mut self) {
        if self.buffers.pieces.is_empty() {
            self.buffers.pieces.resize(self.next.min(self.count), Piece::Written);
            self.buffers.pieces.resize(self.count, Piece::Missing);
        }
    }

    /// Takes back what a handler had written of an answer when it panicked; the item counts as unanswered.
    pub(crate) fn mend(&mut self) {
        let (mark, side) = self.whole;
        self.out.rewind(mark);
        self.buffers.side.truncate(side);
    }

    /// Answers `index` with a status.
    pub(crate) fn status(&mut self, index: usize, status: StatusCode) {
        let put_status = self.put_status;
        self.put(index, |e| put_status(e, status));
    }

    /// Notes that a future will answer `index`; `false` if the item has an answer already.
    pub(crate) fn defer(&mut self, index: usize) -> bool {
        self.note_pieces();
        match self.buffers.pieces.get_mut(index) {
            Some(piece @ Piece::Missing) => {
                *piece = Piece::Deferred;
                self.deferred += 1;
                true
            }
            _ => false,
        }
    }

    /// Gives every item that nobody answered this status. `None`: all results are in the output; else they were copied
    /// out of it, and the caller rewinds the response.
    pub(crate) fn finish(mut self, missing: StatusCode) -> Option<Unfinished> {
        if self.next == self.count {
            return None;
        }
        for index in self.next..self.count {
            self.status(index, missing);
        }
        if self.deferred == 0 || self.out.error().is_some() {
            return None;
        }
        let mut pieces = core::mem::take(&mut self.buffers.pieces);
        let mut bytes = core::mem::take(&mut self.buffers.side);
        // What is written already becomes one piece; the others of that run are empty.
        let start = bytes.len();
        let written = self.out.body_len();
        self.out.copy_since(self.start, &mut bytes);
        for (index, piece) in pieces.iter_mut().enumerate().filter(|(_, p)| **p == Piece::Written) {
            let from = if index == 0 { start } else { bytes.len() };
            *piece = Piece::Ready(from..bytes.len());
        }
        let limit = self.out.room().saturating_add(written);
        Some(Unfinished { put_status: self.put_status, pieces, bytes, limit })
    }

    fn flush(&mut self) {
        while let Some(piece) = self.buffers.pieces.get_mut(self.next) {
            match piece {
                Piece::Written => {}
                Piece::Ready(range) => {
                    self.out.put(self.buffers.side.get(range.clone()).unwrap_or_default());
                    self.whole.0 = self.out.mark();
                    *piece = Piece::Written;
                }
                Piece::Missing | Piece::Deferred => return,
            }
            self.next += 1;
        }
    }
}

impl Unfinished {
    fn is_too_large(&self) -> bool {
        self.bytes.len() > self.limit
    }

    /// Answers `index` with a status.
    pub(crate) fn status(&mut self, index: usize, context: EncodeContext<'_>, status: StatusCode) {
        let put_status = self.put_status;
        self.put(index, context, |e| put_status(e, status));
    }

    /// Answers everything that is missing with a status.
    pub(crate) fn fill(&mut self, context: EncodeContext<'_>, status: StatusCode) {
        let start = self.bytes.len();
        (self.put_status)(&mut Encoder::new(&mut self.bytes, context), status);
        let end = self.bytes.len();
        for piece in &mut self.pieces {
            if matches!(piece, Piece::Missing | Piece::Deferred) {
                *piece = Piece::Ready(start..end);
            }
        }
    }

    /// Encodes a late answer.
    pub(crate) fn put(
        &mut self,
        index: usize,
        context: EncodeContext<'_>,
        encode: impl FnOnce(&mut Encoder<'_>),
    ) {
        if self.is_too_large() {
            return;
        }
        let start = self.bytes.len();
        let mut e = Encoder::new(&mut self.bytes, context);
        put_or_status(&mut e, self.put_status, encode);
        let end = self.bytes.len();
        if let Some(piece) = self.pieces.get_mut(index) {
            *piece = Piece::Ready(start..end);
        }
    }

    /// Writes the results array, once no piece waits any more.
    pub(crate) fn write(&self, e: &mut Encoder<'_>) {
        if self.is_too_large() {
            return e.fail(EncodeError::TooLarge);
        }
        e.put_array_len(Some(self.pieces.len()));
        for piece in &self.pieces {
            if let Piece::Ready(range) = piece {
                e.put(self.bytes.get(range.clone()).unwrap_or_default());
            }
        }
    }
}

/// A value that cannot be encoded costs its item, not the response; a full message is the response's own matter.
#[inline]
fn put_or_status(e: &mut Encoder<'_>, put_status: PutStatus, encode: impl FnOnce(&mut Encoder<'_>)) {
    let mark = e.mark();
    encode(e);
    if let Some(error) = e.error() {
        replace(e, mark, put_status, error);
    }
}

#[cold]
fn replace(e: &mut Encoder<'_>, mark: Mark, put_status: PutStatus, error: EncodeError) {
    if error != EncodeError::TooLarge {
        e.rewind(mark);
        put_status(e, error.status());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_status(e: &mut Encoder<'_>, status: StatusCode) {
        e.put_u32(status.0);
    }

    #[test]
    fn early_answers_wait_and_order_is_kept() {
        let (mut out, mut buffers) = (Vec::new(), ResultBuffers::default());
        let mut e = Encoder::new(&mut out, EncodeContext::default());
        let mut results = Results::new(&mut e, &mut buffers, 3, put_status);
        results.put(2, |e| e.put_u8(3));
        results.put(0, |e| e.put_u8(1));
        results.put(0, |e| e.put_u8(9));
        results.put(1, |e| e.put_u8(2));
        assert!(results.finish(StatusCode::GOOD).is_none());
        assert_eq!(out, [3, 0, 0, 0, 1, 2, 3]);
    }

    #[test]
    fn deferred_answers_take_their_places() {
        let (mut out, mut buffers) = (Vec::new(), ResultBuffers::default());
        let mut e = Encoder::new(&mut out, EncodeContext::default());
        let mut results = Results::new(&mut e, &mut buffers, 5, put_status);
        results.put(0, |e| e.put_u8(1));
        results.put(1, |e| e.put_u8(2));
        assert!(results.defer(2));
        results.put(4, |e| e.put_u8(5));
        let mut rest = results.finish(StatusCode(7)).expect("one is deferred");
        rest.put(2, EncodeContext::default(), |e| e.put_u8(3));
        out.clear();
        rest.write(&mut Encoder::new(&mut out, EncodeContext::default()));
        assert_eq!(out, [5, 0, 0, 0, 1, 2, 3, 7, 0, 0, 0, 5]);
    }

    #[test]
    fn a_torn_answer_is_taken_back() {
        let (mut out, mut buffers) = (Vec::new(), ResultBuffers::default());
        let mut e = Encoder::new(&mut out, EncodeContext::default());
        let mut results = Results::new(&mut e, &mut buffers, 3, put_status);
        results.put(0, |e| e.put_u8(1));
        for torn in [2, 1] {
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                results.put(torn, |e| {
                    e.put_u32(0xDEAD);
                    panic!("a value fails to encode");
                });
            }));
            assert!(panicked.is_err());
            results.mend();
        }
        results.put(2, |e| e.put_u8(3));
        assert!(results.finish(StatusCode(7)).is_none());
        assert_eq!(out, [3, 0, 0, 0, 1, 7, 0, 0, 0, 3]);
    }

    #[test]
    fn what_cannot_be_sent_is_not_kept() {
        let layout = uaforge_codec::ChunkLayout {
            header: 0,
            trailer: 0,
            chunk_size: 1 << 16,
            max_message: 1_000,
            max_chunks: 1,
        };
        let (mut out, mut buffers) = (Vec::new(), ResultBuffers::default());
        let mut e = Encoder::chunked(&mut out, EncodeContext::default(), layout);
        let mut results = Results::new(&mut e, &mut buffers, 10_000, put_status);
        assert!(results.defer(1));
        for index in 2..10_000 {
            results.put(index, |e| e.put(&[7; 100]));
        }
        assert!(results.finish(StatusCode(7)).is_none());
        assert_eq!(e.error(), Some(EncodeError::TooLarge));
        assert!(buffers.side.len() <= 1_100);
        let pieces = vec![Piece::Deferred; 10_000];
        let mut late = Unfinished { put_status, pieces, bytes: Vec::new(), limit: 1_000 };
        for index in 0..10_000 {
            late.put(index, EncodeContext::default(), |e| e.put(&[7; 100]));
        }
        assert!(late.bytes.len() <= 1_100);
        let mut e = Encoder::new(&mut out, EncodeContext::default());
        late.write(&mut e);
        assert_eq!(e.error(), Some(EncodeError::TooLarge));
    }
}
