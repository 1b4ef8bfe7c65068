//! A member of another type's child.

use uaforge_tests::brew_line::client::KettleTypeProxy;

fn temperature(kettle: &KettleTypeProxy) {
    kettle.agitator().temperature();
}

fn main() {}
