//! Closures that take what clients write to single Variables.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use uaforge_codec::{Array, SeededEntropy, StatusCode, Variant};
use uaforge_net::Machine as _;
use uaforge_server::{CancelReason, Connection, Server, Variable, field};
use uaforge_tests::nodes::{VALUE, scalar, value, variable, write, write_item};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{WriteRequest, WriteResponse, WriteValue, status};

type Client = Peer<InProcess<Connection>>;

const DOUBLE: u32 = 11;
const BOOLEAN: u32 = 1;
const UINT32: u32 = 7;
const STRING: u32 = 12;

fn set_up() -> (Server, Client) {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
        .build()
        .expect("the server is built");
    let client = client_of(&server);
    (server, client)
}

fn client_of(server: &Server) -> Client {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now)
}

fn level(server: &Server) -> Variable<u32> {
    variable(server, 1, scalar(UINT32), 0_u32).typed()
}

fn queue(client: &mut Client, node: &uaforge_codec::NodeId, values: &[u32]) -> u32 {
    let items = values.iter().map(|number| write_item(node, VALUE, *number)).collect::<Vec<_>>();
    client.queue(WriteRequest { nodes_to_write: Array::from(items), ..Default::default() })
}

fn results(client: &mut Client, id: u32) -> Vec<StatusCode> {
    let body = client.wait_for(id).expect("a response");
    let response: WriteResponse = client.decode(&body).expect("a response");
    response.results.to_vec()
}

fn pass(client: &mut Client, time: Duration) {
    client.pass(time);
    let (now, machine) = (client.now, &mut client.wire.0);
    if machine.deadline().is_some_and(|deadline| deadline <= now.ticks) {
        machine.on_deadline(now);
    }
}

#[test]
fn a_closure_refuses_or_changes_what_is_written() {
    let (server, mut client) = set_up();
    let temperature: Variable<f64> = variable(&server, 1, scalar(DOUBLE), 20.0).typed();
    let seen = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&seen);
    let limited = move |value: f64| {
        count.fetch_add(1, Ordering::Relaxed);
        if value.is_nan() { Err(status::BAD_OUT_OF_RANGE) } else { Ok(value.clamp(0.0, 100.0)) }
    };
    server.on_write(&temperature, limited).unwrap();
    assert_eq!(write(&mut client, temperature.id(), 64.5), StatusCode::GOOD);
    assert_eq!(temperature.get(), Ok(64.5));
    assert_eq!(write(&mut client, temperature.id(), 640.5), StatusCode::GOOD);
    assert_eq!(value(&mut client, temperature.id(), VALUE), Variant::Double(100.0));
    assert_eq!(write(&mut client, temperature.id(), f64::NAN), status::BAD_OUT_OF_RANGE);
    assert_eq!(temperature.get(), Ok(100.0));
    // What the server's own checks refuse never comes to the closure.
    assert_eq!(write(&mut client, temperature.id(), "hot"), status::BAD_TYPE_MISMATCH);
    assert_eq!(seen.load(Ordering::Relaxed), 3);
    server.on_write(&temperature, |_| panic!("the closure fails")).unwrap();
    assert_eq!(write(&mut client, temperature.id(), 1.0), status::BAD_INTERNAL_ERROR);
    assert_eq!(temperature.get(), Ok(100.0));
    server.unbind(&temperature).unwrap();
    assert_eq!(write(&mut client, temperature.id(), 2.0), StatusCode::GOOD);
    assert_eq!(temperature.get(), Ok(2.0));
}

struct Kettle {
    temperature: f64,
    lit: bool,
}

#[test]
fn clients_change_state_of_the_application() {
    let (server, mut client) = set_up();
    let kettle = Arc::new(Mutex::new(Kettle { temperature: 20.0, lit: false }));
    let temperature: Variable<f64> = variable(&server, 1, scalar(DOUBLE), 0.0).typed();
    let lit: Variable<bool> = variable(&server, 2, scalar(BOOLEAN), false).typed();
    server.bind(&temperature, field(&kettle, |kettle| &mut kettle.temperature)).unwrap();
    server.bind(&lit, field(&kettle, |kettle| &mut kettle.lit)).unwrap();
    assert_eq!(write(&mut client, temperature.id(), 65.0), StatusCode::GOOD);
    assert_eq!(write(&mut client, lit.id(), true), StatusCode::GOOD);
    let Kettle { temperature: degrees, lit: burns } = &*kettle.lock().unwrap();
    assert_eq!((*degrees, *burns), (65.0, true));

    let name = Arc::new(RwLock::new(String::new()));
    let named: Variable<String> = variable(&server, 3, scalar(STRING), "").typed();
    server.bind(&named, Arc::clone(&name)).unwrap();
    assert_eq!(write(&mut client, named.id(), "Kettle 1"), StatusCode::GOOD);
    assert_eq!(*name.read().unwrap(), "Kettle 1");

    let on = Arc::new(AtomicBool::new(false));
    let switch: Variable<bool> = variable(&server, 4, scalar(BOOLEAN), false).typed();
    server.bind(&switch, Arc::clone(&on)).unwrap();
    assert_eq!(write(&mut client, switch.id(), true), StatusCode::GOOD);
    assert!(on.load(Ordering::Relaxed));

    let (sender, receiver) = tokio::sync::watch::channel(1_u32);
    let (sent, received): (Variable<u32>, Variable<u32>) = (
        variable(&server, 5, scalar(UINT32), 0_u32).typed(),
        variable(&server, 6, scalar(UINT32), 0_u32).typed(),
    );
    server.bind(&sent, sender).unwrap();
    server.bind(&received, receiver.clone()).unwrap();
    assert_eq!(write(&mut client, sent.id(), 5_u32), StatusCode::GOOD);
    assert_eq!(*receiver.borrow(), 5);
    assert_eq!(write(&mut client, received.id(), 6_u32), status::BAD_NOT_WRITABLE);
    assert_eq!(value(&mut client, received.id(), VALUE), Variant::UInt32(5));

    // A getter and a setter that knows its limits.
    let raw = Arc::new(AtomicU32::new(10));
    let (get, set) = (Arc::clone(&raw), Arc::clone(&raw));
    let scaled: Variable<u32> = variable(&server, 7, scalar(UINT32), 0_u32).typed();
    let getter = move || get.load(Ordering::Relaxed) * 2;
    let setter = move |value: u32| {
        if value > 100 {
            return Err(status::BAD_OUT_OF_RANGE);
        }
        set.store(value / 2, Ordering::Relaxed);
        Ok(())
    };
    server.bind(&scaled, (getter, setter)).unwrap();
    assert_eq!(value(&mut client, scaled.id(), VALUE), Variant::UInt32(20));
    assert_eq!(write(&mut client, scaled.id(), 51_u32), StatusCode::GOOD);
    assert_eq!(write(&mut client, scaled.id(), 101_u32), status::BAD_OUT_OF_RANGE);
    assert_eq!((raw.load(Ordering::Relaxed), scaled.get()), (25, Ok(50)));
}

#[test]
fn writes_of_one_variable_reach_the_device_in_their_order() {
    let (server, mut client) = set_up();
    let mut other = client_of(&server);
    let level = level(&server);
    let device: Arc<Mutex<Vec<u32>>> = Arc::default();
    let (go, gate) = tokio::sync::watch::channel(0_u32);
    let log = Arc::clone(&device);
    server
        .on_write_async(&level, move |value, _| {
            let (log, mut gate) = (Arc::clone(&log), gate.clone());
            async move {
                log.lock().unwrap().push(value);
                // The device takes one value at a time, the first one last of all.
                gate.wait_for(|open| *open >= value).await.map_err(|_| status::BAD_NO_COMMUNICATION)?;
                if value == 30 { Err(status::BAD_DEVICE_FAILURE) } else { Ok(value + 1) }
            }
        })
        .unwrap();
    let first = queue(&mut client, level.id(), &[10, 20]);
    client.exchange();
    let second = queue(&mut other, level.id(), &[30]);
    other.exchange();
    let third = queue(&mut client, level.id(), &[40]);
    client.exchange();
    assert_eq!(*device.lock().unwrap(), [10]);
    // Reads do not wait for writes.
    assert_eq!(value(&mut other, level.id(), VALUE), Variant::UInt32(0));
    go.send(100).unwrap();
    assert_eq!(results(&mut client, first), [StatusCode::GOOD, StatusCode::GOOD]);
    assert_eq!(results(&mut other, second), [status::BAD_DEVICE_FAILURE]);
    assert_eq!(results(&mut client, third), [StatusCode::GOOD]);
    assert_eq!(*device.lock().unwrap(), [10, 20, 30, 40]);
    assert_eq!(level.get(), Ok(41));
}

#[test]
fn a_device_that_may_block_is_written_on_the_pool() {
    let (server, mut client) = set_up();
    let level = level(&server);
    let device: Arc<Mutex<Vec<u32>>> = Arc::default();
    let log = Arc::clone(&device);
    let thread = std::thread::current().id();
    server
        .on_write_blocking(&level, move |value, cx| {
            assert!(std::thread::current().id() != thread && !cx.cancellation().is_cancelled());
            assert!(value != 3, "the device fails");
            std::thread::sleep(Duration::from_millis(2));
            log.lock().unwrap().push(value);
            Ok(value)
        })
        .unwrap();
    let id = queue(&mut client, level.id(), &[1, 2, 3, 4]);
    let (good, failed) = (StatusCode::GOOD, status::BAD_INTERNAL_ERROR);
    assert_eq!(results(&mut client, id), [good, good, failed, good]);
    assert_eq!(*device.lock().unwrap(), [1, 2, 4]);
    assert_eq!(level.get(), Ok(4));
}

#[test]
fn a_device_that_hangs_costs_the_writes_that_wait_for_it() {
    let (server, mut client) = set_up();
    let (hangs, fine) = (level(&server), variable(&server, 2, scalar(UINT32), 0_u32));
    let begun: Arc<Mutex<Vec<u32>>> = Arc::default();
    let told: Arc<Mutex<Vec<CancelReason>>> = Arc::default();
    let (log, reasons) = (Arc::clone(&begun), Arc::clone(&told));
    server
        .on_write_async(&hangs, move |value, cx| {
            log.lock().unwrap().push(value);
            let reasons = Arc::clone(&reasons);
            async move {
                if value == 1 {
                    let reason = cx.cancellation().cancelled().await;
                    reasons.lock().unwrap().push(reason);
                    pending::<()>().await;
                }
                Ok(value)
            }
        })
        .unwrap();
    let first = queue(&mut client, hangs.id(), &[1, 2]);
    client.exchange();
    assert_eq!(write(&mut client, fine.id(), 5_u32), StatusCode::GOOD);
    // The peer waits for ten seconds.
    pass(&mut client, Duration::from_secs(10));
    assert_eq!(results(&mut client, first), [status::BAD_TIMEOUT, status::BAD_TIMEOUT]);
    assert_eq!(value(&mut client, fine.id(), VALUE), Variant::UInt32(5));
    // The hanging one works on; the one behind it has not begun, and does not once its client was told.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stopped = async {
        while told.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    runtime.block_on(server.run_until(stopped)).unwrap();
    assert_eq!(*told.lock().unwrap(), [CancelReason::Timeout]);
    assert_eq!(*begun.lock().unwrap(), [1]);
    assert_eq!(hangs.get(), Ok(0));
}

#[test]
fn a_part_is_put_into_the_whole_before_it_is_taken() {
    let (server, mut client) = set_up();
    let state = Arc::new(Mutex::new("abcdef".to_owned()));
    let text: Variable<String> = variable(&server, 1, scalar(STRING), "stale!").typed();
    server.bind(&text, Arc::clone(&state)).unwrap();
    let mut part = |range: &str, value: &str| {
        let item = WriteValue { index_range: range.into(), ..write_item(text.id(), VALUE, value) };
        let request = WriteRequest { nodes_to_write: Array::from(vec![item]), ..Default::default() };
        client.call(request).expect("a response").results[0]
    };
    assert_eq!(part("1:2", "XY"), StatusCode::GOOD);
    assert_eq!(*state.lock().unwrap(), "aXYdef");
    assert_eq!(part("9", "Z"), status::BAD_INDEX_RANGE_NO_DATA);
    // One after the other, also where the first one takes its time.
    server.unbind(&text).unwrap();
    text.set("abcdef".to_owned());
    server.on_write_async(&text, |value: String, _| async { Ok(value) }).unwrap();
    let parts = [("0", "A"), ("5", "F")];
    let items = parts.map(|(range, value)| WriteValue {
        index_range: range.into(),
        ..write_item(text.id(), VALUE, value)
    });
    let request = WriteRequest { nodes_to_write: Array::from(items.to_vec()), ..Default::default() };
    let results = client.call(request).expect("a response").results;
    assert_eq!(*results, [StatusCode::GOOD; 2]);
    assert_eq!(text.get().as_deref(), Ok("AbcdeF"));
}
