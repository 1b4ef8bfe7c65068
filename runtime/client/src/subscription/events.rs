//! Which events are wanted, and which of their fields.

use uaforge_codec::{ExtensionObject, NodeId, QualifiedName, UaString, Variant};
use uaforge_nodes::AttributeId;
use uaforge_types::{
    ContentFilter, ContentFilterElement, EventFilter, FilterOperator, LiteralOperand, SimpleAttributeOperand,
    ids,
};

/// An EventFilter (OPC 10000-4 §7.22.3): the fields that events come with, and which events come.
///
/// ```
/// use uaforge_client::EventQuery;
/// let query = EventQuery::new().field("Time").field("Severity").field("2:Batch/2:Id");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventQuery(EventFilter);

impl EventQuery {
    /// No field, all events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A field by its browse path below BaseEventType or any type that derives from it, such as `Severity`
    /// or `2:Batch/2:Id`: browse names as `index:name`, without the index for namespace 0.
    #[must_use]
    pub fn field(self, path: &str) -> Self {
        let base = ids::object_type::BASE_EVENT_TYPE.identifier().in_namespace(0).to_owned();
        self.field_of(&base, path)
    }

    /// A field of an event type, by its browse path below the type.
    #[must_use]
    pub fn field_of(mut self, event_type: &NodeId, path: &str) -> Self {
        let event_type = event_type.clone();
        let browse_path = path.split('/').filter(|name| !name.is_empty()).map(browse_name).collect();
        self.push(SimpleAttributeOperand {
            type_definition_id: event_type,
            browse_path,
            attribute_id: AttributeId::Value as u32,
            index_range: UaString::NULL,
        });
        self
    }

    /// The NodeId of a condition, which is no field of its own (OPC 10000-9 §5.5.2).
    #[must_use]
    pub fn condition_id(mut self) -> Self {
        self.push(SimpleAttributeOperand {
            type_definition_id: ids::object_type::CONDITION_TYPE.identifier().in_namespace(0).to_owned(),
            attribute_id: AttributeId::NodeId as u32,
            ..Default::default()
        });
        self
    }

    fn push(&mut self, operand: SimpleAttributeOperand) {
        let mut clauses = core::mem::take(&mut self.0.select_clauses).into_vec();
        clauses.push(operand);
        self.0.select_clauses = clauses.into();
    }

    /// Only events of the type, or of one that derives from it (OPC 10000-4 §7.7.3 OfType).
    #[must_use]
    pub fn of_type(self, event_type: &NodeId) -> Self {
        let literal = LiteralOperand { value: Variant::from(event_type.clone()) };
        let element = ContentFilterElement {
            filter_operator: FilterOperator::OF_TYPE,
            filter_operands: vec![ExtensionObject::new(literal)].into(),
        };
        self.only(ContentFilter { elements: vec![element].into() })
    }

    /// Only events for which the content filter is true (OPC 10000-4 §7.7). It takes the place of the one
    /// before.
    #[must_use]
    pub fn only(mut self, condition: ContentFilter) -> Self {
        self.0.where_clause = condition;
        self
    }

    pub(super) fn filter(self) -> ExtensionObject {
        ExtensionObject::new(self.0)
    }
}

fn browse_name(text: &str) -> QualifiedName {
    match text.split_once(':').and_then(|(index, name)| Some((index.parse().ok()?, name))) {
        Some((namespace_index, name)) => QualifiedName { namespace_index, name: name.into() },
        None => QualifiedName { namespace_index: 0, name: text.into() },
    }
}
