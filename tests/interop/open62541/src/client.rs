//! The library's client as one that carries out the steps of a plan.

use std::ffi::{CString, c_void};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use open62541_sys as ua;
use serde_json::{Value, json};
use std::io::Write as _;
use uaforge_codec::{FromVariant as _, NodeId, StatusCode, UaString};
use uaforge_types::{ReadRequest, ReadValueId, ServiceRequest, ServiceResponse};

use crate::c::{Kind, Owned, good};
use crate::interop::{Caller, Conversation, items, text};

/// Milliseconds that a response may take.
const PATIENCE: u32 = 15_000;

unsafe extern "C" {
    /// What all services of the library's client go through; not in its header.
    fn __UA_Client_Service(
        client: *mut ua::UA_Client,
        request: *const c_void,
        request_type: *const ua::UA_DataType,
        response: *mut c_void,
        response_type: *const ua::UA_DataType,
    );
}

/// Carries out a plan: `client URL PLAN RESULTS`.
pub fn run(url: &str, plan: &str, results: &str) -> Result<(), String> {
    let plan = std::fs::read_to_string(plan).map_err(|error| error.to_string())?;
    let plan: Value = serde_json::from_str(&plan).map_err(|error| error.to_string())?;
    let mut results = std::fs::File::create(results).map_err(|error| error.to_string())?;
    let mut client = Client::connect(url, true)?;
    let index = client.namespace(text(&plan, "uri"))?;
    for check in items(&plan, "checks") {
        let steps = items(check, "steps");
        let mut outcome = if text(check, "session") == "open" {
            block_on(Conversation::new(&mut client, url, index).run(steps))
        } else {
            match Client::connect(url, false) {
                Ok(mut alone) => block_on(Conversation::new(&mut alone, url, index).run(steps)),
                Err(error) => json!({ "error": error }),
            }
        };
        outcome["name"] = text(check, "name").into();
        writeln!(results, "{outcome}").map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// A connection of the library.
struct Client {
    client: *mut ua::UA_Client,
    /// The authentication token of a session that the steps make.
    token: Option<NodeId>,
}

impl Client {
    fn connect(url: &str, with_session: bool) -> Result<Self, String> {
        let address = CString::new(url).map_err(|error| error.to_string())?;
        // SAFETY: a client with its configuration, of which the library owns all parts: the logger is made
        // by its own function, and the address is taken for the call only.
        unsafe {
            let mut config = Box::new(std::mem::zeroed::<ua::UA_ClientConfig>());
            config.logging = ua::UA_Log_Stdout_new(ua::UA_LogLevel::UA_LOGLEVEL_FATAL);
            good(ua::UA_ClientConfig_setDefault(&mut *config))?;
            config.timeout = PATIENCE;
            let client = ua::UA_Client_newWithConfig(&*config);
            if client.is_null() {
                return Err("the library makes no client".to_owned());
            }
            let new = Self { client, token: None };
            good(match with_session {
                true => ua::UA_Client_connect(client, address.as_ptr()),
                false => ua::UA_Client_connectSecureChannel(client, address.as_ptr()),
            })?;
            Ok(new)
        }
    }

    fn namespace(&mut self, uri: &str) -> Result<u16, String> {
        let node = ReadValueId { node_id: NodeId::numeric(0, 2255), attribute_id: 13, ..Default::default() };
        let request = ReadRequest { nodes_to_read: vec![node].into(), ..Default::default() };
        let response = self.service(request)?.map_err(|status| status.to_string())?;
        let value = response.results.first().and_then(|data| data.value()).ok_or("no NamespaceArray")?;
        let uris = Vec::<UaString>::from_variant(value).map_err(|error| error.to_string())?;
        let index = uris.iter().position(|known| known.as_str() == Some(uri));
        index.and_then(|index| u16::try_from(index).ok()).ok_or_else(|| format!("the server has no {uri}"))
    }

    fn service<Q: ServiceRequest>(
        &mut self,
        mut request: Q,
    ) -> Result<Result<Q::Response, StatusCode>, String> {
        if let Some(token) = &self.token {
            request.header_mut().authentication_token = token.clone();
        }
        let kinds = Kind::of_structure::<Q>().zip(Kind::of_structure::<Q::Response>());
        let (asked, answered) = kinds.ok_or_else(|| format!("the library has no {}", Q::DESCRIPTOR.name))?;
        let request = Owned::new(asked, &request)?;
        let mut response = Owned::empty(answered);
        // The library puts the token of its own session into ActivateSession and CloseSession, which it
        // knows by the address of their description; by a copy it leaves the request as it is.
        // SAFETY: descriptions are plain data that nobody frees; the copy lives longer than the call.
        let description = unsafe { asked.as_ptr().read() };
        let asked = if self.token.is_some() { &raw const description } else { asked.as_ptr() };
        // SAFETY: request and response are values of the types that go with them.
        unsafe {
            __UA_Client_Service(
                self.client,
                request.as_ptr(),
                asked,
                response.as_mut_ptr(),
                answered.as_ptr(),
            );
        }
        let response: Q::Response = response.get()?;
        let status = response.header().service_result;
        Ok(if status.is_bad() { Err(status) } else { Ok(response) })
    }
}

impl Caller for &mut Client {
    async fn call<Q: ServiceRequest>(
        &mut self,
        request: Q,
    ) -> Result<Result<Q::Response, StatusCode>, String> {
        self.service(request)
    }

    fn set_token(&mut self, token: NodeId) -> Result<(), String> {
        self.token = Some(token);
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: the client came from UA_Client_new and is given back once, with its configuration.
        unsafe {
            ua::UA_Client_disconnect(self.client);
            ua::UA_Client_delete(self.client);
        }
    }
}

/// The library's calls wait themselves: such a future is ready when it is asked.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}
