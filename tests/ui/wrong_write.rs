//! A value written as another type than the model says.

use uaforge_tests::brew_line::client::KettleTypeProxy;

async fn write(kettle: &KettleTypeProxy) {
    kettle.temperature().write("hot").await.unwrap();
}

fn main() {}
