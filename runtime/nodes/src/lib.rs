#![no_std]
//! Address space: static tables, references, type tree, dynamic nodes and value cells.

extern crate alloc;

pub mod table;
