//! Who drives the engine: samples what is due, reads what has to be read, publishes.

use core::task::{Context, Poll};

use uaforge_codec::{EncodeContext, Encoder, Now, Ticks};
use uaforge_nodes::Snapshot;
use uaforge_types::status;

use super::Subscriptions;
use super::arena::Key;
use super::engine::Engine;
use super::items::Place;
use super::sample::Sample;
use super::source::{SourceKey, settings};
use super::timers::Timer;
use crate::cancellation::{CancelReason, Scope};
use crate::manager::{Deferred, Late, ReadCx, ReadItem, contain, encode_answer, put_read_status, shield};
use crate::proto::results::{ResultBuffers, Results};
use crate::proto::tasks::Tasks;
use crate::shared::Core;

/// Sources that are read in one turn; then others have theirs.
const READS_PER_TURN: usize = 1_024;
/// Answers of handlers that are taken in one turn.
const ANSWERS_PER_TURN: usize = 4_096;
/// How often the sources look again who they are when the address space goes on changing.
const LOOK_AGAIN: core::time::Duration = core::time::Duration::from_millis(50);
/// Bytes that the index ranges of one batch may have looked at in vain.
const RANGE_WALK: usize = 64 << 20;

/// A read that a handler answers later.
struct LateRead {
    source: Key,
    scope: Scope,
    deferred: Deferred,
}

/// What the driver keeps from turn to turn.
#[derive(Default)]
pub(super) struct Driver {
    snapshot: Option<Snapshot>,
    looked: Ticks,
    /// Sources that wait for their turn to be read.
    reads: Vec<(Key, SourceKey)>,
    late: Tasks<LateRead>,
    /// Not later than the first deadline of a late read.
    earliest: Option<Ticks>,
    buffers: ResultBuffers,
    /// Samples that are read, on their way to the engine.
    samples: Vec<(Key, Sample)>,
}

impl Driver {
    /// One turn; when there is more to do. The task of `cx` is woken for late answers.
    pub(super) fn turn(
        &mut self,
        subscriptions: &Subscriptions,
        core: &Core,
        cx: &mut Context<'_>,
        now: Now,
    ) -> Ticks {
        self.sample(&mut subscriptions.lock(), core, now);
        self.read(core, now);
        self.take_late(core, cx, now);
        let mut engine = subscriptions.lock();
        for (source, sample) in self.samples.drain(..) {
            engine.take_read(source, sample);
        }
        engine.drain(now);
        engine.publish_due(now);
        let next = if self.reads.is_empty() && engine.unread.is_empty() {
            let next = engine.timers.next().unwrap_or(Ticks::NEVER);
            next.min(self.earliest.unwrap_or(Ticks::NEVER))
        } else {
            now.ticks
        };
        engine.sleeps_until = next;
        next
    }

    /// Takes the samples that are due, and notes what has to be read.
    fn sample(&mut self, engine: &mut Engine, core: &Core, now: Now) {
        engine.drain(now);
        let snapshot = self.snapshot.get_or_insert_with(|| core.space.snapshot());
        if now.ticks >= self.looked + LOOK_AGAIN && snapshot.refresh(&core.space) {
            self.looked = now.ticks;
            engine.look_again(Place { core, snapshot, now });
        }
        engine.sample_due(now);
        for key in core::mem::take(&mut engine.unread) {
            if let Some(source) = engine.sources.get(key) {
                self.reads.push((key, source.key.clone()));
            }
        }
    }

    /// Reads some of what waits: a batch for each manager and each kind of rights.
    fn read(&mut self, core: &Core, now: Now) {
        let turn = self.reads.len().min(READS_PER_TURN);
        let mut reads: Vec<(usize, Key, SourceKey)> = self
            .reads
            .drain(..turn)
            .map(|(key, source)| (core.route(source.target.node.as_ref()), key, source))
            .collect();
        let order = |read: &(usize, Key, SourceKey)| (read.0, read.2.access.user.0, read.2.access.roles.0);
        reads.sort_by_key(order);
        let batches = reads.chunk_by(|a, b| a.0 == b.0 && a.2.access == b.2.access);
        for batch in batches {
            self.read_batch(core, batch, now);
        }
    }

    fn read_batch(&mut self, core: &Core, batch: &[(usize, Key, SourceKey)], now: Now) {
        let Some((route, _, first)) = batch.first() else { return };
        let snapshot = self.snapshot.get_or_insert_with(|| core.space.snapshot());
        let items: Vec<ReadItem<'_>> =
            batch.iter().enumerate().map(|(index, read)| read.2.target.item(index)).collect();
        let (mut nothing, mut deferred) = (Vec::new(), Vec::new());
        let deadline = now.ticks + core.limits.max_request_timeout;
        let scope = Scope::new(deadline);
        let mut e = Encoder::new(&mut nothing, core.encode_context());
        let settings = settings(first.access, now);
        let mut cx = ReadCx {
            results: Results::apart(&mut e, &mut self.buffers, items.len(), put_read_status),
            timestamps: settings.of_cell(),
            settings,
            // A sample is for items of any session.
            locales: &[],
            walk_left: RANGE_WALK,
            pool: &core.blocking,
            scope: &scope,
            deferred: &mut deferred,
        };
        let node = first.target.node.as_ref();
        let done = match core.manager(*route) {
            None => shield("sampling", node, || {
                core.nodes.read(&mut cx, snapshot, core.decode_context(), &items);
            }),
            Some(manager) => contain("sampling", node, || manager.read(&mut cx, &items)),
        };
        if done.is_none() {
            cx.results.mend();
        }
        let samples = &mut self.samples;
        cx.results.each(status::BAD_INTERNAL_ERROR, |index, bytes| {
            if let Some(((_, key, _), sample)) = batch.get(index).zip(Sample::parse(bytes)) {
                samples.push((*key, sample));
            }
        });
        for deferred in deferred {
            let Some((_, source, _)) = batch.get(deferred.index) else { continue };
            self.earliest = Some(self.earliest.map_or(deadline, |earliest| earliest.min(deadline)));
            let scope = Scope::of(scope.token().clone());
            self.late.insert(LateRead { source: *source, scope, deferred });
        }
        self.buffers.trim(1 << 16);
    }

    /// Takes late answers, and gives up those whose time is over.
    fn take_late(&mut self, core: &Core, cx: &Context<'_>, now: Now) {
        let mut budget = ANSWERS_PER_TURN;
        while let Some((read, late)) =
            self.late.poll_woken(cx, &mut budget, |read, cx| read.deferred.poll(cx))
        {
            self.samples.push((read.source, late_sample(core.encode_context(), late, now)));
        }
        if self.earliest.is_some_and(|earliest| earliest <= now.ticks) {
            let (samples, mut earliest) = (&mut self.samples, None::<Ticks>);
            self.late.retain(|read| {
                let deadline = read.scope.deadline();
                let is_over = deadline <= now.ticks;
                if is_over {
                    read.scope.token().fire(CancelReason::Timeout);
                    samples.push((read.source, Sample::from_status(status::BAD_TIMEOUT, now.utc)));
                } else {
                    earliest = Some(earliest.map_or(deadline, |earliest| earliest.min(deadline)));
                }
                !is_over
            });
            self.earliest = earliest;
        } else if self.late.len() == 0 {
            self.earliest = None;
        }
    }
}

/// The sample of a late answer.
fn late_sample(context: EncodeContext<'_>, late: Late, now: Now) -> Sample {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, context);
    match late {
        Late::Value(value) => {
            let (value, target) = *value;
            let settings = crate::manager::ReadSettings { now, ..target.settings };
            match target.check(&value) {
                Err(status) => return Sample::from_status(status, now.utc),
                Ok(()) => encode_answer(&mut e, target.attribute, target.range(), &settings, &value),
            }
        }
        Late::Status(status) => return Sample::from_status(status, now.utc),
        _ => return Sample::from_status(status::BAD_INTERNAL_ERROR, now.utc),
    }
    let sample = e.error().is_none().then(|| Sample::parse(&bytes)).flatten();
    sample.unwrap_or_else(|| Sample::from_status(status::BAD_ENCODING_ERROR, now.utc))
}

impl Engine {
    /// Takes a sample that was read.
    fn take_read(&mut self, key: Key, sample: Sample) {
        if let Some(source) = self.sources.get_mut(key) {
            source.reading = false;
            self.deliver(key, sample);
        }
    }

    /// Samples the groups whose time has come.
    fn sample_due(&mut self, now: Now) {
        while let Some((at, interval)) = self.timers.pop_group(now.ticks) {
            self.sample_group(interval, at, now);
        }
    }

    /// Lets the publishing timers expire whose time has come.
    fn publish_due(&mut self, now: Now) {
        while let Some((at, timer)) = self.timers.pop(now.ticks) {
            match timer {
                Timer::Group(interval) => self.sample_group(interval, at, now),
                Timer::Publish(id) => self.expire(id, at, now),
                Timer::Session(session) => self.expire_requests(session, at, now.ticks),
            }
        }
    }
}

/// Drives the subscriptions until it is dropped.
pub(crate) async fn drive(core: std::sync::Arc<Core>) {
    loop {
        let now = uaforge_net::clock();
        let mut told = core::pin::pin!(core.subscriptions.told());
        let next = core::future::poll_fn(|cx| Poll::Ready(core.subscriptions.turn(&core, cx, now))).await;
        if next <= now.ticks {
            tokio::task::yield_now().await;
            continue;
        }
        let mut timer = core::pin::pin!(uaforge_net::sleep_until(next));
        // Any wake is a reason to look: of the timer, of a change, of a handler that has answered.
        let mut woken = false;
        core::future::poll_fn(|cx| {
            use core::future::Future as _;
            if core::mem::replace(&mut woken, true)
                || told.as_mut().poll(cx).is_ready()
                || timer.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}
