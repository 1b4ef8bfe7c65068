//! A value set as another type than the model says.

use uaforge_tests::brew_line::server::KettleTypeHandle;

fn set(kettle: &KettleTypeHandle) {
    kettle.temperature().set("hot");
}

fn main() {}
