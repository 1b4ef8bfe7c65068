//! Case 027: a generated client calls a Method on an instance, whichever id the server takes.

use std::future::Future;
use std::sync::{Arc, Mutex};

use uaforge::client::typed::ObjectProxy;
use uaforge::client::{Error, Session, connect_insecure};
use uaforge::server::typed::MethodContext;
use uaforge::server::{
    BrowseCx, BrowseItem, CallCx, CallItem, Claim, Description, FollowCx, FollowItem, MethodError,
    NodeManager, ReadCx, ReadItem, Server, ServerBuilder,
};
use uaforge::{Array, NodeId, Variant, status};
use uaforge_codec::{IntoVariant as _, NodeIdRef};
use uaforge_goldens::typed_client_method_call::{
    self as model, PumpType, client, ids, server::PumpTypeMethods,
};
use uaforge_nodes::{BrowseName, NodeClass, Text};

const URI: &str = "http://example.org/acc/meth/";
const PUMP_A: u32 = 5100;
const START_OF_TYPE: u32 = 7001;
const START_OF_PUMP_A: u32 = 7101;

/// What a server of the case does with calls.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    /// Takes the Method of the instance only.
    Instance,
    /// Takes the Method of the type only.
    Type,
    /// Shows no Method at the instance, and takes that of the type.
    Hidden,
    /// Takes no Method.
    None,
}

/// A server of somebody else that has PumpA.
#[derive(Clone)]
struct Foreign {
    habit: Habit,
    outputs: Arc<Mutex<Vec<Variant>>>,
    /// Method ids of calls, and how often browse paths were followed.
    calls: Arc<Mutex<Vec<u32>>>,
    look_ups: Arc<Mutex<usize>>,
}

impl Foreign {
    fn new(habit: Habit) -> Self {
        Self {
            habit,
            outputs: Arc::new(Mutex::new(vec![true.into()])),
            calls: Arc::default(),
            look_ups: Arc::default(),
        }
    }

    fn calls(&self) -> Vec<u32> {
        std::mem::take(&mut *self.calls.lock().expect("no panic"))
    }

    fn takes(&self, method: u32) -> bool {
        match self.habit {
            Habit::Instance => method == START_OF_PUMP_A,
            Habit::Type | Habit::Hidden => method == START_OF_TYPE,
            Habit::None => false,
        }
    }
}

impl NodeManager for Foreign {
    fn namespaces(&self) -> Vec<Claim> {
        vec![URI.into()]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_ATTRIBUTE_ID_INVALID));
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_NODE_ID_UNKNOWN));
    }

    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        *self.look_ups.lock().expect("no panic") += 1;
        for item in items {
            let start = BrowseName { namespace: item.node.namespace(), name: "Start" };
            let shown = item.node.as_numeric() == Some(PUMP_A) && self.habit != Habit::Hidden;
            if shown && item.has_name(start) {
                cx.target(NodeId::numeric(item.node.namespace(), START_OF_PUMP_A).into());
            }
        }
    }

    fn call(&self, cx: &mut CallCx<'_, '_>, items: &[CallItem<'_>]) {
        for item in items {
            let method = item.method.as_numeric().unwrap_or_default();
            self.calls.lock().expect("no panic").push(method);
            assert_eq!(item.object.as_numeric(), Some(PUMP_A));
            assert_eq!(item.inputs, [Variant::Double(10.0), Array::from(vec![1.0]).into_variant()]);
            if self.takes(method) {
                cx.answer(item, Ok(self.outputs.lock().expect("no panic").clone()));
            } else {
                cx.status(item, status::BAD_METHOD_INVALID);
            }
        }
    }

    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
        found(&Description {
            class: NodeClass::Object,
            browse_name: BrowseName { namespace: node.namespace(), name: "PumpA" },
            display_name: Text { locale: "", text: "PumpA" },
            type_definition: None,
        });
        true
    }
}

fn builder() -> ServerBuilder {
    Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge::ns0())
}

/// Runs a client against a server; stops the server afterwards.
fn with_pump<F: Future>(
    server: &Server,
    client: impl FnOnce(Session, client::PumpTypeProxy) -> F,
) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let server = server.clone();
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let session = connect_insecure(&url).await.expect("connected");
        let namespace = session.namespaces().index_of(URI).expect("the server has it");
        // The NodeId of the object is all that is needed.
        let pump = ObjectProxy::at::<PumpType>(&session, NodeId::numeric(namespace, PUMP_A));
        let output = client(session.clone(), pump).await;
        session.close().await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

fn foreign(habit: Habit) -> (Foreign, Server) {
    let foreign = Foreign::new(habit);
    let server = builder().manager(foreign.clone()).build().expect("the server is built");
    (foreign, server)
}

async fn start(pump: &client::PumpTypeProxy) -> Result<bool, Error> {
    pump.start(10.0, vec![1.0].into()).await
}

#[test]
fn case_027_step_1_the_instances_method_is_called() {
    let (foreign, server) = foreign(Habit::Instance);
    with_pump(&server, |_, pump| async move {
        assert!(start(&pump).await.unwrap());
        assert_eq!(foreign.calls(), [START_OF_PUMP_A]);
    });
}

#[test]
fn case_027_steps_2_and_3_the_types_method_is_called_after_one_retry() {
    let (foreign, server) = foreign(Habit::Type);
    with_pump(&server, |session, pump| async move {
        assert!(start(&pump).await.unwrap());
        assert_eq!(foreign.calls(), [START_OF_PUMP_A, START_OF_TYPE]);
        for _ in 0..3 {
            assert!(start(&pump).await.unwrap());
            assert_eq!(foreign.calls(), [START_OF_TYPE]);
        }
        // Other handles of the same object know it too.
        let id = pump.node_id().await.unwrap();
        assert!(start(&ObjectProxy::at::<PumpType>(&session, id)).await.unwrap());
        assert_eq!(foreign.calls(), [START_OF_TYPE]);
        assert_eq!(*foreign.look_ups.lock().unwrap(), 1);
    });
}

#[test]
fn case_027_a_method_that_the_instance_does_not_show() {
    let (foreign, server) = foreign(Habit::Hidden);
    with_pump(&server, |_, pump| async move {
        assert!(start(&pump).await.unwrap());
        assert!(start(&pump).await.unwrap());
        assert_eq!(foreign.calls(), [START_OF_TYPE; 2]);
        assert_eq!(*foreign.look_ups.lock().unwrap(), 1);
    });
}

#[test]
fn case_027_a_method_that_nobody_takes() {
    let (foreign, server) = foreign(Habit::None);
    with_pump(&server, |_, pump| async move {
        assert_eq!(start(&pump).await.unwrap_err().status(), status::BAD_METHOD_INVALID);
        assert_eq!(foreign.calls(), [START_OF_PUMP_A, START_OF_TYPE]);
    });
}

#[test]
fn case_027_step_4_outputs_that_do_not_fit_are_errors() {
    let (foreign, server) = foreign(Habit::Instance);
    with_pump(&server, |session, pump| async move {
        let outputs = [
            vec![],
            vec![true.into(), true.into()],
            vec![1_i32.into()],
            vec![Variant::Null],
            vec![Array::from(vec![true]).into_variant()],
        ];
        for outputs in outputs {
            *foreign.outputs.lock().unwrap() = outputs.clone();
            let error = start(&pump).await.unwrap_err();
            let fits = matches!(error, Error::OutputCount { .. } | Error::ValueType { .. });
            assert!(fits && error.to_string().contains("/Start"), "{outputs:?}: {error}");
        }
        // The session stays usable.
        *foreign.outputs.lock().unwrap() = vec![false.into()];
        assert!(!start(&pump).await.unwrap());
        assert!(session.read_value(&NodeId::numeric(0, 2258)).await.unwrap().value().is_some());
    });
}

struct Logic;

impl PumpTypeMethods for Logic {
    async fn start(
        &self,
        call: MethodContext<PumpType>,
        speed: f64,
        ramp: Array<f64>,
    ) -> Result<bool, MethodError> {
        assert_eq!(call.object().node_id().as_numeric(), Some(PUMP_A));
        Ok(speed > 0.0 && ramp.iter().all(|step| *step > 0.0))
    }
}

#[test]
fn case_027_the_projects_own_server_takes_both_ids() {
    let server = builder().model(&model::MODEL).build().expect("the server is built");
    server.bind_methods::<PumpType, _>(Logic).expect("the type is there");
    with_pump(&server, |session, pump| async move {
        assert!(start(&pump).await.unwrap());
        let inputs: Array<Variant> =
            vec![Variant::Double(10.0), Array::from(vec![1.0]).into_variant()].into();
        for method in [ids::method::START, ids::method::PUMP_TYPE_START] {
            let outputs = session.call_method(ids::object::PUMP_A, method, inputs.clone()).await.unwrap();
            assert_eq!(outputs, [Variant::Boolean(true)]);
        }
        let proxy = session.object_at::<PumpType>(ids::object::PUMP_A).await.unwrap();
        assert!(!proxy.start(-1.0, vec![].into()).await.unwrap());
        let missing = session.call_method(ids::object::PUMP_A, ids::method::START, vec![]).await;
        assert_eq!(missing.unwrap_err().status(), status::BAD_ARGUMENTS_MISSING);
    });
}
