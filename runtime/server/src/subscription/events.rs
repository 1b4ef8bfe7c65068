//! Events on their way from whoever emits them to the queues of items (OPC 10000-4 §5.13.1.4).

use uaforge_codec::{ByteString, NodeId, Now};

use super::Subscriptions;
use super::arena::Key;
use super::engine::Engine;
use super::sample::Sample;
use super::source::Kind;
use crate::event::occurrence::Occurrence;
use crate::event::{EmitError, Event, EventId, notifiers_of};
use crate::shared::Core;

/// Bytes of an EventId.
const ID_LENGTH: usize = 16;

impl Core {
    fn new_event_id(&self) -> EventId {
        let mut id = [0; ID_LENGTH];
        self.with_entropy(|entropy| entropy.fill(&mut id));
        ByteString::from(id.to_vec())
    }
}

impl Subscriptions {
    /// Hands an event to the items that monitor its source or a notifier of it; its id.
    ///
    /// # Errors
    /// See [`EmitError`].
    pub(crate) fn emit(&self, core: &Core, event: Event, now: Now) -> Result<ByteString, EmitError> {
        let snapshot = core.space.snapshot();
        let id = core.new_event_id();
        let has_source = core.has_node(&snapshot, event.source_id().as_ref());
        let occurrence = Occurrence::new(event, id.clone(), &snapshot, now, has_source)?;
        let notifiers = notifiers_of(&snapshot, occurrence.source());
        let mut engine = self.using(now);
        for notifier in &notifiers {
            engine.notify(core, notifier, &occurrence, now);
        }
        Ok(id)
    }
}

impl Engine {
    /// Notes a source of events, if it is one, for its notifier.
    pub(super) fn note_event_source(&mut self, key: Key) {
        let Some(source) = self.sources.get(key).filter(|source| matches!(source.kind, Kind::Events)) else {
            return;
        };
        self.event_sources.entry(source.key.target.node.clone()).or_default().push(key);
    }

    /// Forgets a source of events.
    pub(super) fn forget_event_source(&mut self, notifier: &NodeId, key: Key) {
        if let Some(known) = self.event_sources.get_mut(notifier) {
            known.retain(|source| *source != key);
            if known.is_empty() {
                self.event_sources.remove(notifier);
            }
        }
    }

    /// Queues an event for the items of one notifier whose users may have it and whose filters let it through.
    fn notify(&mut self, core: &Core, notifier: &NodeId, occurrence: &Occurrence<'_>, now: Now) {
        let sources = self.event_sources.get(notifier).cloned().unwrap_or_default();
        for source in sources {
            let Some(source) = self.sources.get_mut(source) else { continue };
            let access = source.key.access;
            let (event_type, from) = (occurrence.event_type().as_ref(), occurrence.source().as_ref());
            if !core.nodes.rights.receives_event(access, event_type, from) {
                continue;
            }
            for item in source.items.clone() {
                self.offer_event(core, item, occurrence, now);
            }
        }
    }

    fn offer_event(&mut self, core: &Core, key: Key, occurrence: &Occurrence<'_>, now: Now) {
        let has_room = self.held < self.limits.notification_memory;
        let Some(item) = self.items.get_mut(key) else { return };
        let Some(filter) = item.filter.as_event() else { return };
        if !filter.lets_through(occurrence) {
            return;
        }
        let context = core.encode_context();
        let event = Sample::of_event(&filter.fields(occurrence, context));
        self.held += event.weight();
        let filter = filter.clone();
        if let Some(dropped) = item.queue.push(event, has_room) {
            self.held -= dropped.weight();
            if item.overflow.is_none() {
                let lost = Occurrence::overflow(core.new_event_id(), occurrence.snapshot(), now);
                let told = Sample::of_event(&filter.fields(&lost, context));
                self.held += told.weight();
                item.overflow = Some(Box::new(told));
            }
        }
        self.report(key);
    }
}
