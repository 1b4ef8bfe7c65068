//! Turns NodeSet2 files into typed Rust from a build script: plan, render, write.

mod crates;
mod data_types;
mod forge;
mod ids;
mod keep;
mod names;
mod objects;
mod render;
mod report;
pub mod tables;

pub use crates::{Files, Paths, object_files, status_file, type_files};
pub use forge::{Error, Forge};
pub use keep::keep_names;
pub use render::RenderError;
