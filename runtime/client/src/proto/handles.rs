//! Request handles (OPC 10000-4 §7.33): one row of numbers for callers and the connection itself.

use core::sync::atomic::{AtomicU32, Ordering};

/// Gives numbers that no other outstanding request has. 0 is none of them.
#[derive(Debug, Default)]
pub(crate) struct Handles(AtomicU32);

impl Handles {
    pub(crate) fn next(&self) -> u32 {
        loop {
            let handle = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if handle != 0 {
                return handle;
            }
        }
    }
}
