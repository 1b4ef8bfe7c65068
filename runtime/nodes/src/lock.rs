//! The lock of this crate: that of std where there is one, a spinning one elsewhere.
//!
//! It is held for as long as it takes to copy a pointer or a handful of words, never while anything
//! is encoded or called.

#[cfg(feature = "std")]
mod imp {
    use std::sync::PoisonError;

    /// A lock with one writer or many readers.
    #[derive(Debug, Default)]
    pub(crate) struct RwLock<T>(std::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::sync::RwLock::new(value))
        }

        pub(crate) fn read(&self) -> std::sync::RwLockReadGuard<'_, T> {
            self.0.read().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn write(&self) -> std::sync::RwLockWriteGuard<'_, T> {
            self.0.write().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// A value that is set once.
    pub(crate) struct Once<T>(std::sync::OnceLock<T>);

    impl<T> Once<T> {
        pub(crate) const fn new() -> Self {
            Self(std::sync::OnceLock::new())
        }

        #[inline]
        pub(crate) fn get(&self) -> Option<&T> {
            self.0.get()
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            self.0.get_or_init(make)
        }
    }
}

#[cfg(not(feature = "std"))]
mod imp {
    pub(crate) use spin::RwLock;

    /// A value that is set once.
    pub(crate) struct Once<T>(spin::Once<T>);

    impl<T> Once<T> {
        pub(crate) const fn new() -> Self {
            Self(spin::Once::new())
        }

        #[inline]
        pub(crate) fn get(&self) -> Option<&T> {
            self.0.get()
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            self.0.call_once(make)
        }
    }
}

pub(crate) use imp::{Once, RwLock};
