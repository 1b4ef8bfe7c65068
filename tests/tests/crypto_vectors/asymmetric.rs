//! OpenSecureChannel chunks, and passwords.

use futures_util::FutureExt as _;
use serde_json::Value;
use uaforge_channel::{
    AsymmetricChunk, ChannelError, Operation, SecurityProvider as _, security_checks_failed,
};
use uaforge_crypto::{Policy, SharedProvider, open_password, seal_password};
use uaforge_tests::peer::start_time;
use uaforge_tests::pki::{certificate, client_security, identity, pki_file, providers, server_security};

use crate::{bytes, list, number, policy, text};

/// The outcome of work that is done at once.
fn now<T: 'static>(operation: Operation<T>) -> Result<T, ChannelError> {
    operation.now_or_never().expect("done at once")
}

/// `client-rsa2048` of `sessions/pki/client-rsa2048.key.pem`.
fn name(entry: &Value, field: &str) -> String {
    let path = text(entry, field);
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).to_owned()
}

fn open(entry: &Value, provider: &SharedProvider) -> Result<AsymmetricChunk, ChannelError> {
    let server = server_security(policy(entry), provider, &name(entry, "receiver_key"));
    now(server.open(bytes(entry, "chunk"), None, start_time()))
}

#[test]
fn open_secure_channel_is_opened() {
    for provider in providers() {
        for entry in list("asymmetric_open") {
            let chunk = open(&entry, &provider).expect("opened");
            assert_eq!(chunk.peer.as_deref(), Some(&pki_file(text(&entry, "sender_cert"))[..]));
            let numbers = [number(&entry, "sequence_number"), number(&entry, "request_id")];
            let numbers =
                numbers.map(|number| u32::try_from(number).expect("a field").to_le_bytes()).concat();
            assert_eq!(hex::encode(&chunk.content), hex::encode(numbers) + text(&entry, "body"));
        }
    }
}

#[test]
fn wrong_open_secure_channel_is_refused_alike() {
    for provider in providers() {
        for entry in list("asymmetric_open_reject") {
            let error = open(&entry, &provider).expect_err(text(&entry, "why"));
            if text(&entry, "why") != "sender certificate cut short" {
                assert_eq!(error, security_checks_failed(), "{}", text(&entry, "why"));
            }
        }
    }
}

/// What one provider seals, the other opens.
#[test]
fn open_secure_channel_is_sealed() {
    let [first, second] = providers();
    for (sealer, opener) in [(&first, &second), (&second, &first)] {
        for (policy, kinds) in [
            (&Policy::BASIC256_SHA256, ["rsa2048", "rsa4096"]),
            (&Policy::AES128_SHA256_RSA_OAEP, ["rsa4096", "rsa3072"]),
            (&Policy::AES256_SHA256_RSA_PSS, ["rsa3072", "rsa2048"]),
            (&Policy::ECC_NIST_P256, ["p256", "p256"]),
            (&Policy::ECC_NIST_P256_AES_GCM, ["p256", "p256"]),
        ] {
            let [client, server] = [format!("client-{}", kinds[0]), format!("server-{}", kinds[1])];
            let server_certificate = pki_file(&format!("{server}.cert.der"));
            let ours = client_security(policy, sealer, &client, &server_certificate);
            let theirs = server_security(policy, opener, &server);
            let binding = policy.enhanced.then(|| vec![5; 64].into());
            let content = (0..200).collect::<Vec<u8>>();
            let chunk = AsymmetricChunk { channel_id: 9, peer: None, content, signature: binding.clone() };
            let sealed = now(ours.seal(chunk.clone())).expect("sealed");
            let size = u32::try_from(sealed.bytes.len()).expect("short").to_le_bytes();
            assert_eq!(sealed.bytes[4..8], size);
            let opened =
                now(theirs.open(sealed.bytes.clone(), binding.clone(), start_time())).expect("opened");
            assert_eq!((opened.channel_id, &opened.content), (9, &chunk.content));
            assert_eq!(opened.signature, sealed.signature);
            if binding.is_some() {
                assert!(now(theirs.open(sealed.bytes, None, start_time())).is_err(), "bound to a request");
            }
        }
    }
}

#[test]
fn padding_fills_blocks() {
    for provider in providers() {
        for entry in list("padding") {
            let [client, server] = [("client", "sender_key_bits"), ("server", "receiver_key_bits")]
                .map(|(side, bits)| format!("{side}-rsa{}", number(&entry, bits)));
            let certificate = pki_file(&format!("{server}.cert.der"));
            let security = client_security(policy(&entry), &provider, &client, &certificate);
            let content = vec![0; 8 + number(&entry, "body_length")];
            let chunk = AsymmetricChunk { channel_id: 0, peer: None, content, signature: None };
            let sealed = now(security.seal(chunk)).expect("sealed").bytes;
            let (_, secured) = uaforge_channel::AsymmetricHeader::parse(&sealed).expect("a header");
            assert_eq!(secured.len(), number(&entry, "encrypted_length"), "{entry}");
        }
    }
}

#[test]
fn passwords_are_decrypted() {
    for provider in providers() {
        for entry in list("legacy_password") {
            let server = identity(&provider, &name(&entry, "server_key"));
            let nonce = bytes(&entry, "server_nonce");
            let opened = now(open_password(policy(&entry), &server, &bytes(&entry, "encrypted"), &nonce));
            assert_eq!(opened.expect("decrypted").as_slice(), text(&entry, "password").as_bytes());
            assert_eq!(policy(&entry).encryption_uri, text(&entry, "encryption_algorithm"));
            let password = text(&entry, "password").as_bytes();
            let sealed = seal_password(policy(&entry), &*provider, server.certificate(), password, &nonce);
            let opened = now(open_password(policy(&entry), &server, &sealed.expect("encrypted"), &nonce));
            assert_eq!(opened.expect("decrypted").as_slice(), password);
        }
        for entry in list("legacy_password_reject") {
            let server = identity(&provider, &name(&entry, "server_key"));
            let nonce = bytes(&entry, "server_nonce");
            let opened = now(open_password(policy(&entry), &server, &bytes(&entry, "encrypted"), &nonce));
            assert_eq!(opened.expect_err(text(&entry, "why")), security_checks_failed());
        }
    }
}

#[test]
fn recorded_passwords_are_decrypted() {
    let mut found = 0;
    for provider in providers() {
        for entry in list("from_captures").iter().filter(|entry| entry["password_plain"].is_string()) {
            let plain = bytes(entry, "password_plain");
            let nonce = bytes(entry, "server_nonce");
            let len = u32::from_le_bytes(*plain.first_chunk().expect("a length")) as usize;
            let password = &plain[4..4 + len - nonce.len()];
            // The server's key is the one of the recording.
            let candidates = ["server-rsa2048", "server-rsa4096"].map(|name| identity(&provider, name));
            let opened = candidates.iter().find_map(|server| {
                now(open_password(policy(entry), server, &bytes(entry, "password_encrypted"), &nonce)).ok()
            });
            assert_eq!(opened.expect("decrypted").as_slice(), password, "{}", text(entry, "session"));
            found += 1;
        }
    }
    assert!(found >= 4);
}

#[test]
fn keys_of_other_kinds_are_refused() {
    let provider = &providers()[0];
    let rsa = identity(provider, "server-rsa2048");
    let accept = std::sync::Arc::new(uaforge_crypto::AcceptAny);
    for policy in Policy::ALL.into_iter().filter(|policy| policy.signature_uri.is_empty()) {
        let made =
            uaforge_crypto::PolicySecurity::server(policy, provider.clone(), rsa.clone(), accept.clone());
        assert_eq!(made.expect_err("refused").status, uaforge_types::status::BAD_CERTIFICATE_INVALID);
    }
    let curve = certificate("server-p256.cert.der");
    assert!(seal_password(&Policy::BASIC256_SHA256, &**provider, &curve, b"x", b"y").is_err());
}
