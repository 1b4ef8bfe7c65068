//! Turns NodeSet2 files into typed Rust from a build script: plan, render, write.
pub mod tables;
