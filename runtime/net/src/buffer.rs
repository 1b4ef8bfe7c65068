//! What a machine wants sent.

/// Bytes to send. A machine appends, the driver takes from the front.
#[derive(Debug, Default)]
pub struct OutputBuffer {
    bytes: Vec<u8>,
    sent: usize,
}

impl OutputBuffer {
    /// Room that a busy connection keeps, and that one turn fills before it writes.
    pub const HIGH_WATER: usize = 64 * 1024;

    /// An empty buffer; takes no memory before it is used.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), sent: 0 }
    }

    /// Bytes that are not sent yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether everything is sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a turn should stop adding and let the driver write.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= Self::HIGH_WATER
    }

    /// The bytes that are not sent yet.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    /// The buffer to append to. What stands in it must not be changed but by whoever wrote it, within
    /// the same turn.
    pub fn vec(&mut self) -> &mut Vec<u8> {
        if self.sent > 0 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        &mut self.bytes
    }

    /// Notes that the first `count` unsent bytes are sent.
    pub fn advance(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
            // A large response must not stay in memory for the life of the connection.
            self.bytes.shrink_to(2 * Self::HIGH_WATER);
        }
    }

    /// Gives the memory of an empty buffer back.
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Self::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_from_the_front() {
        let mut buffer = OutputBuffer::new();
        buffer.vec().extend_from_slice(b"abcdef");
        buffer.advance(2);
        assert_eq!(buffer.unsent(), b"cdef");
        buffer.vec().push(b'g');
        assert_eq!(buffer.unsent(), b"cdefg");
        buffer.advance(99);
        assert!(buffer.is_empty());
        buffer.release();
        assert_eq!(buffer.vec().capacity(), 0);
    }
}
