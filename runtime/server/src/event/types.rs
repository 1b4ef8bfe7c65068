//! Event types in the address space: which there are, and which fields their instances have (OPC 10000-3 §4.7.2).

use std::collections::HashSet;

use uaforge_codec::{NodeIdRef, QualifiedName};
use uaforge_nodes::{Direction, Node, NodeClass, ReferenceFilter, Snapshot};
use uaforge_types::ids;

/// Deepest browse path of a field that is looked for without knowing its type.
const DEEPEST: usize = 8;
/// Most supertypes and interfaces of one type that are looked at.
const MOST_TYPES: usize = 1_000;
/// Most declarations that [`Paths`] takes in.
const MOST_PATHS: usize = 100_000;

/// A node id of the base namespace.
const fn ns0(id: u32) -> NodeIdRef<'static> {
    NodeIdRef::Numeric(0, id)
}

/// BaseEventType (OPC 10000-5 §6.4.2).
pub(super) const BASE_EVENT_TYPE: NodeIdRef<'static> = ns0(2041);
const BASE_INTERFACE_TYPE: NodeIdRef<'static> = ns0(17602);

fn filter(snapshot: &Snapshot, id: NodeIdRef<'_>, subtypes: bool) -> Option<ReferenceFilter> {
    snapshot.reference_filter(id, subtypes)
}

/// Whether a node is an ObjectType whose instances are events.
pub(super) fn is_event_type(snapshot: &Snapshot, id: NodeIdRef<'_>) -> bool {
    let is_object_type = snapshot.node(id).is_some_and(|node| node.class() == NodeClass::ObjectType);
    is_object_type && snapshot.is_subtype(id, BASE_EVENT_TYPE)
}

/// Whether a node is a type that an operand may name: an event type, or an interface that event types may have.
pub(super) fn is_operand_type(snapshot: &Snapshot, id: NodeIdRef<'_>) -> bool {
    let is_object_type = snapshot.node(id).is_some_and(|node| node.class() == NodeClass::ObjectType);
    is_object_type
        && (snapshot.is_subtype(id, BASE_EVENT_TYPE) || snapshot.is_subtype(id, BASE_INTERFACE_TYPE))
}

/// A type with its supertypes and the interfaces of all of them (OPC 10000-3 §4.10).
fn lineage<'s>(snapshot: &'s Snapshot, event_type: NodeIdRef<'_>) -> Vec<Node<'s>> {
    let has_interface = ids::reference_type::HAS_INTERFACE.resolve_ref(snapshot.namespaces()).ok();
    let has_interface = has_interface.and_then(|id| filter(snapshot, id, true));
    let mut found: Vec<Node<'s>> = snapshot.node(event_type).into_iter().collect();
    let mut next = 0;
    while let Some(node) = found.get(next).copied().filter(|_| found.len() < MOST_TYPES) {
        next += 1;
        let interfaces = has_interface.into_iter().flat_map(|filter| {
            node.references(Direction::Forward, filter).filter_map(|reference| reference.target())
        });
        for related in node.supertype().into_iter().chain(interfaces) {
            if found.iter().all(|known| known.id() != related.id()) {
                found.push(related);
            }
        }
    }
    found
}

/// Whether events of a type are events of another one: of it, of a subtype, or with it as an interface.
pub(super) fn is_a(snapshot: &Snapshot, event_type: NodeIdRef<'_>, wanted: NodeIdRef<'_>) -> bool {
    snapshot.is_subtype(event_type, wanted)
        || (snapshot.is_subtype(wanted, BASE_INTERFACE_TYPE)
            && lineage(snapshot, event_type).iter().any(|node| node.id() == wanted))
}

/// The Objects and Variables directly below a node.
fn members<'s>(snapshot: &'s Snapshot, node: Node<'s>) -> impl Iterator<Item = Node<'s>> + use<'s> {
    let hierarchical = ids::reference_type::HIERARCHICAL_REFERENCES.resolve_ref(snapshot.namespaces()).ok();
    let hierarchical = hierarchical.and_then(|id| filter(snapshot, id, true));
    hierarchical
        .into_iter()
        .flat_map(move |filter| node.references(Direction::Forward, filter))
        .filter_map(|reference| reference.target())
        .filter(|target| matches!(target.class(), NodeClass::Object | NodeClass::Variable))
}

fn has_name(node: &Node<'_>, name: &QualifiedName) -> bool {
    let known = node.browse_name();
    known.namespace == name.namespace_index && Some(known.name) == name.name.as_str()
}

/// The class of the declaration that a path leads to from an event type, its supertypes or interfaces.
pub(super) fn declaration(
    snapshot: &Snapshot,
    event_type: NodeIdRef<'_>,
    path: &[QualifiedName],
) -> Option<NodeClass> {
    let (first, rest) = path.split_first()?;
    lineage(snapshot, event_type).into_iter().find_map(|node| {
        let start = members(snapshot, node).find(|member| has_name(member, first))?;
        let end = rest.iter().try_fold(start, |node, name| {
            let below = members(snapshot, node).find(|member| has_name(member, name));
            // What an instance has below a declaration may be declared by the declaration's own type.
            below.or_else(|| {
                let of_type = lineage(snapshot, node.type_definition()?).into_iter();
                of_type.flat_map(|node| members(snapshot, node)).find(|member| has_name(member, name))
            })
        })?;
        Some(end.class())
    })
}

/// The browse paths of all fields of all event types: what an operand may name that does not restrict its type.
pub(super) struct Paths(HashSet<Vec<QualifiedName>>);

impl Paths {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut paths = Self(HashSet::new());
        let has_subtype = ids::reference_type::HAS_SUBTYPE.resolve_ref(snapshot.namespaces()).ok();
        let has_subtype = has_subtype.and_then(|id| filter(snapshot, id, true));
        let mut types: Vec<Node<'_>> = snapshot.node(BASE_EVENT_TYPE).into_iter().collect();
        let mut next = 0;
        while let Some(node) = types.get(next).copied().filter(|_| types.len() < MOST_PATHS) {
            next += 1;
            for node in lineage(snapshot, node.id()) {
                paths.add(snapshot, node, &mut Vec::new());
            }
            if let Some(filter) = has_subtype {
                let subtypes = node.references(Direction::Forward, filter);
                types.extend(subtypes.filter_map(|reference| reference.target()));
            }
        }
        paths
    }

    fn add(&mut self, snapshot: &Snapshot, node: Node<'_>, path: &mut Vec<QualifiedName>) {
        for member in members(snapshot, node) {
            if path.len() >= DEEPEST || self.0.len() >= MOST_PATHS {
                return;
            }
            let name = member.browse_name();
            path.push(QualifiedName::new(name.namespace, name.name));
            if self.0.insert(path.clone()) {
                self.add(snapshot, member, path);
            }
            path.pop();
        }
    }

    pub(super) fn has(&self, path: &[QualifiedName]) -> bool {
        self.0.contains(path)
    }
}
