//! Rust names of the members of ObjectTypes.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use uaforge_model::resolved::{Id, NodeClass, QName};

use super::members::{self, Declaration, ModellingRule};
use crate::data_types::Cx;
use crate::names::Scope;

/// Methods that every proxy or handle has already, and names that promise what a member is not.
const RESERVED: &[&str] = &[
    "new",
    "as_ref",
    "borrow",
    "node_id",
    "id",
    "session",
    "server",
    "clone",
    "deref",
    "from",
    "into",
    "name",
    "bind",
    "bind_methods",
    "call",
    "call_open",
    "on_method",
];

/// The Rust names of one member.
#[derive(Clone)]
pub(super) struct MemberNames {
    pub(super) one: Ident,
    /// All that stand for a placeholder; else the same as `one`.
    pub(super) all: Ident,
    /// Adds one that stands for a placeholder, or binds a handler; else the same as `one`.
    pub(super) add: Ident,
    pub(super) constant: Ident,
    form: Form,
}

/// Which names a member needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Placeholder,
    Method,
}

/// The members that a type declares itself with their names. A member that is declared again keeps its
/// name; a new one does not hide an inherited one.
pub(super) fn own<'a>(cx: &Cx<'a>, id: &Id) -> Vec<(Declaration<'a>, MemberNames)> {
    let mut inherited = Inherited::default();
    for supertype in cx.set.supertypes(id).into_iter().rev() {
        inherited.declare(cx, supertype);
    }
    inherited.declare(cx, id)
}

/// Names of members by browse name, as far up as there are supertypes.
#[derive(Default)]
struct Inherited(BTreeMap<QName, MemberNames>);

impl Inherited {
    fn declare<'a>(&mut self, cx: &Cx<'a>, owner: &Id) -> Vec<(Declaration<'a>, MemberNames)> {
        let mut methods = cx.ledgers.scope(owner.ns, format!("member {}", owner.ident), RESERVED);
        let mut constants = cx.ledgers.scope(owner.ns, format!("constant {}", owner.ident), &[]);
        for names in self.0.values() {
            for ident in [&names.one, &names.all, &names.add] {
                methods.take(&unraw(ident));
            }
            constants.take(&names.constant.to_string());
        }
        let mut out = Vec::new();
        for member in members::own(cx.set, owner) {
            let name = &member.node.browse_name;
            let names = match self.0.get(name) {
                Some(names) if names.form == form(&member) => names.clone(),
                _ => MemberNames::new(&mut methods, &mut constants, &key(cx, owner, name), &member),
            };
            self.0.insert(name.clone(), names.clone());
            out.push((member, names));
        }
        out
    }
}

/// What the ledger calls a member: its browse name, with the URI where that is not its type's.
fn key(cx: &Cx<'_>, owner: &Id, name: &QName) -> String {
    if name.ns == owner.ns {
        return name.name.to_string();
    }
    format!("{}:{}", cx.set.uri(name.ns), name.name)
}

fn form(member: &Declaration<'_>) -> Form {
    match (member.node.class, member.rule) {
        (NodeClass::Method, _) => Form::Method,
        (_, ModellingRule::Placeholder) => Form::Placeholder,
        _ => Form::Plain,
    }
}

impl MemberNames {
    fn new(methods: &mut Scope<'_>, constants: &mut Scope<'_>, key: &str, member: &Declaration<'_>) -> Self {
        let node = member.node;
        let suffix = node.id.ident.to_string();
        let form = form(member);
        // A placeholder is called what stands between its angle brackets.
        let name = match &node.symbolic_name {
            Some(name) if form != Form::Placeholder => name.as_str(),
            _ => &node.browse_name.name,
        };
        let one = methods.snake(key, name, &suffix);
        let text = unraw(&one);
        let mut more = |what: &str, name: String| methods.snake(&format!("{key} {what}"), &name, &suffix);
        let (all, add) = match form {
            Form::Placeholder => (more("all", plural(&text)), more("add", format!("add_{text}"))),
            Form::Method => (one.clone(), more("on", format!("on_{text}"))),
            Form::Plain => (one.clone(), one.clone()),
        };
        Self { constant: constants.screaming(key, &text, &suffix), one, all, add, form }
    }
}

/// The name without `r#`.
fn unraw(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or_else(|| text.clone(), str::to_owned)
}

fn plural(name: &str) -> String {
    let mut letters = name.chars().rev();
    match (letters.next(), letters.next()) {
        (Some('s' | 'x'), _) => format!("{name}es"),
        (Some('y'), Some(before)) if !"aeiou".contains(before) => {
            format!("{}ies", name.strip_suffix('y').unwrap_or(name))
        }
        _ => format!("{name}s"),
    }
}

/// `start_mash` as part of the name of a type.
pub(super) fn pascal(ident: &Ident) -> String {
    let text = unraw(ident);
    let words = text.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals() {
        assert_eq!(plural("sensor"), "sensors");
        assert_eq!(plural("bus"), "buses");
        assert_eq!(plural("entry"), "entries");
        assert_eq!(plural("relay"), "relays");
    }
}
