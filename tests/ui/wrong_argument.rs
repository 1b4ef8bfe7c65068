//! A call with an argument of another type than the model says.

use uaforge_tests::brew_line::client::KettleTypeProxy;

async fn start(kettle: &KettleTypeProxy) {
    let _ = kettle.start_mash("hot").await;
}

fn main() {}
