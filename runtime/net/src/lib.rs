//! The tokio driver: sockets and clocks for sans-IO machines.
