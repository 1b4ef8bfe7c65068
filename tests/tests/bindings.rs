//! Closures and shared state bound to single Variables.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use uaforge_codec::{
    Array, DataValue, DateTime, NodeId, Now, QualifiedName, SeededEntropy, StatusCode, Variant,
};
use uaforge_net::Machine as _;
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::simulation::{Counter, Ramp, Sine, Toggle};
use uaforge_server::{Connection, Sample, Server, Variable, field};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{ReadRequest, ReadValueId, ServerState, TimestampsToReturn, ids, status};

type Client = Peer<InProcess<Connection>>;

const MILLISECOND: Duration = Duration::from_millis(1);

fn set_up() -> (Server, Client) {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
        .build()
        .expect("the server is built");
    let now = start_time();
    let client = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    (server, client)
}

/// Adds a Variable; the data type is the number of a builtin type.
fn add<T>(server: &Server, name: &str, data_type: u32) -> Variable<T> {
    let id = NodeId::string(1, name);
    let attributes = ClassAttributes::Variable(VariableAttributes {
        data_type: NodeId::numeric(0, data_type),
        access_level: 3,
        ..Default::default()
    });
    let node = NewNode::new(id.clone(), QualifiedName::new(1, name), attributes);
    server.space().edit(|edit| edit.add_node(node)).expect("the variable is added");
    server.typed_variable(&id).expect("the variable is there")
}

fn read_with(client: &mut Client, id: &NodeId, range: &str) -> DataValue {
    let item = ReadValueId {
        node_id: id.clone(),
        attribute_id: 13,
        index_range: range.into(),
        ..Default::default()
    };
    let request = ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(vec![item]),
        ..Default::default()
    };
    client.call(request).expect("a response").results[0].clone()
}

fn read(client: &mut Client, id: &NodeId) -> DataValue {
    read_with(client, id, "")
}

fn value(client: &mut Client, id: &NodeId) -> Variant {
    let result = read(client, id);
    assert_eq!(result.status_or_good(), StatusCode::GOOD);
    result.value().cloned().unwrap_or_default()
}

#[test]
fn a_closure_is_asked_on_each_read() {
    let (server, mut client) = set_up();
    let temperature: Variable<f64> = add(&server, "temperature", 11);
    let reads = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&reads);
    let bound =
        server.on_read(&temperature, move || f64::from(counted.fetch_add(1, Ordering::Relaxed)) + 0.5);
    assert_eq!(bound, Ok(()));
    assert_eq!(value(&mut client, temperature.id()), Variant::Double(0.5));
    client.pass(MILLISECOND);
    let result = read(&mut client, temperature.id());
    assert_eq!(result.value(), Some(&Variant::Double(1.5)));
    assert_eq!(result.source_timestamp(), Some(client.now.utc));
    assert_eq!(reads.load(Ordering::Relaxed), 2);
    // Its handle is not touched; without the closure it shows again.
    temperature.set(7.0);
    assert_eq!(value(&mut client, temperature.id()), Variant::Double(2.5));
    assert_eq!(server.unbind(&temperature), Ok(()));
    assert_eq!(value(&mut client, temperature.id()), Variant::Double(7.0));
}

#[test]
fn a_closure_may_fail_or_say_status_and_time() {
    let (server, mut client) = set_up();
    let level: Variable<u32> = add(&server, "level", 7);
    server.on_read(&level, || Err::<u32, _>(status::BAD_NO_COMMUNICATION)).unwrap();
    let result = read(&mut client, level.id());
    assert_eq!((result.value(), result.status_or_good()), (None, status::BAD_NO_COMMUNICATION));
    let sample = Sample { value: 5, status: status::UNCERTAIN_LAST_USABLE_VALUE, source: DateTime(77) };
    server.on_read(&level, move || Ok(sample)).unwrap();
    let result = read(&mut client, level.id());
    assert_eq!(result.value(), Some(&Variant::UInt32(5)));
    assert_eq!(result.status_or_good(), status::UNCERTAIN_LAST_USABLE_VALUE);
    assert_eq!(result.source_timestamp(), Some(DateTime(77)));
    server.on_read(&level, || -> u32 { panic!("the closure fails") }).unwrap();
    assert_eq!(read(&mut client, level.id()).status_or_good(), status::BAD_INTERNAL_ERROR);
    assert!(!client.wire.0.is_closed());
}

#[test]
fn constants_of_models_and_plain_ids_are_bound_alike() {
    let (server, mut client) = set_up();
    server.on_read(&ids::variable::SERVER_SERVER_STATUS_STATE, || ServerState::TEST).unwrap();
    assert_eq!(value(&mut client, &NodeId::numeric(0, 2259)), Variant::Int32(ServerState::TEST.0));
    server.on_read(&NodeId::numeric(0, 2267), || Variant::Byte(7)).unwrap();
    assert_eq!(value(&mut client, &NodeId::numeric(0, 2267)), Variant::Byte(7));
    let none = server.on_read(&NodeId::numeric(0, 85), || Variant::Byte(7));
    assert_eq!(none, Err(status::BAD_NODE_CLASS_INVALID));
    let none = server.on_read(&NodeId::numeric(1, 99), || Variant::Byte(7));
    assert_eq!(none, Err(status::BAD_NODE_ID_UNKNOWN));
}

#[test]
fn index_ranges_cut_what_a_closure_gives() {
    let (server, mut client) = set_up();
    let text: Variable<String> = add(&server, "text", 12);
    server.on_read(&text, || "temperature".to_owned()).unwrap();
    assert_eq!(read_with(&mut client, text.id(), "0:3").value(), Some(&Variant::String("temp".into())));
    server.on_read_async(&text, |_| async { "pressure".to_owned() }).unwrap();
    assert_eq!(read_with(&mut client, text.id(), "0:4").value(), Some(&Variant::String("press".into())));
}

#[test]
fn a_closure_may_take_its_time_or_block() {
    let (server, mut client) = set_up();
    let level: Variable<u32> = add(&server, "level", 7);
    let (sender, receiver) = tokio::sync::watch::channel(0_u32);
    server
        .on_read_async(&level, move |cx| {
            assert!(!cx.cancellation().is_cancelled());
            let mut receiver = receiver.clone();
            async move {
                let found = receiver.wait_for(|value| *value > 0).await;
                found.map(|found| *found).map_err(|_| status::BAD_NO_COMMUNICATION)
            }
        })
        .unwrap();
    let item = ReadValueId { node_id: level.id().clone(), attribute_id: 13, ..Default::default() };
    let late = client.queue(ReadRequest { nodes_to_read: Array::from(vec![item]), ..Default::default() });
    assert_eq!(value(&mut client, &NodeId::numeric(0, 2259)), Variant::Int32(0));
    sender.send(4).unwrap();
    let body = client.wait_for(late).unwrap();
    let response: uaforge_types::ReadResponse = client.decode(&body).unwrap();
    assert_eq!(response.results[0].value(), Some(&Variant::UInt32(4)));
    server.on_read_async(&level, |_| async { panic!("the future fails") as u32 }).unwrap();
    assert_eq!(read(&mut client, level.id()).status_or_good(), status::BAD_INTERNAL_ERROR);
    let thread = std::thread::current().id();
    server
        .on_read_blocking(&level, move |_| {
            std::thread::sleep(MILLISECOND);
            u32::from(std::thread::current().id() != thread)
        })
        .unwrap();
    assert_eq!(value(&mut client, level.id()), Variant::UInt32(1));
    server.on_read_blocking(&level, |_| -> u32 { panic!("the job fails") }).unwrap();
    assert_eq!(read(&mut client, level.id()).status_or_good(), status::BAD_INTERNAL_ERROR);
}

struct Kettle {
    temperature: f64,
    lit: bool,
}

#[test]
fn variables_show_state_of_the_application() {
    let (server, mut client) = set_up();
    let kettle = Arc::new(Mutex::new(Kettle { temperature: 20.5, lit: false }));
    let (temperature, lit) = (add::<f64>(&server, "temperature", 11), add::<bool>(&server, "lit", 1));
    server.bind(&temperature, field(&kettle, |kettle| &mut kettle.temperature)).unwrap();
    server.bind(&lit, field(&kettle, |kettle| &mut kettle.lit)).unwrap();
    *kettle.lock().unwrap() = Kettle { temperature: 64.5, lit: true };
    assert_eq!(value(&mut client, temperature.id()), Variant::Double(64.5));
    assert_eq!(value(&mut client, lit.id()), Variant::Boolean(true));

    let name = Arc::new(RwLock::new("first".to_owned()));
    let named: Variable<String> = add(&server, "name", 12);
    server.bind(&named, Arc::clone(&name)).unwrap();
    *name.write().unwrap() = "second".into();
    assert_eq!(value(&mut client, named.id()), Variant::String("second".into()));

    let count = Arc::new(AtomicU32::new(3));
    let counted: Variable<u32> = add(&server, "count", 7);
    server.bind(&counted, Arc::clone(&count)).unwrap();
    count.store(4, Ordering::Relaxed);
    assert_eq!(value(&mut client, counted.id()), Variant::UInt32(4));

    let (sender, receiver) = tokio::sync::watch::channel(1_i32);
    let watched: Variable<i32> = add(&server, "watched", 6);
    server.bind(&watched, receiver).unwrap();
    sender.send(-1).unwrap();
    assert_eq!(value(&mut client, watched.id()), Variant::Int32(-1));
}

/// The time so long after the server's start.
fn after(server: &Server, time: Duration) -> Now {
    let start = server.start_time();
    Now {
        ticks: start.ticks + time,
        utc: DateTime(start.utc.0 + i64::try_from(time.as_nanos() / 100).unwrap()),
    }
}

#[test]
fn polls_keep_to_whole_multiples_of_their_interval() {
    let (server, _client) = set_up();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let poll = |name: &'static str, interval: u64| {
        let variable: Variable<u32> = add(&server, name, 7);
        let asked = Arc::clone(&asked);
        let read = move || {
            asked.lock().unwrap().push(name);
            7_u32
        };
        let handle = server.poll_every(&variable, Duration::from_millis(interval), read).unwrap();
        (variable, handle)
    };
    let (a, _) = poll("a", 100);
    let at = |time: u64| {
        let next = server.poll_due(after(&server, Duration::from_millis(time)));
        let names = std::mem::take(&mut *asked.lock().unwrap());
        (names, next.map(|next| next.since(server.start_time().ticks).as_millis()))
    };
    // At once, then at 100, 200 …, however late the call comes.
    assert_eq!(at(30), (vec!["a"], Some(100)));
    assert_eq!(a.get(), Ok(7));
    assert_eq!(at(99), (vec![], Some(100)));
    assert_eq!(at(107), (vec!["a"], Some(200)));
    // What is registered later shares the timer.
    let (_, b) = poll("b", 100);
    let (_, c) = poll("c", 250);
    assert_eq!(at(180), (vec!["b", "c"], Some(200)));
    assert_eq!(at(200), (vec!["a", "b"], Some(250)));
    assert_eq!(at(250), (vec!["c"], Some(300)));
    // A minute was missed: once, not six hundred times.
    assert_eq!(at(60_010), (vec!["a", "b", "c"], Some(60_100)));
    b.stop();
    assert_eq!(at(60_100), (vec!["a"], Some(60_200)));
    c.stop();
    assert_eq!(at(60_250), (vec!["a"], Some(60_300)));
}

#[test]
fn what_fails_while_polled_becomes_the_status_and_keeps_the_value() {
    let (server, _client) = set_up();
    let level: Variable<u32> = add(&server, "level", 7);
    let round = Arc::new(AtomicU32::new(0));
    let read = move || match round.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(5),
        1 => Err(status::BAD_NO_COMMUNICATION),
        2 => panic!("the closure fails"),
        _ => Ok(6),
    };
    server.poll_every(&level, Duration::from_secs(1), read).unwrap();
    let state = |seconds| {
        server.poll_due(after(&server, Duration::from_secs(seconds)));
        let state = level.handle().read();
        (state.value().cloned(), state.status_or_good(), state.source_timestamp())
    };
    let utc = |seconds| Some(after(&server, Duration::from_secs(seconds)).utc);
    let (five, six) = (Some(Variant::UInt32(5)), Some(Variant::UInt32(6)));
    assert_eq!(state(0), (five.clone(), StatusCode::GOOD, utc(0)));
    assert_eq!(state(1), (five.clone(), status::BAD_NO_COMMUNICATION, utc(1)));
    assert_eq!(state(2), (five, status::BAD_INTERNAL_ERROR, utc(2)));
    assert_eq!(state(3), (six, StatusCode::GOOD, utc(3)));
}

#[test]
fn simulations_are_functions_of_the_timetable() {
    let (server, _client) = set_up();
    let (sine, ramp) = (add::<f64>(&server, "sine", 11), add::<f64>(&server, "ramp", 11));
    let (toggle, counter) = (add::<bool>(&server, "toggle", 1), add::<u16>(&server, "counter", 5));
    let squares: Variable<u64> = add(&server, "squares", 9);
    let second = Duration::from_secs(1);
    server.simulate(&sine, second, Sine { mean: 10.0, amplitude: 2.0, period: second * 4 }).unwrap();
    server.simulate(&ramp, second, Ramp { from: 0.0, to: 8.0, period: second * 8 }).unwrap();
    server.simulate(&toggle, second, Toggle { every: second }).unwrap();
    server.simulate(&counter, second, Counter { every: second / 2 }).unwrap();
    server.simulate(&squares, second, |since: Duration| since.as_secs().pow(2)).unwrap();
    server.poll_due(after(&server, Duration::ZERO));
    // The call is late, the value is that of the whole second.
    for (late, expected) in [(1_003, (12.0, 1.0, true, 2, 1)), (3_950, (8.0, 3.0, true, 6, 9))] {
        server.poll_due(after(&server, Duration::from_millis(late)));
        let shown = (sine.get(), ramp.get(), toggle.get(), counter.get(), squares.get());
        let (s, r, t, c, q) = expected;
        assert_eq!(shown, (Ok(s), Ok(r), Ok(t), Ok(c), Ok(q)));
    }
}

#[test]
fn slow_polls_do_not_overlap_and_all_stop_with_the_server() {
    let (server, _client) = set_up();
    let (late, blocking) = (add::<u32>(&server, "late", 7), add::<u32>(&server, "blocking", 7));
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let rounds: [Arc<AtomicU32>; 2] = [Arc::default(), Arc::default()];
    let enter = {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        move || most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst)
    };
    let (leave, round) = (Arc::clone(&running), Arc::clone(&rounds[0]));
    server
        .poll_every_async(&late, 2 * MILLISECOND, move || {
            enter();
            let (leave, round) = (Arc::clone(&leave), Arc::clone(&round));
            async move {
                tokio::time::sleep(7 * MILLISECOND).await;
                leave.fetch_sub(1, Ordering::SeqCst);
                round.fetch_add(1, Ordering::SeqCst)
            }
        })
        .unwrap();
    let round = Arc::clone(&rounds[1]);
    server
        .poll_every_blocking(&blocking, 2 * MILLISECOND, move || {
            std::thread::sleep(5 * MILLISECOND);
            round.fetch_add(1, Ordering::SeqCst)
        })
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let enough = async {
        while rounds.iter().any(|round| round.load(Ordering::SeqCst) < 5) {
            tokio::time::sleep(MILLISECOND).await;
        }
    };
    runtime.block_on(server.run_until(enough)).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert!(late.get().is_ok_and(|round| round >= 3) && blocking.get().is_ok_and(|round| round >= 3));
    let after_stop = rounds[0].load(Ordering::SeqCst);
    runtime.block_on(async { tokio::time::sleep(30 * MILLISECOND).await });
    assert_eq!(rounds[0].load(Ordering::SeqCst), after_stop);
}
