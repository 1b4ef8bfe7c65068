//! Call of Methods of the address space (OPC 10000-4 §5.12.2).

use std::sync::Arc;

use uaforge_codec::{DecodeContext, NodeId, NodeIdRef, QualifiedName, StatusCode};
use uaforge_nodes::{AttributeId, AttributeValue, Node, Snapshot};
use uaforge_types::status;

use super::SpaceManager;
use super::method::{Found, Search};
use super::signature::{Arity, Signature};
use crate::access::Access;
use crate::manager::{CallAnswer, CallCx, CallItem, contain};
use crate::methods::{Binding, Handler, MethodCall, MethodError};

/// References that the look-up of one request's Methods may look at: objects with very many components
/// may not hold the connection for long.
const BUDGET: u32 = 1_000_000;

impl SpaceManager {
    pub(crate) fn call(&self, cx: &mut CallCx<'_, '_>, decode: DecodeContext<'_>, items: &[CallItem<'_>]) {
        let snapshot = cx.snapshot;
        let mut search = Search::new(snapshot, BUDGET);
        for item in items {
            match self.prepare(&mut search, decode, cx.access(), item) {
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
        search: &mut Search<'_>,
        decode: DecodeContext<'_>,
        access: Access,
        item: &CallItem<'_>,
    ) -> Result<Prepared, MethodError> {
        let snapshot = search.snapshot;
        let found = search.called(item.object, item.method)?;
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
        let name = found.called.browse_name();
        found.owners.iter().find_map(|owner| {
            let exact = self.methods.find(owner.node.id(), |binding| {
                binding.method.as_ref() == found.called.id() && found.allows(binding)
            });
            // Two Methods of one owner may share a name.
            let named = || {
                self.methods.find(owner.node.id(), |binding| {
                    !owner.has_called && binding.has_name(name) && found.allows(binding)
                })
            };
            exact.or_else(named)
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
        let found = Search::new(snapshot, u32::MAX).declared(owner.as_ref(), method)?;
        self.bind_found(snapshot, &found, decode, None, handler);
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
        let mut search = Search::new(snapshot, u32::MAX);
        let method = search.named(owner.as_ref(), name)?;
        let found = search.declared(owner.as_ref(), method)?;
        self.bind_found(snapshot, &found, decode, Some(arity), handler);
        Ok(())
    }

    fn bind_found(
        &self,
        snapshot: &Snapshot,
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
            signature: Arc::new(Signature::of(&found.methods, snapshot, decode, arity)),
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

fn is_executable(method: Node<'_>) -> bool {
    !matches!(method.attribute(AttributeId::Executable), Ok(AttributeValue::Boolean(false)))
}
