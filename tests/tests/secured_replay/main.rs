//! Secured conversations of other stacks: in either role, given what the other side sent and the recorded
//! random values, ids and times, our channels understand what was recorded and say the same.

mod client;
mod server;

use uaforge_crypto::{PolicySecurity, SharedProvider};
use uaforge_tests::pki::{client_security, pki_file, server_security};
use uaforge_tests::secured::{Frame, Secured};
use uaforge_types::MessageSecurityMode;

/// The security of client and server.
fn securities(run: &Secured, provider: &SharedProvider) -> (PolicySecurity, PolicySecurity) {
    let [client, server] = &run.identities;
    let certificate = pki_file(&format!("{server}.cert.der"));
    let client = client_security(run.policy, provider, client, &certificate);
    let server = server_security(run.policy, provider, server);
    // The recordings are of open62541 1.5.7 (peers.md).
    let is_curve = run.policy.signature_uri.is_empty();
    if is_curve && run.mode == MessageSecurityMode::SIGN {
        (client.full_key_lengths(), server.full_key_lengths())
    } else {
        (client, server)
    }
}

/// The chunks of the message that ends with the frame at `at`.
fn message(run: &Secured, at: usize) -> Vec<&Frame> {
    let last = &run.frames[at];
    let same = |frame: &&Frame| {
        frame.by_client == last.by_client && frame.kind == "MSG" && frame.numbers().1 == last.numbers().1
    };
    run.frames[..=at].iter().filter(same).collect()
}

fn body(chunks: &[&Frame]) -> Vec<u8> {
    chunks.iter().flat_map(|chunk| chunk.body().iter().copied()).collect()
}

/// Whether what we made of a message is what was recorded. Peers may cut it otherwise, pad more than they have to,
/// and go on with the token before for a while.
fn assert_same(ours: &[u8], recorded: &[&Frame], name: &str) -> bool {
    let recorded: Vec<u8> = recorded.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect();
    let comparable = ours.len() == recorded.len() && ours[..16] == recorded[..16];
    assert!(!comparable || ours == recorded, "{name}");
    comparable
}
