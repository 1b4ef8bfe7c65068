//! Damages bytes, reproducibly.

use uaforge_codec::SeededEntropy;

/// Numbers that lengths, counts and sizes go wrong with.
const NUMBERS: [u32; 10] = [0, 1, 7, 8, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

/// Damages bytes; the same seed damages them in the same way.
pub struct Mutator(SeededEntropy);

impl Mutator {
    /// A mutator of its own random numbers.
    pub fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// A number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        usize::try_from(self.0.next_u64() % limit).unwrap_or_default()
    }

    /// Random bytes.
    pub fn random(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    fn byte(&mut self) -> u8 {
        self.0.next_u64().to_le_bytes()[0]
    }

    /// A range within `len` bytes, seldom a long one.
    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let most = if self.below(4) == 0 { len - start } else { (len - start).min(16) };
        start..start + self.below(most + 1)
    }

    /// Damages `bytes` in one to four ways; `other` is where foreign parts come from.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(4) {
            self.step(bytes, other);
        }
    }

    fn step(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len());
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            2 => {
                let random = self.byte();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random;
                }
            }
            3 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                if let Some(slot) = bytes.get_mut(at..at + 4) {
                    slot.copy_from_slice(&number.to_le_bytes());
                }
            }
            4 => {
                let (to, from) = (self.range(bytes.len()), self.range(other.len()));
                bytes.splice(to, other[from].iter().copied());
            }
            5 => {
                let copied = self.range(bytes.len());
                let copied = bytes[copied].to_vec();
                bytes.splice(at..at, copied);
            }
            6 => {
                let gone = self.range(bytes.len());
                bytes.drain(gone);
            }
            _ => {
                let len = self.below(32);
                let random = self.random(len);
                bytes.splice(at..at, random);
            }
        }
    }
}
