//! What our programs for the comparison with other implementations share: texts of a plan and values.

use serde_json::Value;
use uaforge_codec::{
    Decode, DecodeContext, Decoder, Encode, EncodeContext, Encoder, ExpandedNodeId, IdentifierRef, NodeId,
    Variant,
};

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
    let mut decoder = Decoder::new(&bytes, DecodeContext::default());
    let value = Variant::decode(&mut decoder).map_err(|error| format!("{text}: {error}"))?;
    decoder.finish().map_err(|error| format!("{text}: {error}"))?;
    Ok(value)
}

/// The binary encoding in hexadecimal; null for a value that is not there.
#[must_use]
pub fn value_text(value: Option<&Variant>) -> Value {
    let Some(value) = value.filter(|value| !matches!(value, Variant::Null)) else { return Value::Null };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, EncodeContext::default());
    value.encode(&mut encoder);
    match encoder.finish() {
        Ok(_) => hex::encode(bytes).into(),
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
