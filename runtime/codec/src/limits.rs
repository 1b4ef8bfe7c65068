//! Bounds of decoding one message.

/// What one message may cost. All limits are inclusive (OPC 10000-6 §5.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Nesting levels of Variant, DataValue, DiagnosticInfo, ExtensionObject and structures, shared
    /// (OPC 10000-6 §5.1.8 asks for at least 100).
    pub max_depth: u32,
    /// Fields and array elements that are entered at a time and may hold further ones. What a structure
    /// has in place is no level of nesting, so that this and `max_depth` together bound the stack: with
    /// the defaults, 256 KiB hold whatever a peer sends, in builds without optimisation too. (With full
    /// debug information as well, rustc keeps all arguments on the stack: then it takes about a third more.)
    pub max_in_place: u32,
    /// Elements of one array.
    pub max_array_length: usize,
    /// Bytes of one String, ByteString or XmlElement.
    pub max_string_length: usize,
    /// Bytes that decoded values may take on the heap, per byte of input.
    pub heap_per_byte: usize,
    /// Bytes that decoded values may take on the heap whatever the input's length.
    pub heap_base: usize,
    /// Bytes that decoded values of one message may take on the heap at all.
    pub max_heap: usize,
}

impl DecodeLimits {
    /// Limits for ordinary servers and clients.
    pub const DEFAULT: Self = Self {
        max_depth: 100,
        max_in_place: 1_200,
        max_array_length: 1 << 20,
        max_string_length: 16 << 20,
        heap_per_byte: 64,
        // With what an error takes, no more than 64 KiB.
        heap_base: 60 << 10,
        max_heap: 256 << 20,
    };

    /// The heap budget of a message of `len` bytes.
    #[must_use]
    pub fn heap_budget(&self, len: usize) -> usize {
        len.saturating_mul(self.heap_per_byte).saturating_add(self.heap_base).min(self.max_heap)
    }
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
