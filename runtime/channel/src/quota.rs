//! Memory that many connections share for messages that are not complete.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that connections may hold together for messages whose last chunk has not come.
#[derive(Debug)]
pub struct MemoryQuota {
    held: AtomicUsize,
    limit: usize,
}

impl MemoryQuota {
    /// A quota of so many bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { held: AtomicUsize::new(0), limit }
    }

    /// Bytes that are held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let add = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What one connection holds of a quota.
#[derive(Debug, Default)]
pub(crate) struct Share {
    quota: Option<Arc<MemoryQuota>>,
    held: usize,
}

impl Share {
    /// Changes what is held to so many bytes; `false` if the quota has not as many.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        if bytes == self.held {
            return true;
        }
        if let Some(quota) = &self.quota {
            if bytes > self.held && !quota.take(bytes - self.held) {
                return false;
            }
            quota.give_back(self.held.saturating_sub(bytes));
        }
        self.held = bytes;
        true
    }

    /// Counts with another quota from now on. What is held for a message that is under way is not counted
    /// again if that has no room.
    pub(crate) fn move_to(&mut self, quota: Arc<MemoryQuota>) {
        let held = self.held;
        self.resize(0);
        self.quota = Some(quota);
        self.resize(held);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_holds_another_cannot() {
        let quota = Arc::new(MemoryQuota::new(100));
        let (mut first, mut second) = (Share::default(), Share::default());
        assert!(first.resize(1_000), "there is no quota");
        first.resize(0);
        first.move_to(Arc::clone(&quota));
        second.move_to(Arc::clone(&quota));
        assert!(first.resize(60) && !second.resize(41) && second.resize(40));
        assert!(first.resize(10) && second.resize(90));
        second.move_to(Arc::new(MemoryQuota::new(1_000)));
        assert_eq!(quota.held(), 10);
        drop(first);
        assert_eq!(quota.held(), 0);
    }
}
