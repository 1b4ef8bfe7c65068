//! Our client's channel in the place of recorded clients.

use std::time::Duration;

use futures_util::FutureExt as _;
use uaforge_channel::{ClientChannel, ClientConfig, ClientEvent, SecurityProvider as _};
use uaforge_codec::EncodeContext;
use uaforge_crypto::SharedProvider;
use uaforge_tests::peer::start_time;
use uaforge_tests::pki::providers;
use uaforge_tests::raw::decode;
use uaforge_tests::secured::{Drawn, Frame, Secured, secured};
use uaforge_types::{CloseSecureChannelRequest, OpenSecureChannelRequest};

use crate::{assert_same, body, message, securities};

#[test]
fn clients_say_what_was_recorded() {
    for provider in providers() {
        secured().iter().for_each(|run| play(run, &provider));
    }
}

fn prepare_open(channel: &mut ClientChannel, open: &Frame) {
    let (sequence, request_id) = open.numbers();
    channel.set_numbers(sequence, request_id);
    channel.set_request_header(open.open_body::<OpenSecureChannelRequest>().request_header);
}

fn play(run: &Secured, provider: &SharedProvider) {
    let (client, server) = securities(run, provider);
    let hello = &run.frames[0];
    let opens = || run.frames.iter().filter(|frame| frame.by_client && frame.kind == "OPN");
    let asked: OpenSecureChannelRequest = opens().next().expect("a request").open_body();
    let mut config = ClientConfig::new(std::str::from_utf8(&hello.bytes[32..]).expect("a URL"));
    config.limits = hello.limits();
    config.mode = run.mode;
    config.requested_lifetime = Duration::from_millis(asked.requested_lifetime.into());
    config.message_timeout = Duration::from_secs(1 << 30);
    let mut now = start_time();
    let mut channel = ClientChannel::new(config, client, Drawn::new(&run.drawn[0]));
    let mut made = Vec::new();
    channel.start(&mut made, now);
    let mut compared = 0;
    for (at, frame) in run.frames.iter().enumerate() {
        let name = format!("{} {at}: {}", run.name, frame.kind);
        if !frame.by_client {
            if frame.kind == "ACK" {
                prepare_open(&mut channel, opens().next().expect("a request"));
            }
            let (used, event) = channel.receive(&frame.bytes, now, &mut made);
            assert_eq!(used, frame.bytes.len(), "{name}");
            match event {
                ClientEvent::Message { request_id, body: heard } => {
                    assert_eq!(request_id, frame.numbers().1, "{name}");
                    assert!(heard == body(&message(run, at)), "{name}");
                }
                ClientEvent::Handled | ClientEvent::Opened => {}
                other => panic!("{name}: {other:?}"),
            }
            continue;
        }
        match &*frame.kind {
            "HEL" => assert_eq!(std::mem::take(&mut made), frame.bytes, "{name}"),
            "OPN" => {
                if channel.is_open() {
                    prepare_open(&mut channel, frame);
                    now.ticks = channel.deadline().expect("a time to renew");
                    assert_eq!(channel.on_deadline(now, &mut made), None, "{name}");
                }
                let said = std::mem::take(&mut made);
                let opened = server.open(said, None, now).now_or_never().expect("at once").expect(&name);
                assert_eq!(hex::encode(opened.content), hex::encode(&frame.plain), "{name}");
            }
            "CLO" => {
                let request: CloseSecureChannelRequest = decode(frame.body()).expect("a request");
                channel.set_numbers(frame.numbers().0, frame.numbers().1);
                channel.set_request_header(request.request_header);
                channel.close(&mut made, now);
                compared += usize::from(assert_same(&made, &[frame], &name));
            }
            "MSG" if !frame.goes_on => {
                let chunks = message(run, at);
                channel.set_numbers(chunks[0].numbers().0, frame.numbers().1);
                let (mut out, cx) = (Vec::new(), EncodeContext::default());
                channel.send(&mut out, cx, |e| e.put(&body(&chunks))).expect(&name);
                compared += usize::from(assert_same(&out, &chunks, &name));
            }
            _ => {}
        }
    }
    assert!(channel.is_closed() && channel.error().is_none(), "{}", run.name);
    assert!(compared >= 10, "{}: {compared}", run.name);
}
