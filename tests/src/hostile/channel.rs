//! Channels against bytes of any kind, in both roles and in every state that a stream can meet.

use std::time::Duration;

use uaforge_channel::Limits;

use crate::pair::{Pair, PairConfig};

/// Limits that hostile messages reach soon.
const LIMITS: Limits = Limits { receive_buffer: 8192, send_buffer: 8192, max_message: 20_000, max_chunks: 4 };

/// Takes `input` as what a client and as what a server sends: from the first byte on, and on an open
/// channel. Its first byte says into what pieces the wire cuts the rest.
///
/// # Panics
/// A channel holds on to what it cannot use, or lives on although nothing comes any more.
pub fn receive_as_everything(input: &[u8]) {
    let Some((piece, stream)) = input.split_first() else { return };
    let config = || PairConfig {
        client_limits: LIMITS,
        server_limits: LIMITS,
        lifetime: Duration::from_secs(60),
        piece: if *piece == 0 { usize::MAX } else { usize::from(*piece) },
        ..PairConfig::default()
    };
    let mut pair = Pair::new(config());
    pair.mute_client();
    pair.inject(stream);
    ends_well(pair);
    let mut pair = Pair::new(config());
    pair.mute_client();
    pair.inject_down(stream);
    ends_well(pair);
    let mut pair = Pair::open(config());
    pair.inject(stream);
    ends_well(pair);
    let mut pair = Pair::open(config());
    pair.inject_down(stream);
    ends_well(pair);
}

/// What was said is handled; when nothing more comes, both sides end by themselves.
fn ends_well(mut pair: Pair) {
    pair.settle();
    let waiting = pair.waiting();
    assert!(waiting <= 2 * 8192, "{waiting} bytes wait although no chunk is that long");
    pair.cut();
    // A server may grant a token for 49 days.
    pair.pass(Duration::from_secs(100 * 86_400));
    assert!(pair.client.is_closed() && pair.server.is_closed(), "dead connections end");
    let longest = pair.requests.iter().chain(&pair.responses).map(|(_, body)| body.len()).max();
    assert!(longest.unwrap_or_default() <= 20_000, "a message above the limit");
}
