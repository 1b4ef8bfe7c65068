//! Call (OPC 10000-4 §5.12): which Method it is, what its arguments have to be, and who answers.

use std::sync::{Arc, Mutex};

use uaforge_codec::{
    Array, ByteString, ExtensionObject, IntoVariant as _, LocalizedText, Matrix, NodeId, NodeIdRef,
    QualifiedName, SeededEntropy, StatusCode, UaString, Variant, VariantArray,
};
use uaforge_nodes::{ClassAttributes, Edit, NewNode, ValueCell, VariableAttributes};
use uaforge_server::{
    Access, AccessControl, CancelReason, Connection, MethodCall, MethodError, Server, ServerBuilder,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_tests::running::{dial, eventually, with_running};
use uaforge_types::{
    Argument, CallMethodRequest, CallMethodResult, CallRequest, CancelRequest, Range, status,
};

type Client = Peer<InProcess<Connection>>;

const HAS_SUBTYPE: u32 = 45;
const HAS_COMPONENT: u32 = 47;
const HAS_PROPERTY: u32 = 46;
const HAS_TYPE_DEFINITION: u32 = 40;
const ORGANIZES: u32 = 35;

/// Nodes of the test, in the application's namespace.
const PUMP_TYPE: u32 = 1;
const BIG_PUMP_TYPE: u32 = 2;
const PUMP: u32 = 10;
const BIG_PUMP: u32 = 11;
const START_OF_TYPE: u32 = 100;
const START_OF_PUMP: u32 = 101;
const CHECK: u32 = 102;
const LOCKED: u32 = 103;

fn own(id: u32) -> NodeId {
    NodeId::numeric(1, id)
}

fn add(edit: &mut Edit, id: u32, name: &str, attributes: ClassAttributes, parent: (NodeId, u32)) {
    edit.add_node(NewNode::new(own(id), QualifiedName::new(1, name), attributes)).expect("a new node");
    edit.add_reference(&parent.0, &NodeId::numeric(0, parent.1), &own(id)).expect("a new reference");
}

fn argument(name: &str, data_type: u32, value_rank: i32) -> Argument {
    Argument {
        name: name.into(),
        data_type: NodeId::numeric(0, data_type),
        value_rank,
        array_dimensions: Array::NULL,
        description: LocalizedText::default(),
    }
}

/// Gives a Method its InputArguments or OutputArguments.
fn arguments(edit: &mut Edit, method: u32, name: &str, arguments: Vec<Argument>) {
    let id = NodeId::string(1, format!("{method}/{name}"));
    let variable = VariableAttributes {
        data_type: NodeId::numeric(0, 296),
        value_rank: 1,
        array_dimensions: vec![arguments.len() as u32],
        ..Default::default()
    };
    let node = NewNode::new(id.clone(), QualifiedName::new(0, name), ClassAttributes::Variable(variable));
    edit.add_node(node).expect("a new node");
    edit.add_reference(&own(method), &NodeId::numeric(0, HAS_PROPERTY), &id).expect("a new reference");
    let cell = ValueCell::default();
    cell.set(Array::from(arguments), None);
    edit.attach_cell(&id, Arc::new(cell)).expect("a variable");
}

/// PumpType with Start; BigPumpType below it; a pump with a Method node of its own, and one without.
fn fill(edit: &mut Edit) -> Result<(), StatusCode> {
    let method = || ClassAttributes::Method { executable: true };
    let object_type = || ClassAttributes::ObjectType { is_abstract: false };
    let object = || ClassAttributes::Object { event_notifier: 0 };
    add(edit, PUMP_TYPE, "PumpType", object_type(), (NodeId::numeric(0, 58), HAS_SUBTYPE));
    add(edit, BIG_PUMP_TYPE, "BigPumpType", object_type(), (own(PUMP_TYPE), HAS_SUBTYPE));
    add(edit, START_OF_TYPE, "Start", method(), (own(PUMP_TYPE), HAS_COMPONENT));
    arguments(
        edit,
        START_OF_TYPE,
        "InputArguments",
        vec![argument("Speed", 11, -1), argument("Ramp", 11, 1)],
    );
    arguments(edit, START_OF_TYPE, "OutputArguments", vec![argument("Accepted", 1, -1)]);
    let objects = NodeId::numeric(0, 85);
    for (id, name, of) in [(PUMP, "Pump", PUMP_TYPE), (BIG_PUMP, "BigPump", BIG_PUMP_TYPE)] {
        add(edit, id, name, object(), (objects.clone(), ORGANIZES));
        edit.add_reference(&own(id), &NodeId::numeric(0, HAS_TYPE_DEFINITION), &own(of))?;
    }
    add(edit, START_OF_PUMP, "Start", method(), (own(PUMP), HAS_COMPONENT));
    add(edit, CHECK, "Check", method(), (own(PUMP), HAS_COMPONENT));
    let mut limited = argument("Limited", 11, 2);
    limited.array_dimensions = Array::from(vec![2, 0]);
    let inputs = vec![
        argument("Number", 26, -1),
        argument("Anything", 24, -2),
        argument("Text", 12, -1),
        argument("State", 852, -1),
        argument("Structure", 884, -1),
        limited,
        argument("Bytes", 3, 1),
        argument("Any structure", 22, 1),
    ];
    arguments(edit, CHECK, "InputArguments", inputs);
    add(edit, LOCKED, "Locked", ClassAttributes::Method { executable: false }, (own(PUMP), HAS_COMPONENT));
    Ok(())
}

fn set_up() -> (Server, Client) {
    set_up_with(Server::builder())
}

fn set_up_with(builder: ServerBuilder) -> (Server, Client) {
    let server = builder
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
        .build()
        .expect("the server is built");
    server.space().edit(fill).expect("the nodes fit");
    let now = start_time();
    let peer = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    (server, peer)
}

fn request(object: NodeId, method: NodeId, inputs: &[Variant]) -> CallMethodRequest {
    CallMethodRequest { object_id: object, method_id: method, input_arguments: Array::from(inputs.to_vec()) }
}

fn call_all(peer: &mut Client, methods: Vec<CallMethodRequest>) -> Vec<CallMethodResult> {
    let request = CallRequest { methods_to_call: Array::from(methods), ..Default::default() };
    peer.call(request).expect("the service answers").results.into_vec()
}

fn call(peer: &mut Client, object: u32, method: u32, inputs: &[Variant]) -> CallMethodResult {
    call_all(peer, vec![request(own(object), own(method), inputs)]).remove(0)
}

fn start_inputs() -> [Variant; 2] {
    [Variant::Double(10.0), Array::from(vec![1.0]).into_variant()]
}

fn accept(call: MethodCall) -> Result<Vec<Variant>, MethodError> {
    assert_eq!(call.inputs, start_inputs());
    Ok(vec![true.into()])
}

#[test]
fn the_objects_method_and_that_of_its_type_are_one() {
    let (server, mut peer) = set_up();
    server.on_call(own(PUMP_TYPE), own(START_OF_TYPE), accept).unwrap();
    for (object, method) in [(PUMP, START_OF_PUMP), (PUMP, START_OF_TYPE), (BIG_PUMP, START_OF_TYPE)] {
        let result = call(&mut peer, object, method, &start_inputs());
        assert_eq!(result.status_code, StatusCode::GOOD, "{object} {method}");
        assert_eq!(result.output_arguments.as_slice(), [Variant::Boolean(true)]);
        assert!(result.input_argument_results.is_empty());
    }
    // The Method of one pump is none of another.
    let result = call(&mut peer, BIG_PUMP, START_OF_PUMP, &start_inputs());
    assert_eq!(result.status_code, status::BAD_METHOD_INVALID);
}

#[test]
fn the_nearest_handler_answers() {
    let (server, mut peer) = set_up();
    let answer = |text: &'static str| move |_: MethodCall| Ok::<_, MethodError>(vec![text.into()]);
    // The declaration says Boolean: handlers of the test are told apart by inputs that nobody checks.
    let log = Arc::new(Mutex::new(Vec::new()));
    let note = |who: &'static str| {
        let log = Arc::clone(&log);
        move |_: MethodCall| {
            log.lock().unwrap().push(who);
            Ok(vec![true.into()])
        }
    };
    server.on_call(own(PUMP_TYPE), own(START_OF_TYPE), note("type")).unwrap();
    server.on_call(own(PUMP), own(START_OF_TYPE), note("object")).unwrap();
    server.on_call(own(BIG_PUMP_TYPE), own(START_OF_TYPE), note("subtype")).unwrap();
    for (object, method) in [(PUMP, START_OF_TYPE), (PUMP, START_OF_PUMP), (BIG_PUMP, START_OF_TYPE)] {
        assert_eq!(call(&mut peer, object, method, &start_inputs()).status_code, StatusCode::GOOD);
    }
    server.unbind_methods(&own(PUMP));
    assert_eq!(call(&mut peer, PUMP, START_OF_PUMP, &start_inputs()).status_code, StatusCode::GOOD);
    assert_eq!(*log.lock().unwrap(), ["object", "object", "subtype", "type"]);
    // A later binding replaces the earlier one; what does not fit the declaration is not sent.
    server.on_call(own(PUMP_TYPE), own(START_OF_TYPE), answer("no Boolean")).unwrap();
    let result = call(&mut peer, PUMP, START_OF_PUMP, &start_inputs());
    assert_eq!(result.status_code, status::BAD_INTERNAL_ERROR);
    assert!(result.output_arguments.is_empty());
}

#[test]
fn two_methods_of_one_name_are_two() {
    let (server, mut peer) = set_up();
    let second = |edit: &mut Edit| {
        add(edit, 200, "Locked", ClassAttributes::Method { executable: true }, (own(PUMP), HAS_COMPONENT));
        add(edit, 201, "Locked", ClassAttributes::Method { executable: true }, (own(PUMP), HAS_COMPONENT));
        Ok::<(), StatusCode>(())
    };
    server.space().edit(second).unwrap();
    server.on_call(own(PUMP), own(201), |_| Err(status::GOOD_CALL_AGAIN.into())).unwrap();
    server.on_call(own(PUMP), own(200), |_| Ok(Vec::new())).unwrap();
    let found = [LOCKED, 200, 201].map(|method| call(&mut peer, PUMP, method, &[]).status_code);
    // An error with a good status is the handler's mistake.
    assert_eq!(found, [status::BAD_NOT_EXECUTABLE, StatusCode::GOOD, status::BAD_INTERNAL_ERROR]);
}

#[test]
fn what_is_no_method_of_the_object_has_its_status() {
    let (server, mut peer) = set_up();
    server.on_call(own(PUMP), own(START_OF_PUMP), accept).unwrap();
    let start = start_inputs();
    let results = call_all(
        &mut peer,
        vec![
            request(own(PUMP), own(START_OF_PUMP), &start),
            request(own(999), own(START_OF_PUMP), &start),
            request(NodeId::NULL, own(START_OF_PUMP), &start),
            // A Variable is nothing to call a Method on.
            request(NodeId::numeric(0, 2256), own(START_OF_PUMP), &start),
            request(own(PUMP), own(999), &start),
            request(own(PUMP), NodeId::NULL, &start),
            request(own(PUMP), own(PUMP), &start),
            // A Method of the Server object.
            request(own(PUMP), NodeId::numeric(0, 11492), &start),
            request(own(PUMP), own(LOCKED), &[]),
            request(own(PUMP), own(CHECK), &[]),
            // Declared by the type, which is not where it is called.
            request(own(BIG_PUMP_TYPE), own(START_OF_TYPE), &start),
            request(own(BIG_PUMP), own(START_OF_TYPE), &start),
        ],
    );
    let expected = [
        StatusCode::GOOD,
        status::BAD_NODE_ID_UNKNOWN,
        status::BAD_NODE_ID_INVALID,
        status::BAD_NODE_ID_INVALID,
        status::BAD_METHOD_INVALID,
        status::BAD_METHOD_INVALID,
        status::BAD_METHOD_INVALID,
        status::BAD_METHOD_INVALID,
        status::BAD_NOT_EXECUTABLE,
        status::BAD_NOT_IMPLEMENTED,
        status::BAD_METHOD_INVALID,
        status::BAD_NOT_IMPLEMENTED,
    ];
    let found: Vec<StatusCode> = results.iter().map(|result| result.status_code).collect();
    assert_eq!(found, expected);
    assert!(results.iter().skip(1).all(|result| result.output_arguments.is_empty()));
}

#[test]
fn arguments_are_counted() {
    let (server, mut peer) = set_up();
    server.on_call(own(PUMP), own(START_OF_PUMP), |_| panic!("not with these arguments")).unwrap();
    let mut inputs = start_inputs().to_vec();
    inputs.push(Variant::Null);
    let result = call(&mut peer, PUMP, START_OF_PUMP, &inputs);
    assert_eq!(result.status_code, status::BAD_TOO_MANY_ARGUMENTS);
    assert!(result.input_argument_results.is_empty());
    let result = call(&mut peer, PUMP, START_OF_PUMP, &inputs[..1]);
    assert_eq!(result.status_code, status::BAD_ARGUMENTS_MISSING);
    // The declaration stands at the type's Method only.
    let result = call(&mut peer, PUMP, START_OF_PUMP, &[Variant::Float(1.0), Variant::Double(1.0)]);
    assert_eq!(result.status_code, status::BAD_INVALID_ARGUMENT);
    assert_eq!(result.input_argument_results.as_slice(), [status::BAD_TYPE_MISMATCH; 2]);
    let result = call(&mut peer, PUMP, START_OF_PUMP, &[Variant::Double(1.0), Variant::Double(1.0)]);
    assert_eq!(result.input_argument_results.as_slice(), [StatusCode::GOOD, status::BAD_TYPE_MISMATCH]);
}

/// Inputs of Check that are right.
fn right() -> Vec<Variant> {
    vec![
        Variant::UInt16(1),
        VariantArray::String(Array::from(vec![UaString::from("any")])).into(),
        Variant::from("text"),
        Variant::Int32(0),
        ExtensionObject::new(Range { low: 0.0, high: 1.0 }).into(),
        Matrix::new(vec![2, 3], vec![0.0_f64; 6]).expect("six elements").into_variant(),
        Array::from(vec![1_u8, 2]).into_variant(),
        Array::from(vec![ExtensionObject::new(argument("a", 1, -1))]).into_variant(),
    ]
}

#[test]
fn types_ranks_and_dimensions_are_checked() {
    let (server, mut peer) = set_up();
    let taken = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&taken);
    server
        .on_call(own(PUMP), own(CHECK), move |call| {
            *log.lock().unwrap() = call.inputs;
            Ok(Vec::new())
        })
        .unwrap();
    let result = call(&mut peer, PUMP, CHECK, &right());
    assert_eq!((result.status_code, &*taken.lock().unwrap()), (StatusCode::GOOD, &right()));

    let matrix = |dimensions: Vec<u32>| {
        let count = dimensions.iter().product::<u32>() as usize;
        Matrix::new(dimensions, vec![0.0_f64; count]).expect("as many elements").into_variant()
    };
    let mismatch = status::BAD_TYPE_MISMATCH;
    let wrong: [(usize, Variant, StatusCode); 14] = [
        (0, Variant::from("1"), mismatch),
        (0, Array::from(vec![1_u16]).into_variant(), mismatch),
        (0, Variant::Null, mismatch),
        (2, Variant::LocalizedText(Arc::new("text".into())), mismatch),
        (3, Variant::UInt32(0), mismatch),
        (3, Variant::Int32(99), status::BAD_OUT_OF_RANGE),
        (4, ExtensionObject::new(argument("a", 1, -1)).into(), mismatch),
        (4, Variant::Int32(0), mismatch),
        (5, matrix(vec![3, 1]), status::BAD_OUT_OF_RANGE),
        (5, matrix(vec![1, 1, 1]), mismatch),
        (5, Array::from(vec![1.0]).into_variant(), mismatch),
        (6, Array::from(vec![1_i8]).into_variant(), mismatch),
        (6, Variant::Byte(1), mismatch),
        (7, ExtensionObject::new(Range::default()).into(), mismatch),
    ];
    for (index, value, status) in wrong {
        let mut inputs = right();
        inputs[index] = value.clone();
        let result = call(&mut peer, PUMP, CHECK, &inputs);
        assert_eq!(result.status_code, status::BAD_INVALID_ARGUMENT, "{index} {value:?}");
        let mut expected = vec![StatusCode::GOOD; inputs.len()];
        expected[index] = status;
        assert_eq!(result.input_argument_results.as_slice(), expected, "{index} {value:?}");
    }
}

#[test]
fn null_values_get_the_declared_type() {
    let (server, mut peer) = set_up();
    let taken = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&taken);
    server
        .on_call(own(PUMP), own(CHECK), move |call| {
            *log.lock().unwrap() = call.inputs;
            Ok(Vec::new())
        })
        .unwrap();
    let mut inputs = right();
    inputs[1] = Variant::Null;
    inputs[2] = Variant::Null;
    inputs[6] = Variant::ByteString(ByteString::from(vec![7, 8]));
    inputs[7] = Variant::Null;
    assert_eq!(call(&mut peer, PUMP, CHECK, &inputs).status_code, StatusCode::GOOD);
    let taken = taken.lock().unwrap();
    assert_eq!(taken[1], Variant::Null);
    assert_eq!(taken[2], Variant::String(UaString::NULL));
    assert_eq!(taken[6], Array::from(vec![7_u8, 8]).into_variant());
    assert_eq!(taken[7], VariantArray::ExtensionObject(Array::NULL).into());
}

#[test]
fn handlers_may_wait_block_or_fail() {
    let (server, mut peer) = set_up();
    let (open, opened) = tokio::sync::watch::channel(false);
    server
        .on_call_async(own(PUMP_TYPE), own(START_OF_TYPE), move |_| {
            let mut opened = opened.clone();
            async move {
                opened.wait_for(|open| *open).await.expect("the test is there");
                Ok(vec![true.into()])
            }
        })
        .unwrap();
    server.on_call_blocking(own(PUMP), own(START_OF_PUMP), accept).unwrap();
    server.on_call(own(PUMP), own(CHECK), |_| panic!("a handler fails")).unwrap();
    let start = start_inputs();
    let methods = vec![
        request(own(BIG_PUMP), own(START_OF_TYPE), &start),
        request(own(PUMP), own(CHECK), &right()),
        request(own(PUMP), own(START_OF_PUMP), &start),
    ];
    let late = peer.queue(CallRequest { methods_to_call: Array::from(methods), ..Default::default() });
    // Other requests do not wait.
    assert_eq!(call(&mut peer, PUMP, LOCKED, &[]).status_code, status::BAD_NOT_EXECUTABLE);
    open.send(true).unwrap();
    let body = peer.wait_for(late).unwrap();
    let response: uaforge_types::CallResponse = peer.decode(&body).unwrap();
    let found: Vec<StatusCode> = response.results.iter().map(|result| result.status_code).collect();
    assert_eq!(found, [StatusCode::GOOD, status::BAD_INTERNAL_ERROR, StatusCode::GOOD]);
    assert_eq!(response.results[0].output_arguments.as_slice(), [Variant::Boolean(true)]);
    assert_eq!(response.results[2].output_arguments.as_slice(), [Variant::Boolean(true)]);
}

#[test]
fn an_argument_that_the_handler_refuses_has_its_place() {
    let (server, mut peer) = set_up();
    server
        .on_call(own(PUMP), own(START_OF_PUMP), |_| Err(MethodError::argument(0, status::BAD_OUT_OF_RANGE)))
        .unwrap();
    let result = call(&mut peer, PUMP, START_OF_PUMP, &start_inputs());
    assert_eq!(result.status_code, status::BAD_INVALID_ARGUMENT);
    let expected = [status::BAD_OUT_OF_RANGE, StatusCode::GOOD];
    assert_eq!(result.input_argument_results.as_slice(), expected);
    server.on_call(own(PUMP), own(START_OF_PUMP), |_| Err(status::BAD_USER_ACCESS_DENIED.into())).unwrap();
    let result = call(&mut peer, PUMP, START_OF_PUMP, &start_inputs());
    assert_eq!(result.status_code, status::BAD_USER_ACCESS_DENIED);
    assert!(result.input_argument_results.is_empty());
}

#[test]
fn objects_with_very_many_components_have_a_budget() {
    let (server, mut peer) = set_up();
    server.on_call(own(PUMP_TYPE), own(START_OF_TYPE), accept).unwrap();
    let many = |edit: &mut Edit| {
        for id in 10_000..30_000 {
            let object = ClassAttributes::Object { event_notifier: 0 };
            add(edit, id, &format!("Part {id}"), object, (own(PUMP), HAS_COMPONENT));
        }
        Ok::<(), StatusCode>(())
    };
    server.space().edit(many).unwrap();
    let start = start_inputs();
    let calls = vec![request(own(PUMP), own(START_OF_PUMP), &start); 100];
    let results = call_all(&mut peer, calls);
    assert_eq!(results[0].status_code, StatusCode::GOOD);
    assert_eq!(results[99].status_code, status::BAD_TOO_MANY_OPERATIONS);
}

#[test]
fn the_request_as_a_whole_is_checked() {
    let (_server, mut peer) = set_up();
    assert_eq!(peer.call(CallRequest::default()).unwrap_err(), status::BAD_NOTHING_TO_DO);
    let many = vec![request(own(PUMP), own(LOCKED), &[]); 1_001];
    let request = CallRequest { methods_to_call: Array::from(many), ..Default::default() };
    assert_eq!(peer.call(request).unwrap_err(), status::BAD_TOO_MANY_OPERATIONS);
}

#[test]
fn handlers_are_bound_to_methods_only() {
    let (server, _peer) = set_up();
    let bound = server.on_call(own(BIG_PUMP), own(START_OF_PUMP), accept);
    let error = bound.unwrap_err();
    assert_eq!(error.to_string(), "ns=1;i=101 is no Method of ns=1;i=11: Bad_MethodInvalid");
    assert!(server.on_call(own(999), own(START_OF_PUMP), accept).is_err());
}

/// Takes the right to call Start of the type from everybody.
struct NoStart;

impl AccessControl for NoStart {
    fn executable(&self, _: Access, node: NodeIdRef<'_>) -> bool {
        node != own(START_OF_TYPE).as_ref()
    }
}

#[test]
fn a_user_may_lack_the_right() {
    let (server, mut peer) = set_up_with(Server::builder().access_control(NoStart));
    server.on_call(own(PUMP_TYPE), own(START_OF_TYPE), accept).unwrap();
    let result = call(&mut peer, BIG_PUMP, START_OF_TYPE, &start_inputs());
    assert_eq!(result.status_code, status::BAD_USER_ACCESS_DENIED);
    // Nor is it got round by the instance's Method, which is the same.
    let result = call(&mut peer, PUMP, START_OF_PUMP, &start_inputs());
    assert_eq!(result.status_code, status::BAD_USER_ACCESS_DENIED);
}

/// Why handlers went on.
type Ends = Arc<Mutex<Vec<Option<CancelReason>>>>;

/// Binds Start of the pump to a handler that waits until its token is fired or the test opens the gate, and
/// notes why it went on.
fn patient(server: &Server) -> (Ends, tokio::sync::watch::Sender<bool>) {
    let ends = Ends::default();
    let (open, opened) = tokio::sync::watch::channel(false);
    let log = Arc::clone(&ends);
    let handler = move |call: MethodCall| {
        let (log, mut opened) = (Arc::clone(&log), opened.clone());
        async move {
            tokio::select! {
                _ = call.cancellation.cancelled() => {}
                _ = opened.wait_for(|open| *open) => {}
            }
            log.lock().unwrap().push(call.cancellation.reason());
            Ok(vec![true.into()])
        }
    };
    server.on_call_async(own(PUMP), own(START_OF_PUMP), handler).unwrap();
    (ends, open)
}

fn start_request() -> CallRequest {
    let methods = vec![request(own(PUMP), own(START_OF_PUMP), &start_inputs())];
    CallRequest { methods_to_call: Array::from(methods), ..Default::default() }
}

#[test]
fn a_cancelled_call_tells_its_handler() {
    let (server, mut peer) = set_up();
    let (ends, _open) = patient(&server);
    let late = peer.queue(start_request());
    let handle = peer.header().request_handle - 1;
    let cancelled = peer.call(CancelRequest { request_handle: handle, ..Default::default() }).unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    let body = peer.wait_for(late).unwrap();
    let answer = peer.decode::<uaforge_types::CallResponse>(&body);
    assert_eq!(answer.unwrap_err(), status::BAD_REQUEST_CANCELLED_BY_CLIENT);
    // Told, it ends by itself where handlers work on.
    with_running(&server, |_| {
        eventually("the handler was told", || !ends.lock().unwrap().is_empty());
    });
    assert_eq!(*ends.lock().unwrap(), [Some(CancelReason::CancelledByClient)]);
}

#[test]
fn a_call_runs_on_when_its_client_is_gone() {
    let (server, _peer) = set_up();
    let (ends, open) = patient(&server);
    with_running(&server, |tasks| {
        let idle = tasks();
        let mut peer = Peer::with_session(dial(&server), "opc.tcp://here:4840", start_time());
        peer.queue(start_request());
        // The Call is on its way once the answer to a later request is there.
        peer.call(CallRequest::default()).unwrap_err();
        drop(peer);
        eventually("the connection is gone", || tasks() == idle);
        assert!(ends.lock().unwrap().is_empty());
        open.send(true).unwrap();
        eventually("the handler has ended", || !ends.lock().unwrap().is_empty());
    });
    assert_eq!(*ends.lock().unwrap(), [None]);
}
