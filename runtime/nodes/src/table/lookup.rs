//! From an id to the row of its node.

use super::model::StaticModel;
use super::named::NamedKind;

impl StaticModel {
    /// The row of a node of this model by its numeric identifier.
    #[inline]
    pub fn find_numeric(&self, id: u32) -> Option<u32> {
        let word = (id / 64) as usize;
        let Some(bits) = self.words.get(word).copied() else {
            return self.search_numeric(id);
        };
        let bit = 1u64 << (id % 64);
        if bits & bit == 0 {
            return None;
        }
        Some(self.ranks.get(word)? + (bits & (bit - 1)).count_ones())
    }

    /// Without a bitmap the ids are searched by halves.
    #[cold]
    fn search_numeric(&self, id: u32) -> Option<u32> {
        let numeric = self.nodes.get(..self.numeric).filter(|_| self.words.is_empty())?;
        numeric.binary_search_by_key(&id, |row| row.0).ok().map(|row| row as u32)
    }

    /// The row of a node of this model by a string, GUID or opaque identifier.
    #[cold]
    pub fn find_named(&self, kind: NamedKind, bytes: &[u8]) -> Option<u32> {
        self.find_key(self.named_key(kind, bytes)?)
    }

    /// The row of a node of this model by the key of its named id.
    #[cold]
    pub fn find_key(&self, key: u32) -> Option<u32> {
        let named = self.nodes.get(self.numeric..)?;
        let row = named.binary_search_by_key(&key, |row| row.0).ok()?;
        Some((self.numeric + row) as u32)
    }
}
