//! What is sampled: one source for all items that monitor the same thing at the same interval.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use uaforge_codec::{
    DateTime, EncodeContext, Encoder, NodeId, Now, QualifiedName, QualifiedNameRef, StrRef, UaString,
};
use uaforge_nodes::{AttributeId, Listener, NodeClass, Snapshot, Timestamps, ValueCell};
use uaforge_types::TimestampsToReturn;

use super::arena::Key;
use super::sample::Sample;
use super::semantics::Semantics;
use crate::access::Access;
use crate::attribute;
use crate::binding::Hooks;
use crate::manager::{ReadItem, ReadSettings, encode_answer, level};
use crate::shared::Core;

/// What an item monitors (ReadValueId, OPC 10000-4 §7.29).
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) node: NodeId,
    pub(crate) attribute: u32,
    pub(crate) range: UaString,
    pub(crate) encoding: QualifiedName,
}

impl Target {
    fn range(&self) -> StrRef<'_> {
        text(&self.range)
    }

    /// The target as an item of a batch.
    pub(crate) fn item(&self, index: usize) -> ReadItem<'_> {
        ReadItem {
            index,
            node: self.node.as_ref(),
            attribute: self.attribute,
            range: self.range(),
            encoding: QualifiedNameRef {
                namespace_index: self.encoding.namespace_index,
                name: text(&self.encoding.name),
            },
        }
    }
}

fn text(text: &UaString) -> StrRef<'_> {
    StrRef(text.as_str().map(str::as_bytes))
}

/// Who shares a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceKey {
    pub(crate) target: Arc<Target>,
    pub(crate) access: Access,
    /// Nanoseconds; 0 reports every change.
    pub(crate) interval: u64,
}

/// How a source gets its values.
pub(crate) enum Kind {
    /// From a cell, without asking anybody.
    Cell { cell: Arc<ValueCell>, seen: u64, watch: Option<(usize, Arc<Watch>)> },
    /// By a read that only a change of the address space can give another result.
    Fixed,
    /// By a read each time.
    Read,
    /// From what is emitted: there is nothing to sample.
    Events,
}

/// One source.
pub(crate) struct Source {
    pub(crate) key: SourceKey,
    pub(crate) kind: Kind,
    pub(crate) items: Vec<Key>,
    pub(crate) last: Option<Sample>,
    /// The interval of the group it is sampled with, and its place there.
    pub(crate) group: Option<(u64, usize)>,
    /// A read is on its way: there is no second one beside it.
    pub(crate) reading: bool,
    /// What says what its values mean, if that can change.
    pub(crate) semantics: Option<Box<Semantics>>,
}

/// How the values of a target are got at.
pub(crate) fn kind(core: &Core, snapshot: &Snapshot, target: &Target) -> Kind {
    if target.attribute == attribute::EVENT_NOTIFIER {
        return Kind::Events;
    }
    let id = target.node.as_ref();
    if core.route(id) != 0 || core.nodes.live.is_live(id) || core.nodes.rights.0.is_some() {
        return Kind::Read;
    }
    let cell = snapshot.node(id).filter(|_| target.attribute == attribute::VALUE).and_then(|node| {
        let readable = node.class() != NodeClass::Variable
            || node.value_type().is_some_and(|value_type| value_type.access_level & level::CURRENT_READ != 0);
        node.cell().filter(|_| readable).cloned()
    });
    match cell {
        None => Kind::Fixed,
        Some(cell) if Hooks::of(&cell).and_then(Hooks::read).is_some() => Kind::Read,
        Some(cell) => Kind::Cell { cell, seen: 0, watch: None },
    }
}

/// Whether changes of a target's values are told, so that nobody has to look for them.
pub(crate) fn tells_changes(core: &Core, snapshot: &Snapshot, target: &Target) -> bool {
    !matches!(kind(core, snapshot, target), Kind::Read)
}

/// MinimumSamplingInterval of a Variable in milliseconds (OPC 10000-3 §5.6.2), if it states one above 0.
pub(crate) fn minimum_sampling(snapshot: &Snapshot, target: &Target) -> Option<f64> {
    let node = snapshot.node(target.node.as_ref()).filter(|_| target.attribute == attribute::VALUE)?;
    match node.attribute(AttributeId::MinimumSamplingInterval) {
        Ok(uaforge_nodes::AttributeValue::Double(interval)) if interval > 0.0 => Some(interval),
        _ => None,
    }
}

/// The time of a sample that is not stamped yet.
const UNSTAMPED: DateTime = DateTime(i64::MIN);

/// Takes a sample of a cell.
pub(crate) fn sample_cell(cell: &ValueCell, target: &Target, now: Option<Now>) -> Option<Sample> {
    let mut bytes = Vec::with_capacity(64);
    let mut e = Encoder::new(&mut bytes, EncodeContext::default());
    let server = now.map_or(UNSTAMPED, |now| now.utc);
    if target.range.is_empty() {
        cell.encode_data_value(&mut e, Timestamps { source: true, server: Some(server) });
    } else {
        let settings = settings(Access::default(), Now { utc: server, ..Now::default() });
        encode_answer(&mut e, target.attribute, target.range(), &settings, &cell.read());
    }
    let mut sample = Sample::parse(&bytes)?;
    if now.is_none() {
        sample.unstamp(UNSTAMPED);
    }
    Some(sample)
}

/// What a sample is read with: everything there is.
pub(crate) fn settings(access: Access, now: Now) -> ReadSettings {
    ReadSettings { access, timestamps: TimestampsToReturn::BOTH, max_age: 0.0, now }
}

/// Sources that have something to tell, and who waits for that.
#[derive(Default)]
pub(crate) struct Dirty {
    sources: Mutex<Vec<Key>>,
    /// So that one look tells that there are none.
    any: AtomicBool,
    pub(crate) wake: Notify,
}

impl Dirty {
    fn lock(&self) -> MutexGuard<'_, Vec<Key>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, source: Key) {
        self.lock().push(source);
        self.any.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Takes all of them.
    pub(crate) fn take(&self) -> Vec<Key> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut sources = self.lock();
        self.any.store(false, Ordering::Release);
        core::mem::take(&mut *sources)
    }
}

/// Bytes of samples that wait at one cell before the middle ones are dropped.
const MOST_BYTES: usize = 1 << 20;

/// Takes a sample at each change of a cell, on whichever thread that is.
pub(crate) struct Watch {
    source: Key,
    target: Arc<Target>,
    dirty: Arc<Dirty>,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    samples: VecDeque<Sample>,
    bytes: usize,
    /// Twice the longest queue that they go to: what is between the oldest and the newest of them, no queue
    /// would keep either.
    most: usize,
}

impl Watch {
    pub(crate) fn new(source: Key, target: Arc<Target>, dirty: Arc<Dirty>) -> Self {
        Self { source, target, dirty, pending: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the length of a queue that the samples go to.
    pub(crate) fn reserve(&self, queue_size: u32) {
        let mut pending = self.lock();
        pending.most = pending.most.max(2 * queue_size as usize);
    }

    /// Takes what has come.
    pub(crate) fn take(&self) -> VecDeque<Sample> {
        let mut pending = self.lock();
        pending.bytes = 0;
        core::mem::take(&mut pending.samples)
    }
}

impl Pending {
    fn push(&mut self, sample: Sample) {
        self.bytes += sample.weight();
        self.samples.push_back(sample);
        while self.samples.len() > 2 && (self.samples.len() > self.most.max(2) || self.bytes > MOST_BYTES) {
            if let Some(dropped) = self.samples.remove(self.samples.len() / 2) {
                self.bytes -= dropped.weight();
            }
        }
    }
}

impl Listener for Watch {
    fn changed(&self, cell: &ValueCell) {
        let first = {
            let mut pending = self.lock();
            // Under the lock, so that samples have the order of the changes.
            let Some(sample) = sample_cell(cell, &self.target, None) else { return };
            pending.push(sample);
            pending.samples.len() == 1
        };
        if first {
            self.dirty.push(self.source);
        }
    }
}

impl Source {
    /// Whether the meaning of its values has changed and nobody was told.
    pub(crate) fn has_other_semantics(&self) -> bool {
        self.semantics.as_ref().is_some_and(|semantics| semantics.has_changed())
    }

    /// Has a cell whose every change is to be reported tell of them.
    pub(crate) fn watch(&mut self, key: Key, dirty: &Arc<Dirty>) {
        if self.key.interval != 0 {
            return;
        }
        if let Kind::Cell { cell, watch: watch @ None, .. } = &mut self.kind {
            let watching = Arc::new(Watch::new(key, Arc::clone(&self.key.target), Arc::clone(dirty)));
            *watch = Some((cell.listen(Arc::clone(&watching) as Arc<dyn Listener>), watching));
        }
    }

    pub(crate) fn end_watch(&mut self) {
        if let Kind::Cell { cell, watch, .. } = &mut self.kind
            && let Some((listener, _)) = watch.take()
        {
            cell.unlisten(listener);
        }
    }

    /// Notes the length of a queue that the samples go to.
    pub(crate) fn reserve(&self, queue_size: u32) {
        if let Kind::Cell { watch: Some((_, watch)), .. } = &self.kind {
            watch.reserve(queue_size);
        }
    }

    /// Takes the samples of changes that were told.
    pub(crate) fn take_pending(&self) -> VecDeque<Sample> {
        match &self.kind {
            Kind::Cell { watch: Some((_, watch)), .. } => watch.take(),
            _ => VecDeque::new(),
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.end_watch();
    }
}
