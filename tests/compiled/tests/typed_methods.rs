//! Typed Methods from end to end: handlers on a server, calls of a client, over a socket of this machine.

use std::future::Future;
use std::sync::{Arc, Mutex};

use uaforge::client::{Error, Session, connect_insecure};
use uaforge::server::typed::MethodContext;
use uaforge::server::{MethodBindError, MethodError, Server};
use uaforge::{
    Array, DateTime, ExtensionObject, LocalizedText, Matrix, NodeId, StatusCode, UaString, Variant, status,
};
use uaforge_goldens::methods::client::{DriveTypeProxy, MachineTypeProxy, PressTypeProxy};
use uaforge_goldens::methods::server::{
    DriveTypeMethods, MachineTypeMethods, OpenTypeMethods, PressTypeMethods, RobotTypeMethods,
};
use uaforge_goldens::methods::{
    self, BigPressType, DriveType, MachineType, MachineTypeConfigureOutputsI7002, Mode, OpenType, PressType,
    QuietType, RobotType, Step, ids,
};
use uaforge_goldens::methods_derived::server::WelderTypeMethods;
use uaforge_goldens::methods_derived::{self, PlainType, WelderType, WelderTypeWeldOutputs};

fn server() -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .model(&methods::MODEL)
        .types(methods::register_types)
        .build()
        .expect("the server is built")
}

/// Runs a client against a server in one task set; stops the server afterwards.
fn with_session<F: Future>(server: &Server, client: impl FnOnce(Session) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let server = server.clone();
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let session = connect_insecure(&url).await.expect("connected");
        let output = client(session.clone()).await;
        session.close().await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

type Log = Arc<Mutex<Vec<String>>>;

/// Handles every Method of the model's types.
#[derive(Clone, Default)]
struct Logic {
    log: Log,
}

impl Logic {
    fn note(&self, text: impl Into<String>) {
        self.log.lock().expect("no panic").push(text.into());
    }
}

impl MachineTypeMethods for Logic {
    async fn reset(&self, call: MethodContext<MachineType>) -> Result<(), MethodError> {
        self.note(format!("reset {}", call.object().node_id()));
        Ok(())
    }

    async fn configure(
        &self,
        _call: MethodContext<MachineType>,
        r#type: UaString,
        self_: f64,
        type_3: i32,
        call_4: bool,
        unnamed: u32,
        second: u32,
    ) -> Result<MachineTypeConfigureOutputsI7002, MethodError> {
        self.note(format!("{} {self_} {type_3} {call_4} {unnamed} {second}", r#type.text()));
        Ok(MachineTypeConfigureOutputsI7002 {
            result: type_3,
            result_2: -type_3,
            r#match: Variant::Double(self_),
        })
    }

    async fn load(
        &self,
        _call: MethodContext<MachineType>,
        recipe: Step,
        steps: Array<Step>,
        mode: Mode,
        modes: Array<Mode>,
        table: Matrix<f64>,
        anything: Variant,
        number: Variant,
        structure: ExtensionObject,
        any_rank: Variant,
        text: LocalizedText,
    ) -> Result<Array<Step>, MethodError> {
        let structure = structure.downcast_ref::<Step>().map(|step| step.name.clone());
        self.note(format!(
            "{mode:?} {modes:?} {:?} {anything:?} {number:?} {any_rank:?}",
            table.dimensions()
        ));
        self.note(format!("{structure:?} {}", text.text));
        Ok(steps.iter().cloned().chain([recipe]).collect())
    }

    async fn speed_i_7007(&self, _call: MethodContext<MachineType>) -> Result<(), MethodError> {
        Err(MethodError::new(status::BAD_INVALID_STATE))
    }

    async fn r#move(
        &self,
        _call: MethodContext<MachineType>,
        far: f64,
        note: Option<UaString>,
    ) -> Result<(), MethodError> {
        if far < 0.0 {
            return Err(MethodError::argument(0, status::BAD_OUT_OF_RANGE));
        }
        self.note(format!("move {far} {note:?}"));
        Ok(())
    }
}

impl PressTypeMethods for Logic {
    async fn load(
        &self,
        call: MethodContext<PressType>,
        recipe: Step,
        force: f64,
    ) -> Result<bool, MethodError> {
        self.note(format!("press {} {force}", recipe.name));
        // The handle is that of the type.
        let _ = call.object().drive();
        Ok(force < 10.0)
    }

    async fn pause(&self, _call: MethodContext<PressType>, reason: LocalizedText) -> Result<(), MethodError> {
        tokio::task::yield_now().await;
        self.note(format!("pause {}", reason.text));
        Ok(())
    }
}

impl DriveTypeMethods for Logic {
    async fn home(&self, _call: MethodContext<DriveType>, speed: f64) -> Result<(), MethodError> {
        self.note(format!("home {speed}"));
        Ok(())
    }
}

impl RobotTypeMethods for Logic {
    async fn stop(&self, _call: MethodContext<RobotType>) -> Result<DateTime, MethodError> {
        Ok(DateTime(7))
    }
}

impl OpenTypeMethods for Logic {
    async fn run(
        &self,
        _call: MethodContext<OpenType>,
        inputs: Array<Variant>,
    ) -> Result<Array<Variant>, MethodError> {
        Ok(inputs.iter().rev().cloned().collect())
    }
}

fn step(name: &str) -> Step {
    Step { name: name.into(), speed: 1.0 }
}

#[test]
fn arguments_of_every_shape_travel() {
    let (server, logic) = (server(), Logic::default());
    server.instantiate::<MachineType>("Machine").handler(logic.clone()).build().unwrap();
    with_session(&server, |session| async move {
        let machine = session.object::<MachineType>("Machine").await.unwrap();
        let (type_, self_) = ("type".into(), 0.5);
        let outputs = machine.configure(type_, self_, 3, true, 4, 5).await.unwrap();
        let expected =
            MachineTypeConfigureOutputsI7002 { result: 3, result_2: -3, r#match: Variant::Double(0.5) };
        assert_eq!(outputs, expected);
        let table = Matrix::new(vec![1, 2], vec![1.0, 2.0]).unwrap();
        let steps = machine
            .load(
                step("recipe"),
                vec![step("first")].into(),
                Mode::AUTOMATIC,
                vec![Mode::MANUAL].into(),
                table,
                Variant::Null,
                Variant::Byte(1),
                ExtensionObject::new(step("inside")),
                Variant::Double(2.0),
                "text".into(),
            )
            .await
            .unwrap();
        assert_eq!(steps.as_slice(), [step("first"), step("recipe")]);
        machine.reset().await.unwrap();
        machine.r#move(1.5, None).await.unwrap();
        machine.r#move(1.5, Some(UaString::NULL)).await.unwrap();
    });
    let log = logic.log.lock().unwrap();
    assert_eq!(
        log.as_slice(),
        [
            "type 0.5 3 true 4 5",
            "Automatic [Manual] [1, 2] Null Byte(1) Double(2.0)",
            "Some(\"inside\") text",
            "reset ns=1;s=Machine",
            "move 1.5 None",
            "move 1.5 Some(null)",
        ]
    );
}

#[test]
fn errors_name_the_argument() {
    let server = server();
    server.instantiate::<MachineType>("Machine").handler(Logic::default()).build().unwrap();
    with_session(&server, |session| async move {
        let machine = session.object::<MachineType>("Machine").await.unwrap();
        let error = machine.r#move(-1.0, None).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_INVALID_ARGUMENT);
        let text = error.to_string();
        assert!(text.starts_with("Machine/Move: Bad_InvalidArgument (Far: Bad_OutOfRange"), "{text}");
        let Error::Method { arguments, .. } = error else { panic!("{error:?}") };
        assert_eq!((arguments[0].index, arguments[0].status), (0, status::BAD_OUT_OF_RANGE));
        let error = machine.speed_i_7007().await.unwrap_err();
        assert!(error.to_string().starts_with("Machine/speed: Bad_InvalidState"), "{error}");
        // The same without types.
        let (object, method) = (machine.node_id().await.unwrap(), ids::method::MACHINE_TYPE_MOVE);
        let error = session.call_method(&object, method, vec!["far".into()]).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_INVALID_ARGUMENT);
        assert!(error.to_string().contains("(input 0: Bad_TypeMismatch"), "{error}");
        assert_eq!(session.call_method(&object, method, vec![2.0.into()]).await.unwrap(), []);
    });
}

#[test]
fn a_subtype_handles_what_it_declares_anew() {
    let (server, logic) = (server(), Logic::default());
    let press = server.instantiate::<BigPressType>("Big").handler(logic.clone()).build().unwrap();
    press.drive().bind_methods(logic.clone()).unwrap();
    with_session(&server, |session| async move {
        let press = session.object::<BigPressType>("Big").await.unwrap();
        assert!(press.load(step("light"), 1.0).await.unwrap());
        assert!(!press.load(step("heavy"), 11.0).await.unwrap());
        press.pause("lunch".into()).await.unwrap();
        press.reset().await.unwrap();
        // Declared by the member's type, its arguments by the member.
        press.drive().home(2.5).await.unwrap();
        // As its supertype, which declares other arguments: the server says what does not fit.
        let machine = session.object::<MachineType>("Big").await.unwrap();
        let error = machine.r#move(f64::NAN, Some("x".into())).await;
        assert!(error.is_ok());
        machine.pause("again".into()).await.unwrap();
    });
    let log = logic.log.lock().unwrap();
    let expected = [
        "press light 1",
        "press heavy 11",
        "pause lunch",
        "reset ns=1;s=Big",
        "home 2.5",
        "move NaN",
        "pause again",
    ];
    assert_eq!(log.len(), expected.len());
    assert!(log.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)), "{log:?}");
}

#[test]
fn objects_of_the_model_are_handled_by_their_type() {
    let (server, logic) = (server(), Logic::default());
    server.bind_methods::<PressType, _>(logic.clone()).unwrap();
    let press = server.object_at::<PressType>(ids::object::PRESS).unwrap();
    press.drive().bind_methods(logic.clone()).unwrap();
    assert!(server.object_at::<RobotType>(ids::object::PRESS).is_err());
    assert!(server.object_at::<PressType>(ids::object_type::PRESS_TYPE).is_err());
    with_session(&server, |session| async move {
        let press: PressTypeProxy = session.object_at::<PressType>(ids::object::PRESS).await.unwrap();
        assert!(press.load(step("static"), 2.0).await.unwrap());
        press.reset().await.unwrap();
        let drive: DriveTypeProxy = press.drive();
        drive.home(1.0).await.unwrap();
        let machine: MachineTypeProxy = session.object_at::<MachineType>(ids::object::PRESS).await.unwrap();
        machine.reset().await.unwrap();
        // Handlers of objects are none of the type itself.
        let (owner, method) = (ids::object_type::PRESS_TYPE, ids::method::PRESS_TYPE_RESET);
        let error = session.call_method(owner, method, vec![]).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_NOT_IMPLEMENTED);
    });
    assert_eq!(logic.log.lock().unwrap().len(), 4);
}

#[test]
fn objects_may_have_methods_of_their_own() {
    let (server, logic) = (server(), Logic::default());
    let shared = server.instantiate::<PressType>("Shared").handler(logic.clone()).build().unwrap();
    let own =
        server.instantiate::<PressType>("Own").with_own_methods().handler(logic.clone()).build().unwrap();
    own.drive().bind_methods(logic.clone()).unwrap();
    let own_id = |name: &str| NodeId::string(1, format!("Own/{name}"));
    assert!(server.space().snapshot().node(NodeId::string(1, "Shared/Load").as_ref()).is_none());
    assert_eq!(shared.node_id(), &NodeId::string(1, "Shared"));
    with_session(&server, |session| async move {
        let press = session.object::<PressType>("Own").await.unwrap();
        assert!(press.load(step("own"), 1.0).await.unwrap());
        press.drive().home(3.0).await.unwrap();
        // By its own id, and with its own arguments.
        let too_few = session.call_method(press.node_id().await.unwrap(), own_id("Load"), vec![]).await;
        assert_eq!(too_few.unwrap_err().status(), status::BAD_ARGUMENTS_MISSING);
        let arguments = session.read_value(&own_id("Load/InputArguments")).await.unwrap();
        let of_type = session.resolve(ids::variable::PRESS_TYPE_LOAD_INPUT_ARGUMENTS).unwrap();
        let of_type = session.read_value(&of_type).await.unwrap();
        assert!(arguments.value().is_some());
        assert_eq!(arguments.value(), of_type.value());
        // The other press does not have it.
        let other = session.object::<PressType>("Shared").await.unwrap();
        let refused = session.call_method(other.node_id().await.unwrap(), own_id("Load"), vec![]).await;
        assert_eq!(refused.unwrap_err().status(), status::BAD_METHOD_INVALID);
    });
}

#[test]
fn handlers_may_block_on_the_pool() {
    let server = server();
    let robot = server.instantiate::<RobotType>("Robot").unbound().build().unwrap();
    robot
        .on_stop(|call| async move {
            let thread = std::thread::current().id();
            let other = call.blocking(move || std::thread::current().id() != thread).await?;
            assert!(!call.cancellation().is_cancelled());
            Ok(DateTime(i64::from(other)))
        })
        .unwrap();
    with_session(&server, |session| async move {
        let robot = session.object::<RobotType>("Robot").await.unwrap();
        assert_eq!(robot.stop().await.unwrap(), DateTime(1));
    });
}

#[test]
fn a_method_of_the_type_alone_is_called_on_the_type() {
    let server = server();
    let (owner, method) = (ids::object_type::MACHINE_TYPE, ids::method::MACHINE_TYPE_CREATE);
    server
        .on_call(owner, method, |call| Ok(vec![Variant::from(call.inputs.len() as u32)]).map(|_| vec![]))
        .unwrap();
    with_session(&server, |session| async move {
        assert_eq!(session.call_method(owner, method, vec!["new".into()]).await.unwrap(), []);
    });
}

#[test]
fn optional_methods_are_bound_one_by_one() {
    let (server, logic) = (server(), Logic::default());
    let plain = server.instantiate::<MachineType>("Plain").handler(logic.clone()).build().unwrap();
    let missing = plain.on_pause(|_, _| async { Ok(()) });
    assert!(matches!(missing, Err(MethodBindError::NotFound { .. })));
    let machine = server.instantiate::<MachineType>("Machine").with_optional(MachineType::PAUSE);
    let machine = machine.handler(logic.clone()).build().unwrap();
    with_session(&server, |session| async move {
        let plain = session.object::<MachineType>("Plain").await.unwrap();
        assert_eq!(plain.pause("x".into()).await.unwrap_err().status(), status::BAD_METHOD_INVALID);
        let proxy = session.object::<MachineType>("Machine").await.unwrap();
        assert_eq!(proxy.pause("x".into()).await.unwrap_err().status(), status::BAD_NOT_IMPLEMENTED);
        machine
            .on_pause(move |call, reason| {
                let logic = logic.clone();
                async move {
                    logic.note(format!("{} {}", call.object().node_id(), reason.text));
                    Ok(())
                }
            })
            .unwrap();
        proxy.pause("break".into()).await.unwrap();
    });
}

#[test]
fn methods_may_be_left_unbound() {
    let server = server();
    server.instantiate::<QuietType>("Quiet").build().unwrap();
    let robot = server.instantiate::<RobotType>("Robot").unbound().build().unwrap();
    with_session(&server, |session| async move {
        let proxy = session.object::<RobotType>("Robot").await.unwrap();
        assert_eq!(proxy.stop().await.unwrap_err().status(), status::BAD_NOT_IMPLEMENTED);
        robot.bind_methods(Logic::default()).unwrap();
        assert_eq!(proxy.stop().await.unwrap(), DateTime(7));
        proxy.home(1.0).await.unwrap();
    });
}

#[test]
fn arguments_that_the_model_leaves_open_are_any() {
    let server = server();
    server.instantiate::<OpenType>("Open").handler(Logic::default()).build().unwrap();
    with_session(&server, |session| async move {
        let open = session.object::<OpenType>("Open").await.unwrap();
        let inputs: Array<Variant> = vec![Variant::Int32(1), "two".into()].into();
        let outputs = open.run(inputs).await.unwrap();
        assert_eq!(outputs.as_slice(), [Variant::from("two"), Variant::Int32(1)]);
    });
}

impl WelderTypeMethods for Logic {
    async fn weld(
        &self,
        call: MethodContext<WelderType>,
        step: Step,
        modes: Array<Mode>,
    ) -> Result<WelderTypeWeldOutputs, MethodError> {
        self.note(format!("{} {:?}", call.object().node_id(), modes));
        Ok(WelderTypeWeldOutputs { seam: step, length: 0.5 })
    }

    async fn stop(
        &self,
        _call: MethodContext<WelderType>,
        reason: UaString,
    ) -> Result<DateTime, MethodError> {
        self.note(format!("stop: {reason}"));
        Ok(DateTime(9))
    }
}

#[test]
fn methods_of_another_model_are_inherited_and_declared_anew() {
    let logic = Logic::default();
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge::ns0());
    let builder =
        builder.model(&methods_derived::MODEL).model(&methods::MODEL).types(methods::register_types);
    let server = builder.build().expect("the server is built");
    server.instantiate::<WelderType>("Welder").handler(logic.clone()).build().unwrap();
    server.instantiate::<PlainType>("Plain").handler(logic.clone()).build().unwrap();
    with_session(&server, |session| async move {
        let welder = session.object::<WelderType>("Welder").await.unwrap();
        let outputs = welder.weld(step("seam"), vec![Mode::AUTOMATIC].into()).await.unwrap();
        assert_eq!(outputs, WelderTypeWeldOutputs { seam: step("seam"), length: 0.5 });
        assert_eq!(welder.stop("smoke".into()).await.unwrap(), DateTime(9));
        welder.home(4.0).await.unwrap();
        let plain = session.object::<PlainType>("Plain").await.unwrap();
        assert_eq!(plain.stop().await.unwrap(), DateTime(7));
    });
    let log = logic.log.lock().unwrap();
    assert_eq!(log.as_slice(), ["ns=1;s=Welder [Automatic]", "stop: smoke", "home 4"]);
}

#[test]
fn a_model_that_the_server_lacks_is_named() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .build()
        .expect("the server is built");
    let error = server.bind_methods::<MachineType, _>(Logic::default()).unwrap_err();
    assert!(error.to_string().contains("http://example.org/golden/methods/"), "{error}");
    let error = server.on_call(NodeId::numeric(0, 2253), NodeId::numeric(0, 1), |_| Ok(vec![]));
    assert!(matches!(error, Err(MethodBindError::NoMethod { status, .. }) if status != StatusCode::GOOD));
}
