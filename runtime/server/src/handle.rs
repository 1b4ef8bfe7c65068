//! Handles of variables: how the application sets and gets their values.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use uaforge_codec::{DataValue, DateTime, FromVariant, IntoVariant, NodeId, StatusCode, VariantTypeError};
use uaforge_nodes::ValueCell;

/// A variable whose values may have any type. Cheap to clone; works before, during and after `run_until`.
#[derive(Clone)]
pub struct VariableHandle {
    id: NodeId,
    cell: Arc<ValueCell>,
}

impl VariableHandle {
    pub(crate) fn new(id: NodeId, cell: Arc<ValueCell>) -> Self {
        Self { id, cell }
    }

    /// The variable's NodeId on this server.
    #[must_use]
    pub fn id(&self) -> &NodeId {
        &self.id
    }

    /// The cell that holds value, status and timestamps.
    #[must_use]
    pub fn cell(&self) -> &Arc<ValueCell> {
        &self.cell
    }

    /// Sets a good value; its source timestamp is now.
    pub fn set(&self, value: impl IntoVariant) {
        self.set_at(value, uaforge_net::clock().utc);
    }

    /// Sets a good value with the time at which the source had it.
    pub fn set_at(&self, value: impl IntoVariant, source: DateTime) {
        self.cell.set(value, Some(source));
    }

    /// Sets the status and keeps the value, such as Bad_NoCommunication while a device is away.
    pub fn set_status(&self, status: StatusCode) {
        self.cell.set_status(status, Some(uaforge_net::clock().utc));
    }

    /// Value, status and timestamps.
    #[must_use]
    pub fn read(&self) -> DataValue {
        self.cell.read()
    }

    /// This variable with values of one type.
    #[must_use]
    pub fn typed<T>(self) -> Variable<T> {
        Variable { handle: self, value: PhantomData }
    }
}

impl fmt::Debug for VariableHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VariableHandle").field(&self.id).finish()
    }
}

/// A variable with values of type `T`; another type does not compile.
pub struct Variable<T> {
    handle: VariableHandle,
    value: PhantomData<fn(T) -> T>,
}

impl<T> Variable<T> {
    /// The variable's NodeId on this server.
    #[must_use]
    pub fn id(&self) -> &NodeId {
        self.handle.id()
    }

    /// The handle without the type.
    #[must_use]
    pub fn handle(&self) -> &VariableHandle {
        &self.handle
    }

    /// Sets the status and keeps the value, such as Bad_NoCommunication while a device is away.
    pub fn set_status(&self, status: StatusCode) {
        self.handle.set_status(status);
    }
}

impl<T: IntoVariant> Variable<T> {
    /// Sets a good value; its source timestamp is now.
    pub fn set(&self, value: T) {
        self.handle.set(value);
    }

    /// Sets a good value with the time at which the source had it.
    pub fn set_at(&self, value: T, source: DateTime) {
        self.handle.set_at(value, source);
    }
}

impl<T: FromVariant> Variable<T> {
    /// The value.
    ///
    /// # Errors
    /// The variable holds no value yet, or one that a client wrote and that is no `T`.
    pub fn get(&self) -> Result<T, VariantTypeError> {
        self.handle.cell.get()
    }
}

impl<T> Clone for Variable<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), value: PhantomData }
    }
}

impl<T> fmt::Debug for Variable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Variable").field(self.id()).finish()
    }
}
