//! Samples on their way from sources to the queues of items.

use core::time::Duration;

use uaforge_codec::{Now, Ticks};
use uaforge_types::MonitoringMode;

use super::arena::Key;
use super::engine::{Engine, Group};
use super::items::Place;
use super::sample::{Change, Sample};
use super::semantics::Semantics;
use super::source::{Kind, Source, SourceKey, kind, sample_cell};
use super::timers::Timer;

impl Engine {
    /// Lets an item have its values, the present one first.
    pub(super) fn attach(&mut self, place: Place<'_>, item_key: Key) {
        if let Some(item) = self.items.get_mut(item_key) {
            item.filter.reset();
        }
        if let Some(source_key) = self.join_source(place, item_key) {
            self.send_present(place.now, source_key, item_key);
        }
    }

    /// Has an item sampled at another interval, or with the rights of another session. What it has queued stays, and
    /// what it has reported is not told again.
    pub(super) fn move_source(&mut self, place: Place<'_>, item_key: Key) {
        let before = self.items.get(item_key).and_then(|item| item.source);
        let last = before.and_then(|(source, _)| self.sources.get(source)?.last.clone());
        self.detach(item_key);
        let Some(source_key) = self.join_source(place, item_key) else { return };
        let Some(source) = self.sources.get_mut(source_key).filter(|source| source.last.is_none()) else {
            return;
        };
        source.last = last;
        if source.last.is_none() {
            self.send_present(place.now, source_key, item_key);
        }
    }

    /// Adds an item to the source of its values.
    fn join_source(&mut self, place: Place<'_>, item_key: Key) -> Option<Key> {
        let item = self.items.get(item_key)?;
        let access = self.subscriptions.get(&item.subscription)?.access;
        let key = SourceKey { target: item.target.clone(), access, interval: item.interval };
        let source_key = match self.source_keys.get(&key) {
            Some(known) => *known,
            None => self.add_source(place, key),
        };
        let source = self.sources.get_mut(source_key)?;
        self.items.get_mut(item_key)?.source = Some((source_key, source.items.len()));
        source.items.push(item_key);
        self.reserve(item_key);
        Some(source_key)
    }

    /// Queues the present value of a source for one item.
    fn send_present(&mut self, now: Now, source_key: Key, item_key: Key) {
        let Some(source) = self.sources.get_mut(source_key) else { return };
        let present = match &mut source.kind {
            Kind::Cell { cell, seen, .. } => {
                let changes = cell.changes();
                let sample = sample_cell(cell, &source.key.target, Some(now));
                if source.last.is_none() {
                    *seen = changes;
                    source.last.clone_from(&sample);
                }
                sample
            }
            Kind::Fixed | Kind::Read => source.last.clone(),
            Kind::Events => return,
        };
        match present {
            Some(sample) => {
                let is_news = source.last.as_ref().is_some_and(|last| sample.change_since(last).is_any());
                self.offer(item_key, &sample, Change::ALL);
                if let Some(item) = self.items.get_mut(item_key).filter(|_| is_news) {
                    item.first = Some(Box::new(sample));
                }
            }
            None if !source.reading => {
                source.reading = true;
                self.unread.push(source_key);
            }
            None => {}
        }
    }

    /// Ends the values of an item; a source without items goes.
    pub(super) fn detach(&mut self, item_key: Key) {
        let Some(item) = self.items.get_mut(item_key) else { return };
        item.first = None;
        let Some((source_key, at)) = item.source.take() else { return };
        let Some(source) = self.sources.get_mut(source_key) else { return };
        source.items.swap_remove(at);
        if let Some(moved) = source.items.get(at).and_then(|moved| self.items.get_mut(*moved)) {
            moved.source = Some((source_key, at));
        }
        if source.items.is_empty() {
            self.remove_source(source_key);
        }
    }

    fn add_source(&mut self, place: Place<'_>, key: SourceKey) -> Key {
        let kind = kind(place.core, place.snapshot, &key.target);
        let source = Source {
            key: key.clone(),
            kind,
            items: Vec::new(),
            last: None,
            group: None,
            reading: false,
            semantics: None,
        };
        let source_key = self.sources.insert(source);
        self.watch_semantics(place, source_key);
        self.note_event_source(source_key);
        self.source_keys.insert(key, source_key);
        self.watch(source_key);
        self.join_group(source_key, place.now.ticks);
        source_key
    }

    /// Has a source told when its values get another meaning.
    fn watch_semantics(&mut self, place: Place<'_>, key: Key) {
        let Some(source) = self.sources.get_mut(key) else { return };
        let changed = source.has_other_semantics();
        source.semantics = Semantics::of(place.snapshot, &source.key.target, key, &self.dirty, changed);
    }

    fn remove_source(&mut self, key: Key) {
        self.leave_group(key);
        if let Some(source) = self.sources.remove(key) {
            self.source_keys.remove(&source.key);
            self.forget_event_source(&source.key.target.node, key);
        }
    }

    /// Has a source that reports every change told of them.
    fn watch(&mut self, key: Key) {
        let dirty = &self.dirty;
        if let Some(source) = self.sources.get_mut(key) {
            source.watch(key, dirty);
        }
    }

    /// Has a source sampled at the times of its interval, if somebody has to look.
    fn join_group(&mut self, key: Key, now: Ticks) {
        let Some(source) = self.sources.get_mut(key) else { return };
        let shortest = u64::try_from(self.limits.min_sampling_interval.as_nanos()).unwrap_or(u64::MAX);
        let interval = match (&source.kind, source.key.interval) {
            (Kind::Fixed | Kind::Events, _) | (Kind::Cell { .. }, 0) => return,
            (Kind::Read, 0) => shortest.max(1_000_000),
            (_, interval) => interval,
        };
        let (start, timers) = (self.start, &mut self.timers);
        let group = self.groups.entry(interval).or_insert_with(|| {
            let due = next_multiple(start, interval, now);
            timers.set(due, Timer::Group(interval), 0);
            Group { due, sources: Vec::new() }
        });
        source.group = Some((interval, group.sources.len()));
        group.sources.push(key);
        self.prune_timers();
    }

    fn leave_group(&mut self, key: Key) {
        let Some((interval, at)) = self.sources.get_mut(key).and_then(|source| source.group.take()) else {
            return;
        };
        let Some(group) = self.groups.get_mut(&interval) else { return };
        group.sources.swap_remove(at);
        if let Some(moved) = group.sources.get(at).and_then(|moved| self.sources.get_mut(*moved)) {
            moved.group = Some((interval, at));
        }
        if group.sources.is_empty() {
            self.groups.remove(&interval);
        }
    }

    /// Takes the samples of changes that were told.
    pub(super) fn drain(&mut self, now: Now) {
        for key in self.dirty.take() {
            let samples = self.sources.get(key).map(Source::take_pending).unwrap_or_default();
            for mut sample in samples {
                sample.stamp(now.utc);
                self.deliver(key, sample);
            }
            // A source that is not looked at anyway tells of its new meaning at once.
            let is_told = |source: &&mut Source| source.key.interval == 0 && source.has_other_semantics();
            if self.sources.get_mut(key).filter(is_told).is_some() {
                self.sample_now(key, now);
            }
        }
    }

    /// Samples a group whose time has come. Sources that have to be read are left in `unread`.
    pub(super) fn sample_group(&mut self, interval: u64, at: Ticks, now: Now) {
        let Some(group) = self.groups.get_mut(&interval).filter(|group| group.due == at) else { return };
        group.due = next_multiple(self.start, interval, now.ticks);
        self.timers.set(group.due, Timer::Group(interval), 0);
        let sources = core::mem::take(&mut group.sources);
        for key in &sources {
            let Some(source) = self.sources.get_mut(*key) else { continue };
            let has_other_semantics = source.has_other_semantics();
            match &mut source.kind {
                Kind::Cell { cell, seen, .. } => {
                    let changes = cell.changes();
                    if changes != *seen || has_other_semantics {
                        *seen = changes;
                        if let Some(sample) = sample_cell(cell, &source.key.target, Some(now)) {
                            self.deliver(*key, sample);
                        }
                    }
                }
                Kind::Read if !source.reading => {
                    source.reading = true;
                    self.unread.push(*key);
                }
                Kind::Read | Kind::Fixed | Kind::Events => {}
            }
        }
        if let Some(group) = self.groups.get_mut(&interval) {
            group.sources = sources;
        }
    }

    /// Hands a sample to the items of its source, if it differs from the one before.
    pub(super) fn deliver(&mut self, key: Key, sample: Sample) {
        let Some(source) = self.sources.get_mut(key) else { return };
        let mut change = source.last.as_ref().map_or(Change::ALL, |last| sample.change_since(last));
        let marked = source.semantics.as_ref().filter(|semantics| semantics.take());
        let marked = marked.map(|_| sample.with_semantics_changed());
        change.status |= marked.is_some();
        if !change.is_any() {
            return;
        }
        let told = marked.as_ref().unwrap_or(&sample);
        let items = core::mem::take(&mut source.items);
        for item_key in &items {
            let first = self.items.get_mut(*item_key).and_then(|item| item.first.take());
            let change = first.map_or(change, |first| told.change_since(&first));
            if change.is_any() {
                self.offer(*item_key, told, change);
            }
        }
        if let Some(source) = self.sources.get_mut(key) {
            source.items = items;
            source.last = Some(sample);
        }
    }

    /// Queues a value once more that was reported already.
    pub(super) fn offer_again(&mut self, item_key: Key, sample: &Sample) {
        if let Some(item) = self.items.get_mut(item_key) {
            item.filter.reset();
            self.offer(item_key, sample, Change::ALL);
        }
    }

    /// Queues a sample if the item's filter lets it through.
    fn offer(&mut self, item_key: Key, sample: &Sample, change: Change) {
        let has_room = self.held < self.limits.notification_memory;
        let Some(item) = self.items.get_mut(item_key) else { return };
        if !item.filter.lets_through(sample, change) {
            return;
        }
        self.held += sample.weight();
        if let Some(dropped) = item.queue.push(sample.clone(), has_room) {
            self.held -= dropped.weight();
        }
        self.report(item_key);
    }

    /// An item has queued something: it may have it to report, and others with it.
    pub(super) fn report(&mut self, item_key: Key) {
        self.note_ready(item_key);
        if self.items.get(item_key).is_some_and(|item| !item.links().is_empty()) {
            self.trigger(item_key);
        }
    }

    /// Notes that an item has something to report.
    pub(super) fn note_ready(&mut self, item_key: Key) {
        let Some(item) = self.items.get_mut(item_key) else { return };
        if item.is_ready || !item.reports() {
            return;
        }
        item.is_ready = true;
        if let Some(subscription) = self.subscriptions.get_mut(&item.subscription) {
            subscription.ready.push_back(item_key);
        }
    }

    /// Has the items that a triggering item is linked to report what they have sampled (OPC 10000-4 §5.13.1.6).
    fn trigger(&mut self, item_key: Key) {
        let Some(item) = self.items.get(item_key) else { return };
        let Some(subscription) = self.subscriptions.get(&item.subscription) else { return };
        let linked = item.links().iter().filter_map(|link| subscription.items.get(link).copied());
        let linked: Vec<Key> = linked.collect();
        for key in linked {
            let Some(item) = self.items.get_mut(key) else { continue };
            if item.mode != MonitoringMode::SAMPLING || item.triggered {
                continue;
            }
            item.triggered = true;
            if let Some(subscription) = self.subscriptions.get_mut(&item.subscription) {
                subscription.triggered.push(key);
            }
            self.note_ready(key);
        }
    }

    /// The address space has changed: sources look again who they are.
    pub(super) fn look_again(&mut self, place: Place<'_>) {
        let keys: Vec<Key> = self.sources.keys().collect();
        for key in keys {
            let Some(source) = self.sources.get_mut(key) else { continue };
            let found = kind(place.core, place.snapshot, &source.key.target);
            let is_same = match (&source.kind, &found) {
                (Kind::Cell { cell, .. }, Kind::Cell { cell: found, .. }) => {
                    std::sync::Arc::ptr_eq(cell, found)
                }
                (Kind::Read, Kind::Read) | (Kind::Events, Kind::Events) => true,
                _ => false,
            };
            self.watch_semantics(place, key);
            let Some(source) = self.sources.get_mut(key).filter(|_| !is_same) else { continue };
            source.end_watch();
            source.kind = found;
            self.leave_group(key);
            self.watch(key);
            self.join_group(key, place.now.ticks);
            self.sample_now(key, place.now);
        }
    }

    /// Samples one source out of turn.
    fn sample_now(&mut self, key: Key, now: Now) {
        let Some(source) = self.sources.get_mut(key) else { return };
        if let Kind::Cell { cell, seen, .. } = &mut source.kind {
            *seen = cell.changes();
            if let Some(sample) = sample_cell(cell, &source.key.target, Some(now)) {
                self.deliver(key, sample);
            }
        } else if !source.reading {
            source.reading = true;
            self.unread.push(key);
        }
    }
}

/// The first whole multiple of an interval since the start that is after `now`: samples do not drift, and those that
/// were missed are not made up for.
fn next_multiple(start: Ticks, interval: u64, now: Ticks) -> Ticks {
    let interval = interval.max(1);
    let count = now.0.saturating_sub(start.0) / interval;
    start + Duration::from_nanos(interval.saturating_mul(count + 1))
}
