//! What a broken or hostile server costs a client: the call, the session or the connection, as it must,
//! and nothing more. No panic, no hang, no memory without bound. All in virtual time.

use std::time::Duration;

use uaforge_client::{Client, ClientBuilder, Error, Session};
use uaforge_codec::{Array, DataValue, NodeId, StatusCode, Variant};
use uaforge_tests::raw::body;
use uaforge_tests::rogue::{Asked, Pair, Wire};
use uaforge_types::{
    CancelRequest, CloseSessionRequest, ReadRequest, ReadResponse, ResponseHeader, WriteRequest,
    WriteResponse, status,
};

const SECOND: Duration = Duration::from_secs(1);

fn builder() -> ClientBuilder {
    Client::builder().insecure().request_timeout(10 * SECOND)
}

fn node(number: u32) -> NodeId {
    NodeId::numeric(2, number)
}

/// A session whose server does this with the Reads of the test.
fn with_reads(mut on_read: impl FnMut(&Asked, usize, &mut Wire) + 'static) -> (Pair, Session) {
    let (mut pair, session) = Pair::with_session(builder());
    pair.script(move |asked, wire| match asked.read() {
        Some(nodes) => {
            on_read(asked, nodes.len(), wire);
            true
        }
        None => false,
    });
    (pair, session)
}

fn read(pair: &mut Pair, session: &Session) -> Result<DataValue, Error> {
    pair.run(session.read_value(node(1)))
}

/// The session is as good as before.
fn assert_alive(pair: &mut Pair, session: &Session) {
    pair.script(|_, _| false);
    let value = read(pair, session).expect("the session goes on");
    assert_eq!(value.value(), Some(&Variant::UInt32(1)));
    assert!(!session.is_closed());
}

fn response(results: usize) -> ReadResponse {
    ReadResponse { results: vec![DataValue::new(5u32); results].into(), ..Default::default() }
}

#[test]
fn a_wrong_number_of_results_costs_the_call() {
    for wrong in [0, 2, 1000] {
        let (mut pair, session) = with_reads(move |asked, _, wire| wire.respond(asked, &response(wrong)));
        let error = read(&mut pair, &session).unwrap_err();
        assert!(matches!(error, Error::ResultCount { asked: 1, found, .. } if found == wrong), "{error}");
        assert_alive(&mut pair, &session);
    }
}

#[test]
fn a_second_answer_is_dropped() {
    let (mut pair, session) = with_reads(|asked, _, wire| {
        wire.respond(asked, &response(1));
        wire.respond(asked, &response(1));
    });
    assert!(read(&mut pair, &session).is_ok());
    assert_alive(&mut pair, &session);
}

#[test]
fn answers_to_nothing_are_dropped_and_the_call_runs_out_of_time() {
    let (mut pair, session) = with_reads(|asked, _, wire| {
        for id in [0, asked.id + 1, asked.id + 77, u32::MAX] {
            wire.chunk("MSGF", id, &body(&response(1)));
        }
    });
    let began = pair.now.ticks;
    let error = read(&mut pair, &session).unwrap_err();
    assert!(matches!(error, Error::Timeout { service: "ReadRequest" }), "{error}");
    assert_eq!(pair.now.ticks.since(began), 10 * SECOND, "exactly its time");
    assert_alive(&mut pair, &session);
}

#[test]
fn an_answer_after_the_time_is_dropped() {
    let (mut pair, session) = with_reads(|asked, _, wire| {
        wire.respond(asked, &response(1));
        wire.delay(11 * SECOND);
    });
    assert_eq!(read(&mut pair, &session).unwrap_err().status(), status::BAD_TIMEOUT);
    pair.pass(2 * SECOND);
    assert_alive(&mut pair, &session);
}

#[test]
fn garbage_in_a_response_costs_the_call() {
    let wrong_type = body(&WriteResponse::default());
    let mut cut = body(&response(1));
    cut.truncate(cut.len() - 3);
    let mut huge = body(&ReadResponse::default());
    // An array of 2,147,483,647 results, and nothing behind it.
    let at = huge.len() - 8;
    huge[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    for (content, allowed) in [
        (vec![], status::BAD_DECODING_ERROR),
        (vec![0xFF; 100], status::BAD_DECODING_ERROR),
        (wrong_type, status::BAD_UNKNOWN_RESPONSE),
        (cut, status::BAD_DECODING_ERROR),
        (huge, status::BAD_DECODING_ERROR),
    ] {
        let (mut pair, session) = with_reads(move |asked, _, wire| {
            wire.chunk("MSGF", asked.id, &content);
        });
        let error = read(&mut pair, &session).unwrap_err();
        let limits = status::BAD_ENCODING_LIMITS_EXCEEDED;
        assert!([allowed, limits].contains(&error.status()), "{error}");
        assert_alive(&mut pair, &session);
    }
}

#[test]
fn garbage_in_the_stream_costs_the_connection_at_once() {
    for garbage in
        [vec![0u8; 64], b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), b"MSGF\xFF\xFF\xFF\xFF".to_vec()]
    {
        let (mut pair, session) = with_reads(move |_, _, wire| wire.raw(garbage.clone()));
        let began = pair.now.ticks;
        let outcome = pair.run(async {
            // All who wait get it, and whoever comes later.
            let both = tokio::join!(session.read_value(node(1)), session.read_value(node(2)));
            (both, session.closed().await, session.read_value(node(3)).await)
        });
        let ((first, second), closed, later) = outcome;
        for error in [first.unwrap_err(), second.unwrap_err(), closed, later.unwrap_err()] {
            assert!(matches!(error, Error::Channel { .. }), "{error}");
        }
        assert_eq!(pair.now.ticks, began, "nobody had to wait");
        assert!(session.is_closed());
    }
}

#[test]
fn an_aborted_response_costs_the_call() {
    let (mut pair, session) = with_reads(|asked, _, wire| {
        wire.chunk("MSGC", asked.id, &[1, 2, 3]);
        let mut reason = status::BAD_RESPONSE_TOO_LARGE.0.to_le_bytes().to_vec();
        reason.extend([0xFF; 4]);
        wire.chunk("MSGA", asked.id, &reason);
    });
    assert_eq!(read(&mut pair, &session).unwrap_err().status(), status::BAD_RESPONSE_TOO_LARGE);
    assert_alive(&mut pair, &session);
}

#[test]
fn a_fault_costs_the_call() {
    let (mut pair, session) = with_reads(|asked, _, wire| wire.fault(asked, status::BAD_SERVER_TOO_BUSY));
    let error = read(&mut pair, &session).unwrap_err();
    assert!(matches!(error, Error::Service { service: "ReadRequest", .. }), "{error}");
    // A bad service result in a response of the right type is the same.
    pair.script(|asked, wire| {
        let response_header =
            ResponseHeader { service_result: status::BAD_SERVER_TOO_BUSY, ..Default::default() };
        wire.respond(asked, &ReadResponse { response_header, ..Default::default() });
        true
    });
    assert_eq!(read(&mut pair, &session).unwrap_err().status(), status::BAD_SERVER_TOO_BUSY);
    assert_alive(&mut pair, &session);
}

#[test]
fn a_session_that_the_server_does_not_know_is_over_for_all() {
    let (mut pair, session) = with_reads(|asked, _, wire| wire.fault(asked, status::BAD_SESSION_ID_INVALID));
    let began = pair.now.ticks;
    let (error, closed) = pair.run(async { (session.read_value(node(1)).await, session.closed().await) });
    assert_eq!(error.unwrap_err().status(), status::BAD_SESSION_ID_INVALID);
    assert!(matches!(closed, Error::SessionOver { .. }), "{closed}");
    assert_eq!(pair.now.ticks, began);
    assert!(pair.connection.is_none(), "the connection is closed");
}

#[test]
fn a_connection_that_ends_in_a_message_tells_everybody_at_once() {
    let mut begun = false;
    let (mut pair, session) = with_reads(move |asked, _, wire| {
        if !std::mem::replace(&mut begun, true) {
            wire.chunk("MSGC", asked.id, &[1, 2, 3]);
            wire.delay(SECOND);
            wire.close();
        }
    });
    let began = pair.now.ticks;
    let outcome = pair.run(async {
        let both = tokio::join!(session.read_value(node(1)), session.read_value(node(2)));
        (both, session.closed().await)
    });
    let ((first, second), closed) = outcome;
    for error in [first.unwrap_err(), second.unwrap_err(), closed] {
        assert!(matches!(error, Error::Closed(_)), "{error}");
        assert_eq!(error.status(), status::BAD_CONNECTION_CLOSED);
    }
    assert_eq!(pair.now.ticks.since(began), SECOND, "when it happened");
    let later = pair.run(session.read_value(node(1))).unwrap_err();
    assert!(matches!(later, Error::Closed(_)), "{later}");
}

#[test]
fn an_unfinished_response_costs_no_more_than_its_time() {
    let (mut pair, session) =
        Pair::with_session(builder().keep_alive(600 * SECOND).session_timeout(600 * SECOND));
    pair.script(|asked, wire| {
        wire.chunk("MSGC", asked.id, &[1, 2, 3]);
        true
    });
    let began = pair.now.ticks;
    assert_eq!(read(&mut pair, &session).unwrap_err().status(), status::BAD_TIMEOUT);
    assert_eq!(pair.now.ticks.since(began), 10 * SECOND);
    // The message that never ends ends the channel later on.
    pair.run(session.closed());
    assert!(pair.now.ticks.since(began) <= 100 * SECOND);
}

#[test]
fn another_channel_id_costs_the_connection() {
    let (mut pair, session) = with_reads(|asked, _, wire| {
        wire.channel += 1;
        wire.respond(asked, &response(1));
    });
    let error = read(&mut pair, &session).unwrap_err();
    assert!(matches!(error, Error::Channel { .. }), "{error}");
    assert!(session.is_closed());
}

/// Memory for a response is bounded by the limit that the client announced.
#[test]
fn a_response_beyond_the_limit_costs_the_connection() {
    let (mut pair, session) = Pair::with_session(builder().max_message_size(200_000));
    pair.script(|asked, wire| {
        for _ in 0..10 {
            wire.chunk("MSGC", asked.id, &[0; 60_000]);
        }
        true
    });
    assert_eq!(read(&mut pair, &session).unwrap_err().status(), status::BAD_TCP_MESSAGE_TOO_LARGE);
}

#[test]
fn a_silent_server_is_noticed_by_the_keep_alive() {
    let (mut pair, session) = Pair::with_session(builder().keep_alive(5 * SECOND));
    pair.script(|_, _| true);
    let began = pair.now.ticks;
    let error = pair.run(session.closed());
    assert!(error.to_string().contains("keep-alive"), "{error}");
    assert_eq!(pair.now.ticks.since(began), 15 * SECOND, "silence, and the time of the Read");
}

#[test]
fn a_keep_alive_that_is_answered_with_a_fault_is_an_answer() {
    let (mut pair, session) = Pair::with_session(builder().keep_alive(5 * SECOND));
    pair.script(|asked, wire| {
        wire.fault(asked, status::BAD_SERVER_TOO_BUSY);
        true
    });
    pair.pass(60 * SECOND);
    assert!(!session.is_closed());
    let asked = pair.wire.count::<ReadRequest>();
    assert!((10..=14).contains(&asked), "{asked} Reads in a minute");
}

/// Lifetimes of 0, below everything and above everything.
#[test]
fn revised_times_that_make_no_sense_do_no_harm() {
    for (token, session_timeout) in [
        (0, 0.0),
        (1, -1.0),
        (u32::MAX, f64::MAX),
        (3_600_000, f64::NAN),
        (3_600_000, f64::INFINITY),
        (3_600_000, 0.001),
    ] {
        let (mut pair, connecting) = Pair::connecting(builder(), Box::new(|_, _| false));
        pair.wire.token_lifetime = token;
        pair.wire.session_timeout = session_timeout;
        let session = pair.run(connecting).expect("a session");
        pair.pass(10 * SECOND);
        assert!(!session.is_closed(), "{token} {session_timeout}");
        // Ten seconds: neither renewals nor keep-alives in a circle.
        assert!(pair.wire.log.len() < 250, "{} requests", pair.wire.log.len());
        assert_alive(&mut pair, &session);
    }
}

/// A server that keeps sessions for two seconds is told more often than that.
#[test]
fn a_short_session_is_kept_alive() {
    let (mut pair, connecting) = Pair::connecting(builder().keep_alive(60 * SECOND), Box::new(|_, _| false));
    pair.wire.session_timeout = 2000.0;
    let session = pair.run(connecting).expect("a session");
    assert_eq!(session.info().timeout, 2 * SECOND);
    let before = pair.wire.log.len();
    pair.pass(10 * SECOND);
    assert!((9..=11).contains(&(pair.wire.log.len() - before)));
}

#[test]
fn what_is_dropped_is_cancelled() {
    let (mut pair, session) = with_reads(|_, _, _| {});
    let call = session.call_service(ReadRequest {
        nodes_to_read: vec![uaforge_types::ReadValueId { node_id: node(1), ..Default::default() }].into(),
        ..Default::default()
    });
    let handle = call.request_handle();
    pair.run(async {
        let mut running = Box::pin(std::future::IntoFuture::into_future(call));
        assert!(futures_poll(&mut running).is_none());
        // One round for the request to go out.
        session.read_attribute(NodeId::numeric(0, 2259), uaforge_nodes::AttributeId::Value).await.unwrap();
        drop(running);
        session.read_attribute(NodeId::numeric(0, 2259), uaforge_nodes::AttributeId::Value).await.unwrap();
    });
    let cancels: Vec<_> = pair.wire.log.iter().filter_map(Asked::get::<CancelRequest>).collect();
    assert_eq!(cancels.len(), 1);
    assert_eq!(cancels[0].request_handle, handle);
    // The server said Bad_ServiceUnsupported; it is not asked again.
    pair.run(async {
        let mut running = Box::pin(session.read_value(node(1)));
        assert!(futures_poll(&mut running).is_none());
        session.read_attribute(NodeId::numeric(0, 2259), uaforge_nodes::AttributeId::Value).await.unwrap();
    });
    pair.pass(SECOND);
    assert_eq!(pair.wire.count::<CancelRequest>(), 1);
    assert_alive(&mut pair, &session);
}

/// A call that is dropped before it was sent never is.
#[test]
fn what_was_not_sent_is_not_cancelled() {
    let (mut pair, session) = with_reads(|_, _, _| {});
    pair.run(async {
        let mut running = Box::pin(session.read_value(node(1)));
        assert!(futures_poll(&mut running).is_none());
    });
    pair.pass(SECOND);
    assert_eq!(pair.wire.count::<CancelRequest>(), 0);
    assert!(pair.wire.log.iter().all(|asked| asked.read().is_none()));
}

fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut cx) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// Writes that may have been done are not sent again, whatever the server says of sizes.
#[test]
fn a_write_is_never_sent_twice() {
    for (answer, calls) in [
        (status::BAD_RESPONSE_TOO_LARGE, 1),
        (status::BAD_ENCODING_LIMITS_EXCEEDED, 1),
        (status::BAD_INTERNAL_ERROR, 1),
        // These say that nothing was done.
        (status::BAD_TOO_MANY_OPERATIONS, 3),
        (status::BAD_REQUEST_TOO_LARGE, 3),
    ] {
        let (mut pair, session) = Pair::with_session(builder());
        pair.script(move |asked, wire| match asked.get::<WriteRequest>() {
            Some(request) if request.nodes_to_write.len() == 1 => {
                let results: Array<StatusCode> = vec![StatusCode::GOOD].into();
                wire.respond(asked, &WriteResponse { results, ..Default::default() });
                true
            }
            Some(_) => {
                wire.fault(asked, answer);
                true
            }
            None => false,
        });
        let outcome = pair.run(session.write([(node(1), 1u32), (node(2), 2)]).all());
        assert_eq!(outcome.is_ok(), calls == 3, "{answer}");
        assert_eq!(pair.wire.count::<WriteRequest>(), calls, "{answer}");
    }
}

#[test]
fn closing_ends_even_if_the_server_does_not_answer() {
    let (mut pair, session) = Pair::with_session(builder());
    pair.script(|_, _| true);
    let began = pair.now.ticks;
    let other = session.clone();
    let waiting = async move { other.read_value(node(1)).await };
    let ((), outcome) = pair.run(async { tokio::join!(session.close(), waiting) });
    assert!(outcome.is_err());
    assert!(pair.now.ticks.since(began) <= 10 * SECOND);
    assert_eq!(pair.wire.count::<CloseSessionRequest>(), 1);
}

/// Connecting ends in time, wherever the server stops to answer.
#[test]
fn a_server_that_stops_while_connecting() {
    for stop_after in 0..4 {
        let mut left = stop_after;
        let script = move |_: &Asked, _: &mut Wire| {
            left -= i32::from(left >= 0);
            left < 0
        };
        let builder = builder().connect_timeout(7 * SECOND);
        let (mut pair, connecting) = Pair::connecting(builder, Box::new(script));
        let began = pair.now.ticks;
        let error = pair.run(connecting).unwrap_err();
        assert_eq!(error.status(), status::BAD_TIMEOUT, "{error}");
        assert_eq!(pair.now.ticks.since(began), 7 * SECOND);
        assert!(pair.connection.is_none());
    }
}

/// A socket that fails takes the connection away without a word.
#[test]
fn a_connection_that_is_gone_tells_everybody() {
    let (mut pair, session) = with_reads(|_, _, _| {});
    let mut waiting = Box::pin(session.read_value(node(1)));
    assert!(futures_poll(&mut waiting).is_none());
    pair.pass(SECOND);
    pair.connection = None;
    let error = pair.run(waiting).unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
    assert!(matches!(pair.run(session.closed()), Error::Closed(_)));
}

/// More calls than may be outstanding wait for each other.
#[test]
fn outstanding_requests_are_bounded() {
    // A call that waits looks at the time of its own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let _entered = runtime.enter();
    let (mut pair, session) = Pair::with_session(builder().max_outstanding(2));
    let most = std::rc::Rc::new(std::cell::Cell::new(0));
    let (seen, mut waiting) = (most.clone(), Vec::new());
    pair.script(move |asked, wire| {
        let Some(nodes) = asked.read() else { return false };
        waiting.push((asked.clone(), nodes));
        seen.set(seen.get().max(waiting.len()));
        if waiting.len() == 2 {
            for (asked, nodes) in waiting.drain(..) {
                wire.values(&asked, &nodes);
            }
        }
        true
    });
    let calls = (0..10).map(|number| session.read_value(node(number)));
    let values = pair.run(futures_util::future::join_all(calls));
    for (value, number) in values.into_iter().zip(0..) {
        assert_eq!(value.unwrap().value(), Some(&Variant::UInt32(number)));
    }
    assert_eq!(most.get(), 2);
}
