//! A file is no state machine, though both are types of the base model.

use uaforge::ns0::client::FileTypeProxy;

async fn state(file: FileTypeProxy) {
    let _ = file.size().read().await;
    let _ = file.current_state();
}

fn main() {}
