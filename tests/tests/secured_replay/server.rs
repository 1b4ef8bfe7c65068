//! Our server's channel in the place of recorded servers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use uaforge_channel::{SecurityProvider, ServerChannel, ServerConfig, ServerEvent};
use uaforge_codec::EncodeContext;
use uaforge_crypto::SharedProvider;
use uaforge_tests::peer::start_time;
use uaforge_tests::pki::providers;
use uaforge_tests::secured::{Drawn, Frame, Secured, secured};
use uaforge_types::OpenSecureChannelResponse;

use crate::{assert_same, body, message, securities};

#[test]
fn servers_say_what_was_recorded() {
    let runs = secured();
    assert!(runs.len() >= 11);
    for provider in providers() {
        runs.iter().for_each(|run| play(run, &provider));
    }
}

/// The recorded OpenSecureChannel responses.
fn granted(run: &Secured) -> impl Iterator<Item = &Frame> {
    run.frames.iter().filter(|frame| !frame.by_client && frame.kind == "OPN")
}

fn play(run: &Secured, provider: &SharedProvider) {
    let (client, server) = securities(run, provider);
    let acknowledge = run.frames.iter().find(|frame| frame.kind == "ACK").expect("an Acknowledge");
    let tokens: Vec<OpenSecureChannelResponse> = granted(run).map(Frame::open_body).collect();
    let lifetime = Duration::from_millis(tokens[0].security_token.revised_lifetime.into());
    let policies: [Box<dyn SecurityProvider>; 1] = [Box::new(server)];
    let config = ServerConfig {
        channel_id: tokens[0].security_token.channel_id,
        limits: acknowledge.limits(),
        policies: Arc::new(policies),
        lifetime: (lifetime, lifetime),
        handshake_timeout: Duration::from_secs(10),
        message_timeout: Duration::from_secs(10),
    };
    let mut now = start_time();
    let mut channel = ServerChannel::new(config, Drawn::new(&run.drawn[1]), now);
    let mut responses = granted(run).zip(&tokens);
    let mut made = Vec::new();
    let mut compared = 0;
    for (at, frame) in run.frames.iter().enumerate() {
        let name = format!("{} {at}: {}", run.name, frame.kind);
        if frame.by_client {
            if frame.kind == "OPN"
                && let Some((response, token)) = responses.next()
            {
                now.utc = token.security_token.created_at;
                channel.set_next_token(token.security_token.token_id, token.response_header.clone());
                channel.writer().set_sequence(response.numbers().0);
            }
            let (used, event) = channel.receive(&frame.bytes, now, &mut made);
            assert_eq!(used, frame.bytes.len(), "{name}");
            match event {
                ServerEvent::Message { request_id, body: heard, .. } => {
                    assert_eq!(request_id, frame.numbers().1, "{name}");
                    assert!(heard == body(&message(run, at)), "{name}");
                }
                ServerEvent::Handled => {}
                ServerEvent::Closed => assert_eq!(frame.kind, "CLO", "{name}: {:?}", channel.error()),
                ServerEvent::Incomplete => panic!("{name}: whole chunks"),
            }
            continue;
        }
        let said = std::mem::take(&mut made);
        match &*frame.kind {
            "ACK" => assert_eq!(said, frame.bytes, "{name}"),
            // Encryption and signature are random: what is in it is what was recorded.
            "OPN" => {
                let opened = client.open(said, None, now).now_or_never().expect("at once").expect(&name);
                assert_eq!(hex::encode(opened.content), hex::encode(&frame.plain), "{name}");
            }
            "MSG" if !frame.goes_on => {
                let chunks = message(run, at);
                let writer = channel.writer();
                writer.set_sequence(chunks[0].numbers().0);
                let (mut out, cx) = (Vec::new(), EncodeContext::default());
                writer.send(&mut out, cx, frame.numbers().1, |e| e.put(&body(&chunks))).expect(&name);
                compared += usize::from(assert_same(&out, &chunks, &name));
            }
            _ => {}
        }
    }
    assert!(channel.is_closed() && channel.error().is_none(), "{}: {:?}", run.name, channel.error());
    assert!(compared >= 10, "{}: {compared}", run.name);
}
