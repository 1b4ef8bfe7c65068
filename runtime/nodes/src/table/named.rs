//! String, GUID and opaque ids of the tables.

use super::model::StaticModel;

/// The kind of a named id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NamedKind {
    /// `s=`
    String = 1,
    /// `g=`, 16 bytes in the order of the text.
    Guid = 2,
    /// `b=`
    Opaque = 3,
}

impl NamedKind {
    pub(crate) const fn from_u8(value: u8) -> Self {
        match value {
            2 => Self::Guid,
            3 => Self::Opaque,
            _ => Self::String,
        }
    }
}

/// A named id as the tables hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedId<'a> {
    /// The slot of its namespace.
    pub slot: u8,
    /// String, GUID or opaque.
    pub kind: NamedKind,
    /// The text in UTF-8, or the bytes.
    pub bytes: &'a [u8],
}

/// The key at which a named id stands in its table; the next free one if it is taken (FNV-1a over
/// the kind and the bytes, so a key does not change when other ids come or go).
pub const fn hash_name(kind: NamedKind, bytes: &[u8]) -> u32 {
    let mut hash = (0x811c_9dc5 ^ kind as u32).wrapping_mul(0x0100_0193);
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

impl StaticModel {
    /// The named id with this key.
    pub fn named(&self, key: u32) -> Option<NamedId<'static>> {
        let index = self.named.binary_search_by_key(&key, |row| row.0).ok()?;
        let row = self.named.get(index)?;
        let start = *self.named_starts.get(index)? as usize;
        let bytes = self.named_bytes.get(start..start + row.3 as usize)?;
        Some(NamedId { slot: row.1, kind: NamedKind::from_u8(row.2), bytes })
    }

    /// The key of a named id of slot 0, if the tables mention it.
    pub fn named_key(&self, kind: NamedKind, bytes: &[u8]) -> Option<u32> {
        let mut key = hash_name(kind, bytes);
        loop {
            let found = self.named(key)?;
            if found == (NamedId { slot: 0, kind, bytes }) {
                return Some(key);
            }
            key = key.wrapping_add(1);
        }
    }
}
