//! OPC UA builtin types and their binary encoding, with limits.
