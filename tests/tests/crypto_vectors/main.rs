//! The vectors of `crypto.json`, through both providers.

mod asymmetric;
mod derivation;
mod signatures;
mod symmetric;

use serde_json::Value;
use uaforge_crypto::Policy;
use uaforge_tests::pki::vector_file;

/// The entries of one list.
fn list(name: &str) -> Vec<Value> {
    let list = vector_file("crypto.json")[name].as_array().expect("a list").clone();
    assert!(!list.is_empty());
    list
}

fn text<'v>(entry: &'v Value, name: &str) -> &'v str {
    entry[name].as_str().unwrap_or_else(|| panic!("{name} of {entry}"))
}

fn bytes(entry: &Value, name: &str) -> Vec<u8> {
    hex::decode(text(entry, name)).expect("hexadecimal digits")
}

fn number(entry: &Value, name: &str) -> usize {
    let number = entry[name].as_u64().unwrap_or_else(|| panic!("{name} of {entry}"));
    usize::try_from(number).expect("a small number")
}

fn policy(entry: &Value) -> &'static Policy {
    Policy::by_name(text(entry, "policy")).expect("a policy")
}
