//! A value read as another type than the model says.

use uaforge_tests::brew_line::client::KettleTypeProxy;

async fn read(kettle: &KettleTypeProxy) {
    let _: String = kettle.temperature().read().await.unwrap();
}

fn main() {}
