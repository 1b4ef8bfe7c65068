//! The namespace table of a server or connection (OPC 10000-3 §8.2.2).

use alloc::borrow::Cow;
use alloc::sync::Arc;

/// URI of the OPC UA namespace, always at index 0.
pub const NS0_URI: &str = "http://opcfoundation.org/UA/";

/// Namespace URIs by wire index (OPC 10000-3 §8.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceMap {
    /// URIs after the first, which is always [`NS0_URI`].
    rest: Cow<'static, [Arc<str>]>,
}

static NS0_ONLY: NamespaceMap = NamespaceMap { rest: Cow::Borrowed(&[]) };

impl NamespaceMap {
    /// A table with the OPC UA namespace alone.
    #[must_use]
    pub const fn new() -> Self {
        Self { rest: Cow::Borrowed(&[]) }
    }

    /// The shared table with the OPC UA namespace alone.
    #[must_use]
    pub fn ns0_only() -> &'static Self {
        &NS0_ONLY
    }

    /// A table from the NamespaceArray of a server; its first entry is taken to be the OPC UA namespace.
    pub fn from_uris<S: Into<Arc<str>>>(uris: impl IntoIterator<Item = S>) -> Self {
        Self { rest: Cow::Owned(uris.into_iter().skip(1).map(Into::into).collect()) }
    }

    /// The index of `uri`, added at the end if it is new.
    ///
    /// A table holds at most 65,536 URIs; beyond that the last index is returned.
    pub fn push(&mut self, uri: &str) -> u16 {
        if let Some(index) = self.index_of(uri) {
            return index;
        }
        if self.rest.len() < usize::from(u16::MAX) {
            self.rest.to_mut().push(uri.into());
        }
        u16::try_from(self.rest.len()).unwrap_or(u16::MAX)
    }

    /// The index of a URI.
    #[must_use]
    pub fn index_of(&self, uri: &str) -> Option<u16> {
        if uri == NS0_URI {
            return Some(0);
        }
        let position = self.rest.iter().position(|known| **known == *uri)?;
        u16::try_from(position + 1).ok()
    }

    /// The URI of an index.
    #[must_use]
    pub fn uri(&self, index: u16) -> Option<&str> {
        match usize::from(index).checked_sub(1) {
            None => Some(NS0_URI),
            Some(position) => self.rest.get(position).map(|uri| &**uri),
        }
    }

    /// All URIs in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        core::iter::once(NS0_URI).chain(self.rest.iter().map(|uri| &**uri))
    }

    /// Number of URIs; at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub fn len(&self) -> usize {
        self.rest.len() + 1
    }
}

impl Default for NamespaceMap {
    fn default() -> Self {
        Self::new()
    }
}
