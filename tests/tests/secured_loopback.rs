//! Secured sessions between our client and our server over loopback: every policy and mode, users of every
//! kind, and what is refused.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use uaforge::client::{Client, ConnectionState, Error, Reconnect, Security, Session};
use uaforge::crypto::{AcceptAny, Certificate, Draft, Identity, KeyKind, PeerCheck, Policy, SharedProvider};
use uaforge::server::{
    self as server, Authentication, Authenticator, Credentials, Offered, RoleSet, Server, User, UserId,
};
use uaforge_channel::ChannelError;
use uaforge_codec::{Now, SeededEntropy};
use uaforge_net::OsEntropy;
use uaforge_tests::pki::{identity, providers};
use uaforge_tests::relay::{Relay, Way};
use uaforge_types::{MessageSecurityMode, status};

const MODES: [MessageSecurityMode; 2] = [MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT];

/// One user with a name, and everybody with a certificate or a token.
struct Users;

impl Authenticator for Users {
    fn offered(&self) -> Offered {
        Offered { anonymous: true, user_name: true, certificate: true, issued: true }
    }

    fn authenticate(&self, credentials: Credentials, _now: Now) -> Authentication {
        assert!(!format!("{credentials:?}").contains("hops"), "secrets are not shown");
        let user = match credentials {
            Credentials::UserName { name, password } if name == "brewer" && *password == *b"hops" => 1,
            Credentials::Certificate(_) => 2,
            Credentials::Issued(token) if *token == *b"header.claims.signature" => 3,
            _ => return Box::pin(std::future::ready(Err(status::BAD_USER_ACCESS_DENIED))),
        };
        Box::pin(std::future::ready(Ok(User { id: UserId(user), roles: RoleSet::NONE })))
    }
}

fn made(provider: &SharedProvider, uri: &str, kind: KeyKind) -> Identity {
    let draft = Draft::application(uri, "test, only", uaforge_net::clock().utc).expect("a URI");
    let draft = draft.host("localhost").expect("a name").address([127, 0, 0, 1].into()).expect("an address");
    draft.make(provider, kind, &mut OsEntropy).expect("a certificate").0
}

fn identities(provider: &SharedProvider, side: &str) -> Vec<Identity> {
    let uri = format!("urn:uaforge:vec:{side}");
    let mut all =
        vec![identity(provider, &format!("{side}-rsa2048")), identity(provider, &format!("{side}-p256"))];
    all.extend([KeyKind::P384, KeyKind::Ed25519].map(|kind| made(provider, &uri, kind)));
    all
}

fn secured_server(provider: &SharedProvider) -> Server {
    let security = identities(provider, "server")
        .into_iter()
        .fold(server::Security::new(provider.clone(), AcceptAny), server::Security::identity);
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .application_uri("urn:uaforge:vec:server")
        .security(security)
        .authenticator(Users)
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built")
}

fn client_security(provider: &SharedProvider) -> Security {
    let all = identities(provider, "client").into_iter();
    all.fold(Security::new(provider.clone(), AcceptAny), Security::identity).any_host()
}

async fn read_time(session: &Session) {
    let time = uaforge_codec::NodeId::numeric(0, 2258);
    let value = session.read_value(&time).await.expect("the time");
    assert!(value.status().is_none_or(|status| status.is_good()));
}

/// Runs `test` beside the server.
async fn beside<T>(server: &Server, test: impl Future<Output = T>) -> T {
    let running = server.run_until(std::future::pending::<()>());
    tokio::select! {
        outcome = test => outcome,
        stopped = running => panic!("the server stopped: {stopped:?}"),
    }
}

#[tokio::test]
async fn every_policy_and_mode() {
    for provider in providers() {
        let server = secured_server(&provider);
        let url = server.endpoints()[0].clone();
        let security = client_security(&provider);
        beside(&server, async {
            for policy in Policy::ALL {
                for mode in MODES {
                    let only = security.clone().policies(&[policy]).modes(&[mode]);
                    let client = Client::builder().security(only);
                    let session =
                        client.connect(&url).await.unwrap_or_else(|error| panic!("{policy:?}: {error}"));
                    read_time(&session).await;
                    session.close().await;
                }
            }
        })
        .await;
        assert_eq!(server.session_count(), 0);
    }
}

#[tokio::test]
async fn users_log_in() {
    let provider = &providers()[0];
    let server = secured_server(provider);
    let url = server.endpoints()[0].clone();
    let security = client_security(provider);
    beside(&server, async {
        for policy in Policy::ALL {
            for mode in MODES {
                let only = security.clone().policies(&[policy]).modes(&[mode]);
                let client = || Client::builder().security(only.clone());
                // Nothing encrypts a secret there.
                if policy.encryption_uri.is_empty() && mode == MessageSecurityMode::SIGN {
                    let refused = client().user_name("brewer", "hops").connect(&url).await;
                    assert!(matches!(refused, Err(Error::NoCommonEndpoint { .. })), "{refused:?}");
                    continue;
                }
                let session = client().user_name("brewer", "hops").connect(&url).await;
                read_time(&session.unwrap_or_else(|error| panic!("{policy:?} {mode:?}: {error}"))).await;
                let session = client().issued_token("header.claims.signature").connect(&url).await;
                read_time(&session.unwrap_or_else(|error| panic!("{policy:?} {mode:?}: {error}"))).await;
                for (name, password) in [("brewer", "malt"), ("nobody", "hops"), ("", "")] {
                    let refused =
                        client().user_name(name, password).connect(&url).await.expect_err("refused");
                    assert_eq!(refused.status(), status::BAD_USER_ACCESS_DENIED, "{refused}");
                }
            }
        }
        for (policy, user) in [
            (&Policy::BASIC256_SHA256, identity(provider, "client-rsa3072")),
            (&Policy::AES256_SHA256_RSA_PSS, identity(provider, "client-rsa3072")),
            (&Policy::ECC_NIST_P256, identity(provider, "client-p256")),
            (&Policy::ECC_NIST_P256_AES_GCM, identity(provider, "client-p256")),
        ] {
            let client = Client::builder().security(security.clone().policies(&[policy]));
            read_time(&client.user_certificate(user).connect(&url).await.expect("a session")).await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_strongest_endpoint_is_taken() {
    let provider = &providers()[0];
    let security = client_security(provider);
    let endpoints = {
        let server = secured_server(provider);
        let url = server.endpoints()[0].clone();
        beside(&server, async {
            let discovery = Client::builder().discovery(&url).await.expect("a channel");
            discovery.get_endpoints().await.expect("endpoints")
        })
        .await
    };
    assert_eq!(endpoints.len(), 1 + 2 * Policy::ALL.len());
    assert!(endpoints.iter().all(|endpoint| !endpoint.security_policy_uri.text().contains("Basic128Rsa15")));
    let strongest = endpoints.iter().max_by_key(|endpoint| endpoint.security_level).expect("endpoints");
    assert_eq!(strongest.security_policy_uri, Policy::ECC_NIST_P384_CHA_CHA_POLY.uri);
    assert_eq!(strongest.security_mode, MessageSecurityMode::SIGN_AND_ENCRYPT);
    // A list without the secured endpoints, as somebody in between would give, does not lead to None.
    let plain: Vec<_> = endpoints.iter().filter(|e| e.security_level == 0).cloned().collect();
    let now = uaforge_net::clock();
    let client = Client::builder().security(security);
    let refused = client.start_secured("opc.tcp://plant:4840", plain, SeededClone, now).map(drop);
    let Err(Error::NoCommonEndpoint { offered, supported, .. }) = refused else { panic!("{refused:?}") };
    assert!(offered.contains("None None (anonymous"), "{offered}");
    assert!(supported.contains("Basic256Sha256"), "{supported}");
}

/// Randomness that can be cloned.
#[derive(Clone)]
struct SeededClone;

impl uaforge_codec::Entropy for SeededClone {
    fn fill(&mut self, bytes: &mut [u8]) {
        SeededEntropy::new(1).fill(bytes);
    }
}

#[tokio::test]
async fn what_a_client_does_not_trust_is_refused() {
    let provider = &providers()[0];
    let server = secured_server(provider);
    let url = server.endpoints()[0].clone();
    let rsa = |security: Security| security.policies(&[&Policy::BASIC256_SHA256]);
    beside(&server, async {
        let own = identity(provider, "client-rsa2048");
        let right = identity(provider, "server-rsa2048");
        let pinned = rsa(Security::pinned(provider.clone(), right.certificate()).identity(own.clone()));
        read_time(&Client::builder().security(pinned).connect(&url).await.expect("the pinned server")).await;

        let other = identity(provider, "server-rsa3072");
        let pinned = rsa(Security::pinned(provider.clone(), other.certificate()).identity(own.clone()));
        let refused = Client::builder().security(pinned).connect(&url).await.expect_err("another server");
        assert_eq!(refused.status(), status::BAD_CERTIFICATE_UNTRUSTED, "{refused}");

        let no_identity = Security::new(provider.clone(), AcceptAny);
        let refused =
            Client::builder().security(no_identity).connect(&url).await.expect_err("no certificate");
        assert!(refused.to_string().contains("add a certificate"), "{refused}");

        let strict = rsa(Security::new(provider.clone(), AcceptAny).identity(own));
        let by_name = url.replace("127.0.0.1", "localhost.localdomain");
        let refused = Client::builder().security(strict).connect(&by_name).await;
        if let Err(error @ Error::HostName { .. }) = &refused {
            assert!(error.to_string().contains("localhost"), "{error}");
        } else {
            assert!(matches!(refused, Err(Error::Connect { .. })), "{refused:?}");
        }
        let in_clear = Client::builder().insecure().user_name("brewer", "hops").connect(&url).await;
        assert!(matches!(in_clear, Err(Error::UserInClear)), "{in_clear:?}");
    })
    .await;
}

/// Refuses everybody.
#[derive(Debug)]
struct RefuseAll;

impl uaforge::crypto::PeerCheck for RefuseAll {
    fn check(
        &self,
        _certificates: &[uaforge::crypto::Certificate],
        _now: Now,
    ) -> Result<(), uaforge_channel::ChannelError> {
        Err(uaforge_channel::security_checks_failed())
    }
}

#[tokio::test]
async fn what_a_server_does_not_trust_is_refused() {
    let provider = &providers()[0];
    let build = |security| {
        let server = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().security(security);
        let server = server.application_uri("urn:uaforge:vec:server");
        server.model(uaforge_ns0::model()).build().expect("the server is built")
    };
    let security = server::Security::new(provider.clone(), RefuseAll);
    let server = build(security.identity(identity(provider, "server-rsa2048")));
    let url = server.endpoints()[0].clone();
    beside(&server, async {
        let client = Client::builder().security(client_security(provider));
        let refused = client.connect(&url).await.expect_err("nobody is trusted");
        assert_eq!(refused.status(), status::BAD_SECURITY_CHECKS_FAILED, "{refused}");

        // New certificates and policies hold for the next connection.
        let open = server::Security::new(provider.clone(), AcceptAny);
        let open = open.identity(identity(provider, "server-rsa3072"));
        server.set_security(&open.policies(&[&Policy::AES256_SHA256_RSA_PSS])).expect("a certificate");
        let client = Client::builder().security(client_security(provider));
        read_time(&client.connect(&url).await.expect("a session")).await;
    })
    .await;
}

#[test]
fn a_server_says_what_it_lacks() {
    let provider = &providers()[0];
    let builder = || Server::builder().endpoint("opc.tcp://127.0.0.1:0").model(uaforge_ns0::model());
    let Err(error) = builder().build() else { panic!("neither a certificate nor the word") };
    assert!(error.to_string().contains(".security("), "{error}");
    let empty = server::Security::new(provider.clone(), AcceptAny);
    assert!(builder().security(empty).build().is_err(), "no certificate");
    let shared: Arc<str> = "Debug".into();
    let key = identity(provider, "server-rsa2048");
    assert!(!format!("{key:?} {shared}").contains("PRIVATE"));
}

#[tokio::test]
async fn users_of_a_file() {
    use uaforge::server::PasswordFile;
    let provider = &providers()[0];
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("users-{}.txt", std::process::id()));
    let line = PasswordFile::line("brewer", "hops").expect("a line");
    assert!(line.starts_with("brewer:$argon2id$") && !line.contains("hops"));
    std::fs::write(&path, format!("# users\n\n{line}\n")).expect("a file");
    let users = PasswordFile::open(&path).expect("a file of users");
    for bad in
        ["brewer", "brewer:plain", ":$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA", &format!("{line}\n{line}")]
    {
        std::fs::write(&path, bad).expect("a file");
        let Err(error) = PasswordFile::open(&path) else { panic!("{bad}") };
        assert!(error.to_string().contains("name:hash"), "{error}");
    }
    std::fs::remove_file(&path).expect("the file");
    assert!(PasswordFile::open(&path).is_err() && PasswordFile::line("a:b", "c").is_none());

    let security = server::Security::new(provider.clone(), AcceptAny);
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .application_uri("urn:uaforge:vec:server")
        .security(security.identity(identity(provider, "server-rsa2048")))
        .authenticator(users)
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built");
    let url = server.endpoints()[0].clone();
    beside(&server, async {
        let client = || Client::builder().security(client_security(provider));
        let refused = client().connect(&url).await.expect_err("no anonymous users");
        assert!(matches!(refused, Error::NoCommonEndpoint { .. }), "{refused}");
        let insecure = Client::builder().insecure().connect(&url).await.expect_err("no plain endpoint");
        assert!(matches!(insecure, Error::NoPlainEndpoint { .. }), "{insecure}");
        read_time(&client().user_name("brewer", "hops").connect(&url).await.expect("a session")).await;
        let before = uaforge_net::clock().ticks;
        for password in ["malt", "hop"] {
            let refused = client().user_name("brewer", password).connect(&url).await.expect_err("wrong");
            assert_eq!(refused.status(), status::BAD_USER_ACCESS_DENIED, "{refused}");
        }
        let delay = uaforge_net::clock().ticks.since(before);
        assert!(delay >= std::time::Duration::from_millis(750), "failures are answered later: {delay:?}");
        read_time(&client().user_name("brewer", "hops").connect(&url).await.expect("a session")).await;
    })
    .await;
}

#[tokio::test]
async fn only_its_own_certificate_registers_a_server() {
    let provider = &providers()[0];
    let identity = || identity(provider, "server-rsa2048");
    let lds = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .application_uri("urn:uaforge:vec:server")
        .security(server::Security::new(provider.clone(), AcceptAny).identity(identity()))
        .discovery_server(server::DiscoveryServer::default())
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built");
    let url = lds.endpoints()[0].clone();
    let security = client_security(provider);
    let named = |uri: &str| {
        let registration = server::Registration::with(url.clone());
        let builder =
            Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_ns0::model());
        builder.application_uri(uri).registration(registration).build().expect("the server is built")
    };
    let own = named("urn:uaforge:vec:client");
    beside(&lds, async {
        let known = async || {
            let discovery = Client::builder().discovery(&url).await.expect("the discovery server");
            let found = discovery.find_servers().await.expect("servers");
            found.iter().any(|server| server.application_uri == "urn:uaforge:vec:client")
        };
        let discovery = Client::builder().security(security.clone()).secured_discovery(&url).await;
        let discovery = discovery.expect("a secured channel");
        let stranger = named("urn:test:pump").registered_server(true);
        let refused = discovery.register_server(stranger.clone()).await.expect_err("another's certificate");
        assert_eq!(refused.status(), status::BAD_SERVER_URI_INVALID, "{refused}");
        let refused =
            discovery.register_server2(stranger, Vec::new()).await.expect_err("another's certificate");
        assert_eq!(refused.status(), status::BAD_SERVER_URI_INVALID, "{refused}");
        discovery.close().await;

        let until_known = async {
            while !known().await {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        let stop = tokio::time::timeout(std::time::Duration::from_secs(20), until_known);
        uaforge::run_registered_securely(&own, security.clone(), async {
            stop.await.expect("it is registered")
        })
        .await
        .expect("it ran");
        assert!(!known().await, "it has unregistered");
        let missing = Client::builder().secured_discovery(&url).await;
        assert!(matches!(missing, Err(Error::NoSecurityProvider { .. })), "{missing:?}");
    })
    .await;
}

/// A client that comes back: its relay and its session.
async fn returning(server: &Server, client: uaforge::client::ClientBuilder) -> (Relay, Session) {
    let relay = Relay::to(server.local_addr().expect("an address")).await;
    let policy =
        Reconnect::default().first_wait(Duration::from_millis(20)).longest_wait(Duration::from_millis(100));
    let session = client.reconnect(policy).connect(&relay.url()).await.expect("connected");
    (relay, session)
}

async fn wait_for(session: &Session, wanted: fn(&ConnectionState) -> bool) {
    let mut changes = session.connection_changes();
    let found = tokio::time::timeout(Duration::from_secs(20), changes.wait_for(wanted)).await;
    assert!(matches!(found, Ok(Ok(_))), "{:?}", session.connection_state());
}

/// Case 038, step 1, over secured channels: the session is activated again with the server's last nonce.
#[tokio::test]
async fn a_secured_session_comes_back() {
    let provider = &providers()[0];
    let server = secured_server(provider);
    let security = client_security(provider);
    beside(&server, async {
        for policy in Policy::ALL {
            let only = security.clone().policies(&[policy]);
            let client = Client::builder().security(only).user_name("brewer", "hops");
            let (relay, session) = returning(&server, client).await;
            for _ in 0..2 {
                relay.set(Way::Closed);
                wait_for(&session, |state| matches!(state, ConnectionState::Reconnecting { .. })).await;
                relay.set(Way::Open);
                wait_for(&session, |state| matches!(state, ConnectionState::Connected)).await;
                read_time(&session).await;
                assert_eq!(server.session_count(), 1, "{policy:?}");
            }
            session.close().await;
        }
    })
    .await;
}

/// Trusts what it is told to.
#[derive(Debug)]
struct Trust(Arc<AtomicBool>);

impl PeerCheck for Trust {
    fn check(&self, _certificates: &[Certificate], _now: Now) -> Result<(), ChannelError> {
        if self.0.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(ChannelError::new(status::BAD_CERTIFICATE_UNTRUSTED, "not trusted any more"))
    }
}

/// Case 038, step 5: a certificate that is not trusted is not tried for ever.
#[tokio::test]
async fn a_server_that_is_not_trusted_any_more_is_given_up() {
    let provider = &providers()[0];
    let server = secured_server(provider);
    let trusted = Arc::new(AtomicBool::new(true));
    let security = identities(provider, "client")
        .into_iter()
        .fold(Security::new(provider.clone(), Trust(Arc::clone(&trusted))), Security::identity)
        .any_host();
    beside(&server, async {
        let (relay, session) = returning(&server, Client::builder().security(security)).await;
        relay.set(Way::Closed);
        wait_for(&session, |state| matches!(state, ConnectionState::Reconnecting { .. })).await;
        trusted.store(false, Ordering::SeqCst);
        relay.set(Way::Open);
        let reason = tokio::time::timeout(Duration::from_secs(20), session.closed()).await.expect("in time");
        assert_eq!(reason.status(), status::BAD_CERTIFICATE_UNTRUSTED, "{reason}");
        let count = relay.count();
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(relay.count(), count, "it does not go on");
    })
    .await;
}
