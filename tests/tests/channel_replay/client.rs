//! Our client's channel in the place of recorded clients.

use std::time::Duration;

use uaforge_channel::{ClientChannel, ClientConfig, ClientEvent};
use uaforge_codec::{EncodeContext, Now, SeededEntropy};
use uaforge_tests::captures::{Capture, captures};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::{Chunk, body, decode};
use uaforge_types::{CloseSecureChannelRequest, OpenSecureChannelRequest};

use crate::recorded::{RecordedPolicy, Said, cut_alike, messages, same_but_token};

#[test]
fn clients_say_what_was_recorded() {
    let captures = captures();
    assert!(captures.len() >= 5);
    captures.iter().for_each(play);
}

struct Player<'c> {
    name: &'c str,
    channel: ClientChannel,
    now: Now,
    out: Vec<u8>,
}

fn play(capture: &Capture) {
    let said = messages(capture);
    let of_client =
        |kind: &'static str| said.iter().filter(move |said| said.by_client && said.kind() == kind);
    let asked: Vec<OpenSecureChannelRequest> = of_client("OPN").map(Said::open_body).collect();
    let Some(hello) = of_client("HEL").next() else { panic!("{}: no Hello", capture.name) };
    let mut config = ClientConfig::new(std::str::from_utf8(&hello.first().0[32..]).expect("a URL"));
    config.limits = hello.limits();
    let lifetime = asked.first().map_or(0, |request| request.requested_lifetime);
    config.requested_lifetime = Duration::from_millis(lifetime.into());
    // Virtual time passes only for renewals, which wait for recorded answers.
    config.message_timeout = Duration::from_secs(1 << 30);
    let policy = RecordedPolicy::new(asked.iter().map(|request| &request.client_nonce));
    let channel = ClientChannel::new(config, policy, SeededEntropy::new(1));
    let mut player = Player { name: &capture.name, channel, now: start_time(), out: Vec::new() };
    player.channel.start(&mut player.out, player.now);
    for (at, message) in said.iter().enumerate() {
        if message.by_client {
            player.say(message);
        } else {
            // What answers an Acknowledge needs the recorded values of the message that does.
            if message.kind() == "ACK" {
                let next = said[at..].iter().find(|said| said.by_client && said.kind() == "OPN");
                next.into_iter().for_each(|open| player.prepare_open(open));
            }
            player.hear(message);
        }
    }
    let closes = of_client("CLO").next().is_some();
    assert_eq!(player.channel.is_closed() && player.channel.error().is_none(), closes, "{}", capture.name);
}

impl Player<'_> {
    fn prepare_open(&mut self, open: &Said<'_>) {
        let (sequence, request_id) = open.numbers();
        let request: OpenSecureChannelRequest = open.open_body();
        self.channel.set_numbers(sequence, request_id);
        self.channel.set_request_header(request.request_header);
    }

    fn say(&mut self, message: &Said<'_>) {
        let name = format!("{}: {} {:?}", self.name, message.kind(), message.numbers());
        match message.kind() {
            "HEL" => {}
            "OPN" if !self.channel.is_open() => {}
            "OPN" => {
                self.prepare_open(message);
                self.now.ticks = self.channel.deadline().expect("a time to renew");
                assert_eq!(self.channel.on_deadline(self.now, &mut self.out), None, "{name}");
            }
            "CLO" => {
                let request: CloseSecureChannelRequest = decode(message.first().body()).expect("a request");
                assert_eq!(body(&request), message.first().body(), "{name}");
                let (sequence, request_id) = message.numbers();
                self.channel.set_numbers(sequence, request_id);
                self.channel.set_request_header(request.request_header);
                self.channel.close(&mut self.out, self.now);
            }
            "MSG" => return self.send(message, &name),
            _ => return,
        }
        assert_eq!(hex::encode(&self.out), hex::encode(message.bytes()), "{name}");
        self.out.clear();
    }

    fn send(&mut self, message: &Said<'_>, name: &str) {
        let (sequence, request_id) = message.numbers();
        self.channel.set_numbers(sequence, request_id);
        let (body, cx) = (message.body(), EncodeContext::default());
        assert_eq!(self.channel.send(&mut self.out, cx, |e| e.put(&body)), Ok(request_id), "{name}");
        let ours = Chunk::split(&std::mem::take(&mut self.out));
        let bodies: Vec<u8> = ours.iter().flat_map(|chunk| chunk.body().iter().copied()).collect();
        assert!(bodies == body, "{name}");
        if cut_alike(&ours, &message.chunks) {
            assert!(ours.iter().zip(&message.chunks).all(|(a, b)| same_but_token(a, b)), "{name}");
        }
    }

    fn hear(&mut self, message: &Said<'_>) {
        let name = format!("{}: {} {:?}", self.name, message.kind(), message.numbers());
        let mut heard = Vec::new();
        for chunk in &message.chunks {
            let (used, event) = self.channel.receive(&chunk.0, self.now, &mut self.out);
            assert_eq!(used, chunk.0.len(), "{name}");
            match event {
                ClientEvent::Handled | ClientEvent::Opened => {}
                ClientEvent::Message { request_id, body } => heard.push((request_id, body.to_vec())),
                ClientEvent::Aborted { request_id, .. } => {
                    assert!(message.is_aborted() && request_id == message.request_id(), "{name}");
                }
                ClientEvent::Failed(error) => assert_eq!(message.kind(), "ERR", "{name}: {error}"),
                ClientEvent::Incomplete => panic!("{name}: whole chunks"),
            }
        }
        if message.kind() == "MSG" && !message.is_aborted() {
            assert!(heard == [(message.request_id(), message.body())], "{name}");
        }
        assert!(self.out.is_empty() || message.kind() == "ACK", "{name}: nothing to say");
    }
}
