//! The `uaforge` command.

fn main() {}
