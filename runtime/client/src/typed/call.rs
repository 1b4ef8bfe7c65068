//! Typed calls of Methods, by the object's own Method or by that of its type.

use std::sync::Arc;

use uaforge_codec::{Array, FromVariant, IntoVariant, NodeId, Variant, VariantTypeError};
use uaforge_nodes::typed::{InstanceName, MethodMember, resolve_key};
use uaforge_types::{CallMethodRequest, CallMethodResult, status};

use super::object::ObjectProxy;
use super::place::Place;
use crate::Error;
use crate::services::call::{is_refused, outputs};

/// The output arguments of a call, taken one by one as the types of the model.
#[derive(Debug)]
pub struct OutputArguments {
    what: Arc<str>,
    method: &'static MethodMember,
    values: std::vec::IntoIter<Variant>,
    taken: usize,
}

impl OutputArguments {
    /// The next one.
    ///
    /// # Errors
    /// It is of another type than the model says.
    pub fn take<T: FromVariant>(&mut self) -> Result<T, Error> {
        let value = self.values.next().unwrap_or_default();
        let name = self.method.outputs.get(self.taken).copied().unwrap_or_default();
        self.taken += 1;
        let found = T::from_variant(&value);
        found.or_else(|reason| T::from_null().filter(|_| value.is_null()).ok_or(reason)).map_err(
            |reason: VariantTypeError| Error::ValueType {
                what: format!("{}: {name}", self.what).into(),
                reason,
            },
        )
    }
}

/// An input that may be left out: no value where it is.
#[must_use]
pub fn optional_input<T: IntoVariant>(value: Option<T>) -> Variant {
    value.map_or(Variant::Null, T::into_variant)
}

impl ObjectProxy {
    /// Calls a Method; the number of its outputs is checked. Generated proxies have a method for each.
    ///
    /// # Errors
    /// The object does not have the Method, the Method failed, or the service did.
    pub async fn call<const N: usize>(
        &self,
        method: &'static MethodMember,
        inputs: [Variant; N],
    ) -> Result<OutputArguments, Error> {
        let mut inputs = Vec::from(inputs);
        // What is left out is not sent.
        let required = method.inputs.len().saturating_sub(method.optional_inputs);
        while inputs.len() > required && inputs.last().is_some_and(Variant::is_null) {
            inputs.pop();
        }
        let values = self.call_open(method, inputs.into()).await?;
        let what: Arc<str> = self.path_of(method).into();
        if values.len() != method.outputs.len() {
            let (expected, found) = (method.outputs.len(), values.len());
            return Err(Error::OutputCount { what, expected, found });
        }
        Ok(OutputArguments { what, method, values: values.into_vec().into_iter(), taken: 0 })
    }

    /// Calls a Method whose arguments the model leaves open.
    ///
    /// # Errors
    /// As [`ObjectProxy::call`].
    pub async fn call_open(
        &self,
        method: &'static MethodMember,
        inputs: Array<Variant>,
    ) -> Result<Array<Variant>, Error> {
        let result = call_known(self.place(), method, &inputs).await?;
        outputs(result, &self.path_of(method), method.inputs).map(Array::from)
    }

    fn path_of(&self, method: &MethodMember) -> String {
        format!("{self}/{}", method.name)
    }
}

/// Calls by the id that the server took before. At the first time that is the object's own Method; a
/// server that refuses it, or an object without one, is asked by the Method of the type
/// (OPC 10000-4 §5.12.2 allows both, some servers take only one of them).
async fn call_known(
    place: &Arc<Place>,
    method: &'static MethodMember,
    inputs: &Array<Variant>,
) -> Result<CallMethodResult, Error> {
    let session = &place.session;
    let object = place.node_id().await?;
    let call = |method_id: NodeId| {
        let (object_id, input_arguments) = (object.clone(), inputs.clone());
        session.call_once(CallMethodRequest { object_id, method_id, input_arguments }, None)
    };
    let known = session.method_ids().get(&object, method.name);
    if let Some(known) = &known {
        let result = call(known.clone()).await?;
        if !is_refused(result.status_code) {
            return Ok(result);
        }
    }
    let own = own_method(place, method).await?;
    let declared = resolve_key(method.declaration, &session.namespaces()).ok();
    let mut refused = None;
    for method_id in own.iter().chain(declared.iter().filter(|id| own.as_ref() != Some(*id))) {
        if known.as_ref() == Some(method_id) {
            continue;
        }
        let result = call(method_id.clone()).await?;
        if !is_refused(result.status_code) {
            session.method_ids().keep(&object, method.name, method_id.clone());
            return Ok(result);
        }
        refused.get_or_insert(result);
    }
    refused
        .ok_or_else(|| Error::operation(format_args!("{place}/{}", method.name), status::BAD_METHOD_INVALID))
}

/// The Method of the object itself. A server that cannot translate browse paths shows none.
async fn own_method(place: &Arc<Place>, method: &MethodMember) -> Result<Option<NodeId>, Error> {
    match place.child(&InstanceName::from(method.name)).await {
        Err(Error::Service { status: status::BAD_SERVICE_UNSUPPORTED, .. }) => Ok(None),
        found => found,
    }
}
