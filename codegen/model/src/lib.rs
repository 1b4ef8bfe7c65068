//! Reads NodeSet2 files, resolves them by namespace URI, and reads and writes model interface files.

pub mod resolved;
