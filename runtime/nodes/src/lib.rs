#![no_std]
//! Address space: static tables, references, type tree, dynamic nodes and value cells.
//!
//! The tables of the models are read-only data. [`AddressSpace`] mounts them side by side, merges what
//! one model adds to another, and lays an overlay of nodes made at run time over them. Everything is
//! read through a [`Snapshot`]: no lock, no allocation.

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod cell;
mod class;
mod ids;
pub mod instantiate;
mod lock;
mod overlay;
mod space;
mod status;
#[doc(hidden)]
pub mod table;
pub mod typed;

pub use cell::{Attachment, CellState, Listener, ValueCell};
pub use class::{AttributeId, NodeClass};
pub use instantiate::{Instance, Instantiate, InstantiateError};
pub use overlay::{ClassAttributes, Edit, NewNode, VariableAttributes, attribute_type};
pub use space::{
    AddressSpace, AddressSpaceBuilder, AttributeValue, BrowseName, BuildError, Cursor, Direction,
    EncodedValue, EnumerationValues, Follow, Node, Reference, ReferenceFilter, ReferenceIter, RolePermission,
    Roles, Snapshot, Text, Timestamps, ValueType,
};
pub use table::StaticModel;
