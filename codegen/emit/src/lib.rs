//! The intermediate representation of generated code and its emitters.
//!
//! Derive macros and the file generator lower to this one IR and call these functions, so that a
//! structure gets the same code through either door. Nothing here knows XML or opens a file.

pub mod derive;
pub mod enumeration;
pub mod ids;
pub mod ir;
pub mod objects;
pub mod size;
pub mod structure;
mod structure_codec;
pub mod union;
pub mod view;
