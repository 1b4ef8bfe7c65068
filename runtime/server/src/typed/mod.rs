//! Typed access: what generated models are made of on the server side.
//!
//! A handle knows its object by id and finds members by their browse names in the address space, so
//! that it stays right when optional members and instances of placeholders come and go.

mod instantiate;
mod methods;
mod object;

use uaforge_codec::QualifiedName;
use uaforge_nodes::typed::{BaseObjectType, ObjectType};

pub use instantiate::{Complete, Handled, InstanceError, NewObject, NoHandler, Unbound};
pub use methods::{
    InputArguments, Logic, MethodBinder, MethodContext, MethodHandlers, WithoutMethods, open_outputs, outputs,
};
pub use object::ObjectHandle;

/// An ObjectType with a handle. Generated.
pub trait HandleType: ObjectType {
    /// What the application holds of its instances.
    type Handle: From<ObjectHandle>;
}

impl HandleType for BaseObjectType {
    type Handle = ObjectHandle;
}

impl WithoutMethods for BaseObjectType {}

/// The handle of an ObjectType.
pub type HandleOf<T> = <T as HandleType>::Handle;

/// What stands for a placeholder, with browse names.
pub type Named<T> = Vec<(QualifiedName, T)>;
