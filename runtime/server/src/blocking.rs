//! A bounded pool of threads for handlers that have to block; threads start with the first job.
//!
//! A job that goes on after its request is over does not count as one of the pool's: as long as there are not
//! too many of them, another thread takes its place.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use uaforge_codec::StatusCode;
use uaforge_types::status;

use crate::cancellation::Cancellation;

/// A job, and the token of the request it works for.
struct Job {
    token: Cancellation,
    work: Box<dyn FnOnce() + Send>,
}

/// The pool. Dropping it lets the threads end once their job is done.
#[derive(Clone)]
pub(crate) struct BlockingPool {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
    threads: usize,
    /// Threads that may hang beside them.
    hanging: usize,
    waiting: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    idle: usize,
    /// All threads.
    running: usize,
    /// The tokens of the jobs that are at work.
    working: Vec<Cancellation>,
    closed: bool,
}

impl Queue {
    /// Threads whose job goes on though its request is over.
    fn hanging(&self) -> usize {
        self.working.iter().filter(|token| token.is_cancelled()).count()
    }
}

struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.ready.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread if a job waits for one and there may be one more.
    fn staff(self: &Arc<Self>, queue: &mut Queue) {
        if queue.jobs.len() <= queue.idle {
            return;
        }
        let hanging = queue.hanging().min(self.hanging);
        if queue.running >= self.threads + hanging {
            return;
        }
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("uaforge-blocking".into());
        if thread.spawn(move || shared.work()).is_ok() {
            queue.running += 1;
        }
    }

    fn work(&self) {
        loop {
            let mut queue = self.lock();
            let job = loop {
                if let Some(job) = queue.jobs.pop_front() {
                    break job;
                }
                // Whoever replaced a thread that hung goes when that comes back.
                if queue.closed || queue.running - queue.hanging().min(queue.running) > self.threads {
                    queue.running -= 1;
                    return;
                }
                queue.idle += 1;
                queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            };
            queue.working.push(job.token.clone());
            drop(queue);
            (job.work)();
            let mut queue = self.lock();
            if let Some(at) = queue.working.iter().position(|token| token.is(&job.token)) {
                queue.working.swap_remove(at);
            }
        }
    }
}

/// The result of a blocking job; Bad_ResourceUnavailable if the queue was full, Bad_InternalError if the job
/// panicked, and why the request ended if that was before a thread was free.
pub(crate) struct BlockingResult<T>(Option<oneshot::Receiver<Result<T, StatusCode>>>);

impl<T> Future for BlockingResult<T> {
    type Output = Result<T, StatusCode>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, StatusCode>> {
        match &mut self.0 {
            None => Poll::Ready(Err(status::BAD_RESOURCE_UNAVAILABLE)),
            Some(receiver) => {
                Pin::new(receiver).poll(cx).map(|sent| sent.unwrap_or(Err(status::BAD_INTERNAL_ERROR)))
            }
        }
    }
}

impl BlockingPool {
    pub(crate) fn new(threads: usize, hanging: usize, waiting: usize) -> Self {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            ready: Condvar::new(),
            threads: threads.max(1),
            hanging,
            waiting,
        });
        let owner = Arc::new(Owner(Arc::clone(&shared)));
        Self { shared, _owner: owner }
    }

    /// Queues a job. The pool never grows above its threads, the queue never above its bound. A job whose
    /// request is over before a thread is free is not begun.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        token: Cancellation,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> BlockingResult<T> {
        let (sender, receiver) = oneshot::channel();
        let mut queue = self.shared.lock();
        if queue.jobs.len() >= self.shared.waiting {
            return BlockingResult(None);
        }
        let asked = token.clone();
        let work = Box::new(move || {
            let result = match asked.reason() {
                Some(reason) => Err(reason.status()),
                None => catch_unwind(AssertUnwindSafe(job)).map_err(|_| status::BAD_INTERNAL_ERROR),
            };
            let _ = sender.send(result);
        });
        queue.jobs.push_back(Job { token, work });
        self.shared.staff(&mut queue);
        if queue.running == 0 {
            queue.jobs.pop_back();
            return BlockingResult(None);
        }
        drop(queue);
        self.shared.ready.notify_one();
        BlockingResult(Some(receiver))
    }

    /// Gives jobs that wait another thread if those that are at work hang.
    pub(crate) fn relieve(&self) {
        self.shared.staff(&mut self.shared.lock());
    }
}
