//! P_SHA256, the keys of tokens, thumbprints.

use uaforge_channel::{ChunkSecurity, Role, SecurityProvider as _};
use uaforge_codec::Entropy;
use uaforge_crypto::{Hash, KeySet, channel_keys, chunk_security, hkdf_keys, p_hash};
use uaforge_tests::pki::{certificate, providers, server_security};
use uaforge_types::MessageSecurityMode;

use crate::{bytes, list, number, policy, text};

#[test]
fn p_sha256() {
    for provider in providers() {
        for entry in list("p_sha256") {
            let (secret, seed) = (bytes(&entry, "secret"), bytes(&entry, "seed"));
            let made = p_hash(&*provider, Hash::Sha256, &secret, &seed, number(&entry, "length"));
            assert_eq!(hex::encode(&*made), text(&entry, "output"));
        }
    }
}

fn assert_keys(keys: &KeySet, expected: &serde_json::Value) {
    assert_eq!(hex::encode(&*keys.signing), text(expected, "signing"));
    assert_eq!(hex::encode(&*keys.encrypting), text(expected, "encrypting"));
    assert_eq!(hex::encode(&*keys.iv), text(expected, "iv"));
}

#[test]
fn keys_from_nonces() {
    for provider in providers() {
        for entry in list("channel_keys") {
            let protection = policy(&entry).protection;
            let (client, server) = (bytes(&entry, "client_nonce"), bytes(&entry, "server_nonce"));
            assert_keys(&channel_keys(&*provider, protection, &server, &client), &entry["client"]);
            assert_keys(&channel_keys(&*provider, protection, &client, &server), &entry["server"]);
        }
    }
}

/// Gives what it was made of.
struct Fixed(Vec<u8>);

impl Entropy for Fixed {
    fn fill(&mut self, bytes: &mut [u8]) {
        let at = self.0.len() - bytes.len();
        bytes.copy_from_slice(&self.0[at..]);
    }
}

#[test]
fn keys_from_ephemeral_keys() {
    for provider in providers() {
        for entry in list("channel_keys_ecc") {
            let policy = policy(&entry);
            let uaforge_crypto::Exchange::Ephemeral { curve, hash } = policy.exchange else { panic!() };
            let (client, server) = (bytes(&entry, "client_nonce"), bytes(&entry, "server_nonce"));
            let secret = bytes(&entry, "ecdh_shared_secret");
            let derive = |label, nonces| {
                hkdf_keys(&*provider, hash, policy.protection, false, &secret, label, nonces).expect("keys")
            };
            assert_keys(&derive("opcua-client", [&client, &server]), &entry["client"]);
            assert_keys(&derive("opcua-server", [&server, &client]), &entry["server"]);
            for (side, nonce, peer) in [("client", &client, &server), ("server", &server, &client)] {
                let mut private = Fixed(bytes(&entry, &format!("{side}_ephemeral_private")));
                let own = provider.ephemeral(curve, &mut private).expect("a key");
                assert_eq!(hex::encode(own.public()), hex::encode(nonce));
                assert_eq!(hex::encode(&*own.agree(peer).expect("a secret")), hex::encode(&secret));
            }
        }
    }
}

fn sealed(security: &mut dyn ChunkSecurity) -> Vec<u8> {
    let mut chunk = vec![7; 24 + 9];
    let trailer = security.last_trailer(8 + 9);
    chunk.resize(chunk.len() + trailer, 0);
    security.seal(&mut chunk, 16, trailer).expect("sealed");
    chunk
}

/// Both sides of an exchange have the keys that the vectors say.
#[test]
fn exchanges_end_with_these_keys() {
    let mode = MessageSecurityMode::SIGN_AND_ENCRYPT;
    for provider in providers() {
        for entry in list("channel_keys").into_iter().chain(list("channel_keys_ecc")) {
            let policy = policy(&entry);
            let is_rsa = !policy.encryption_uri.is_empty();
            let identity = if is_rsa { "server-rsa2048" } else { "server-p256" };
            let security = server_security(policy, &provider, identity);
            for (role, own, other) in [(Role::Client, "client", "server"), (Role::Server, "server", "client")]
            {
                let private =
                    if is_rsa { format!("{own}_nonce") } else { format!("{own}_ephemeral_private") };
                let mut entropy = Fixed(bytes(&entry, &private));
                let exchange = security.exchange(role, mode, &mut entropy).expect("an exchange");
                assert_eq!(
                    exchange.nonce().map(hex::encode).as_deref(),
                    entry[format!("{own}_nonce")].as_str()
                );
                let mut keys =
                    exchange.finish(&bytes(&entry, &format!("{other}_nonce")), None).expect("keys");
                for (side, made) in [(own, &mut keys.send), (other, &mut keys.receive)] {
                    let side = &entry[side];
                    let expected = KeySet {
                        signing: bytes(side, "signing").into(),
                        encrypting: bytes(side, "encrypting").into(),
                        iv: bytes(side, "iv").into(),
                    };
                    let mut expected = chunk_security(policy, &*provider, &expected, true).expect("keys");
                    assert_eq!(sealed(&mut **made), sealed(&mut *expected));
                }
            }
        }
    }
}

#[test]
fn nonces_of_other_lengths_are_refused() {
    let mode = MessageSecurityMode::SIGN;
    for provider in providers() {
        for (name, identity) in [("Basic256Sha256", "server-rsa2048"), ("ECC_nistP256", "server-p256")] {
            let policy = uaforge_crypto::Policy::by_name(name).expect("a policy");
            let security = server_security(policy, &provider, identity);
            for len in [0, 1, 31, 33, 63, 65, 96] {
                let mut entropy = uaforge_codec::SeededEntropy::new(len);
                let exchange = security.exchange(Role::Server, mode, &mut entropy).expect("an exchange");
                let peer = vec![1; usize::try_from(len).expect("short")];
                let error = exchange.finish(&peer, None).expect_err("refused");
                assert_eq!(error, uaforge_channel::security_checks_failed());
            }
            // The own nonce back, and a point that is not on the curve.
            let mut entropy = uaforge_codec::SeededEntropy::new(1);
            let exchange = security.exchange(Role::Server, mode, &mut entropy).expect("an exchange");
            let own = exchange.nonce().expect("a nonce").to_vec();
            assert!(exchange.finish(&own, None).is_err());
        }
    }
}

#[test]
fn thumbprints() {
    for provider in providers() {
        for entry in list("thumbprints") {
            let certificate = certificate(text(&entry, "cert"));
            assert_eq!(hex::encode(certificate.thumbprint(&*provider)), text(&entry, "sha1"));
            let bits = match certificate.key().kind() {
                uaforge_crypto::KeyKind::Rsa(bits) => usize::from(bits),
                _ => 256,
            };
            assert_eq!(bits, number(&entry, "key_bits"));
        }
    }
}
