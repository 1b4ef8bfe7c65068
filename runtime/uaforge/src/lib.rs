//! Typed OPC UA for Rust: the façade over codec, types, client and server.
