//! Derive macros that put user structures on the wire.
