//! An event that has happened: all its fields, ready for filters.

use uaforge_codec::{NodeId, Now, QualifiedName, Variant};
use uaforge_nodes::Snapshot;

use super::field::Field;
use super::types::{self, is_event_type};
use super::{EmitError, Event, EventId, SEVERITIES};

/// The type of the event that tells of lost events (OPC 10000-5 §6.4.33).
const OVERFLOW_EVENT_TYPE: u32 = 3035;
/// Severity of the event that tells of lost events.
const OVERFLOW_SEVERITY: u16 = 500;

/// One event and the address space that it happened in.
pub(crate) struct Occurrence<'s> {
    pub(super) snapshot: &'s Snapshot,
    event: Event,
}

impl<'s> Occurrence<'s> {
    /// Completes an event: the fields of BaseEventType (OPC 10000-5 §6.4.2) that the server knows.
    ///
    /// # Errors
    /// See [`EmitError`]; `has_source` says whether there is such a node.
    pub(crate) fn new(
        event: Event,
        id: EventId,
        snapshot: &'s Snapshot,
        now: Now,
        has_source: bool,
    ) -> Result<Self, EmitError> {
        let event_type = event.event_type.as_ref();
        if !is_event_type(snapshot, event_type) {
            return Err(EmitError::UnknownEventType(event.event_type));
        }
        // An abstract event type may well have events: it has no instances in the address space, which events are not in.
        if !has_source {
            return Err(EmitError::UnknownSource(event.source));
        }
        if !SEVERITIES.contains(&event.severity) {
            return Err(EmitError::SeverityOutOfRange(event.severity));
        }
        Ok(Self::complete(event, id, snapshot, now))
    }

    /// The event that stands where others were lost (OPC 10000-4 §5.13.1.5).
    pub(crate) fn overflow(id: EventId, snapshot: &'s Snapshot, now: Now) -> Self {
        let event = Event::new(NodeId::numeric(0, OVERFLOW_EVENT_TYPE)).severity(OVERFLOW_SEVERITY);
        Self::complete(event, id, snapshot, now)
    }

    fn complete(mut event: Event, id: EventId, snapshot: &'s Snapshot, now: Now) -> Self {
        let source_name = event.source_name.take().map_or_else(
            || {
                let node = snapshot.node(event.source.as_ref());
                node.map_or(Variant::Null, |node| Variant::from(node.display_name().text))
            },
            Variant::String,
        );
        let time = event.time.unwrap_or(now.utc);
        let standard: [(&str, Variant); 8] = [
            ("EventId", Variant::ByteString(id)),
            ("EventType", Variant::NodeId(event.event_type.clone())),
            ("SourceNode", Variant::NodeId(event.source.clone())),
            ("SourceName", source_name),
            ("Time", Variant::DateTime(time)),
            ("ReceiveTime", Variant::DateTime(now.utc)),
            ("Message", Variant::from(event.message.clone())),
            ("Severity", Variant::UInt16(event.severity)),
        ];
        // What identifies the event is the server's; what the application has set besides stays.
        for (name, value) in standard {
            let path = vec![QualifiedName::new(0, name)];
            event = event.field_at(path, value);
        }
        Self { snapshot, event }
    }

    pub(crate) const fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    pub(crate) fn event_type(&self) -> &NodeId {
        &self.event.event_type
    }

    pub(crate) fn source(&self) -> &NodeId {
        &self.event.source
    }

    /// Whether it is an event of a type.
    pub(super) fn is_a(&self, event_type: &NodeId) -> bool {
        types::is_a(self.snapshot, self.event.event_type.as_ref(), event_type.as_ref())
    }

    /// The value of a field; Null if the event has none.
    pub(super) fn value(&self, field: &Field) -> Variant {
        if field.event_type.as_ref().is_some_and(|wanted| !self.is_a(wanted)) {
            return Variant::Null;
        }
        if field.is_node_id {
            let condition = self.event.condition.clone().filter(|_| field.path.is_empty());
            return condition.map_or(Variant::Null, Variant::NodeId);
        }
        let found = self.event.fields.iter().find(|known| *known.0 == *field.path);
        match (found, &field.range) {
            (None, _) => Variant::Null,
            (Some((_, value)), None) => value.clone(),
            // Why there is nothing of this range stands in the place of the value.
            (Some((_, value)), Some(range)) => {
                range.cut(value).unwrap_or_else(|error| Variant::StatusCode(error.status()))
            }
        }
    }
}
