//! Call (OPC 10000-4 §5.12).

use uaforge_codec::{Array, NodeId, StatusCode, Variant};
use uaforge_nodes::typed::NodeRef;
use uaforge_types::{CallMethodRequest, CallMethodResult, CallRequest, status};

use super::check_count;
use crate::error::ArgumentStatus;
use crate::{Error, Session};

impl Session {
    /// Calls a Method of an object with these input arguments; gives its output arguments.
    ///
    /// # Errors
    /// The service or the Method failed; [`Error::Method`] says what is wrong with which argument.
    pub async fn call_method(
        &self,
        object: impl NodeRef,
        method: impl NodeRef,
        inputs: impl Into<Array<Variant>>,
    ) -> Result<Vec<Variant>, Error> {
        let namespaces = self.namespaces();
        let (object, method) = (object.node_id(&namespaces)?, method.node_id(&namespaces)?);
        let result = self.call_once(object, method.clone(), inputs.into()).await?;
        outputs(result, &method, &[])
    }

    /// Calls Methods in one request; the server runs them in this order. The results are in the same
    /// order, each with its own status.
    ///
    /// # Errors
    /// The call failed as a whole.
    pub async fn call_methods(
        &self,
        methods_to_call: Vec<CallMethodRequest>,
    ) -> Result<Vec<CallMethodResult>, Error> {
        let asked = methods_to_call.len();
        let request = CallRequest { methods_to_call: methods_to_call.into(), ..Default::default() };
        let results = self.call_service(request).await?.results.into_vec();
        check_count("CallRequest", asked, results.len())?;
        Ok(results)
    }

    pub(crate) async fn call_once(
        &self,
        object_id: NodeId,
        method_id: NodeId,
        input_arguments: Array<Variant>,
    ) -> Result<CallMethodResult, Error> {
        let call = CallMethodRequest { object_id, method_id, input_arguments };
        Ok(self.call_methods(vec![call]).await?.pop().unwrap_or_default())
    }
}

/// The outputs of a call, or why there are none. `inputs` are names of the input arguments.
pub(crate) fn outputs(
    result: CallMethodResult,
    what: &dyn std::fmt::Display,
    inputs: &[&str],
) -> Result<Vec<Variant>, Error> {
    if !result.status_code.is_bad() {
        return Ok(result.output_arguments.into_vec());
    }
    let arguments = result.input_argument_results.iter().enumerate();
    let arguments = arguments.filter(|(_, status)| **status != StatusCode::GOOD).map(|(index, status)| {
        let name = inputs.get(index).map_or_else(|| format!("input {index}"), |name| (*name).to_owned());
        ArgumentStatus { index, name: name.into(), status: *status }
    });
    Err(Error::Method {
        what: what.to_string().into(),
        status: result.status_code,
        arguments: arguments.collect(),
    })
}

/// Whether a server says that it does not know the Method by this id, so that it did not run.
pub(crate) fn is_refused(status: StatusCode) -> bool {
    [status::BAD_METHOD_INVALID, status::BAD_NODE_ID_UNKNOWN, status::BAD_NODE_ID_INVALID].contains(&status)
}
