//! Which Method it is that a client calls (OPC 10000-4 §5.12.2): one of the Object itself, of its type, or of
//! a supertype; and where it is declared.

use uaforge_codec::{NodeIdRef, QualifiedName, StatusCode};
use uaforge_nodes::{BrowseName, Direction, Node, NodeClass, Snapshot};
use uaforge_types::{ids, status};

use crate::methods::Binding;
use crate::node_ids::unknown;

/// Longest chain of supertypes that is followed.
const MAX_CHAIN: usize = 256;

const HAS_COMPONENT: NodeIdRef<'static> = ids::reference_type::HAS_COMPONENT.identifier().in_namespace(0);
const HAS_INTERFACE: NodeIdRef<'static> = ids::reference_type::HAS_INTERFACE.identifier().in_namespace(0);
const OPTIONAL: NodeIdRef<'static> = ids::object::MODELLING_RULE_OPTIONAL.identifier().in_namespace(0);

/// A Method of an Object.
pub(super) struct Found<'s> {
    pub(super) object: Node<'s>,
    /// The Method as the client named it.
    pub(super) called: Node<'s>,
    /// It and its declarations: the Object's own first, then those of the types upwards.
    pub(super) methods: Vec<Node<'s>>,
    /// The Object, its type, and so on.
    pub(super) owners: Vec<Owner<'s>>,
}

/// A node that may have the Method.
pub(super) struct Owner<'s> {
    pub(super) node: Node<'s>,
    /// The Method that was called is a component of this very node.
    pub(super) has_called: bool,
}

impl Found<'_> {
    pub(super) fn allows(&self, binding: &Binding) -> bool {
        !(binding.arity.is_some() && self.object.class() == NodeClass::ObjectType)
    }
}

/// Looks for Methods, and at no more references than it may.
pub(super) struct Search<'s> {
    pub(super) snapshot: &'s Snapshot,
    budget: u32,
}

impl<'s> Search<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, budget: u32) -> Self {
        Self { snapshot, budget }
    }

    /// Finds a Method for a call. Of an ObjectType that is one of its own; an optional one is there only if
    /// the Object has it itself.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown, Bad_NodeIdInvalid, Bad_MethodInvalid; Bad_TooManyOperations if the budget is spent.
    pub(super) fn called(
        &mut self,
        object: NodeIdRef<'_>,
        method: NodeIdRef<'_>,
    ) -> Result<Found<'s>, StatusCode> {
        let object = self.object(object)?;
        let owners = match object.class() {
            NodeClass::ObjectType => vec![object],
            _ => owners(self.snapshot, object),
        };
        self.in_owners(object, owners, method)
    }

    /// Finds a Method for a binding, inherited ones of a type too.
    ///
    /// # Errors
    /// As [`called`](Self::called).
    pub(super) fn declared(
        &mut self,
        owner: NodeIdRef<'_>,
        method: NodeIdRef<'_>,
    ) -> Result<Found<'s>, StatusCode> {
        let object = self.object(owner)?;
        self.in_owners(object, owners(self.snapshot, object), method)
    }

    /// The nearest Method with this browse name.
    ///
    /// # Errors
    /// As [`called`](Self::called).
    pub(super) fn named(
        &mut self,
        owner: NodeIdRef<'_>,
        name: &QualifiedName,
    ) -> Result<NodeIdRef<'s>, StatusCode> {
        let object = self.object(owner)?;
        let name = BrowseName { namespace: name.namespace_index, name: name.name.text() };
        for owner in owners(self.snapshot, object) {
            if let (Some(first), _) = self.components(owner, name, NodeIdRef::NULL)? {
                return Ok(first.id());
            }
        }
        Err(status::BAD_METHOD_INVALID)
    }

    /// The Object or ObjectType that a Method is called on.
    fn object(&self, id: NodeIdRef<'_>) -> Result<Node<'s>, StatusCode> {
        let node = self.snapshot.node(id).ok_or_else(|| unknown(id))?;
        match node.class() {
            NodeClass::Object | NodeClass::ObjectType => Ok(node),
            _ => Err(status::BAD_NODE_ID_INVALID),
        }
    }

    fn in_owners(
        &mut self,
        object: Node<'s>,
        owners: Vec<Node<'s>>,
        method: NodeIdRef<'_>,
    ) -> Result<Found<'s>, StatusCode> {
        let called = self.snapshot.node(method).filter(|node| node.class() == NodeClass::Method);
        let called = called.ok_or(status::BAD_METHOD_INVALID)?;
        let (name, id) = (called.browse_name(), called.id());
        let mut found =
            Found { object, called, methods: Vec::new(), owners: Vec::with_capacity(owners.len()) };
        let mut is_own = false;
        for node in owners {
            let (first, has_called) = self.components(node, name, id)?;
            // Where several Methods share a name, it is the one that was called.
            let component = if has_called { Some(called) } else { first };
            is_own |= found.owners.is_empty() && component.is_some();
            found.owners.push(Owner { node, has_called });
            let is_new = |node: &Node<'_>| found.methods.iter().all(|known| known.id() != node.id());
            if let Some(component) = component.filter(is_new) {
                found.methods.push(component);
            }
        }
        let belongs = found.owners.iter().any(|owner| owner.has_called);
        let is_left_out = object.class() == NodeClass::Object && !is_own && is_optional(called);
        if belongs && !is_left_out { Ok(found) } else { Err(status::BAD_METHOD_INVALID) }
    }

    /// The first Method with this name that a node has as a component, and whether `called` is one.
    fn components(
        &mut self,
        owner: Node<'s>,
        name: BrowseName<'_>,
        called: NodeIdRef<'_>,
    ) -> Result<(Option<Node<'s>>, bool), StatusCode> {
        let filter = self.snapshot.reference_filter(HAS_COMPONENT, true).ok_or(status::BAD_METHOD_INVALID)?;
        let (mut first, mut has_called) = (None, false);
        for reference in owner.references(Direction::Forward, filter) {
            self.budget = self.budget.checked_sub(1).ok_or(status::BAD_TOO_MANY_OPERATIONS)?;
            has_called |= reference.target_id() == called;
            let target = reference.target().filter(|node| first.is_none() && node.browse_name() == name);
            first = first.or(target.filter(|node| node.class() == NodeClass::Method));
        }
        Ok((first, has_called))
    }
}

fn is_optional(method: Node<'_>) -> bool {
    method.modelling_rule() == Some(OPTIONAL)
}

/// Where Methods of an Object may be declared: itself, its type, the supertypes, and their interfaces.
fn owners<'s>(snapshot: &'s Snapshot, object: Node<'s>) -> Vec<Node<'s>> {
    let mut owners = vec![object];
    let mut next = match object.class() {
        NodeClass::ObjectType => object.supertype(),
        _ => object.type_definition().and_then(|id| snapshot.node(id)),
    };
    while let Some(node) = next.filter(|_| owners.len() < MAX_CHAIN) {
        owners.push(node);
        next = node.supertype();
    }
    let filter = snapshot.reference_filter(HAS_INTERFACE, true);
    for at in 0..owners.len() {
        let (Some(owner), Some(filter)) = (owners.get(at).copied(), filter) else { continue };
        for reference in owner.references(Direction::Forward, filter) {
            let mut next = reference.target();
            while let Some(node) = next.filter(|_| owners.len() < 2 * MAX_CHAIN) {
                owners.push(node);
                next = node.supertype();
            }
        }
    }
    owners
}
