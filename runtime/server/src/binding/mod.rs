//! Closures and shared state bound to single Variables of the address space.
//!
//! A Variable whose value is not simply set by its handle is bound to a closure that is asked on each
//! read, to one that takes what clients write, to one that is polled at fixed times, or to a field of the
//! application's own state. Variables without a binding pay nothing for those that have one.

mod handler;
mod hooks;
mod line;
mod poll;
mod reading;
mod shared;
pub mod simulation;

use std::sync::Arc;

use uaforge_codec::{FromVariant, IntoVariant, ModelId, ModelNamespaces, NodeId, StatusCode, Variant, kind};
use uaforge_types::status;

pub use handler::HandlerCx;
pub use poll::PollHandle;
pub use reading::{Reading, Sample};
pub use shared::{Field, SharedValue, field};

pub(crate) use hooks::{Hooks, shown, take};
pub(crate) use poll::Polls;

use crate::Server;
use crate::handle;

/// What names a Variable and the Rust type of its values: a typed handle, a constant of a model, or, with
/// values of any type, an untyped handle or a NodeId.
pub trait Bindable {
    /// The type of the values.
    type Value;

    /// The handle of the Variable on this server.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown, Bad_NodeClassInvalid for what is no Variable.
    fn handle(&self, server: &Server) -> Result<handle::VariableHandle, StatusCode>;
}

impl<T> Bindable for handle::Variable<T> {
    type Value = T;

    fn handle(&self, _: &Server) -> Result<handle::VariableHandle, StatusCode> {
        Ok(self.handle().clone())
    }
}

impl Bindable for handle::VariableHandle {
    type Value = Variant;

    fn handle(&self, _: &Server) -> Result<handle::VariableHandle, StatusCode> {
        Ok(self.clone())
    }
}

impl Bindable for NodeId {
    type Value = Variant;

    fn handle(&self, server: &Server) -> Result<handle::VariableHandle, StatusCode> {
        server.variable(self)
    }
}

impl<M: ModelNamespaces, T> Bindable for ModelId<kind::Variable<M, T>> {
    type Value = T;

    fn handle(&self, server: &Server) -> Result<handle::VariableHandle, StatusCode> {
        let id = self.resolve(server.space().namespaces()).map_err(|_| status::BAD_NODE_ID_UNKNOWN)?;
        server.variable(&id)
    }
}

impl Server {
    /// Has the Value of a Variable read by a closure, each time a client reads it. It may fail with a
    /// status, and may say status and time itself with a [`Sample`]; else the value is good and of now.
    /// The closure runs on the task of the connection: it must not block or wait.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_read<V: Bindable, R: Reading<V::Value>>(
        &self,
        variable: &V,
        read: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<(), StatusCode> {
        self.hook_read(variable, hooks::ReadHook::now(read))
    }

    /// As [`Server::on_read`], with a closure whose answer takes time. The future is dropped when the
    /// client does not wait any more.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_read_async<V: Bindable, F>(
        &self,
        variable: &V,
        read: impl Fn(HandlerCx) -> F + Send + Sync + 'static,
    ) -> Result<(), StatusCode>
    where
        F: Future<Output: Reading<V::Value>> + Send + 'static,
    {
        self.hook_read(variable, hooks::ReadHook::late(read))
    }

    /// As [`Server::on_read`], with a closure that may block: it runs on a bounded pool of threads.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_read_blocking<V: Bindable, R: Reading<V::Value>>(
        &self,
        variable: &V,
        read: impl Fn(HandlerCx) -> R + Send + Sync + 'static,
    ) -> Result<(), StatusCode> {
        self.hook_read(variable, hooks::ReadHook::blocking(read))
    }

    /// Has what clients write to the Value of a Variable looked at by a closure, after the server's own
    /// checks (access, type, rank, range). It gives the value to store, the same or another one, or a
    /// status that refuses the write. The closure runs on the task of the connection: it must not block
    /// or wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uaforge_codec::StatusCode;
    /// use uaforge_server::{Server, Variable};
    /// use uaforge_types::status;
    ///
    /// fn bind(server: &Server, level: &Variable<f64>, target: &Variable<f64>) -> Result<(), StatusCode> {
    ///     server.poll_every(level, Duration::from_secs(1), || 41.5)?;
    ///     server.on_write(target, |value| {
    ///         if value < 100.0 { Ok(value) } else { Err(status::BAD_OUT_OF_RANGE) }
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_write<V: Bindable>(
        &self,
        variable: &V,
        write: impl Fn(V::Value) -> Result<V::Value, StatusCode> + Send + Sync + 'static,
    ) -> Result<(), StatusCode>
    where
        V::Value: FromVariant + IntoVariant,
    {
        self.hook_write(variable, hooks::WriteHook::now(write))
    }

    /// As [`Server::on_write`], with a closure that takes time, such as one that forwards the value to a
    /// device. Writes of one Variable run one after the other, in the order in which they came. One that
    /// has begun is not dropped when the client goes; see [`HandlerCx::cancellation`].
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_write_async<V: Bindable, F>(
        &self,
        variable: &V,
        write: impl Fn(V::Value, HandlerCx) -> F + Send + Sync + 'static,
    ) -> Result<(), StatusCode>
    where
        V::Value: FromVariant + IntoVariant,
        F: Future<Output = Result<V::Value, StatusCode>> + Send + 'static,
    {
        self.hook_write(variable, hooks::WriteHook::late(write))
    }

    /// As [`Server::on_write_async`], with a closure that may block: it runs on a bounded pool of threads.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn on_write_blocking<V: Bindable>(
        &self,
        variable: &V,
        write: impl Fn(V::Value, HandlerCx) -> Result<V::Value, StatusCode> + Send + Sync + 'static,
    ) -> Result<(), StatusCode>
    where
        V::Value: FromVariant + IntoVariant,
    {
        self.hook_write(variable, hooks::WriteHook::blocking(write))
    }

    /// Binds a Variable to state of the application: reads get what the state holds, writes change it. The
    /// state may be an `Arc<Mutex<T>>`, an `Arc<RwLock<T>>`, an atomic, a channel of the last value
    /// ([`tokio::sync::watch`]), a [`field`] of a larger state, or a pair of closures that get and set.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn bind<V: Bindable>(&self, variable: &V, state: impl SharedValue<V::Value>) -> Result<(), StatusCode>
    where
        V::Value: FromVariant + IntoVariant + Send + 'static,
    {
        let state = Arc::new(state);
        let write = Arc::clone(&state);
        self.hook_write(
            variable,
            hooks::WriteHook::now(move |value: V::Value| {
                write.set(value)?;
                Ok(write.get())
            }),
        )?;
        self.hook_read(variable, hooks::ReadHook::now::<V::Value, V::Value>(move || state.get()))
    }

    /// Takes the closures for reads and writes away: the Variable shows what its handle sets.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn unbind<V: Bindable>(&self, variable: &V) -> Result<(), StatusCode> {
        if let Some(hooks) = Hooks::of(variable.handle(self)?.cell()) {
            hooks.clear();
        }
        Ok(())
    }

    fn hook_read<V: Bindable>(&self, variable: &V, hook: hooks::ReadHook) -> Result<(), StatusCode> {
        Hooks::of_or_new(variable.handle(self)?.cell()).set_read(hook);
        Ok(())
    }

    fn hook_write<V: Bindable>(&self, variable: &V, hook: hooks::WriteHook) -> Result<(), StatusCode> {
        Hooks::of_or_new(variable.handle(self)?.cell()).set_write(hook);
        Ok(())
    }
}
