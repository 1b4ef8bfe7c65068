//! The steps of a plan, for every client of the comparison with other implementations that is in Rust.
//!
//! Nothing is judged here: each step's outcome is written down, and the task that called compares.

mod attributes;
pub mod methods;
mod monitored_items;
mod sessions;
mod subscriptions;
mod views;

use core::future::Future;

use serde_json::{Value, json};
use uaforge_codec::{
    ByteString, Decode, DecodeContext, DecodeError, Decoder, Encode, EncodeContext, EncodeError, Encoder,
    ExpandedNodeId, IdentifierRef, NodeId, StatusCode, Variant,
};
use uaforge_types::ServiceRequest;

/// The namespace of the nodes that every server of the comparison has.
#[derive(Clone, Copy, Debug)]
pub struct Namespace(pub u16);

impl Namespace {
    /// An id in full, or the name of a node of this namespace; the empty text is the null id.
    ///
    /// # Errors
    /// A text that begins as an id and is none.
    pub fn node(self, text: &str) -> Result<NodeId, String> {
        let is_id = text.starts_with("ns=") || ["i=", "s=", "g=", "b="].iter().any(|p| text.starts_with(p));
        match text {
            "" => Ok(NodeId::NULL),
            _ if is_id => text.parse().map_err(|_| format!("`{text}` is no NodeId")),
            name => Ok(NodeId::string(self.0, name)),
        }
    }

    /// The inverse of [`Namespace::node`].
    #[must_use]
    pub fn text(self, id: &NodeId) -> String {
        match id.identifier() {
            IdentifierRef::String(name) if id.namespace() == self.0 => name.to_owned(),
            _ if id.is_null() => String::new(),
            _ => id.to_string(),
        }
    }

    /// As [`Namespace::text`], for an id that a peer gave without a namespace URI.
    #[must_use]
    pub fn expanded(self, id: &ExpandedNodeId) -> String {
        self.text(&id.node_id)
    }
}

/// A value of its binary encoding in hexadecimal.
///
/// # Errors
/// What is no encoded Variant.
pub fn value(text: &str) -> Result<Variant, String> {
    let bytes = hex::decode(text).map_err(|error| format!("{text}: {error}"))?;
    decode(&bytes).map_err(|error| format!("{text}: {error}"))
}

/// What is encoded in `bytes`, all of them. Structures stay encoded.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut decoder = Decoder::new(bytes, DecodeContext::default());
    let value = T::decode(&mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// The binary encoding of a value.
///
/// # Errors
/// See [`EncodeError`].
pub fn encode<T: Encode>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, EncodeContext::default());
    value.encode(&mut encoder);
    encoder.finish()?;
    Ok(bytes)
}

/// The binary encoding in hexadecimal; null for a value that is not there.
#[must_use]
pub fn value_text(value: Option<&Variant>) -> Value {
    let Some(value) = value.filter(|value| !matches!(value, Variant::Null)) else { return Value::Null };
    match encode(value) {
        Ok(bytes) => hex::encode(bytes).into(),
        Err(error) => format!("cannot be encoded: {error}").into(),
    }
}

/// The text in a field; empty without one.
#[must_use]
pub fn text<'a>(step: &'a Value, field: &str) -> &'a str {
    step.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of a field; none without one.
#[must_use]
pub fn items<'a>(step: &'a Value, field: &str) -> &'a [Value] {
    step.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The number in a field, or another one.
#[must_use]
pub fn number<T: TryFrom<i64>>(step: &Value, field: &str, otherwise: T) -> T {
    let number = step.get(field).and_then(Value::as_i64);
    number.and_then(|number| T::try_from(number).ok()).unwrap_or(otherwise)
}

/// The truth in a field, or another one.
#[must_use]
pub fn truth(step: &Value, field: &str, otherwise: bool) -> bool {
    step.get(field).and_then(Value::as_bool).unwrap_or(otherwise)
}

/// Where requests go.
pub trait Caller {
    /// Calls a service: the response, the status of one that failed as a whole, or why there is neither.
    fn call<Q: ServiceRequest>(
        &mut self,
        request: Q,
    ) -> impl Future<Output = Result<Result<Q::Response, StatusCode>, String>>;

    /// Takes another authentication token from here on.
    ///
    /// # Errors
    /// Whoever keeps the session keeps its token.
    fn set_token(&mut self, token: NodeId) -> Result<(), String>;
}

/// What the steps of one check share.
pub struct Conversation<C> {
    connection: C,
    url: String,
    namespace: Namespace,
    /// Continuation points that the server gave, in their order.
    points: Vec<ByteString>,
    /// Ids of subscriptions that the server made, in their order.
    subscriptions: Vec<u32>,
    /// Ids of monitored items, in their order; 0 for one that the server refused.
    items: Vec<u32>,
    /// Sequence numbers of the messages that told of something.
    sequence_numbers: Vec<u32>,
}

/// The outcome of a step, or why there is none.
type Outcome = Result<Value, String>;

impl<C: Caller> Conversation<C> {
    /// Begins a check on a connection to `url`, whose NamespaceArray has the plan's namespace at `index`.
    pub fn new(connection: C, url: &str, index: u16) -> Self {
        Self {
            connection,
            url: url.to_owned(),
            namespace: Namespace(index),
            points: Vec::new(),
            subscriptions: Vec::new(),
            items: Vec::new(),
            sequence_numbers: Vec::new(),
        }
    }

    /// Carries out the steps; each one's outcome, and why it ended early.
    pub async fn run(mut self, steps: &[Value]) -> Value {
        let outcome = self.run_all(steps).await;
        self.end_subscriptions().await;
        outcome
    }

    async fn run_all(&mut self, steps: &[Value]) -> Value {
        let mut outcomes = Vec::new();
        for step in steps {
            match self.step(step).await {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return json!({ "steps": outcomes, "error": error }),
            }
        }
        json!({ "steps": outcomes })
    }

    async fn step(&mut self, step: &Value) -> Outcome {
        match text(step, "do") {
            "read" => self.read(step).await,
            "write" => self.write(step).await,
            "call" => self.call(step).await,
            "browse" => self.browse(step).await,
            "browse_next" => self.browse_next(step).await,
            "translate" => self.translate(step).await,
            "register" => self.register(step).await,
            "unregister" => self.unregister(step).await,
            "cancel" => self.cancel(step).await,
            "get_endpoints" => self.get_endpoints(step).await,
            "find_servers" => self.find_servers(step).await,
            "create_session" => self.create_session(step).await,
            "activate" => self.activate(step).await,
            "close_session" => self.close_session().await,
            "token" => self.take_token(step),
            "subscribe" => self.subscribe(step).await,
            "modify_subscription" => self.modify_subscription(step).await,
            "publishing" => self.publishing(step).await,
            "unsubscribe" => self.unsubscribe(step).await,
            "transfer" => self.transfer(step).await,
            "publish" => self.publish(step).await,
            "republish" => self.republish(step).await,
            "monitor" => self.monitor(step).await,
            "modify_items" => self.modify_items(step).await,
            "monitoring_mode" => self.monitoring_mode(step).await,
            "delete_items" => self.delete_items(step).await,
            "trigger" => self.trigger(step).await,
            "wait" => Ok(subscriptions::wait(step)),
            other => Err(format!("there is no step `{other}`")),
        }
    }
}
