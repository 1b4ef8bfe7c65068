//! OPC UA server: sessions, services, node managers and typed instances.
