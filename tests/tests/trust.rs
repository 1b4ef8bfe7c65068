//! Which certificates are trusted: one for each step of OPC 10000-4 §6.1.3, and the folders of an application.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use uaforge::client::{self, Client, Error};
use uaforge::crypto::{
    Certificate, Draft, Identity, KeyKind, Pki, Place, Policy, Purpose, Rejection, RevocationList,
    SharedProvider, Suppress, TrustList, chain, revoke,
};
use uaforge::server::{self, Server};
use uaforge_codec::{DateTime, NodeId};
use uaforge_net::OsEntropy;
use uaforge_tests::pki::{certificate, providers};
use uaforge_types::status;

/// A time that the certificates are valid at.
const NOW: DateTime = DateTime(133_000_000_000_000_000);
const DAY: i64 = 864_000_000_000;

fn day(number: i64) -> DateTime {
    DateTime(NOW.0 + number * DAY)
}

fn application() -> Draft {
    Draft::application("urn:plant:client", "client", NOW).expect("a URI")
}

fn make(provider: &SharedProvider, draft: &Draft) -> Identity {
    draft.make(provider, KeyKind::P256, &mut OsEntropy).expect("a certificate").0
}

/// An authority, one below it, and an application's certificate of that.
struct Plant {
    root: Identity,
    middle: Identity,
    leaf: Identity,
}

impl Plant {
    fn new(provider: &SharedProvider) -> Self {
        let root = make(provider, &Draft::authority("root", NOW));
        let middle = make(provider, &Draft::authority("middle", NOW).issued_by(&root));
        let leaf = make(provider, &application().issued_by(&middle));
        Self { root, middle, leaf }
    }

    /// Trusts the root, with lists of what was revoked.
    fn list(&self, leaf_revoked: bool, middle_revoked: bool) -> TrustList {
        let listed = |is_revoked: bool, of: &Identity| {
            if is_revoked { vec![of.certificate().clone()] } else { Vec::new() }
        };
        let list = |issuer: &Identity, revoked: Vec<Certificate>| {
            let revoked: Vec<&Certificate> = revoked.iter().collect();
            let der = revoke(issuer, &revoked, day(-1), day(1)).expect("a list");
            RevocationList::from_der(&der).expect("a list")
        };
        TrustList {
            trusted: vec![self.root.certificate().clone()],
            revoked: vec![
                list(&self.middle, listed(leaf_revoked, &self.leaf)),
                list(&self.root, listed(middle_revoked, &self.middle)),
            ],
            ..Default::default()
        }
    }

    fn sent(&self) -> Vec<Certificate> {
        chain(self.leaf.chain()).expect("a chain")
    }
}

#[track_caller]
fn refused(provider: &SharedProvider, list: &TrustList, sent: &[Certificate], with: Rejection) {
    assert_eq!(list.validate(&**provider, sent, Purpose::Client, NOW), Err(with));
}

fn trusting(own: &Identity) -> TrustList {
    TrustList { trusted: vec![own.certificate().clone()], ..Default::default() }
}

#[test]
fn applications_that_sign_themselves() {
    for provider in providers() {
        for kind in [KeyKind::Rsa(2048), KeyKind::P256, KeyKind::P384, KeyKind::Ed25519] {
            let own = application().make(&provider, kind, &mut OsEntropy).expect("a certificate").0;
            let sent = [own.certificate().clone()];
            for purpose in [Purpose::Client, Purpose::Server, Purpose::User] {
                assert_eq!(trusting(&own).validate(&*provider, &sent, purpose, NOW), Ok(()), "{kind:?}");
            }
            refused(&provider, &TrustList::default(), &sent, Rejection::Untrusted);
            // One bit of the signature, which is at the end.
            let mut der = own.certificate().der().to_vec();
            *der.last_mut().expect("a byte") ^= 1;
            if let Ok(forged) = Certificate::from_der(&der) {
                let list = TrustList { trusted: vec![forged.clone()], ..Default::default() };
                refused(&provider, &list, &[forged], Rejection::Signature);
            }
        }
        refused(&provider, &TrustList::default(), &[], Rejection::Structure);
    }
}

#[test]
fn certificates_made_by_others() {
    for provider in providers() {
        for name in ["client-rsa2048", "client-rsa3072", "client-rsa4096", "client-p256"] {
            let found = certificate(&format!("{name}.cert.der"));
            let list = TrustList { trusted: vec![found.clone()], ..Default::default() };
            let now = DateTime(NOW.0 + 2000 * DAY);
            assert_eq!(list.validate(&*provider, &[found], Purpose::Client, now), Ok(()), "{name}");
        }
    }
}

#[test]
fn chains() {
    let provider = &providers()[0];
    let plant = Plant::new(provider);
    let sent = plant.sent();
    assert_eq!(sent.len(), 3);
    let good = plant.list(false, false);
    assert_eq!(good.validate(&**provider, &sent, Purpose::Client, NOW), Ok(()));
    // Issuers that the client does not send come out of the folders.
    refused(provider, &good, &sent[..1], Rejection::ChainIncomplete);
    let known = TrustList { issuers: vec![plant.middle.certificate().clone()], ..good.clone() };
    assert_eq!(known.validate(&**provider, &sent[..1], Purpose::Client, NOW), Ok(()));
    // Trusting the one in the middle is enough, knowing it is not.
    let middle = TrustList { trusted: vec![plant.middle.certificate().clone()], ..good.clone() };
    assert_eq!(middle.validate(&**provider, &sent, Purpose::Client, NOW), Ok(()));
    let nobody = TrustList { trusted: Vec::new(), issuers: sent[1..].to_vec(), ..good.clone() };
    refused(provider, &nobody, &sent, Rejection::Untrusted);
    // An authority with the same name that has not signed it.
    let other = make(provider, &Draft::authority("middle", NOW).issued_by(&plant.root));
    let list = TrustList { issuers: vec![other.certificate().clone()], ..good.clone() };
    refused(provider, &list, &sent[..1], Rejection::Signature);
    refused(provider, &plant.list(true, false), &sent, Rejection::Revoked);
    refused(provider, &plant.list(false, true), &sent, Rejection::IssuerRevoked);
    let unknown = |at: usize| {
        let mut list = plant.list(false, false);
        list.revoked.remove(at);
        list
    };
    refused(provider, &unknown(0), &sent, Rejection::RevocationUnknown);
    refused(provider, &unknown(1), &sent, Rejection::IssuerRevocationUnknown);
    // A list of yesterday's month says nothing of those who are not on it.
    let suppress = Suppress { revocation_unknown: true, ..Default::default() };
    let lenient = TrustList { suppress, revoked: Vec::new(), ..good };
    assert_eq!(lenient.validate(&**provider, &sent, Purpose::Client, NOW), Ok(()));
    let revoked = TrustList { suppress, ..plant.list(true, false) };
    refused(provider, &revoked, &sent, Rejection::Revoked);
    let late = day(20);
    assert_eq!(
        plant.list(false, false).validate(&**provider, &sent, Purpose::Client, late),
        Err(Rejection::RevocationUnknown)
    );
}

#[test]
fn issuers_that_must_not_issue() {
    let provider = &providers()[0];
    let root = make(provider, &Draft::authority("root", NOW));
    let not_authority = make(provider, &application().issued_by(&root));
    let leaf = make(provider, &application().issued_by(&not_authority));
    let sent = chain(leaf.chain()).expect("a chain");
    let suppress = Suppress { revocation_unknown: true, ..Default::default() };
    refused(provider, &TrustList { suppress, ..trusting(&root) }, &sent, Rejection::IssuerUse);
    let suppress = Suppress { revocation_unknown: true, usage: true, ..Default::default() };
    let lenient = TrustList { suppress, ..trusting(&root) };
    assert_eq!(lenient.validate(&**provider, &sent, Purpose::Client, NOW), Ok(()));
}

#[test]
fn times_and_uses() {
    let provider = &providers()[0];
    for (from, to) in [(day(1), day(2)), (day(-2), day(-1))] {
        let own = make(provider, &application().valid(from, to));
        let sent = [own.certificate().clone()];
        refused(provider, &trusting(&own), &sent, Rejection::Time);
        let suppress = Suppress { time: true, ..Default::default() };
        let lenient = TrustList { suppress, ..trusting(&own) };
        assert_eq!(lenient.validate(&**provider, &sent, Purpose::Client, NOW), Ok(()));
    }
    let root = make(provider, &Draft::authority("root", NOW).valid(day(-9), day(-1)));
    let leaf = make(provider, &application().issued_by(&root));
    let sent = chain(leaf.chain()).expect("a chain");
    refused(provider, &trusting(&root), &sent, Rejection::IssuerTime);

    let signs = application().only_signing();
    let rsa = signs.make(provider, KeyKind::Rsa(2048), &mut OsEntropy).expect("a certificate").0;
    let sent = [rsa.certificate().clone()];
    refused(provider, &trusting(&rsa), &sent, Rejection::Use);
    assert_eq!(trusting(&rsa).validate(&**provider, &sent, Purpose::User, NOW), Ok(()));
    // The first step that fails says so: not trusted comes before not valid.
    let expired = make(provider, &application().valid(day(-2), day(-1)));
    refused(provider, &TrustList::default(), &[expired.certificate().clone()], Rejection::Untrusted);
}

/// A self-signed certificate of RSA 1024, and one that is signed with SHA-1.
#[test]
fn weak_certificates() {
    let provider = &providers()[0];
    for name in ["rsa1024", "sha1"] {
        let found = certificate(&format!("weak-{name}.cert.der"));
        let list = TrustList { trusted: vec![found.clone()], ..Default::default() };
        let suppress = Suppress { time: true, usage: true, revocation_unknown: true };
        refused(provider, &TrustList { suppress, ..list }, &[found], Rejection::Policy);
    }
}

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn beside<T>(server: &Server, test: impl Future<Output = T>) -> T {
    tokio::select! {
        outcome = test => outcome,
        stopped = server.run_until(std::future::pending::<()>()) => panic!("the server stopped: {stopped:?}"),
    }
}

/// From first start to a trusted client, and back.
#[tokio::test]
async fn folders_decide_without_a_restart() {
    let provider = &providers()[0];
    let (ours, theirs) = (Folder::new("trust-server"), Folder::new("trust-client"));
    let open = || server::Security::open(&ours.0, provider.clone(), "urn:plant:server").expect("a store");
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .application_uri("urn:plant:server")
        .security(open())
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built");
    let url = server.endpoints()[0].clone();
    let security =
        || client::Security::open(&theirs.0, provider.clone(), "urn:plant:client").expect("a store");
    let connect = || {
        let only = security().policies(&[&Policy::BASIC256_SHA256]);
        Client::builder().security(only).connect(&url)
    };
    let pki = Pki::open(&ours.0, provider.clone(), Purpose::Client).expect("a store");
    let client_pki = Pki::open(&theirs.0, provider.clone(), Purpose::Server).expect("a store");
    let own = pki.list(Place::Own).expect("own certificates");
    assert_eq!(own.len(), 2, "RSA and P-256");
    let names = own[0].1.names();
    assert_eq!(names.uris, ["urn:plant:server"]);
    assert!(names.has_host("LOCALHOST") && names.has_host("127.0.0.1") && !names.has_host("elsewhere"));
    drop(open());
    assert_eq!(pki.list(Place::Own).expect("own certificates"), own, "a second start keeps them");

    beside(&server, async {
        let refused = connect().await.expect_err("the client does not trust the server");
        // The server does not trust the client either, and comes first.
        assert_eq!(refused.status(), status::BAD_SECURITY_CHECKS_FAILED, "{refused}");
        let (_, client) = pki.list(Place::Rejected).expect("rejected").remove(0);
        pki.trust(&client).expect("trusted");
        assert!(pki.list(Place::Rejected).expect("rejected").is_empty());

        let refused = connect().await.expect_err("the client does not trust the server");
        assert_eq!(refused.status(), status::BAD_CERTIFICATE_UNTRUSTED, "{refused}");
        assert!(refused.to_string().contains("uaforge cert trust"), "{refused}");
        let (_, found) = client_pki.list(Place::Rejected).expect("rejected").remove(0);
        client_pki.trust(&found).expect("trusted");

        let session = connect().await.expect("both trust each other");
        let time = NodeId::numeric(0, 2258);
        session.read_value(&time).await.expect("the time");
        pki.reject(&client).expect("rejected");
        let lost = async {
            loop {
                if session.read_value(&time).await.is_err() {
                    return;
                }
                uaforge_net::sleep_until(uaforge_net::clock().ticks + Duration::from_millis(50)).await;
            }
        };
        let closed = uaforge_net::timeout(Duration::from_secs(10), lost).await;
        assert!(closed.is_ok(), "a client that lost its trust loses its channel");
        let refused = connect().await.expect_err("it is not trusted any more");
        assert!(matches!(refused, Error::Channel { .. }), "{refused}");
    })
    .await;
}

#[test]
fn private_keys_are_private() {
    let provider = &providers()[0];
    let folder = Folder::new("trust-private");
    let pki = Pki::open(&folder.0, provider.clone(), Purpose::Server).expect("a store");
    let first = pki.own(KeyKind::P384, &application(), &mut OsEntropy).expect("a certificate");
    let key = folder.0.join("own/private/nistP384.pem");
    assert!(std::fs::read_to_string(&key).expect("a key").starts_with("-----BEGIN PRIVATE KEY-----"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&key).expect("a key").permissions().mode() & 0o777, 0o600);
    }
    // A certificate that is gone is made again for the same key; one of another key is an error.
    let certificate = folder.0.join("own/certs/nistP384.der");
    std::fs::remove_file(&certificate).expect("a certificate");
    let second = pki.own(KeyKind::P384, &application(), &mut OsEntropy).expect("a certificate");
    assert_eq!(first.certificate().key(), second.certificate().key());
    let other = make(provider, &application());
    std::fs::write(&certificate, other.chain()).expect("a file");
    let error = pki.own(KeyKind::P384, &application(), &mut OsEntropy).expect_err("another key");
    assert!(error.to_string().contains("nistP384.der"), "{error}");
    std::fs::write(folder.0.join("trusted/certs/junk.der"), b"junk").expect("a file");
    assert!(pki.list(Place::Trusted).expect("a list").is_empty());
}
