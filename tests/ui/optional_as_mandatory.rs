//! An optional member used as if every instance had it.

use uaforge_tests::brew_line::server::KettleTypeHandle;

fn set(kettle: &KettleTypeHandle) {
    kettle.level().set(1.0);
}

fn main() {}
