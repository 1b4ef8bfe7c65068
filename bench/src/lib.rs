//! The instrument of `cargo xtask bench`: a load generator over raw sockets, a meter of other processes, scenarios.

pub mod counts;
pub mod load;
pub mod meter;
pub mod report;
pub mod scenario;
pub mod subject;
pub mod template;
pub mod wire;
