//! Models made for the tests, as compiled tables and types.

#[rustfmt::skip]
#[path = "../fixtures/tiny/tables.rs"]
pub mod tiny;

#[rustfmt::skip]
#[path = "../fixtures/rows/tables.rs"]
pub mod rows;

#[rustfmt::skip]
#[path = "../goldens/vectors/types.rs"]
pub mod vec;
