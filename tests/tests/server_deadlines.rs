//! Handlers that hang, panic or answer too late cost their own request only.

use std::future::{Future, pending};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use uaforge_codec::{Array, DataValue, NodeId, NodeIdRef, Now, StatusCode, Ticks, Variant};
use uaforge_net::{Machine as _, OutputBuffer};
use uaforge_server::{
    BrowseCx, BrowseItem, CancelReason, Cancellation, Claim, Connection, Description, FollowCx, FollowItem,
    Limits, NodeManager, ReadCx, ReadItem, Server, WriteCx, WriteItem,
};
use uaforge_tests::peer::{InProcess, Peer, Wire, start_time};
use uaforge_tests::running::{dial, eventually, with_running};
use uaforge_types::{
    ActivateSessionRequest, CancelRequest, CloseSessionRequest, CreateSessionRequest, ReadRequest,
    ReadResponse, ReadValueId, WriteRequest, WriteResponse, WriteValue, status,
};

const URL: &str = "opc.tcp://127.0.0.1:4840";
const URI: &str = "urn:test:hanger";

const GOOD: u32 = 1;
/// Waits for its token.
const PATIENT: u32 = 2;
/// Never answers.
const DEAF: u32 = 3;
/// Panics at once.
const PANICS: u32 = 4;
/// Panics in its future.
const PANICS_LATE: u32 = 5;
/// Panics on the pool.
const PANICS_BLOCKING: u32 = 6;

/// Hangs on the pool until it is released.
const HANGS_BLOCKING: u32 = 7;
/// Answers on the pool.
const BLOCKING: u32 = 8;
/// Answers much when it is released.
const LARGE: u32 = 9;
/// How much.
const LARGE_BYTES: usize = 40_000;

/// What became of handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Told(CancelReason),
    Dropped,
}

#[derive(Clone, Default)]
struct Hanger {
    fates: Arc<Mutex<Vec<Fate>>>,
    tokens: Arc<Mutex<Vec<Cancellation>>>,
    released: Arc<(Mutex<bool>, Condvar, Notify)>,
}

/// Notes that the future that holds it is gone.
struct Guard(Arc<Mutex<Vec<Fate>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(Fate::Dropped);
    }
}

impl Hanger {
    fn fates(&self) -> Vec<Fate> {
        self.fates.lock().unwrap().clone()
    }

    fn release(&self) {
        *self.released.0.lock().unwrap() = true;
        self.released.1.notify_all();
        self.released.2.notify_waiters();
    }

    fn token(&self) -> Cancellation {
        self.tokens.lock().unwrap().last().expect("a handler was called").clone()
    }

    fn patient(&self, token: Cancellation) -> impl Future<Output = ()> + Send + 'static {
        let fates = Arc::clone(&self.fates);
        self.tokens.lock().unwrap().push(token.clone());
        async move {
            let reason = token.cancelled().await;
            fates.lock().unwrap().push(Fate::Told(reason));
        }
    }

    fn deaf(&self, token: Cancellation) -> impl Future<Output = ()> + Send + 'static {
        self.tokens.lock().unwrap().push(token);
        let guard = Guard(Arc::clone(&self.fates));
        async move {
            let _guard = guard;
            pending::<()>().await;
        }
    }
}

fn number(node: NodeIdRef<'_>) -> u32 {
    node.as_numeric().unwrap_or_default()
}

impl NodeManager for Hanger {
    fn namespaces(&self) -> Vec<Claim> {
        vec![Claim::whole(URI)]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        for item in items {
            let value = || DataValue::new(Variant::UInt32(7));
            let token = cx.cancellation();
            assert_eq!(token.deadline(), cx.deadline());
            match number(item.node) {
                GOOD => cx.answer(item, &value()),
                PATIENT => {
                    let patient = self.patient(token);
                    cx.defer(item, async move {
                        patient.await;
                        value()
                    });
                }
                DEAF => {
                    let deaf = self.deaf(token);
                    cx.defer(item, async move {
                        deaf.await;
                        value()
                    });
                }
                PANICS => panic!("a handler fails"),
                PANICS_LATE => cx.defer(item, async { panic!("a future fails") }),
                HANGS_BLOCKING => {
                    let guard = Guard(Arc::clone(&self.fates));
                    let released = Arc::clone(&self.released);
                    cx.blocking(item, move || {
                        let _guard = guard;
                        let (lock, changed, _) = &*released;
                        drop(changed.wait_while(lock.lock().unwrap(), |released| !*released).unwrap());
                        DataValue::new(Variant::UInt32(7))
                    });
                }
                BLOCKING => cx.blocking(item, || DataValue::new(Variant::UInt32(7))),
                LARGE => {
                    let released = Arc::clone(&self.released);
                    cx.defer(item, async move {
                        let notified = released.2.notified();
                        if !*released.0.lock().unwrap() {
                            notified.await;
                        }
                        DataValue::new(Variant::ByteString(vec![7; LARGE_BYTES].into()))
                    });
                }
                PANICS_BLOCKING => cx.blocking(item, || panic!("a job fails")),
                _ => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
            }
        }
    }

    fn write(&self, cx: &mut WriteCx<'_, '_>, items: &[WriteItem<'_>]) {
        for item in items {
            let token = cx.cancellation();
            match number(item.node) {
                PATIENT => {
                    let patient = self.patient(token);
                    cx.defer(item, async move {
                        patient.await;
                        StatusCode::GOOD
                    });
                }
                DEAF => {
                    let deaf = self.deaf(token);
                    cx.defer(item, async move {
                        deaf.await;
                        StatusCode::GOOD
                    });
                }
                _ => cx.status(item, StatusCode::GOOD),
            }
        }
    }

    fn browse(&self, _: &mut BrowseCx<'_, '_>, _: &[BrowseItem<'_>]) {}

    fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}

    fn describe(&self, _: NodeIdRef<'_>, _: &mut dyn FnMut(&Description<'_>)) -> bool {
        false
    }
}

fn server(hanger: &Hanger, limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .manager(hanger.clone())
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn set_up(limits: Limits) -> (Hanger, Server, Peer<InProcess<Connection>>) {
    let hanger = Hanger::default();
    let server = server(&hanger, limits);
    let peer = Peer::with_session(InProcess(server.connection(start_time())), URL, start_time());
    (hanger, server, peer)
}

fn read(nodes: &[u32]) -> ReadRequest {
    let item = |node: &u32| ReadValueId {
        node_id: NodeId::numeric(2, *node),
        attribute_id: 13,
        ..Default::default()
    };
    ReadRequest {
        nodes_to_read: Array::from(nodes.iter().map(item).collect::<Vec<_>>()),
        ..Default::default()
    }
}

fn write(nodes: &[u32]) -> WriteRequest {
    let item = |node: &u32| WriteValue {
        node_id: NodeId::numeric(2, *node),
        attribute_id: 13,
        value: DataValue::new(Variant::UInt32(1)),
        ..Default::default()
    };
    WriteRequest {
        nodes_to_write: Array::from(nodes.iter().map(item).collect::<Vec<_>>()),
        ..Default::default()
    }
}

fn statuses(response: &ReadResponse) -> Vec<StatusCode> {
    response.results.iter().map(|result| result.status_or_good()).collect()
}

/// Lets time pass until a machine's next deadline, and tells it.
fn pass<M: uaforge_net::Machine>(peer: &mut Peer<InProcess<M>>, time: Duration) {
    let now = Now { ticks: peer.now.ticks + time, ..peer.now };
    peer.now = now;
    let machine = &mut peer.wire.0;
    if machine.deadline().is_some_and(|deadline| deadline <= now.ticks) {
        machine.on_deadline(now);
    }
}

fn wait<W: Wire>(peer: &mut Peer<W>, id: u32) -> Result<ReadResponse, StatusCode> {
    let body = peer.wait_for(id).map_err(|error| error.status)?;
    peer.decode(&body)
}

#[test]
fn what_is_late_is_a_timeout_and_the_rest_is_answered() {
    let (hanger, _server, mut peer) = set_up(Limits::default());
    let id = peer.queue(read(&[GOOD, DEAF, GOOD, PATIENT]));
    assert_eq!(peer.exchange(), 0);
    // The peer says that it waits for 10 seconds.
    let deadline: Ticks = peer.now.ticks + Duration::from_secs(10);
    assert_eq!(hanger.token().deadline(), deadline);
    assert_eq!(peer.wire.0.deadline(), Some(deadline));
    pass(&mut peer, Duration::from_millis(9_999));
    assert_eq!(peer.exchange(), 0);
    assert!(!hanger.token().is_cancelled());
    // Others are not held up meanwhile.
    assert!(peer.call(read(&[GOOD])).is_ok());
    pass(&mut peer, Duration::from_millis(1));
    let response = wait(&mut peer, id).expect("a response");
    let late = status::BAD_TIMEOUT;
    assert_eq!(statuses(&response), [StatusCode::GOOD, late, StatusCode::GOOD, late]);
    assert_eq!(hanger.token().reason(), Some(CancelReason::Timeout));
    assert_eq!(hanger.fates(), [Fate::Dropped]);
    assert!(peer.call(read(&[GOOD])).is_ok());
}

#[test]
fn the_server_has_a_limit_of_its_own() {
    let limits = Limits { max_request_timeout: Duration::from_secs(3), ..Limits::default() };
    let (hanger, _server, mut peer) = set_up(limits);
    let id = peer.queue(read(&[DEAF]));
    peer.exchange();
    assert_eq!(hanger.token().deadline(), peer.now.ticks + Duration::from_secs(3));
    pass(&mut peer, Duration::from_secs(3));
    assert_eq!(statuses(&wait(&mut peer, id).unwrap()), [status::BAD_TIMEOUT]);
    // A write is answered too, and its handler is not dropped.
    let id = peer.queue(write(&[GOOD, DEAF]));
    peer.exchange();
    let token = hanger.token();
    pass(&mut peer, Duration::from_secs(3));
    let body = peer.wait_for(id).unwrap();
    let response: WriteResponse = peer.decode(&body).unwrap();
    assert_eq!(&*response.results, [StatusCode::GOOD, status::BAD_TIMEOUT]);
    assert_eq!(token.reason(), Some(CancelReason::Timeout));
    assert_eq!(hanger.fates(), [Fate::Dropped], "of the read");
}

#[test]
fn a_request_is_cancelled_by_its_handle() {
    let (hanger, _server, mut peer) = set_up(Limits::default());
    let handle = peer.header().request_handle + 1;
    let cancelled = peer.queue(read(&[GOOD, PATIENT]));
    let goes_on = peer.queue(read(&[PATIENT]));
    peer.exchange();
    let count = |peer: &mut Peer<_>, handle| {
        let request = CancelRequest { request_handle: handle, ..Default::default() };
        peer.call(request).expect("Cancel is answered").cancel_count
    };
    assert_eq!(count(&mut peer, handle + 7), 0);
    assert_eq!(count(&mut peer, handle), 1);
    assert_eq!(wait(&mut peer, cancelled), Err(status::BAD_REQUEST_CANCELLED_BY_CLIENT));
    assert_eq!(count(&mut peer, handle), 0, "it is answered");
    assert_eq!(hanger.tokens.lock().unwrap()[0].reason(), Some(CancelReason::CancelledByClient));
    assert_eq!(hanger.token().reason(), None);
    pass(&mut peer, Duration::from_secs(10));
    assert_eq!(statuses(&wait(&mut peer, goes_on).unwrap()), [status::BAD_TIMEOUT]);
}

#[test]
fn closing_a_session_ends_its_requests_and_no_others() {
    let (hanger, server, mut peer) = set_up(Limits::default());
    // Two sessions on one channel.
    let first = peer.token.clone();
    let id = peer.queue(read(&[PATIENT]));
    peer.exchange();
    let created = peer.call(CreateSessionRequest::default()).unwrap();
    peer.token = created.authentication_token;
    peer.call(ActivateSessionRequest::default()).unwrap();
    let other = peer.queue(read(&[PATIENT]));
    peer.exchange();
    assert_eq!(server.session_count(), 2);
    let second = std::mem::replace(&mut peer.token, first);
    peer.call(CloseSessionRequest::default()).unwrap();
    assert_eq!(wait(&mut peer, id), Err(status::BAD_SESSION_CLOSED));
    assert_eq!(peer.call(read(&[GOOD])), Err(status::BAD_SESSION_ID_INVALID));
    assert_eq!(hanger.tokens.lock().unwrap()[0].reason(), Some(CancelReason::SessionClosed));
    assert!(!hanger.token().is_cancelled());
    // A session that times out ends its requests as well.
    peer.token = second;
    let now = Now { ticks: peer.now.ticks + Duration::from_secs(3_600), ..peer.now };
    server.sweep(now);
    assert_eq!(server.session_count(), 0);
    assert_eq!(wait(&mut peer, other), Err(status::BAD_SESSION_CLOSED));
}

#[test]
fn a_panic_costs_its_own_request() {
    let (_hanger, _server, mut peer) = set_up(Limits::default());
    let panics: Vec<u32> =
        [PANICS, PANICS_LATE, PANICS_BLOCKING].iter().map(|node| peer.queue(read(&[*node]))).collect();
    let good = peer.queue(read(&[GOOD]));
    for id in panics {
        let results = wait(&mut peer, id).map(|response| statuses(&response));
        assert!(
            results == Err(status::BAD_INTERNAL_ERROR) || results == Ok(vec![status::BAD_INTERNAL_ERROR]),
            "{results:?}"
        );
    }
    assert_eq!(statuses(&wait(&mut peer, good).unwrap()), [StatusCode::GOOD]);
    // A future that panics leaves the others of its request alone.
    let mixed = peer.call(read(&[GOOD, PANICS_LATE, PANICS_BLOCKING, GOOD])).unwrap();
    let bad = status::BAD_INTERNAL_ERROR;
    assert_eq!(statuses(&mixed), [StatusCode::GOOD, bad, bad, StatusCode::GOOD]);
}

#[test]
fn jobs_that_hang_do_not_use_the_pool_up() {
    let hanger = Hanger::default();
    let limits =
        Limits { blocking_threads: 2, max_request_timeout: Duration::from_millis(300), ..Limits::default() };
    let server = server(&hanger, limits);
    with_running(&server, |_| {
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        // Both threads hang; then two more that took their places.
        for _ in 0..2 {
            let late = peer.call(read(&[HANGS_BLOCKING, HANGS_BLOCKING, GOOD])).unwrap();
            let bad = status::BAD_TIMEOUT;
            assert_eq!(statuses(&late), [bad, bad, StatusCode::GOOD]);
        }
        let good = peer.call(read(&[BLOCKING])).unwrap();
        assert_eq!(statuses(&good), [StatusCode::GOOD]);
        // A job that never began does not begin later.
        assert_eq!(hanger.fates(), []);
        hanger.release();
        eventually("those who hung come back", || hanger.fates() == [Fate::Dropped; 4]);
    });
}

#[test]
fn late_answers_wait_for_a_slow_reader() {
    let (hanger, server, mut peer) = set_up(Limits::default());
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(peer.queue(read(&[LARGE])));
    }
    let requests = peer.take_queued();
    let machine = &mut peer.wire.0;
    let mut taken = machine.receive(&requests, start_time());
    hanger.release();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut largest = 0;
    for _ in 0..1_000 {
        let _ = machine.poll_work(&mut cx, &start_time);
        taken += machine.receive(&requests[taken..], start_time());
        largest = largest.max(machine.output().len());
    }
    // One response may be begun when there is room for any.
    assert!(largest > 0 && largest <= OutputBuffer::HIGH_WATER + LARGE_BYTES + 1_000, "{largest}");
    assert!(!machine.wants_read() || machine.output().is_empty());
    // It is only late for that: everything comes, and nothing twice.
    let mut received = 0;
    while received < ids.len() * LARGE_BYTES {
        let output = machine.output();
        assert!(!output.is_empty(), "{received} bytes of {} responses", ids.len());
        received += output.len();
        output.advance(output.len());
        taken += machine.receive(&requests[taken..], start_time());
        let _ = machine.poll_work(&mut cx, &start_time);
    }
    assert_eq!(taken, requests.len());
    assert!(received <= ids.len() * (LARGE_BYTES + 200), "{received}");
    assert_eq!(server.session_count(), 1);
}

#[test]
fn too_many_handlers_without_a_request_are_not_added_to() {
    let hanger = Hanger::default();
    let limits = Limits { max_handlers_beyond_requests: 3, ..Limits::default() };
    let server = server(&hanger, limits);
    with_running(&server, |_| {
        for _ in 0..3 {
            let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
            peer.queue(write(&[DEAF]));
            peer.call(read(&[GOOD])).unwrap();
        }
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        eventually("writes are refused", || {
            peer.call(write(&[GOOD])).map(|_| ()) == Err(status::BAD_SERVER_TOO_BUSY)
        });
        assert!(peer.call(read(&[GOOD])).is_ok());
    });
}

#[test]
fn reads_end_with_their_connection_and_writes_run_on() {
    let hanger = Hanger::default();
    let limits = Limits {
        max_request_timeout: Duration::from_millis(1_500),
        handler_grace: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = server(&hanger, limits);
    with_running(&server, |_| {
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        peer.queue(read(&[DEAF]));
        peer.queue(write(&[PATIENT, DEAF]));
        // The answer to the last request says that the others are at work.
        peer.call(read(&[GOOD])).unwrap();
        let tokens = hanger.tokens.lock().unwrap().clone();
        assert_eq!(tokens.len(), 3);
        drop(peer);
        eventually("the read is dropped", || hanger.fates() == [Fate::Dropped]);
        assert_eq!(tokens[0].reason(), Some(CancelReason::Disconnected));
        // Nobody tells the writes before their time.
        assert_eq!(tokens[1].reason(), None);
        eventually("the patient write ends", || hanger.fates().contains(&Fate::Told(CancelReason::Timeout)));
        // The deaf one has its grace.
        assert_eq!(hanger.fates().len(), 2);
        eventually("the deaf write is dropped", || hanger.fates().len() == 3);
    });
}

#[test]
fn a_stop_tells_handlers_and_does_not_wait_for_ever() {
    let hanger = Hanger::default();
    let limits = Limits { stop_deadline: Duration::from_millis(1_000), ..Limits::default() };
    let server = server(&hanger, limits);
    let mut answered = None;
    let mut stream = None;
    with_running(&server, |_| {
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        let late = peer.queue(read(&[PATIENT, GOOD]));
        peer.queue(write(&[DEAF]));
        peer.call(read(&[GOOD])).unwrap();
        answered = Some(late);
        stream = Some(peer);
    });
    let (Some(late), Some(mut peer)) = (answered, stream) else { unreachable!() };
    assert_eq!(wait(&mut peer, late), Err(status::BAD_SHUTDOWN));
    assert_eq!(peer.wait_for(99).map_err(|error| error.status), Err(status::BAD_SHUTDOWN));
    assert!(hanger.tokens.lock().unwrap().iter().all(|token| token.reason() == Some(CancelReason::Shutdown)));
}
