//! Events (OPC 10000-3 §4.7, OPC 10000-5 §6.4): what an application emits, and what a client's EventFilter makes of it.

mod condition;
mod convert;
mod field;
pub(crate) mod filter;
mod like;
mod notifiers;
pub(crate) mod occurrence;
mod types;

use uaforge_codec::{
    ByteString, DateTime, IntoVariant, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
};
use uaforge_types::{ids, status};

pub(crate) use notifiers::notifiers_of;

/// Severity of an event that states none (OPC 10000-5 §6.4.2): the middle of the range.
const DEFAULT_SEVERITY: u16 = 500;
/// The range of severities, 1 the least urgent (OPC 10000-5 §6.4.2).
const SEVERITIES: core::ops::RangeInclusive<u16> = 1..=1_000;

/// An event that is to be emitted with [`Server::emit`](crate::Server::emit): its type, where it comes from, and its
/// fields. EventId, Time and ReceiveTime are added by the server.
///
/// ```
/// use uaforge_codec::NodeId;
/// use uaforge_server::Event;
/// let too_hot = Event::new(NodeId::numeric(0, 2131))
///     .message("the kettle is too hot")
///     .severity(700)
///     .field("2:Temperature", 98.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    event_type: NodeId,
    source: NodeId,
    source_name: Option<UaString>,
    time: Option<DateTime>,
    message: LocalizedText,
    severity: u16,
    condition: Option<NodeId>,
    fields: Vec<(Vec<QualifiedName>, Variant)>,
}

/// Why an event was not emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The event type is no ObjectType that derives from BaseEventType, or the server does not have it.
    #[error("{0} is no event type of this server")]
    UnknownEventType(NodeId),
    /// The source is no node of this server.
    #[error("{0} is no node of this server")]
    UnknownSource(NodeId),
    /// The severity is not within 1 to 1000.
    #[error("severity {0} is not within 1 to 1000")]
    SeverityOutOfRange(u16),
}

impl EmitError {
    /// The status that says the same on the wire.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::UnknownEventType(_) => status::BAD_TYPE_DEFINITION_INVALID,
            Self::UnknownSource(_) => status::BAD_SOURCE_NODE_ID_INVALID,
            Self::SeverityOutOfRange(_) => status::BAD_OUT_OF_RANGE,
        }
    }
}

impl Event {
    /// An event of a type, from the Server object, with severity 500.
    #[must_use]
    pub fn new(event_type: NodeId) -> Self {
        Self {
            event_type,
            source: ids::object::SERVER.identifier().in_namespace(0).to_owned(),
            source_name: None,
            time: None,
            message: LocalizedText::default(),
            severity: DEFAULT_SEVERITY,
            condition: None,
            fields: Vec::new(),
        }
    }

    /// The node that the event comes from (SourceNode). The event reaches whoever monitors that node, a notifier above
    /// it along HasNotifier and HasEventSource, or the Server object.
    #[must_use]
    pub fn source(mut self, source: NodeId) -> Self {
        self.source = source;
        self
    }

    pub(crate) const fn source_id(&self) -> &NodeId {
        &self.source
    }

    /// SourceName, in place of the display name of the source.
    #[must_use]
    pub fn source_name(mut self, name: impl Into<UaString>) -> Self {
        self.source_name = Some(name.into());
        self
    }

    /// When it happened (Time), in place of the time at which it is emitted.
    #[must_use]
    pub fn time(mut self, time: DateTime) -> Self {
        self.time = Some(time);
        self
    }

    /// What a person reads (Message).
    #[must_use]
    pub fn message(mut self, message: impl Into<LocalizedText>) -> Self {
        self.message = message.into();
        self
    }

    /// How urgent it is (Severity), 1 to 1000 (OPC 10000-5 §6.4.2).
    #[must_use]
    pub fn severity(mut self, severity: u16) -> Self {
        self.severity = severity;
        self
    }

    /// The condition that the event is about (ConditionId, OPC 10000-9 §5.5.2).
    #[must_use]
    pub fn condition(mut self, condition: NodeId) -> Self {
        self.condition = Some(condition);
        self
    }

    /// A field by its browse path below the event type: names as `index:name`, without the index for namespace 0, such
    /// as `2:Batch/2:Id`.
    #[must_use]
    pub fn field(self, path: &str, value: impl IntoVariant) -> Self {
        let names = path.split('/').filter(|name| !name.is_empty()).map(browse_name);
        self.field_at(names.collect(), value)
    }

    /// A field by its browse path below the event type. The fields of BaseEventType that the other methods set, and
    /// those that the server adds, are not set by this.
    #[must_use]
    pub fn field_at(mut self, path: Vec<QualifiedName>, value: impl IntoVariant) -> Self {
        let value = value.into_variant();
        match self.fields.iter_mut().find(|known| known.0 == path) {
            Some(known) => known.1 = value,
            None => self.fields.push((path, value)),
        }
        self
    }
}

fn browse_name(text: &str) -> QualifiedName {
    match text.split_once(':').and_then(|(index, name)| Some((index.parse().ok()?, name))) {
        Some((namespace_index, name)) => QualifiedName { namespace_index, name: name.into() },
        None => QualifiedName { namespace_index: 0, name: text.into() },
    }
}

/// The bytes that stand for an event for ever (EventId).
pub(crate) type EventId = ByteString;
