//! The standard OPC UA address space as static tables.
