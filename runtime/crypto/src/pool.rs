//! A bounded pool for private keys that take long, so that they never hold up a connection.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uaforge_channel::{ChannelError, Operation};
use uaforge_types::status;
use zeroize::Zeroizing;

use crate::{CryptoError, Oaep, PrivateKey, PublicKey, Signing};

type Job = Box<dyn FnOnce() + Send>;

/// Threads that work with private keys. They begin when there is work, and end when the pool is dropped.
#[derive(Clone)]
pub struct KeyPool {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
    threads: usize,
    waiting: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: usize,
    idle: usize,
    closed: bool,
}

struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.ready.notify_all();
    }
}

impl KeyPool {
    /// A pool of at most so many threads, before which so many operations may wait.
    #[must_use]
    pub fn new(threads: usize, waiting: usize) -> Self {
        let queue = Mutex::default();
        let shared = Arc::new(Shared { queue, ready: Condvar::new(), threads: threads.max(1), waiting });
        Self { _owner: Arc::new(Owner(Arc::clone(&shared))), shared }
    }

    /// The same key, at work in the pool if it is one of RSA; the others are too fast to be worth it.
    #[must_use]
    pub fn hold(&self, key: Arc<dyn PrivateKey>) -> Arc<dyn PrivateKey> {
        if key.public().kind().is_rsa() { Arc::new(Pooled { pool: self.clone(), key }) } else { key }
    }

    /// Does some work in the pool. It fails with Bad_TcpServerTooBusy if too much is waiting already.
    #[must_use]
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Operation<T> + Send + 'static,
    ) -> Operation<T> {
        let promise = Promise::default();
        let kept = Keeper(promise.clone());
        let mut queue = self.shared.lock();
        if queue.jobs.len() >= self.shared.waiting {
            let reason = "too many operations with private keys are waiting";
            return Operation::failed(ChannelError::new(status::BAD_TCP_SERVER_TOO_BUSY, reason));
        }
        queue.jobs.push_back(Box::new(move || kept.keep(work())));
        if queue.jobs.len() > queue.idle && queue.running < self.shared.threads {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("uaforge-keys".into());
            queue.running += usize::from(thread.spawn(move || shared.work()).is_ok());
        }
        drop(queue);
        self.shared.ready.notify_one();
        Operation::Pending(Box::pin(async move { promise.await.await }))
    }
}

impl fmt::Debug for KeyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPool").field("threads", &self.shared.threads).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut queue = self.lock();
            let job = loop {
                if let Some(job) = queue.jobs.pop_front() {
                    break job;
                }
                if queue.closed {
                    queue.running -= 1;
                    return;
                }
                queue.idle += 1;
                queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            };
            drop(queue);
            // A key that panics loses its own operation: its keeper tells whoever waits.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

/// A key whose operations are done by the pool.
#[derive(Debug)]
struct Pooled {
    pool: KeyPool,
    key: Arc<dyn PrivateKey>,
}

impl PrivateKey for Pooled {
    fn public(&self) -> &PublicKey {
        self.key.public()
    }

    fn sign(&self, signing: Signing, message: Vec<u8>) -> Operation<Vec<u8>> {
        let key = Arc::clone(&self.key);
        self.pool.run(move || key.sign(signing, message))
    }

    fn decrypt(&self, oaep: Oaep, blocks: Vec<u8>) -> Operation<Zeroizing<Vec<u8>>> {
        let key = Arc::clone(&self.key);
        self.pool.run(move || key.decrypt(oaep, blocks))
    }
}

/// What a job will bring.
struct Promise<T>(Arc<Mutex<Slot<T>>>);

struct Slot<T> {
    outcome: Option<Operation<T>>,
    waker: Option<Waker>,
}

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Slot { outcome: None, waker: None })))
    }
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Promise<T> {
    fn lock(&self) -> MutexGuard<'_, Slot<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Future for Promise<T> {
    type Output = Operation<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Operation<T>> {
        let mut slot = self.lock();
        if let Some(outcome) = slot.outcome.take() {
            return Poll::Ready(outcome);
        }
        slot.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Keeps a promise, with a failure if it is dropped before.
struct Keeper<T: Send + 'static>(Promise<T>);

impl<T: Send + 'static> Keeper<T> {
    fn keep(&self, outcome: Operation<T>) {
        let mut slot = self.0.lock();
        slot.outcome = Some(outcome);
        if let Some(waker) = slot.waker.take() {
            drop(slot);
            waker.wake();
        }
    }
}

impl<T: Send + 'static> Drop for Keeper<T> {
    fn drop(&mut self) {
        let unkept = self.0.lock().outcome.is_none() && Arc::strong_count(&self.0.0) > 1;
        if unkept {
            self.keep(Operation::failed(CryptoError.into()));
        }
    }
}
