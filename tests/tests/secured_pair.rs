//! Secured channels in virtual time: renewal for days, both tokens, and chunks that somebody in between
//! replays, reorders, drops or changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use uaforge_channel::{Operation, security_checks_failed};
use uaforge_codec::{Entropy, SeededEntropy};
use uaforge_crypto::{
    AcceptAny, Aead, AeadKey, Agreement, CipherKey, CryptoError, Curve, Hash, Identity, KeyKind, MacKey,
    Oaep, Policy, PolicySecurity, PrivateKey, Provider, PublicKey, SharedProvider, Signing, Zeroizing,
};
use uaforge_tests::pair::{Pair, PairConfig};
use uaforge_tests::pki::{identity, pki_file, providers};
use uaforge_types::{MessageSecurityMode, status};

const MODES: [MessageSecurityMode; 2] = [MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT];

/// Policies whose certificates are among the vectors.
fn policies() -> impl Iterator<Item = &'static Policy> {
    Policy::ALL
        .into_iter()
        .filter(|policy| policy.accepts(KeyKind::Rsa(2048)) || policy.accepts(KeyKind::P256))
}

fn config(
    policy: &'static Policy,
    mode: MessageSecurityMode,
    provider: &SharedProvider,
) -> PairConfig<PolicySecurity> {
    let kind = if policy.accepts(KeyKind::Rsa(2048)) { "rsa2048" } else { "p256" };
    let own = |side: &str| identity(provider, &format!("{side}-{kind}"));
    let certificate = pki_file(&format!("server-{kind}.cert.der"));
    let accept = Arc::new(AcceptAny);
    let client =
        PolicySecurity::client(policy, provider.clone(), own("client"), &certificate, accept.clone());
    let server = PolicySecurity::server(policy, provider.clone(), own("server"), accept);
    let mut config = PairConfig::with_policies(client.expect("a policy"), server.expect("a policy"));
    config.mode = mode;
    config
}

#[test]
fn messages_of_every_length() {
    let provider = &providers()[0];
    for policy in policies() {
        for mode in MODES {
            let mut config = config(policy, mode, provider);
            config.client_limits.send_buffer = 8192;
            config.server_limits.send_buffer = 8197;
            config.piece = 5000;
            let mut pair = Pair::open(config);
            let mut dice = SeededEntropy::new(3);
            let sizes = (0..40).chain(8060..8200).chain([16_300, 16_384, 100_000]);
            let bodies: Vec<Vec<u8>> = sizes
                .map(|size| {
                    let mut body = vec![0; size.max(1)];
                    dice.fill(&mut body);
                    body
                })
                .collect();
            let sent: Vec<(u32, Vec<u8>)> =
                bodies.iter().map(|body| (pair.send(body).expect("sent"), body.clone())).collect();
            pair.settle();
            assert!(pair.responses == sent, "{policy:?} {mode:?}: {:?}", pair.failure);
            assert_eq!(pair.client.thumbprint(), pair.server.thumbprint());
            assert_eq!(pair.client.thumbprint().is_some(), policy.enhanced);
        }
    }
}

/// Three days with a token a minute, under load, with chunks in flight.
#[test]
fn tokens_are_renewed_for_days() {
    let provider = &providers()[0];
    for policy in [&Policy::BASIC256_SHA256, &Policy::ECC_NIST_P256, &Policy::ECC_NIST_P256_AES_GCM] {
        let mut config = config(policy, MessageSecurityMode::SIGN_AND_ENCRYPT, provider);
        config.lifetime = Duration::from_secs(60);
        config.latency = Duration::from_secs(1);
        let mut pair = Pair::open(config);
        let hours = if policy.signature_uri.is_empty() { 72 } else { 24 };
        let mut sent = Vec::new();
        for minute in 0..hours * 60_u32 {
            let body = minute.to_le_bytes().repeat(1 + minute as usize % 20_000 / 4);
            sent.push((pair.send(&body).expect("sent"), body));
            pair.pass(Duration::from_secs(60));
            assert_eq!(pair.failure, None, "{policy:?} after {minute} minutes");
        }
        pair.settle();
        assert!(pair.responses == sent, "{policy:?}");
        assert!(pair.client.is_open() && pair.server.is_open());
    }
}

/// What an attacker does with chunks on their way to the server.
#[test]
fn chunks_that_were_tampered_with_close_the_channel() {
    let provider = &providers()[0];
    type Attack = fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>;
    let attacks: [(&str, Attack); 6] = [
        ("replayed", |chunks| vec![chunks[0].clone(), chunks[0].clone()]),
        ("reordered", |chunks| vec![chunks[1].clone(), chunks[0].clone()]),
        ("dropped", |chunks| vec![chunks[1].clone()]),
        ("changed", |mut chunks| {
            chunks[0][40] ^= 1;
            chunks
        }),
        ("stripped", |mut chunks| {
            let len = chunks[0].len() - 16;
            chunks[0].truncate(len);
            chunks[0][4..8].copy_from_slice(&u32::try_from(len).expect("short").to_le_bytes());
            chunks
        }),
        ("in clear", |mut chunks| {
            chunks[0].truncate(24);
            chunks[0][16..24].copy_from_slice(&[2, 0, 0, 0, 2, 0, 0, 0]);
            chunks[0][4..8].copy_from_slice(&24_u32.to_le_bytes());
            chunks
        }),
    ];
    for policy in policies() {
        for mode in MODES {
            for (name, attack) in &attacks {
                let mut pair = Pair::open(config(policy, mode, provider));
                let chunks = (0..2).map(|_| {
                    pair.send(&[7; 100]).expect("sent");
                    pair.take_up()
                });
                let chunks: Vec<Vec<u8>> = chunks.collect();
                attack(chunks).iter().for_each(|chunk| pair.inject(chunk));
                pair.settle();
                let error = pair.server.error().unwrap_or_else(|| panic!("{policy:?} {mode:?} {name}"));
                let expected = [status::BAD_SECURITY_CHECKS_FAILED, status::BAD_SEQUENCE_NUMBER_INVALID];
                assert!(expected.contains(&error.status), "{name}: {error}");
                assert!(pair.server.is_closed() && pair.client.is_closed(), "{name}");
            }
        }
    }
}

/// Counts what is done with keys.
#[derive(Debug)]
struct Counting {
    inner: SharedProvider,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    decrypts: AtomicUsize,
    verifies: AtomicUsize,
    signs: AtomicUsize,
}

impl Counts {
    fn take(&self) -> [usize; 3] {
        [&self.decrypts, &self.verifies, &self.signs].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[derive(Debug)]
struct Counted<T: ?Sized>(Arc<Counts>, T);

impl MacKey for Counted<Box<dyn MacKey>> {
    fn sign(&self, message: &[u8], tag: &mut [u8]) {
        self.1.sign(message, tag);
    }

    fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        count(&self.0.verifies);
        self.1.verify(message, tag)
    }
}

impl CipherKey for Counted<Box<dyn CipherKey>> {
    fn encrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        self.1.encrypt(blocks)
    }

    fn decrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        count(&self.0.decrypts);
        self.1.decrypt(blocks)
    }
}

impl AeadKey for Counted<Box<dyn AeadKey>> {
    fn seal(
        &self,
        nonce: [u8; 12],
        plain: &[u8],
        text: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), CryptoError> {
        self.1.seal(nonce, plain, text, tag)
    }

    fn open(&self, nonce: [u8; 12], plain: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), CryptoError> {
        count(&self.0.decrypts);
        self.1.open(nonce, plain, text, tag)
    }
}

impl PrivateKey for Counted<Arc<dyn PrivateKey>> {
    fn public(&self) -> &PublicKey {
        self.1.public()
    }

    fn sign(&self, signing: Signing, message: Vec<u8>) -> Operation<Vec<u8>> {
        count(&self.0.signs);
        self.1.sign(signing, message)
    }

    fn decrypt(&self, oaep: Oaep, blocks: Vec<u8>) -> Operation<Zeroizing<Vec<u8>>> {
        count(&self.0.decrypts);
        self.1.decrypt(oaep, blocks)
    }
}

impl Provider for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn digest(&self, hash: Hash, data: &[u8]) -> Vec<u8> {
        self.inner.digest(hash, data)
    }

    fn mac(&self, hash: Hash, key: &[u8]) -> Box<dyn MacKey> {
        Box::new(Counted(Arc::clone(&self.counts), self.inner.mac(hash, key)))
    }

    fn hkdf(
        &self,
        hash: Hash,
        secret: &[u8],
        salt: &[u8],
        info: &[u8],
        out: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.inner.hkdf(hash, secret, salt, info, out)
    }

    fn cbc(&self, key: &[u8], iv: [u8; 16]) -> Result<Box<dyn CipherKey>, CryptoError> {
        Ok(Box::new(Counted(Arc::clone(&self.counts), self.inner.cbc(key, iv)?)))
    }

    fn aead(&self, algorithm: Aead, key: &[u8]) -> Result<Box<dyn AeadKey>, CryptoError> {
        Ok(Box::new(Counted(Arc::clone(&self.counts), self.inner.aead(algorithm, key)?)))
    }

    fn ephemeral(&self, curve: Curve, entropy: &mut dyn Entropy) -> Result<Box<dyn Agreement>, CryptoError> {
        self.inner.ephemeral(curve, entropy)
    }

    fn verify(&self, signing: Signing, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        count(&self.counts.verifies);
        self.inner.verify(signing, key, message, signature)
    }

    fn encrypt(&self, oaep: Oaep, key: &PublicKey, block: &[u8]) -> Result<Vec<u8>, CryptoError> {
        self.inner.encrypt(oaep, key, block)
    }

    fn private_key(&self, pkcs8: &[u8]) -> Result<Arc<dyn PrivateKey>, CryptoError> {
        let key = self.inner.private_key(pkcs8)?;
        Ok(Arc::new(Counted(Arc::clone(&self.counts), key)))
    }

    fn generate(&self, kind: KeyKind) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        self.inner.generate(kind)
    }
}

/// Every bit of a chunk that decryption, padding and signature depend on leads to the same error after the same
/// number of operations.
#[test]
fn nothing_tells_one_failure_from_another() {
    let counts = Arc::new(Counts::default());
    let server: SharedProvider =
        Arc::new(Counting { inner: providers()[0].clone(), counts: Arc::clone(&counts) });
    for policy in policies() {
        for mode in MODES {
            let mut seen = Vec::new();
            for bit in [0, 3, 100, 400, 700, 900] {
                let mut counted = config(policy, mode, &providers()[0]);
                counted.server_policy = config(policy, mode, &server).server_policy;
                let mut pair = Pair::open(counted);
                counts.take();
                pair.send(&[7; 100]).expect("sent");
                let mut chunk = pair.take_up();
                chunk[16 + bit / 8] ^= 1 << (bit % 8);
                pair.inject(&chunk);
                pair.settle();
                seen.push((pair.server.error().cloned(), pair.failure.clone(), counts.take()));
            }
            assert_eq!(seen[0].0, Some(security_checks_failed()), "{policy:?} {mode:?}");
            assert!(seen.iter().all(|one| *one == seen[0]), "{policy:?} {mode:?}: {seen:?}");
        }
    }
}

/// The same of OpenSecureChannel messages: wrong blocks, wrong signature, wrong nonce.
#[test]
fn nothing_tells_one_failed_handshake_from_another() {
    let counts = Arc::new(Counts::default());
    let server: SharedProvider =
        Arc::new(Counting { inner: providers()[0].clone(), counts: Arc::clone(&counts) });
    for policy in policies() {
        let mode = MessageSecurityMode::SIGN_AND_ENCRYPT;
        let mut seen = Vec::new();
        for from_end in [1, 30, 200, 300, 500] {
            let mut counted = config(policy, mode, &providers()[0]);
            counted.server_policy = config(policy, mode, &server).server_policy;
            let mut pair = Pair::new(counted);
            pair.deliver_hello();
            counts.take();
            let mut chunk = pair.take_up();
            let plain = chunk.len() - if policy.signature_uri.is_empty() { 180 } else { 512 };
            let at = (chunk.len() - from_end).max(plain);
            chunk[at] ^= 1;
            pair.inject(&chunk);
            pair.settle();
            seen.push((pair.server.error().cloned(), pair.failure.clone(), counts.take()));
        }
        assert_eq!(seen[0].0, Some(security_checks_failed()), "{policy:?}");
        assert!(seen.iter().all(|one| *one == seen[0]), "{policy:?}: {seen:?}");
        assert_eq!(seen[0].2[2], 0, "nothing is signed for whoever proved nothing");
    }
}

/// A key whose thread answers through a channel, as a token would.
#[derive(Debug)]
struct Token {
    public: PublicKey,
    jobs: std::sync::mpsc::Sender<Job>,
}

type Done = Box<dyn FnOnce(&dyn PrivateKey) + Send>;
struct Job(Done);

impl Token {
    fn new(key: Arc<dyn PrivateKey>, pause: Duration) -> Self {
        let (jobs, todo) = std::sync::mpsc::channel::<Job>();
        let public = key.public().clone();
        std::thread::spawn(move || {
            for Job(job) in todo {
                std::thread::sleep(pause);
                job(&*key);
            }
        });
        Self { public, jobs }
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn PrivateKey) -> Operation<T> + Send + 'static,
    ) -> Operation<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let job = Job(Box::new(move |key| drop(sender.send(work(key)))));
        self.jobs.send(job).expect("the thread lives");
        Operation::Pending(Box::pin(async move { receiver.await.expect("an answer").await }))
    }
}

impl PrivateKey for Token {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&self, signing: Signing, message: Vec<u8>) -> Operation<Vec<u8>> {
        self.run(move |key| key.sign(signing, message))
    }

    fn decrypt(&self, oaep: Oaep, blocks: Vec<u8>) -> Operation<Zeroizing<Vec<u8>>> {
        self.run(move |key| key.decrypt(oaep, blocks))
    }
}

/// 100 channels through a slow token, all at once: a session that is there waits for none of them.
#[tokio::test]
async fn a_slow_token_holds_nobody_up() {
    use uaforge::client::{Client, Security};
    use uaforge::server::{Security as ServerSecurity, Server};
    const OPENING: usize = 100;
    let pause = Duration::from_millis(10);
    let provider = &providers()[0];
    let own = identity(provider, "server-p256");
    let token = Arc::new(Token::new(Arc::clone(own.key()), pause));
    let slow = Identity::new(&**provider, own.chain(), token).expect("an identity");
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .application_uri("urn:uaforge:vec:server")
        .security(ServerSecurity::new(provider.clone(), AcceptAny).identity(slow))
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built");
    let url = server.endpoints()[0].clone();
    let client = || {
        let security = Security::new(provider.clone(), AcceptAny);
        let security =
            security.identity(identity(provider, "client-p256")).policies(&[&Policy::ECC_NIST_P256]);
        let patience = Duration::from_secs(60);
        Client::builder().security(security).connect_timeout(patience).request_timeout(patience)
    };
    let test = async {
        let plain = Client::builder().insecure().connect(&url).await.expect("a session");
        let opening: Vec<_> = (0..OPENING)
            .map(|_| {
                let (client, url) = (client(), url.clone());
                tokio::spawn(async move { client.connect(&url).await.map(drop) })
            })
            .collect();
        let time = uaforge_codec::NodeId::numeric(0, 2258);
        let (mut reads, mut longest) = (0_usize, Duration::ZERO);
        while opening.iter().any(|task| !task.is_finished()) {
            let before = uaforge_net::clock().ticks;
            plain.read_value(&time).await.expect("the time");
            longest = longest.max(uaforge_net::clock().ticks.since(before));
            reads += 1;
        }
        for task in opening {
            task.await.expect("a task").expect("a session");
        }
        // Two signatures each, one after the other; nobody else waits for more than a scheduler's moment.
        assert!(reads > OPENING, "{reads} reads");
        assert!(longest < pause * 2 * u32::try_from(OPENING).expect("small") / 2, "{longest:?}");
    };
    tokio::select! {
        () = test => {}
        stopped = server.run_until(std::future::pending::<()>()) => panic!("{stopped:?}"),
    }
}
