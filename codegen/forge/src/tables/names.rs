//! Slots of namespaces, and keys of ids that are no numbers.

use std::collections::BTreeMap;

use uaforge_model::resolved::{Id, Ident, ModelSet, Ns, QName};

use super::{TableError, mentions};

/// Bit of a slot: the number beside it is the key of a named id.
pub(super) const NAMED: u8 = 0x80;

/// The namespaces of a model by slot: itself, ns0, the required ones in the order of the file, then
/// any other that it mentions. `Namespaces::SLOTS` of the model's crate is the same list.
pub fn slots(set: &ModelSet, ns: Ns) -> Vec<Ns> {
    let mut slots = vec![ns];
    let mut add = |ns: Ns| {
        if !slots.contains(&ns) {
            slots.push(ns);
        }
    };
    add(Ns(0));
    let Some(model) = set.models.iter().find(|m| m.ns == ns) else {
        return slots;
    };
    for required in &model.required {
        if let Some(at) = set.uris.iter().position(|uri| *uri == required.uri) {
            add(Ns(at as u16));
        }
    }
    mentions::namespaces(set, model).into_iter().for_each(add);
    slots
}

/// An id as rows hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) slot: u8,
    pub(super) id: u32,
}

/// A row of the table of named ids.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) slot: u8,
    pub(super) kind: u8,
    pub(super) bytes: Vec<u8>,
}

/// Maps namespaces to slots and named ids to keys.
pub(super) struct Names {
    slots: BTreeMap<Ns, u8>,
    keys: BTreeMap<Id, u32>,
    pub(super) named: BTreeMap<u32, Named>,
}

fn split(ident: &Ident) -> Option<(u8, &[u8])> {
    match ident {
        Ident::Numeric(_) => None,
        Ident::String(text) => Some((1, text.as_bytes())),
        Ident::Guid(bytes) => Some((2, bytes)),
        Ident::Opaque(bytes) => Some((3, bytes)),
    }
}

/// FNV-1a over the kind and the bytes; `uaforge_nodes::table::hash_name` is the same function.
fn hash(kind: u8, bytes: &[u8]) -> u32 {
    let seed = (0x811c_9dc5 ^ u32::from(kind)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(seed, |hash, b| (hash ^ u32::from(*b)).wrapping_mul(0x0100_0193))
}

impl Names {
    /// `mentioned` are all ids that rows will hold.
    pub(super) fn new<'a>(
        set: &ModelSet,
        ns: Ns,
        mentioned: impl Iterator<Item = &'a Id>,
    ) -> Result<Self, TableError> {
        let list = slots(set, ns);
        if list.len() > 126 {
            let uri = set.uris.get(usize::from(ns.0)).map(|u| u.to_string()).unwrap_or_default();
            return Err(TableError::TooManySlots { uri });
        }
        let slots = list.iter().enumerate().map(|(slot, ns)| (*ns, slot as u8)).collect();
        let mut names = Self { slots, keys: BTreeMap::new(), named: BTreeMap::new() };
        let mut named: Vec<&Id> = mentioned.filter(|id| split(&id.ident).is_some()).collect();
        named.sort_unstable_by_key(|id| (names.slot(id.ns), &id.ident));
        named.dedup();
        for id in named {
            if let Some((kind, bytes)) = split(&id.ident) {
                let mut key = hash(kind, bytes);
                while names.named.contains_key(&key) {
                    key = key.wrapping_add(1);
                }
                let row = Named { slot: names.slot(id.ns), kind, bytes: bytes.to_vec() };
                names.named.insert(key, row);
                names.keys.insert(id.clone(), key);
            }
        }
        Ok(names)
    }

    /// Whether rows can refer to a namespace.
    pub(super) fn has_slot(&self, ns: Ns) -> bool {
        self.slots.contains_key(&ns)
    }

    /// The slot of a namespace; every namespace that the model mentions has one.
    pub(super) fn slot(&self, ns: Ns) -> u8 {
        self.slots.get(&ns).copied().unwrap_or(0)
    }

    /// The id as a row holds it.
    pub(super) fn key(&self, id: &Id) -> Key {
        let slot = self.slot(id.ns);
        match id.ident {
            Ident::Numeric(number) => Key { slot, id: number },
            _ => Key { slot: slot | NAMED, id: self.keys.get(id).copied().unwrap_or(0) },
        }
    }
}

/// A Rust constant's name for a browse name; empty if nothing is left of it.
pub(super) fn screaming(name: &QName) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
                out.push('_');
            }
            out.push(c.to_ascii_uppercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        before = c;
    }
    let trimmed = out.trim_matches('_');
    match trimmed.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("T{trimmed}"),
        _ => trimmed.to_owned(),
    }
}
