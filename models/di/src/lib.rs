//! OPC UA for Devices (DI) as typed Rust.
