//! Models made for the tests, as compiled tables.

#[rustfmt::skip]
#[path = "../fixtures/tiny/tables.rs"]
pub mod tiny;

#[rustfmt::skip]
#[path = "../fixtures/rows/tables.rs"]
pub mod rows;
