//! Turns NodeSet2 files into typed Rust from a build script: plan, render, write.

mod crates;
mod data_types;
mod ids;
mod names;
mod render;
pub mod tables;

pub use crates::{Files, Paths, status_file, type_files};
pub use render::RenderError;
