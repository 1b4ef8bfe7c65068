//! A client's channel and servers that misbehave, or that are merely slow (OPC 10000-6 §6.7, §7.1).

use std::time::Duration;

use uaforge_channel::Limits;
use uaforge_codec::StatusCode;
use uaforge_tests::hand::HandServer;
use uaforge_tests::raw::{Chunk, NONE, message};
use uaforge_types::status;

/// An ERR message.
fn error(status: StatusCode, reason: &str) -> Vec<u8> {
    let len = u32::try_from(reason.len()).expect("short").to_le_bytes();
    message("ERRF", &[&status.0.to_le_bytes(), &len, reason.as_bytes()])
}

/// An abort's body.
fn abort(status: StatusCode) -> Vec<u8> {
    [&status.0.to_le_bytes()[..], &[0xFF; 4]].concat()
}

/// Gives bytes that end the channel; why it ended.
fn fails(server: &mut HandServer, bytes: &[u8]) -> StatusCode {
    let error = server.try_receive(bytes).expect_err("the channel ends");
    assert!(server.channel.is_closed());
    // It stays ended, says nothing more, and needs no clock.
    assert_eq!(server.try_receive(b"more").expect_err("still").status, error.status);
    assert_eq!(server.channel.deadline(), None);
    server.take();
    server.call(b"nothing is sent");
    assert!(server.take().is_empty());
    error.status
}

#[test]
fn an_acknowledge_has_to_fit() {
    for (fields, expected) in [
        ([0, 8191, 65_536, 0, 0], status::BAD_CONNECTION_REJECTED),
        ([0, 65_536, 1024, 0, 0], status::BAD_CONNECTION_REJECTED),
    ] {
        let mut server = HandServer::said_hello(Limits::default());
        assert_eq!(server.acknowledge(fields).expect_err("too small").status, expected);
    }
    // The server's buffers hold from then on, and newer versions are spoken down to.
    let mut server = HandServer::said_hello(Limits::default());
    server.acknowledge([9, 8192, 8192, 20_000, 3]).expect("small but allowed");
    server.take();
    server.grant(1, 1, 1);
    server.call(&[1; 20_000]);
    let sent = Chunk::split(&server.take());
    assert_eq!(
        sent.iter().map(|chunk| chunk.0.len()).collect::<Vec<_>>(),
        [8192, 8192, 20_000 - 2 * 8168 + 24]
    );
    // A second one, or one cut short, is out of place.
    let acknowledge = message("ACKF", &[&[0; 20]]);
    assert_eq!(fails(&mut server, &acknowledge), status::BAD_TCP_MESSAGE_TYPE_INVALID);
    let mut server = HandServer::said_hello(Limits::default());
    assert_eq!(fails(&mut server, &message("ACKF", &[&[0; 19]])), status::BAD_DECODING_ERROR);
}

#[test]
fn a_handshake_may_be_refused() {
    let busy = error(status::BAD_TCP_NOT_ENOUGH_RESOURCES, "busy");
    let mut server = HandServer::said_hello(Limits::default());
    assert_eq!(fails(&mut server, &busy), status::BAD_TCP_NOT_ENOUGH_RESOURCES);
    let mut server = HandServer::said_hello(Limits::default());
    server.acknowledge([0, 65_536, 65_536, 0, 0]).expect("usual limits");
    assert_eq!(fails(&mut server, &busy), status::BAD_TCP_NOT_ENOUGH_RESOURCES);
    // Hello, requests and responses are not for a client that is not there yet.
    for bytes in [message("HELF", &[&[0; 24]]), message("MSGF", &[&[0; 20]]), message("CLOF", &[&[0; 20]])] {
        let mut server = HandServer::said_hello(Limits::default());
        assert_eq!(fails(&mut server, &bytes), status::BAD_TCP_MESSAGE_TYPE_INVALID);
    }
    // An error that is none, or cut short, still ends the channel.
    for bytes in [error(StatusCode::GOOD, ""), message("ERRF", &[&[0; 3]])] {
        let mut server = HandServer::said_hello(Limits::default());
        assert!(fails(&mut server, &bytes).is_bad());
    }
}

#[test]
fn a_policy_is_not_exchanged() {
    let other = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";
    let mut server = HandServer::said_hello(Limits::default());
    server.acknowledge([0, 65_536, 65_536, 0, 0]).expect("usual limits");
    let granting = HandServer::granting(1, 1, 1, other);
    assert_eq!(fails(&mut server, &granting), status::BAD_SECURITY_POLICY_REJECTED);
    // What was not asked for is not taken.
    let mut server = HandServer::said_hello(Limits::default());
    server.acknowledge([0, 65_536, 65_536, 0, 0]).expect("usual limits");
    let granting = HandServer::granting(1, 1, 77, NONE);
    assert_eq!(fails(&mut server, &granting), status::BAD_TCP_SECURE_CHANNEL_UNKNOWN);
    let mut server = HandServer::open(1);
    let granting = HandServer::granting(2, 2, 2, NONE);
    assert_eq!(fails(&mut server, &granting), status::BAD_TCP_SECURE_CHANNEL_UNKNOWN);
}

#[test]
fn the_client_s_limits_hold() {
    let limits = Limits { receive_buffer: 8192, send_buffer: 8192, max_message: 10_000, max_chunks: 3 };
    let open = || {
        let mut server = HandServer::said_hello(limits);
        server.acknowledge([0, 8192, 8192, 0, 0]).expect("usual limits");
        server.take();
        server.grant(1, 1, 1);
        server
    };
    // Up to the limits.
    let mut server = open();
    let call = server.call(b"read");
    for sequence in 2..4 {
        assert_eq!(server.receive(&server.chunk("MSGC", sequence, call, &[1; 4000])), []);
    }
    let ended = server.receive(&server.chunk("MSGF", 4, call, &[1; 2000]));
    assert_eq!(ended, [(call, Ok(vec![1; 10_000]))]);
    // One byte or one chunk more.
    for (body, chunks) in [(vec![1; 4000], 2), (vec![1], 3)] {
        let mut server = open();
        let call = server.call(b"read");
        let mut sequence = 2;
        for _ in 0..chunks {
            assert_eq!(server.receive(&server.chunk("MSGC", sequence, call, &body)), []);
            sequence += 1;
        }
        let last = server.chunk("MSGF", sequence, call, &[1; 2001]);
        assert_eq!(fails(&mut server, &last), status::BAD_TCP_MESSAGE_TOO_LARGE);
    }
    // A chunk above the buffer is refused by its header.
    let mut server = open();
    let chunk = server.chunk("MSGF", 2, 2, &[1; 8192 - 23]);
    assert_eq!(fails(&mut server, &chunk[..8]), status::BAD_TCP_MESSAGE_TOO_LARGE);
}

#[test]
fn errors_in_the_middle_of_a_message() {
    // ERR comes between chunks and ends it all.
    let mut server = HandServer::open(1);
    let call = server.call(b"read");
    assert_eq!(server.receive(&server.chunk("MSGC", 2, call, b"begin")), []);
    let shutdown = error(status::BAD_SHUTDOWN, "good night");
    assert_eq!(fails(&mut server, &shutdown), status::BAD_SHUTDOWN);
    // So does a chunk of another message, a lost chunk, a foreign channel or token, and a good-bye.
    let wrong: [fn(&mut HandServer, u32) -> Vec<u8>; 5] = [
        |server, call| server.chunk("MSGC", 3, call + 1, b"other"),
        |server, call| server.chunk("MSGF", 4, call, b"lost"),
        |server, call| {
            let mut chunk = server.chunk("MSGF", 3, call, b"end");
            chunk[8] ^= 1;
            chunk
        },
        |server, call| {
            server.token = 9;
            server.chunk("MSGF", 3, call, b"end")
        },
        |server, call| server.chunk("CLOF", 3, call, b""),
    ];
    let expected = [
        status::BAD_TCP_INTERNAL_ERROR,
        status::BAD_SEQUENCE_NUMBER_INVALID,
        status::BAD_TCP_SECURE_CHANNEL_UNKNOWN,
        status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN,
        status::BAD_SECURE_CHANNEL_CLOSED,
    ];
    for (wrong, expected) in wrong.iter().zip(expected) {
        let mut server = HandServer::open(1);
        let call = server.call(b"read");
        assert_eq!(server.receive(&server.chunk("MSGC", 2, call, b"begin")), []);
        let bytes = wrong(&mut server, call);
        assert_eq!(fails(&mut server, &bytes), expected);
    }
}

#[test]
fn aborts_end_one_call() {
    let mut server = HandServer::open(1);
    let (first, second) = (server.call(b"one"), server.call(b"two"));
    // In the middle of its message, as its only chunk, and again when nobody waits.
    assert_eq!(server.receive(&server.chunk("MSGC", 2, first, b"begin")), []);
    let aborted = server.receive(&server.chunk("MSGA", 3, first, &abort(status::BAD_OUT_OF_MEMORY)));
    assert_eq!(aborted, [(first, Err(status::BAD_OUT_OF_MEMORY))]);
    let aborted = server.receive(&server.chunk("MSGA", 4, second, &abort(status::BAD_TIMEOUT)));
    assert_eq!(aborted, [(second, Err(status::BAD_TIMEOUT))]);
    // One with a broken body ends its call all the same.
    let third = server.call(b"three");
    let aborted = server.receive(&server.chunk("MSGA", 5, third, &[1, 2]));
    assert!(matches!(aborted[..], [(id, Err(status))] if id == third && status.is_bad()), "{aborted:?}");
    // One for another call does not disturb a message that is under way.
    let (fourth, fifth) = (server.call(b"four"), server.call(b"five"));
    assert_eq!(server.receive(&server.chunk("MSGC", 6, fourth, b"FO")), []);
    let aborted = server.receive(&server.chunk("MSGA", 7, fifth, &abort(status::BAD_TIMEOUT)));
    assert_eq!(aborted, [(fifth, Err(status::BAD_TIMEOUT))]);
    let ended = server.receive(&server.chunk("MSGF", 8, fourth, b"UR"));
    assert_eq!(ended, [(fourth, Ok(b"FOUR".to_vec()))]);
}

#[test]
fn responses_may_be_late_and_in_any_order() {
    let mut server = HandServer::open(51);
    let calls: Vec<u32> = (0..5).map(|_| server.call(b"read")).collect();
    for (sequence, call) in (52..).zip(calls.iter().rev()) {
        server.now.ticks = server.now.ticks + Duration::from_secs(1);
        let ended = server.receive(&server.chunk("MSGF", sequence, *call, b"late"));
        assert_eq!(ended, [(*call, Ok(b"late".to_vec()))]);
    }
    // One that nobody asked for is given on: who waits for what is the caller's business.
    let ended = server.receive(&server.chunk("MSGF", 57, 4_000, b"?"));
    assert_eq!(ended, [(4_000, Ok(b"?".to_vec()))]);
    assert!(server.channel.is_open());
}

/// A message that is begun with the old token may end with it, or with the new one, after the renewal.
#[test]
fn renewal_while_chunks_are_in_flight() {
    for ends_with_new in [false, true] {
        let mut server = HandServer::open(1);
        let call = server.call(b"read");
        server.take();
        server.now.ticks = server.channel.deadline().expect("a time to renew");
        // The first chunk arrives, the renewal is asked for, and its answer stands between the chunks.
        assert_eq!(server.receive(&server.chunk("MSGC", 2, call, b"be")), []);
        assert_eq!(server.channel.on_deadline(server.now, &mut server.out), None);
        let asked = Chunk::split(&server.take());
        assert_eq!((asked.len(), asked[0].kind()), (1, "OPNF"));
        // Requests go on with the old token until the answer is there.
        let second = server.call(b"write");
        assert_eq!(Chunk::split(&server.take())[0].field(12), 1);
        server.grant(3, 2, call + 1);
        let third = server.call(b"browse");
        assert_eq!(Chunk::split(&server.take())[0].field(12), 2);
        server.token = if ends_with_new { 2 } else { 1 };
        let ended = server.receive(&server.chunk("MSGF", 4, call, b"gin"));
        assert_eq!(ended, [(call, Ok(b"begin".to_vec()))]);
        server.token = 2;
        for (sequence, call) in [(5, second), (6, third)] {
            assert_eq!(server.receive(&server.chunk("MSGF", sequence, call, b"x")).len(), 1);
        }
        // With the new token used, the old one is over.
        server.token = 1;
        let old = server.chunk("MSGF", 7, third, b"x");
        assert_eq!(fails(&mut server, &old), status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN);
    }
}

#[test]
fn silence_has_its_time() {
    // A message that is begun, a renewal, and a handshake.
    let mut server = HandServer::open(1);
    let call = server.call(b"read");
    assert_eq!(server.receive(&server.chunk("MSGC", 2, call, b"begin")), []);
    server.now.ticks = server.channel.deadline().expect("the renewal");
    assert_eq!(server.channel.on_deadline(server.now, &mut server.out), None);
    server.now.ticks = server.channel.deadline().expect("the end of the token");
    let error = server.channel.on_deadline(server.now, &mut server.out).expect("it is over");
    assert_eq!(error.status, status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN);
    let mut server = HandServer::said_hello(Limits::default());
    server.now.ticks = server.channel.deadline().expect("the end of the handshake");
    let error = server.channel.on_deadline(server.now, &mut server.out).expect("it is over");
    assert_eq!(error.status, status::BAD_TIMEOUT);
}
