//! Signatures of CreateSession and ActivateSession.

use futures_util::FutureExt as _;
use uaforge_codec::{ByteString, UaString};
use uaforge_crypto::{SessionSignatures, session_signature};
use uaforge_tests::pki::{identity, pki_file, providers};
use uaforge_types::SignatureData;

use crate::{bytes, list, policy, text};

fn data(algorithm: &str, signature: &[u8]) -> SignatureData {
    let algorithm = if algorithm.is_empty() { UaString::NULL } else { algorithm.into() };
    SignatureData { algorithm, signature: ByteString::from(signature) }
}

#[test]
fn sessions_are_signed() {
    for provider in providers() {
        for entry in list("session_signatures") {
            let policy = policy(&entry);
            let [client, server] = ["client_cert", "server_cert"].map(|side| pki_file(text(&entry, side)));
            let [client_nonce, server_nonce] =
                ["client_nonce", "server_nonce"].map(|side| bytes(&entry, side));
            let signed = SessionSignatures {
                thumbprint: &[],
                server_channel: &server,
                client_channel: &client,
                server: &server,
                client: &client,
                server_nonce: &server_nonce,
                client_nonce: &client_nonce,
            };
            let algorithm = text(&entry, "algorithm");
            let of_server = &entry["create_session_response"];
            let of_client = &entry["activate_session_request"];
            let good = |side| data(algorithm, &bytes(side, "signature"));
            let bad = |side| data(algorithm, &bytes(side, "bad_signature"));
            assert!(signed.check_server(policy, &*provider, &good(of_server)).is_ok());
            assert!(signed.check_client(policy, &*provider, &good(of_client)).is_ok());
            assert!(signed.check_server(policy, &*provider, &bad(of_server)).is_err());
            assert!(signed.check_client(policy, &*provider, &bad(of_client)).is_err());
            let other = data("http://www.w3.org/2000/09/xmldsig#rsa-sha1", &bytes(of_client, "signature"));
            assert!(signed.check_client(policy, &*provider, &other).is_err(), "another algorithm");

            let names = ["client_cert", "server_cert"].map(|side| {
                let file = text(&entry, side).rsplit('/').next().expect("a name");
                file.trim_end_matches(".cert.der").to_owned()
            });
            let [client, server] = names.map(|name| identity(&provider, &name));
            let sign = |identity, data| {
                session_signature(policy, identity, data).now_or_never().expect("at once").expect("signed")
            };
            let by_server = sign(&server, signed.of_server(policy, &*provider));
            let by_client = sign(&client, signed.of_client(policy, &*provider));
            assert!(signed.check_server(policy, &*provider, &by_server).is_ok());
            assert!(signed.check_client(policy, &*provider, &by_client).is_ok());
            assert_eq!(by_client.algorithm.as_str(), Some(algorithm));
            if entry["deterministic"] == true {
                assert_eq!(by_server, good(of_server));
                assert_eq!(by_client, good(of_client));
            }
        }
    }
}

#[test]
fn recorded_sessions_were_signed() {
    for provider in providers() {
        for entry in list("from_captures") {
            let policy = policy(&entry);
            let session = text(&entry, "session");
            let (client, server) = if policy.signature_uri.is_empty() {
                ("client-p256", vec!["server-p256"])
            } else {
                ("client-rsa2048", vec!["server-rsa2048", "server-rsa4096"])
            };
            let client = pki_file(&format!("{client}.cert.der"));
            let [client_nonce, server_nonce] =
                ["client_nonce", "server_nonce"].map(|side| bytes(&entry, side));
            let good = server.iter().any(|server| {
                let server = pki_file(&format!("{server}.cert.der"));
                let signed = SessionSignatures {
                    thumbprint: &[],
                    server_channel: &server,
                    client_channel: &client,
                    server: &server,
                    client: &client,
                    server_nonce: &server_nonce,
                    client_nonce: &client_nonce,
                };
                let by_server = data(policy.signature_uri, &bytes(&entry, "create_session_signature"));
                let by_client = data(policy.signature_uri, &bytes(&entry, "activate_session_signature"));
                signed.check_server(policy, &*provider, &by_server).is_ok()
                    && signed.check_client(policy, &*provider, &by_client).is_ok()
            });
            assert!(good, "{session}");
        }
    }
}
