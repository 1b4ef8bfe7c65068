//! Channels allocate nothing for a message in steady state, whether it has one chunk or many (D8).

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uaforge_channel::{
    ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy, SecurityProvider, ServerChannel,
    ServerConfig, ServerEvent,
};
use uaforge_codec::{EncodeContext, Now, SeededEntropy};
use uaforge_crypto::Policy;
use uaforge_tests::pki::{client_security, pki_file, providers, server_security};
use uaforge_types::MessageSecurityMode;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MESSAGES: usize = 10_000;

struct Sides {
    client: ClientChannel,
    server: ServerChannel,
    up: Vec<u8>,
    down: Vec<u8>,
}

impl Sides {
    fn open(
        mode: MessageSecurityMode,
        client: impl SecurityProvider + 'static,
        server: impl SecurityProvider + 'static,
    ) -> Self {
        let mut config = ClientConfig::new("opc.tcp://plant:4840");
        config.mode = mode;
        config.limits = Limits { receive_buffer: 8192, send_buffer: 8192, ..Limits::default() };
        let policies: [Box<dyn SecurityProvider>; 1] = [Box::new(server)];
        let settings = ServerConfig {
            channel_id: 1,
            limits: Limits::default(),
            policies: Arc::new(policies),
            lifetime: (Duration::from_secs(1), Duration::from_secs(3_600)),
            handshake_timeout: Duration::from_secs(1),
            message_timeout: Duration::from_secs(1),
        };
        let mut sides = Self {
            client: ClientChannel::new(config, client, SeededEntropy::new(1)),
            server: ServerChannel::new(settings, SeededEntropy::new(2), Now::default()),
            up: Vec::new(),
            down: Vec::new(),
        };
        sides.client.start(&mut sides.up, Now::default());
        while !sides.client.is_open() {
            sides.turn();
        }
        sides
    }

    /// Carries everything to the server and its echo back; the bytes that came back.
    fn turn(&mut self) -> usize {
        let (mut at, mut came) = (0, 0);
        while at < self.up.len() {
            let (used, event) = self.server.receive(&self.up[at..], Now::default(), &mut self.down);
            at += used;
            if let ServerEvent::Message { request_id, body, writer } = event {
                let cx = EncodeContext::default();
                writer.send(&mut self.down, cx, request_id, |e| e.put(body)).expect("it fits");
            }
        }
        self.up.clear();
        at = 0;
        while at < self.down.len() {
            let (used, event) = self.client.receive(&self.down[at..], Now::default(), &mut self.up);
            at += used;
            if let ClientEvent::Message { body, .. } = event {
                came += body.len();
            }
        }
        self.down.clear();
        came
    }

    fn call(&mut self, body: &[u8]) {
        self.client.send(&mut self.up, EncodeContext::default(), |e| e.put(body)).expect("it fits");
    }
}

/// One test, as others would be counted too.
#[test]
fn messages_allocate_nothing() {
    count("None", Sides::open(MessageSecurityMode::NONE, NonePolicy, NonePolicy));
    let provider = &providers()[0];
    for (policy, kind) in [
        (&Policy::BASIC256_SHA256, "rsa2048"),
        (&Policy::ECC_NIST_P256, "p256"),
        (&Policy::ECC_NIST_P256_AES_GCM, "p256"),
        (&Policy::ECC_NIST_P256_CHA_CHA_POLY, "p256"),
    ] {
        for mode in [MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT] {
            let certificate = pki_file(&format!("server-{kind}.cert.der"));
            let client = client_security(policy, provider, &format!("client-{kind}"), &certificate);
            let server = server_security(policy, provider, &format!("server-{kind}"));
            count(policy.name(), Sides::open(mode, client, server));
        }
    }
}

fn count(name: &str, mut sides: Sides) {
    let bodies = [vec![1; 100], vec![2; 8100], vec![3; 40_000]];
    let mut round = || {
        bodies.iter().for_each(|body| sides.call(body));
        sides.turn()
    };
    for _ in 0..3 {
        assert_eq!(round(), 48_200);
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..MESSAGES / bodies.len() / 10 {
        round();
    }
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations), (0, 0), "{name}");
}
