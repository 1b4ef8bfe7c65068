//! The static form of a model: flat arrays in read-only memory, written by the generator.
//!
//! Rows hold lengths and counts, never offsets and never pointers. The offsets are prefix sums that
//! `const fn`s make when the model crate is compiled, so one more node changes a handful of lines of
//! generated text, and the arrays need no relocation when the program starts.
//!
//! Ids inside the tables are pairs of a *slot* and a number. Slot 0 is the model itself, slot 1 the
//! OPC UA namespace, 2 and up the models it requires. A string, GUID or opaque id has the bit
//! [`NAMED`] in its slot, and its number is a key into the side table of named ids.

mod lookup;
mod model;
mod named;
mod prefix;
mod rows;

pub use model::{Grafted, References, StaticModel, StaticText, StaticValue};
pub use named::{NamedId, NamedKind, hash_name};
pub use prefix::{bitmap, graft_starts, named_starts, ranks, starts, text_starts, value_starts};
pub use rows::{
    ExtraRow, GraftRow, NamedRow, NodeRow, ReferenceRow, ReferenceTypeRow, Starts, TextRow, ValueRow,
    ValueStart, VariableRow, extra, kind, text,
};

/// Bit of a slot: the number beside it is a key of the named ids.
pub const NAMED: u8 = 0x80;
