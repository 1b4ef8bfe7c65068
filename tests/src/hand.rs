//! A server made by hand, chunk by chunk, and the client's channel that it talks to.

use std::time::Duration;

use uaforge_channel::{ChannelError, ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy};
use uaforge_codec::{EncodeContext, Now, SeededEntropy, StatusCode};
use uaforge_types::{ChannelSecurityToken, OpenSecureChannelResponse};

use crate::peer::start_time;
use crate::raw::{Chunk, NONE, body, message};

/// A call that has ended: its id, and the response or why there is none.
pub type Ended = (u32, Result<Vec<u8>, StatusCode>);

/// A client's channel and a server made by hand.
pub struct HandServer {
    /// The client's side.
    pub channel: ClientChannel,
    /// The time, which only the test moves.
    pub now: Now,
    /// What the client has said.
    pub out: Vec<u8>,
    /// The token that the server's chunks name.
    pub token: u32,
}

impl HandServer {
    /// An open channel with usual limits; the server's first chunk has this number.
    #[must_use]
    pub fn open(sequence: u32) -> Self {
        let mut client = Self::said_hello(Limits::default());
        client.acknowledge([0, 65_536, 65_536, 0, 0]).expect("usual limits");
        let request = Chunk::split(&client.take());
        // What is sent begins with 1, since some peers refuse more (OPC 10000-6 §6.7.2.4).
        assert_eq!((request.len(), request[0].kind()), (1, "OPNF"));
        assert_eq!(request[0].field(12 + 4 + NONE.len() + 8), 1);
        client.grant(sequence, 1, 1);
        assert!(client.channel.is_open());
        client
    }

    /// A client that waits for the answer to its Hello.
    #[must_use]
    pub fn said_hello(limits: Limits) -> Self {
        let mut config = ClientConfig::new("opc.tcp://example.org:4840/acc");
        config.requested_lifetime = Duration::from_secs(10);
        config.limits = limits;
        let now = start_time();
        let mut client = Self {
            channel: ClientChannel::new(config, NonePolicy, SeededEntropy::new(1)),
            now,
            out: Vec::new(),
            token: 1,
        };
        client.channel.start(&mut client.out, now);
        assert_eq!(Chunk::split(&client.take())[0].kind(), "HELF");
        client
    }

    /// Answers the Hello: version, receive buffer, send buffer, longest message, most chunks.
    ///
    /// # Errors
    /// Why the client's channel ended.
    pub fn acknowledge(&mut self, fields: [u32; 5]) -> Result<(), ChannelError> {
        let fields: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        self.try_receive(&message("ACKF", &[&fields])).map(|_| ())
    }

    /// Grants the token that a request asked for.
    pub fn grant(&mut self, sequence: u32, token: u32, request_id: u32) {
        assert_eq!(self.receive(&Self::granting(sequence, token, request_id, NONE)), []);
    }

    /// An OpenSecureChannel response with these numbers and this policy.
    #[must_use]
    pub fn granting(sequence: u32, token: u32, request_id: u32, policy: &str) -> Vec<u8> {
        let response = OpenSecureChannelResponse {
            security_token: ChannelSecurityToken {
                channel_id: 33,
                token_id: token,
                revised_lifetime: 10_000,
                ..Default::default()
            },
            ..Default::default()
        };
        let parts: [&[u8]; 7] = [
            &33u32.to_le_bytes(),
            &u32::try_from(policy.len()).expect("short").to_le_bytes(),
            policy.as_bytes(),
            &[0xff; 8],
            &sequence.to_le_bytes(),
            &request_id.to_le_bytes(),
            &body(&response),
        ];
        message("OPNF", &parts)
    }

    /// What the client has said since.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Sends a request; its id.
    pub fn call(&mut self, body: &[u8]) -> u32 {
        self.channel.send(&mut self.out, EncodeContext::default(), |e| e.put(body)).expect("it fits")
    }

    /// A chunk of the server.
    #[must_use]
    pub fn chunk(&self, kind: &str, sequence: u32, request: u32, body: &[u8]) -> Vec<u8> {
        let fields: Vec<u8> =
            [33, self.token, sequence, request].iter().flat_map(|field| field.to_le_bytes()).collect();
        message(kind, &[&fields, body])
    }

    /// Gives bytes to the client; the calls that end with them.
    pub fn receive(&mut self, bytes: &[u8]) -> Vec<Ended> {
        self.try_receive(bytes).expect("the channel goes on")
    }

    /// Gives bytes to the client; the calls that end with them.
    ///
    /// # Errors
    /// Why the channel ended.
    pub fn try_receive(&mut self, mut bytes: &[u8]) -> Result<Vec<Ended>, ChannelError> {
        let mut ended = Vec::new();
        loop {
            let (used, event) = self.channel.receive(bytes, self.now, &mut self.out);
            bytes = &bytes[used..];
            match event {
                ClientEvent::Incomplete => return Ok(ended),
                ClientEvent::Message { request_id, body } => ended.push((request_id, Ok(body.to_vec()))),
                ClientEvent::Aborted { request_id, status, .. } => ended.push((request_id, Err(status))),
                ClientEvent::Failed(error) => return Err(error),
                _ => {}
            }
        }
    }
}
