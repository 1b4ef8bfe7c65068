//! Chunks of messages.

use serde_json::Value;
use uaforge_channel::{ChunkSecurity, security_checks_failed};
use uaforge_crypto::{KeySet, SharedProvider, chunk_security};
use uaforge_tests::pki::providers;

use crate::{bytes, list, number, policy, text};

/// Bytes before what may be encrypted.
const PLAIN: usize = 16;

fn security(entry: &Value, provider: &SharedProvider) -> Box<dyn ChunkSecurity> {
    let keys = &entry["keys"];
    let keys = KeySet {
        signing: bytes(keys, "signing").into(),
        encrypting: bytes(keys, "encrypting").into(),
        iv: bytes(keys, "iv").into(),
    };
    let encrypt = text(entry, "mode") == "SignAndEncrypt";
    chunk_security(policy(entry), &**provider, &keys, encrypt).expect("keys")
}

#[test]
fn chunks_are_sealed_and_opened() {
    for provider in providers() {
        for entry in list("symmetric_chunks") {
            let mut security = security(&entry, &provider);
            let (expected, body) = (bytes(&entry, "chunk"), bytes(&entry, "body"));
            let mut chunk = expected[..8].to_vec();
            for field in ["channel_id", "token_id", "sequence_number", "request_id"] {
                chunk.extend(u32::try_from(number(&entry, field)).expect("a field").to_le_bytes());
            }
            chunk.extend(&body);
            let trailer = security.last_trailer(chunk.len() - PLAIN);
            chunk.resize(chunk.len() + trailer, 0);
            security.seal(&mut chunk, PLAIN, trailer).expect("sealed");
            assert_eq!(hex::encode(&chunk), hex::encode(&expected));
            let end = security.open(&mut chunk, PLAIN, 0).expect("opened");
            assert_eq!(hex::encode(&chunk[24..end]), hex::encode(&body));
        }
    }
}

#[test]
fn wrong_chunks_are_refused_alike() {
    for provider in providers() {
        for entry in list("symmetric_chunks_reject") {
            let refused = security(&entry, &provider).open(&mut bytes(&entry, "chunk"), PLAIN, 0);
            assert_eq!(refused, Err(security_checks_failed()), "{}", text(&entry, "why"));
        }
    }
}

/// No length and no bit of a chunk leads elsewhere.
#[test]
fn mutilated_chunks_are_refused_alike() {
    let provider = &providers()[0];
    for entry in list("symmetric_chunks") {
        let mut security = security(&entry, provider);
        let chunk = bytes(&entry, "chunk");
        for len in PLAIN..chunk.len() {
            let refused = security.open(&mut chunk[..len].to_vec(), PLAIN, 0);
            assert_eq!(refused, Err(security_checks_failed()), "{len}");
        }
        for bit in 0..chunk.len() * 8 {
            let mut chunk = chunk.clone();
            chunk[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(security.open(&mut chunk, PLAIN, 0), Err(security_checks_failed()), "{bit}");
        }
    }
}
