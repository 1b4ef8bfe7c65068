//! Our server's channel in the place of recorded servers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use uaforge_channel::{SecurityProvider, ServerChannel, ServerConfig, ServerEvent};
use uaforge_codec::{EncodeContext, Now, SeededEntropy};
use uaforge_tests::captures::{Capture, captures};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::Chunk;
use uaforge_types::OpenSecureChannelResponse;

use crate::recorded::{RecordedPolicy, Said, cut_alike, messages, same_but_token};

#[test]
fn servers_say_what_was_recorded() {
    captures().iter().for_each(play);
}

struct Player<'c> {
    name: &'c str,
    channel: ServerChannel,
    now: Now,
    /// Acknowledge and OpenSecureChannel responses that the channel has made.
    made: VecDeque<Vec<u8>>,
    /// The recorded OpenSecureChannel responses.
    granted: VecDeque<(u32, OpenSecureChannelResponse)>,
}

fn play(capture: &Capture) {
    let said = messages(capture);
    let of_server =
        |kind: &'static str| said.iter().filter(move |said| !said.by_client && said.kind() == kind);
    let granted: VecDeque<(u32, OpenSecureChannelResponse)> =
        of_server("OPN").map(|said| (said.numbers().0, said.open_body())).collect();
    let Some(acknowledge) = of_server("ACK").next() else { panic!("{}: no Acknowledge", capture.name) };
    let lifetimes = granted.iter().map(|(_, response)| response.security_token.revised_lifetime);
    let lifetimes = lifetimes.clone().min().zip(lifetimes.max()).unwrap_or((1, 1));
    let nonces = granted.iter().map(|(_, response)| &response.server_nonce);
    let policies: [Box<dyn SecurityProvider>; 1] = [Box::new(RecordedPolicy::new(nonces))];
    let config = ServerConfig {
        channel_id: granted.front().map_or(1, |(_, response)| response.security_token.channel_id),
        limits: acknowledge.limits(),
        policies: Arc::new(policies),
        lifetime: (Duration::from_millis(lifetimes.0.into()), Duration::from_millis(lifetimes.1.into())),
        handshake_timeout: Duration::from_secs(10),
        message_timeout: Duration::from_secs(10),
    };
    let now = start_time();
    let channel = ServerChannel::new(config, SeededEntropy::new(1), now);
    let mut player = Player { name: &capture.name, channel, now, made: VecDeque::new(), granted };
    for message in &said {
        if message.by_client { player.hear(message) } else { player.say(message) }
    }
    let closes = said.iter().any(|said| said.by_client && said.kind() == "CLO");
    assert_eq!(player.channel.is_closed(), closes, "{}", capture.name);
    assert_eq!(player.channel.error(), None, "{}", capture.name);
}

impl Player<'_> {
    fn hear(&mut self, message: &Said<'_>) {
        let name = format!("{}: {} {:?}", self.name, message.kind(), message.numbers());
        if message.kind() == "OPN"
            && let Some((sequence, response)) = self.granted.pop_front()
        {
            self.now.utc = response.security_token.created_at;
            self.channel.set_next_token(response.security_token.token_id, response.response_header);
            self.channel.writer().set_sequence(sequence);
        }
        let (mut heard, mut out) = (Vec::new(), Vec::new());
        for chunk in &message.chunks {
            let (used, event) = self.channel.receive(&chunk.0, self.now, &mut out);
            assert_eq!(used, chunk.0.len(), "{name}");
            match event {
                ServerEvent::Message { request_id, body, .. } => heard.push((request_id, body.to_vec())),
                ServerEvent::Handled => {}
                ServerEvent::Closed => assert_eq!(message.kind(), "CLO", "{name}"),
                ServerEvent::Incomplete => panic!("{name}: whole chunks"),
            }
        }
        if message.kind() == "MSG" && !message.is_aborted() {
            assert!(heard == [(message.request_id(), message.body())], "{name}");
        }
        if matches!(message.kind(), "HEL" | "OPN") {
            self.made.push_back(out);
        } else {
            assert!(out.is_empty(), "{name}: nothing to say");
        }
    }

    fn say(&mut self, message: &Said<'_>) {
        let name = format!("{}: {} {:?}", self.name, message.kind(), message.numbers());
        match message.kind() {
            "ACK" | "OPN" => {
                let made = self.made.pop_front().expect(&name);
                assert_eq!(hex::encode(made), hex::encode(message.bytes()), "{name}");
            }
            "MSG" if !message.is_aborted() => {
                let (body, cx) = (message.body(), EncodeContext::default());
                let (sequence, request_id) = message.numbers();
                let writer = self.channel.writer();
                writer.set_sequence(sequence);
                let mut out = Vec::new();
                writer.send(&mut out, cx, request_id, |e| e.put(&body)).expect(&name);
                let ours = Chunk::split(&out);
                let bodies: Vec<u8> = ours.iter().flat_map(|chunk| chunk.body().iter().copied()).collect();
                assert!(bodies == body, "{name}");
                if cut_alike(&ours, &message.chunks) {
                    assert!(ours.iter().zip(&message.chunks).all(|(a, b)| same_but_token(a, b)), "{name}");
                }
            }
            _ => {}
        }
    }
}
