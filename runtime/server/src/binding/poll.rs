//! Closures that are asked at fixed times, and whose answers the cells of their Variables take.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinSet;
use uaforge_codec::{DataValue, DateTime, NodeId, Now, StatusCode, Ticks};
use uaforge_nodes::ValueCell;
use uaforge_types::status;

use super::Bindable;
use super::reading::Reading;
use super::simulation::Simulation;
use crate::Server;
use crate::blocking::BlockingPool;
use crate::cancellation::Cancellation;
use crate::manager::contain;

/// Shortest interval; a shorter one is taken as this.
const SHORTEST: Duration = Duration::from_millis(1);

type LateReading = Pin<Box<dyn Future<Output = DataValue> + Send>>;

/// Who is asked. The times are that of the timetable since the start of the server, and now.
enum Ask {
    Now(Box<dyn Fn(Duration, DateTime) -> DataValue + Send + Sync>),
    Late(Box<dyn Fn() -> LateReading + Send + Sync>),
    Blocking(Arc<dyn Fn() -> DataValue + Send + Sync>),
}

/// One poll.
struct Entry {
    node: NodeId,
    cell: Arc<ValueCell>,
    ask: Ask,
    /// An answer is on its way: the poll does not overlap with itself.
    busy: AtomicBool,
    stopped: AtomicBool,
}

/// A poll that runs; dropping the handle lets it run on.
#[derive(Clone)]
pub struct PollHandle {
    entry: Arc<Entry>,
}

impl PollHandle {
    /// Ends the poll. An answer that is on its way is not stored any more.
    pub fn stop(&self) {
        self.entry.stopped.store(true, Ordering::Release);
    }
}

impl fmt::Debug for PollHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PollHandle").field(&self.entry.node).finish()
    }
}

impl Entry {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Stores an answer; a failure becomes the status and keeps the value.
    fn take(&self, answer: &DataValue) {
        self.busy.store(false, Ordering::Release);
        if self.is_stopped() {
            return;
        }
        let source = answer.source_timestamp();
        match answer.value() {
            Some(value) => self.cell.write(value.clone(), answer.status_or_good(), source, None),
            None => self.cell.set_status(answer.status_or_good(), source),
        }
    }

    fn fail(&self, status: StatusCode, now: DateTime) {
        self.take(&DataValue::from_status(status).with_source_timestamp(Some(now)));
    }

    /// Asks once, unless the last answer is still on its way. `Some`: the answer comes later.
    fn start(self: &Arc<Self>, at: Duration, now: DateTime, pool: &BlockingPool) -> Option<LateReading> {
        if self.is_stopped() || self.busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        let node = self.node.as_ref();
        match &self.ask {
            Ask::Now(ask) => {
                match contain("poll_every", node, || ask(at, now)) {
                    Some(answer) => self.take(&answer),
                    None => self.fail(status::BAD_INTERNAL_ERROR, now),
                }
                None
            }
            Ask::Late(ask) => {
                let late = contain("poll_every", node, ask);
                if late.is_none() {
                    self.fail(status::BAD_INTERNAL_ERROR, now);
                }
                late
            }
            Ask::Blocking(ask) => {
                let ask = Arc::clone(ask);
                let answer = pool.run(Cancellation::new(Ticks::NEVER), move || ask());
                Some(Box::pin(async move { answer.await.unwrap_or_else(DataValue::from_status) }))
            }
        }
    }

    /// Waits for an answer, however it ends.
    async fn finish(self: Arc<Self>, mut late: LateReading) {
        let answer = core::future::poll_fn(|cx| {
            let polled = contain("poll_every", self.node.as_ref(), || late.as_mut().poll(cx));
            polled.map_or(core::task::Poll::Ready(None), |polled| polled.map(Some))
        });
        match answer.await {
            Some(answer) => self.take(&answer),
            None => self.fail(status::BAD_INTERNAL_ERROR, uaforge_net::clock().utc),
        }
    }
}

/// Polls with the same interval.
#[derive(Default)]
struct Group {
    /// When they are due next.
    due: Option<Ticks>,
    entries: Vec<Arc<Entry>>,
}

#[derive(Default)]
struct Timetable {
    groups: BTreeMap<Duration, Group>,
    /// Polls that were not asked yet.
    new: Vec<Arc<Entry>>,
}

/// All polls of a server. Each interval has one timer, whose times are whole multiples of the interval
/// since the server's start: they do not drift, and one that is missed is skipped.
pub(crate) struct Polls {
    start: Ticks,
    timetable: Mutex<Timetable>,
    changed: Notify,
}

/// A poll whose time has come, and that time since the server's start.
type Due = (Arc<Entry>, Duration);

impl Polls {
    pub(crate) fn new(start: Ticks) -> Self {
        Self { start, timetable: Mutex::default(), changed: Notify::new() }
    }

    /// When the timetable begins.
    pub(crate) fn start(&self) -> Ticks {
        self.start
    }

    fn lock(&self) -> MutexGuard<'_, Timetable> {
        self.timetable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, interval: Duration, entry: Entry) -> PollHandle {
        let entry = Arc::new(entry);
        let mut timetable = self.lock();
        timetable.groups.entry(interval.max(SHORTEST)).or_default().entries.push(Arc::clone(&entry));
        timetable.new.push(Arc::clone(&entry));
        drop(timetable);
        self.changed.notify_one();
        PollHandle { entry }
    }

    /// What is due, and when there is more to do. New polls are due at once and then at the times of their
    /// interval.
    fn due(&self, now: Ticks) -> (Vec<Due>, Option<Ticks>) {
        let mut timetable = self.lock();
        let since_start = now.since(self.start);
        let mut due: Vec<Due> = timetable.new.drain(..).map(|entry| (entry, since_start)).collect();
        let mut next: Option<Ticks> = None;
        timetable.groups.retain(|interval, group| {
            group.entries.retain(|entry| !entry.is_stopped());
            let (before, after) = (self.multiple(*interval, now, 0), self.multiple(*interval, now, 1));
            if group.due.is_some_and(|at| at <= now) {
                let at = before.since(self.start);
                due.extend(group.entries.iter().map(|entry| (Arc::clone(entry), at)));
            }
            group.due = Some(after);
            let stays = !group.entries.is_empty();
            if stays {
                next = Some(next.map_or(after, |next| next.min(after)));
            }
            stays
        });
        (due, next)
    }

    /// The last time of an interval that is not after `now`, or a later one.
    fn multiple(&self, interval: Duration, now: Ticks, later: u128) -> Ticks {
        let interval = interval.as_nanos().max(1);
        let count = now.since(self.start).as_nanos() / interval + later;
        let nanos = u64::try_from(count.saturating_mul(interval)).unwrap_or(u64::MAX);
        self.start + Duration::from_nanos(nanos)
    }

    /// Asks what is due; answers that come later go to `late`. When there is more to do.
    fn ask(
        &self,
        now: Now,
        pool: &BlockingPool,
        mut late: impl FnMut(Arc<Entry>, LateReading),
    ) -> Option<Ticks> {
        let (due, next) = self.due(now.ticks);
        for (entry, at) in due {
            if let Some(reading) = entry.start(at, now.utc, pool) {
                late(entry, reading);
            }
        }
        next
    }

    /// Asks at all times, until it is dropped.
    pub(crate) async fn run(&self, pool: &BlockingPool) {
        let mut answers = JoinSet::new();
        loop {
            let next = self.ask(uaforge_net::clock(), pool, |entry, late| {
                answers.spawn(entry.finish(late));
            });
            tokio::select! {
                () = uaforge_net::sleep_until(next.unwrap_or(Ticks::NEVER)) => {}
                () = self.changed.notified() => {}
                Some(_) = answers.join_next() => {}
            }
        }
    }
}

impl Server {
    /// Asks a closure for the value of a Variable, now and then every `interval` while the server runs.
    ///
    /// The times are whole multiples of the interval since the server's start: they do not drift, and when
    /// one was missed the poll goes on with the next instead of catching up. A failure becomes the status
    /// of the Variable, which keeps its value. The closure must not block or wait. An interval below 1 ms
    /// counts as 1 ms.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn poll_every<V: Bindable, R: Reading<V::Value>>(
        &self,
        variable: &V,
        interval: Duration,
        read: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<PollHandle, StatusCode> {
        self.poll(variable, interval, Ask::Now(Box::new(move |_, now| read().into_data_value(now))))
    }

    /// As [`Server::poll_every`], with a closure whose answer takes time. As long as it is not there, the
    /// closure is not asked again.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn poll_every_async<V: Bindable, F>(
        &self,
        variable: &V,
        interval: Duration,
        read: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<PollHandle, StatusCode>
    where
        F: Future<Output: Reading<V::Value>> + Send + 'static,
    {
        let ask = move || -> LateReading {
            let reading = read();
            Box::pin(async move { reading.await.into_data_value(uaforge_net::clock().utc) })
        };
        self.poll(variable, interval, Ask::Late(Box::new(ask)))
    }

    /// As [`Server::poll_every_async`], with a closure that may block: it runs on a bounded pool of threads.
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn poll_every_blocking<V: Bindable, R: Reading<V::Value>>(
        &self,
        variable: &V,
        interval: Duration,
        read: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<PollHandle, StatusCode> {
        let ask = move || read().into_data_value(uaforge_net::clock().utc);
        self.poll(variable, interval, Ask::Blocking(Arc::new(ask)))
    }

    /// Has a Variable follow a function of time, evaluated every `interval` at whole multiples of it since
    /// the server's start; see [`simulation`](crate::simulation).
    ///
    /// # Errors
    /// There is no such Variable.
    pub fn simulate<V: Bindable>(
        &self,
        variable: &V,
        interval: Duration,
        function: impl Simulation<V::Value>,
    ) -> Result<PollHandle, StatusCode>
    where
        V::Value: uaforge_codec::IntoVariant + Send + 'static,
    {
        let ask = move |at, now| function.at(at).into_data_value(now);
        self.poll(variable, interval, Ask::Now(Box::new(ask)))
    }

    /// Asks the closures of polls and simulations that are due at `now`; when there are more. For tests in
    /// virtual time: [`Server::run_until`] does it in real time. Answers that take time are not waited for.
    pub fn poll_due(&self, now: Now) -> Option<Ticks> {
        let core = self.core();
        core.polls.ask(now, &core.blocking, |entry, _| entry.busy.store(false, Ordering::Release))
    }

    fn poll<V: Bindable>(
        &self,
        variable: &V,
        interval: Duration,
        ask: Ask,
    ) -> Result<PollHandle, StatusCode> {
        let handle = variable.handle(self)?;
        let entry = Entry {
            node: handle.id().clone(),
            cell: Arc::clone(handle.cell()),
            ask,
            busy: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        };
        Ok(self.core().polls.add(interval, entry))
    }
}
