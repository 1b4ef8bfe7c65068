//! The tokio driver: sockets and clocks for sans-IO machines.
//!
//! This is the only runtime crate that reads clocks and sockets; everything else takes time and
//! randomness as arguments.
#![expect(clippy::disallowed_methods, reason = "the one place that reads clocks and waits")]

mod buffer;
mod clock;
mod driver;
mod entropy;
mod host;
mod machine;
mod socket;

pub use buffer::OutputBuffer;
pub use clock::{Elapsed, clock, sleep_until, timeout};
pub use driver::drive;
pub use entropy::OsEntropy;
pub use host::{addresses, host_names};
pub use machine::{Machine, Timeouts};
pub use socket::{Listener, Stream};
