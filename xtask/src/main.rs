//! Tasks of the uaforge repository.

fn main() {}
