//! Typed access from end to end: a server and a client of one model, over a socket of this machine.

use std::future::Future;

use uaforge::client::typed::ObjectProxy;
use uaforge::client::{Client, Error, Session, connect, connect_insecure};
use uaforge::server::Server;
use uaforge::{NodeId, QualifiedName, UaString, Variant, status};
use uaforge_nodes::typed::BaseObjectType;
use uaforge_tests::brew_line::{
    self, KettleState, KettleType, MashStep, MotorType, SensorType, VesselType, ids,
};

fn server() -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .model(brew_line::model())
        .model(uaforge_di::model())
        .build()
        .expect("the server is built")
}

/// Runs a client against a server in one task set; stops the server afterwards.
fn with_server<F: Future>(server: &Server, client: impl FnOnce(String) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let server = server.clone();
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let output = client(url).await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

fn kettle(server: &Server, name: &str) -> brew_line::server::KettleTypeHandle {
    let builder = server.instantiate::<KettleType>(name).under(ids::object::BREW_LINE);
    builder.with_optional(VesselType::LEVEL).unbound().build().expect("a kettle")
}

async fn find(session: &Session, name: &str) -> brew_line::client::KettleTypeProxy {
    session.object::<KettleType>(name).under(ids::object::BREW_LINE).await.expect("the kettle is there")
}

#[test]
fn typed_values_travel() {
    let server = server();
    let handle = kettle(&server, "Kettle1");
    handle.temperature().set(64.5);
    handle.capacity().set(800_u32.into());
    handle.serial_number().set("KT-0017".into());
    handle.state().set(KettleState::DRAINING);
    let step = MashStep { name: "Rest".into(), temperature: 66.0, rest: 1.5, note: None };
    handle.step().set(step.clone());
    handle.agitator().speed().set(12.0);
    handle.level().expect("it was asked for").set(612.0);
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.expect("connected");
        let kettle = find(&session, "Kettle1").await;
        assert_eq!(kettle.temperature().read().await.unwrap(), 64.5);
        assert_eq!(kettle.capacity().read().await.unwrap(), Variant::UInt32(800));
        assert_eq!(kettle.serial_number().read().await.unwrap(), UaString::from("KT-0017"));
        assert_eq!(kettle.state().read().await.unwrap(), KettleState::DRAINING);
        assert_eq!(kettle.step().read().await.unwrap(), step);
        assert_eq!(kettle.agitator().speed().read().await.unwrap(), 12.0);
        assert_eq!(kettle.level().await.unwrap().expect("present").read().await.unwrap(), 612.0);
        // A change on the server is what the next read gives.
        handle.temperature().set(65.0);
        assert_eq!(kettle.temperature().read().await.unwrap(), 65.0);
        session.close().await;
    });
}

#[test]
fn an_optional_member_may_be_absent() {
    let server = server();
    let plain =
        server.instantiate::<KettleType>("Plain").under(ids::object::BREW_LINE).unbound().build().unwrap();
    assert!(plain.level().is_none());
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.unwrap();
        let kettle = find(&session, "Plain").await;
        assert!(kettle.level().await.unwrap().is_none());
        assert!(kettle.identification().await.unwrap().is_none(), "inherited from DI");
        session.close().await;
    });
}

#[test]
fn members_keep_the_namespace_of_their_names() {
    let server = server();
    kettle(&server, "Kettle1").serial_number().set("X".into());
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.unwrap();
        let kettle = find(&session, "Kettle1").await;
        let id = kettle.serial_number().node_id().await.unwrap();
        let name = session.read_attribute(&id, uaforge_nodes::AttributeId::BrowseName).await.unwrap();
        let di = session.namespaces().index_of("http://opcfoundation.org/UA/DI/").unwrap();
        assert_eq!(name, Variant::from(QualifiedName::new(di, "SerialNumber")));
        session.close().await;
    });
}

#[test]
fn placeholders_are_browsed_or_named() {
    let server = server();
    let handle = kettle(&server, "Kettle1");
    for (name, reading) in [("Top", 1.5), ("Bottom", 2.5)] {
        handle.add_sensor(name).expect("added").reading().set(reading);
    }
    handle.add_sensor("Top").expect_err("the name is taken");
    assert_eq!(handle.sensors().len(), 2);
    assert!(handle.sensor("Middle").is_none());
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.unwrap();
        let kettle = find(&session, "Kettle1").await;
        let mut found = Vec::new();
        for sensor in kettle.sensors().await.unwrap() {
            assert_eq!(
                sensor.type_definition,
                session.resolve(<SensorType as uaforge_nodes::typed::ObjectType>::ID).unwrap()
            );
            found.push((sensor.name().to_owned(), sensor.reading().read().await.unwrap()));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, [("Bottom".to_owned(), 2.5), ("Top".to_owned(), 1.5)]);
        assert_eq!(kettle.sensor("Top").reading().read().await.unwrap(), 1.5);
        let missing = kettle.sensor("Middle").reading().read().await.unwrap_err();
        assert_eq!(missing.status(), status::BAD_NO_MATCH);
        assert!(missing.to_string().starts_with("Kettle1/Middle: Bad_NoMatch"), "{missing}");
        session.close().await;
    });
}

#[test]
fn the_type_of_an_object_is_checked() {
    let server = server();
    kettle(&server, "Kettle1");
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.unwrap();
        let line = ids::object::BREW_LINE;
        session.object::<VesselType>("Kettle1").under(line).await.expect("a kettle is a vessel");
        session.object::<BaseObjectType>("Kettle1").under(line).await.expect("anything is an object");
        let wrong = session.object::<MotorType>("Kettle1").under(line).await.unwrap_err();
        assert!(matches!(wrong, Error::ObjectType { expected: "MotorType", .. }), "{wrong}");
        let absent = session.object::<KettleType>("Kettle9").under(line).await.unwrap_err();
        assert_eq!(absent.status(), status::BAD_NO_MATCH);
        session.close().await;
    });
}

#[test]
fn a_missing_model_is_named() {
    let server =
        Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge::ns0()).build().unwrap();
    let refused = server.instantiate::<KettleType>("Kettle1").unbound().build().unwrap_err();
    assert!(refused.to_string().contains("http://example.org/BrewLine/"), "{refused}");
    with_server(&server, |url| async move {
        let session = connect_insecure(&url).await.unwrap();
        let refused = session.object::<KettleType>("Kettle1").await.unwrap_err();
        assert!(refused.to_string().contains("http://example.org/BrewLine/"), "{refused}");
        let kettle = ObjectProxy::at::<KettleType>(&session, NodeId::numeric(0, 85));
        let refused = kettle.temperature().read().await.unwrap_err();
        assert!(matches!(refused, Error::UnknownNamespace(_)), "{refused}");
        session.close().await;
    });
}

#[test]
fn a_plain_server_needs_the_word() {
    let server = server();
    with_server(&server, |url| async move {
        let refused = connect(&url).await.unwrap_err();
        assert!(matches!(refused, Error::PlainOnly { .. }), "{refused}");
        assert!(refused.to_string().contains(".insecure()"), "{refused}");
    });
}

/// Many tasks, one connection: every call gets its own response.
#[test]
fn calls_are_pipelined() {
    let server = server();
    let handle = kettle(&server, "Kettle1");
    for number in 0..50 {
        handle.add_sensor(format!("S{number}")).unwrap().reading().set(f64::from(number));
    }
    with_server(&server, |url| async move {
        let client = Client::builder().insecure().max_outstanding(20);
        let session = client.connect(&url).await.unwrap();
        let kettle = find(&session, "Kettle1").await;
        let tasks: Vec<_> = (0..50)
            .map(|number| {
                let kettle = kettle.clone();
                tokio::spawn(async move { kettle.sensor(format!("S{number}")).reading().read().await })
            })
            .collect();
        for (number, task) in (0..50).zip(tasks) {
            assert_eq!(task.await.unwrap().unwrap(), f64::from(number));
        }
        session.close().await;
    });
}
