//! OPC UA client: sessions, services and typed access.
