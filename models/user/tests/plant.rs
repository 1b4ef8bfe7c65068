//! The model is served with all that it requires, and its types are those of the crates.

use uaforge::server::Server;
use uaforge_model_user::plant;

/// DI as one dependency has it and as the other has it.
use machines::__models::{uaforge_di, uaforge_ia};
use uaforge_robotics::__models::uaforge_di as di_of_robotics;

fn server() -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(plant::model())
        .model(uaforge_robotics::model())
        .model(machines::model())
        .model(uaforge_ia::model())
        .model(uaforge_di::model())
        .model(uaforge::ns0())
        .build()
        .expect("the models fit together")
}

#[test]
fn dependencies_share_a_model() {
    assert!(std::ptr::eq(uaforge_di::model(), di_of_robotics::model()));
}

#[test]
fn members_of_types_of_other_crates_are_typed() {
    let server = server();
    let press = server.instantiate::<plant::PressType>("Press1").unbound().build().expect("an instance");
    press.force().set(12.5);
    assert_eq!(press.force().get(), Ok(12.5));
    press.identification().manufacturer().set(uaforge::LocalizedText::new("en", "Example"));
    press.identification().serial_number().set("4711".into());
    assert_eq!(press.identification().serial_number().get().expect("a value").as_str(), Some("4711"));
}
