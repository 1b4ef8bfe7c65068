//! Call of Methods of the address space (OPC 10000-4 §5.12.2).

use std::sync::Arc;

use uaforge_codec::{DecodeContext, NodeId, NodeIdRef, QualifiedName, StatusCode};
use uaforge_nodes::{AttributeId, AttributeValue, Direction, Node, NodeClass, Snapshot};
use uaforge_types::{ids, status};

use super::SpaceManager;
use super::signature::{Arity, Signature};
use crate::access::Access;
use crate::manager::{CallAnswer, CallCx, CallItem, contain};
use crate::methods::{Binding, Handler, MethodCall, MethodError};

/// Longest chain of supertypes that is followed.
const MAX_CHAIN: usize = 256;

const HAS_COMPONENT: NodeIdRef<'static> = ids::reference_type::HAS_COMPONENT.identifier().in_namespace(0);
const HAS_INTERFACE: NodeIdRef<'static> = ids::reference_type::HAS_INTERFACE.identifier().in_namespace(0);

impl SpaceManager {
    pub(crate) fn call(&self, cx: &mut CallCx<'_, '_>, decode: DecodeContext<'_>, items: &[CallItem<'_>]) {
        let snapshot = cx.snapshot;
        for item in items {
            match self.prepare(snapshot, decode, cx.access(), item) {
                Err(error) => cx.answer(item, Err(error)),
                Ok((binding, signature, inputs)) => {
                    let call = MethodCall {
                        object: item.object.to_owned(),
                        method: item.method.to_owned(),
                        access: cx.access(),
                        inputs,
                        cancellation: cx.cancellation(),
                    };
                    run(cx, item, &binding, signature, call);
                }
            }
        }
    }

    /// Everything before the handler: which one it is, and inputs that fit.
    fn prepare(
        &self,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        access: Access,
        item: &CallItem<'_>,
    ) -> Result<Prepared, MethodError> {
        let object = object(snapshot, item.object)?;
        let found = Found::new(snapshot, object, item.method)?;
        if found.methods.first().is_some_and(|method| !is_executable(*method)) {
            return Err(status::BAD_NOT_EXECUTABLE.into());
        }
        if found.methods.iter().any(|method| !self.rights.executable(access, method.id(), true)) {
            return Err(status::BAD_USER_ACCESS_DENIED.into());
        }
        let binding = self.binding(&found).ok_or(status::BAD_NOT_IMPLEMENTED)?;
        let signature = match found.methods.first() {
            Some(first) if first.id() == binding.method.as_ref() => Arc::clone(&binding.signature),
            _ => Arc::new(Signature::of(&found.methods, snapshot, decode, binding.arity)),
        };
        let inputs = signature.check(snapshot, item.inputs)?;
        Ok((binding, signature, inputs))
    }

    /// The handler of the nearest owner that has one: the Object, its type, then its supertypes.
    fn binding(&self, found: &Found<'_>) -> Option<Arc<Binding>> {
        found.owners.iter().find_map(|owner| {
            let exact = self.methods.find(owner.id(), |binding| {
                binding.method.as_ref() == found.called.id() && found.allows(binding)
            });
            exact.or_else(|| {
                let name = found.called.browse_name();
                // Two Methods of one owner may share a name.
                let other = !is_component(found.snapshot, *owner, found.called.id());
                self.methods
                    .find(owner.id(), |binding| other && binding.has_name(name) && found.allows(binding))
            })
        })
    }

    /// Binds a handler to a Method of an Object, or of all Objects of a type.
    ///
    /// # Errors
    /// Bad_NodeIdUnknown, Bad_NodeIdInvalid, Bad_MethodInvalid.
    pub(crate) fn bind(
        &self,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        owner: &NodeId,
        method: NodeIdRef<'_>,
        handler: Handler,
    ) -> Result<(), StatusCode> {
        let object = object(snapshot, owner.as_ref())?;
        let found = Found::in_owners(snapshot, object, owners(snapshot, object), method)?;
        self.bind_found(&found, decode, None, handler);
        Ok(())
    }

    /// Binds a typed handler to a Method by its BrowseName; one of a type is for its instances only.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub(crate) fn bind_named(
        &self,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        owner: &NodeId,
        (name, arity): (&QualifiedName, Arity),
        handler: Handler,
    ) -> Result<(), StatusCode> {
        let object = object(snapshot, owner.as_ref())?;
        let owners = owners(snapshot, object);
        let filter = snapshot.reference_filter(HAS_COMPONENT, true).ok_or(status::BAD_METHOD_INVALID)?;
        let method = owners.iter().find_map(|owner| {
            let mut named = owner.follow(filter, false, name.namespace_index, name.name.text());
            named.find(|node| node.class() == NodeClass::Method)
        });
        let method = method.ok_or(status::BAD_METHOD_INVALID)?.id();
        let found = Found::in_owners(snapshot, object, owners, method)?;
        self.bind_found(&found, decode, Some(arity), handler);
        Ok(())
    }

    fn bind_found(
        &self,
        found: &Found<'_>,
        decode: DecodeContext<'_>,
        arity: Option<Arity>,
        handler: Handler,
    ) {
        let method = found.methods.first().copied().unwrap_or(found.called);
        let name = method.browse_name();
        let binding = Binding {
            name: QualifiedName::new(name.namespace, name.name),
            method: method.id().to_owned(),
            signature: Arc::new(Signature::of(&found.methods, found.snapshot, decode, arity)),
            arity,
            handler,
        };
        self.methods.bind(found.object.id().to_owned(), binding);
    }
}

type Prepared = (Arc<Binding>, Arc<Signature>, Vec<uaforge_codec::Variant>);

/// Runs a handler. One that panics costs its own call only.
fn run(
    cx: &mut CallCx<'_, '_>,
    item: &CallItem<'_>,
    binding: &Binding,
    signature: Arc<Signature>,
    call: MethodCall,
) {
    let failed = || Err(status::BAD_INTERNAL_ERROR.into());
    match &binding.handler {
        Handler::Now(handler) => {
            let result = contain("Call", item.method, || handler(call)).unwrap_or_else(failed);
            cx.put(item, &CallAnswer { result, inputs: item.inputs.len(), signature: Some(signature) });
        }
        Handler::Later(handler) => match contain("Call", item.method, || handler(call)) {
            Some(future) => cx.defer_checked(item, future, Some(signature)),
            None => cx.answer(item, failed()),
        },
        Handler::Blocking(handler) => {
            let handler = Arc::clone(handler);
            cx.blocking_checked(item, move || handler(call), Some(signature));
        }
    }
}

/// The Object or ObjectType that a Method is called on.
fn object<'s>(snapshot: &'s Snapshot, id: NodeIdRef<'_>) -> Result<Node<'s>, StatusCode> {
    if id.is_null() {
        return Err(status::BAD_NODE_ID_INVALID);
    }
    let node = snapshot.node(id).ok_or(status::BAD_NODE_ID_UNKNOWN)?;
    match node.class() {
        NodeClass::Object | NodeClass::ObjectType => Ok(node),
        _ => Err(status::BAD_NODE_ID_INVALID),
    }
}

/// A Method of an Object.
struct Found<'s> {
    snapshot: &'s Snapshot,
    object: Node<'s>,
    /// The Method as the client named it.
    called: Node<'s>,
    /// It and its declarations: the Object's own first, then those of the types upwards.
    methods: Vec<Node<'s>>,
    /// The Object, its type, and so on.
    owners: Vec<Node<'s>>,
}

impl<'s> Found<'s> {
    /// Finds a Method for a call: a component of the Object, of its type or of a supertype.
    fn new(snapshot: &'s Snapshot, object: Node<'s>, method: NodeIdRef<'_>) -> Result<Self, StatusCode> {
        let owners = match object.class() {
            // A type's own Methods only.
            NodeClass::ObjectType => vec![object],
            _ => owners(snapshot, object),
        };
        Self::in_owners(snapshot, object, owners, method)
    }

    fn in_owners(
        snapshot: &'s Snapshot,
        object: Node<'s>,
        owners: Vec<Node<'s>>,
        method: NodeIdRef<'_>,
    ) -> Result<Self, StatusCode> {
        let called = snapshot.node(method).filter(|node| node.class() == NodeClass::Method);
        let called = called.ok_or(status::BAD_METHOD_INVALID)?;
        let filter = snapshot.reference_filter(HAS_COMPONENT, true).ok_or(status::BAD_METHOD_INVALID)?;
        let name = called.browse_name();
        let mut methods: Vec<Node<'s>> = Vec::new();
        let mut belongs = false;
        if name.name.is_empty() {
            return Err(status::BAD_METHOD_INVALID);
        }
        for owner in &owners {
            let same_name = || {
                let targets = owner.follow(filter, false, name.namespace, name.name);
                targets.filter(|node| node.class() == NodeClass::Method)
            };
            // Where several Methods share a name, it is the one that was called.
            let exact = same_name().find(|node| node.id() == called.id());
            belongs |= exact.is_some();
            if let Some(node) = exact.or_else(|| same_name().next())
                && methods.iter().all(|known| known.id() != node.id())
            {
                methods.push(node);
            }
        }
        if !belongs {
            return Err(status::BAD_METHOD_INVALID);
        }
        // An optional Method is there only if the Object has it itself.
        let is_own = |node: &Node<'_>| is_component(snapshot, object, node.id());
        if object.class() == NodeClass::Object && is_optional(called) && !methods.first().is_some_and(is_own)
        {
            return Err(status::BAD_METHOD_INVALID);
        }
        Ok(Self { snapshot, object, called, methods, owners })
    }

    fn allows(&self, binding: &Binding) -> bool {
        !(binding.arity.is_some() && self.object.class() == NodeClass::ObjectType)
    }
}

/// Whether a Method is a component of this very node.
fn is_component(snapshot: &Snapshot, owner: Node<'_>, method: NodeIdRef<'_>) -> bool {
    let filter = snapshot.reference_filter(HAS_COMPONENT, true);
    filter.is_some_and(|filter| {
        let mut components = owner.references(Direction::Forward, filter);
        components.any(|reference| reference.target_id() == method)
    })
}

/// ModellingRule Optional (OPC 10000-3 §6.4.4.4.2).
fn is_optional(method: Node<'_>) -> bool {
    method.modelling_rule() == Some(ids::object::MODELLING_RULE_OPTIONAL.identifier().in_namespace(0))
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

fn is_executable(method: Node<'_>) -> bool {
    !matches!(method.attribute(AttributeId::Executable), Ok(AttributeValue::Boolean(false)))
}
