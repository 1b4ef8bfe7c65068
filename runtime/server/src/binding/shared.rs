//! State of the application that a Variable shows and changes.

use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    Ordering,
};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;
use uaforge_codec::StatusCode;
use uaforge_types::status;

/// State with a value of type `T`. Both functions run on the task of a connection, so locks are to be held
/// for moments only.
pub trait SharedValue<T>: Send + Sync + 'static {
    /// The value now.
    fn get(&self) -> T;

    /// Changes the value.
    ///
    /// # Errors
    /// The status that the client gets if the value is not taken.
    fn set(&self, value: T) -> Result<(), StatusCode>;
}

impl<T: Clone + Send + 'static> SharedValue<T> for Arc<Mutex<T>> {
    fn get(&self) -> T {
        self.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, value: T) -> Result<(), StatusCode> {
        *self.lock().unwrap_or_else(PoisonError::into_inner) = value;
        Ok(())
    }
}

impl<T: Clone + Send + Sync + 'static> SharedValue<T> for Arc<RwLock<T>> {
    fn get(&self) -> T {
        self.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, value: T) -> Result<(), StatusCode> {
        *self.write().unwrap_or_else(PoisonError::into_inner) = value;
        Ok(())
    }
}

/// What a client writes is sent to all receivers.
impl<T: Clone + Send + Sync + 'static> SharedValue<T> for watch::Sender<T> {
    fn get(&self) -> T {
        self.borrow().clone()
    }

    fn set(&self, value: T) -> Result<(), StatusCode> {
        self.send_replace(value);
        Ok(())
    }
}

/// A receiver cannot be written: Bad_NotWritable.
impl<T: Clone + Send + Sync + 'static> SharedValue<T> for watch::Receiver<T> {
    fn get(&self) -> T {
        self.borrow().clone()
    }

    fn set(&self, _: T) -> Result<(), StatusCode> {
        Err(status::BAD_NOT_WRITABLE)
    }
}

/// A closure that gets, and one that sets.
impl<T, G, S> SharedValue<T> for (G, S)
where
    G: Fn() -> T + Send + Sync + 'static,
    S: Fn(T) -> Result<(), StatusCode> + Send + Sync + 'static,
{
    fn get(&self) -> T {
        (self.0)()
    }

    fn set(&self, value: T) -> Result<(), StatusCode> {
        (self.1)(value)
    }
}

macro_rules! atomics {
    ($($atomic:ident: $value:ty,)*) => {$(
        impl SharedValue<$value> for Arc<$atomic> {
            fn get(&self) -> $value {
                self.load(Ordering::Relaxed)
            }

            fn set(&self, value: $value) -> Result<(), StatusCode> {
                self.store(value, Ordering::Relaxed);
                Ok(())
            }
        }
    )*};
}

atomics! {
    AtomicBool: bool,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
}

/// A field of a larger state; from [`field`].
pub struct Field<S, T> {
    state: Arc<Mutex<S>>,
    part: fn(&mut S) -> &mut T,
}

/// A field of a state behind a mutex.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use uaforge_server::{SharedValue, field};
///
/// struct Kettle { temperature: f64, lit: bool }
/// let kettle = Arc::new(Mutex::new(Kettle { temperature: 20.0, lit: false }));
/// let temperature = field(&kettle, |kettle| &mut kettle.temperature);
/// temperature.set(65.0)?;
/// assert_eq!(kettle.lock().unwrap().temperature, 65.0);
/// # Ok::<(), uaforge_codec::StatusCode>(())
/// ```
pub fn field<S, T>(state: &Arc<Mutex<S>>, part: fn(&mut S) -> &mut T) -> Field<S, T> {
    Field { state: Arc::clone(state), part }
}

impl<S: Send + 'static, T: Clone + 'static> SharedValue<T> for Field<S, T> {
    fn get(&self) -> T {
        (self.part)(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    fn set(&self, value: T) -> Result<(), StatusCode> {
        *(self.part)(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner)) = value;
        Ok(())
    }
}
