//! A member that the type does not have.

use uaforge_tests::brew_line::client::KettleTypeProxy;

fn pressure(kettle: &KettleTypeProxy) {
    kettle.pressure();
}

fn main() {}
