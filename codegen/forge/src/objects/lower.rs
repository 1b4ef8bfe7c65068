//! Lowers ObjectTypes of the resolved model to the IR of the emitter.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use uaforge_emit::ir::Namespace;
use uaforge_emit::objects::{Handlers, Member, MemberKind, Method, Name, ObjectType, Placeholder, Rule};
use uaforge_model::resolved::{Id, ModelSet, Node, NodeClass, Ns, QName};

use super::members::{self, Declaration, ModellingRule};
use super::methods::Methods;
use super::names::ObjectNames;
use crate::data_types::{Cx, lower, value_type};
use crate::names::Scope;

/// Methods that every proxy or handle has already.
const RESERVED: &[&str] = &[
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

/// All ObjectTypes of the model, in the order of ids.
pub(super) fn object_types(cx: &Cx<'_>) -> Vec<ObjectType> {
    let names = ObjectNames::new(cx.set, &cx.names);
    let lowering = Lowering { cx, names, known: Methods::new(cx.set) };
    let Some(model) = cx.set.model(cx.ns) else {
        return Vec::new();
    };
    if cx.ns == Ns(0) {
        return Vec::new();
    }
    let types = model.nodes.values().filter(|node| node.class == NodeClass::ObjectType);
    types.filter_map(|node| lowering.object_type(node)).collect()
}

struct Lowering<'a> {
    cx: &'a Cx<'a>,
    names: ObjectNames,
    known: Methods<'a>,
}

impl Lowering<'_> {
    fn object_type(&self, node: &Node) -> Option<ObjectType> {
        let ident = self.names.of(&node.id)?.clone();
        let (members, methods) = self.members(&node.id, &ident);
        let supertypes = self.cx.set.supertypes(&node.id);
        let mut ancestors: Vec<TokenStream> =
            supertypes.iter().filter(|id| id.ns != Ns(0)).map(|id| self.path(id)).collect();
        ancestors.push(self.base());
        Some(ObjectType {
            proxy: format_ident!("{ident}Proxy"),
            handle: format_ident!("{ident}Handle"),
            name: node.browse_name.name.to_string(),
            id: lower::identifier(&node.id.ident),
            is_abstract: node.is_abstract,
            supertype: supertypes.first().map_or_else(|| self.base(), |id| self.path(id)),
            ancestors,
            members,
            methods,
            handlers: self.handlers(&node.id),
            docs: lower::docs(self.cx.set, &node.id),
            ident,
        })
    }

    fn base(&self) -> TokenStream {
        quote!(nodes::typed::BaseObjectType)
    }

    /// The path of an ObjectType; those of the base model are objects of any type.
    fn path(&self, id: &Id) -> TokenStream {
        let (set, name) = (self.cx.set, self.names.of(id));
        match name {
            Some(name) if id.ns == self.cx.ns => quote!(#name),
            Some(name) => {
                let path = set.model(id.ns).and_then(|model| model.rust_path.as_deref());
                match path.and_then(|path| path.parse::<TokenStream>().ok()) {
                    Some(path) => quote!(#path::#name),
                    None => self.base(),
                }
            }
            None => self.base(),
        }
    }

    /// Own members with values or members, and own Methods.
    fn members(&self, id: &Id, owner: &Ident) -> (Vec<Member>, Vec<Method>) {
        let mut inherited = self.inherited(id);
        let (mut members, mut methods) = (Vec::new(), Vec::new());
        for (member, names) in self.named(id, &mut inherited) {
            match member.node.class {
                NodeClass::Method => methods.push(self.method(id, owner, &member, names)),
                _ => members.push(self.member(member, names)),
            }
        }
        (members, methods)
    }

    fn method(&self, id: &Id, owner: &Ident, member: &Declaration<'_>, names: MemberNames) -> Method {
        let (cx, node) = (self.cx, member.node);
        let structure = format!("{owner}{}Outputs", pascal(&names.one));
        let structure = self.names.derived(&cx.names, &node.id, &structure);
        Method {
            on: names.add,
            name: name(cx.set, node),
            declaration: lower::key(cx.set, &node.id),
            rule: match member.rule {
                ModellingRule::Mandatory => Rule::Mandatory,
                _ => Rule::Optional(names.constant),
            },
            signature: self.known.arguments(id, node).lower(cx, structure),
            is_required: self.known.is_required(id, member),
            ident: names.one,
        }
    }

    /// Handlers of the type and the nearest ones of its supertypes.
    fn handlers(&self, id: &Id) -> Option<Handlers> {
        let set = self.cx.set;
        let own = self.trait_name(id).filter(|_| self.known.has_handlers(id));
        let supertypes = set.supertypes(id);
        let mut above = supertypes.iter().filter(|id| self.known.has_handlers(id));
        let inherited = above.find_map(|id| self.handlers_path(id));
        (own.is_some() || inherited.is_some()).then_some(Handlers { own, inherited })
    }

    /// The name of the trait of a type's handlers.
    fn trait_name(&self, id: &Id) -> Option<Ident> {
        let name = format!("{}Methods", self.names.of(id)?);
        Some(self.names.derived(&self.cx.names, id, &name))
    }

    /// The path of the trait of a type's handlers.
    fn handlers_path(&self, id: &Id) -> Option<TokenStream> {
        let name = self.trait_name(id)?;
        if id.ns == self.cx.ns {
            return Some(quote!(#name));
        }
        let path = self.cx.set.model(id.ns)?.rust_path.as_deref()?.parse::<TokenStream>().ok()?;
        Some(quote!(#path::server::#name))
    }

    /// Names of all members that the supertypes declare.
    fn inherited(&self, id: &Id) -> Inherited {
        let mut inherited = Inherited::default();
        for supertype in self.cx.set.supertypes(id).into_iter().rev() {
            self.named(supertype, &mut inherited);
        }
        inherited
    }

    /// Own members with their names. A member that is declared again keeps its name; a new one does
    /// not hide an inherited one.
    fn named(&self, id: &Id, inherited: &mut Inherited) -> Vec<(Declaration<'_>, MemberNames)> {
        let mut scope = Scope::with_reserved(RESERVED);
        for names in inherited.0.values() {
            for ident in names.all() {
                scope.keep(&ident.to_string());
            }
        }
        let mut out = Vec::new();
        for member in members::own(self.cx.set, id) {
            let name = &member.node.browse_name;
            let names = match inherited.0.get(name) {
                Some(names) => names.clone(),
                None => MemberNames::new(&mut scope, &member),
            };
            inherited.0.insert(name.clone(), names.clone());
            out.push((member, names));
        }
        out
    }

    fn member(&self, member: Declaration<'_>, names: MemberNames) -> Member {
        let (cx, node) = (self.cx, member.node);
        let type_definition = cx.set.type_definition(&node.id);
        let kind = match node.class {
            NodeClass::Variable => MemberKind::Variable(value_type(cx, &node.data_type, node.value_rank)),
            _ => MemberKind::Object(type_definition.map_or_else(|| self.base(), |id| self.path(id))),
        };
        let rule = match member.rule {
            ModellingRule::Mandatory => Rule::Mandatory,
            ModellingRule::Optional => Rule::Optional(names.constant),
            ModellingRule::Placeholder => Rule::Placeholder(Placeholder {
                constant: names.constant,
                all: names.all,
                add: names.add,
                reference_type: lower::key(cx.set, member.reference_type),
                type_definition: lower::key(cx.set, type_definition.unwrap_or(&node.id)),
            }),
        };
        Member { ident: names.one, name: name(cx.set, node), kind, rule }
    }
}

/// A browse name by URI.
fn name(set: &ModelSet, node: &Node) -> Name {
    let namespace = match node.browse_name.ns {
        Ns(0) => Namespace::Ua,
        ns => Namespace::Uri(set.uri(ns).to_string()),
    };
    Name { namespace, name: node.browse_name.name.to_string() }
}

/// `start_mash` as part of the name of a type.
fn pascal(ident: &Ident) -> String {
    let text = ident.to_string();
    let words = text.trim_start_matches("r#").split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    words.collect()
}

/// Names of members by browse name, as far up as there are supertypes.
#[derive(Default)]
struct Inherited(BTreeMap<QName, MemberNames>);

/// The Rust names of one member.
#[derive(Clone)]
struct MemberNames {
    one: Ident,
    /// All that stand for a placeholder; else the same as `one`.
    all: Ident,
    /// Adds one that stands for a placeholder, or binds a handler; else the same as `one`.
    add: Ident,
    constant: Ident,
}

impl MemberNames {
    fn new(scope: &mut Scope, member: &Declaration<'_>) -> Self {
        let node = member.node;
        let suffix = node.id.ident.to_string();
        let placeholder = member.rule == ModellingRule::Placeholder;
        // A placeholder is called what stands between its angle brackets.
        let name = match &node.symbolic_name {
            Some(name) if !placeholder => name.as_str(),
            _ => &node.browse_name.name,
        };
        let one = scope.snake(name, &suffix);
        let text = one.to_string();
        let text = text.trim_start_matches("r#");
        let constant = Scope::default().screaming(text, "");
        let (all, add) = if placeholder {
            (scope.snake(&plural(text), &suffix), scope.snake(&format!("add_{text}"), &suffix))
        } else if node.class == NodeClass::Method {
            (one.clone(), scope.snake(&format!("on_{text}"), &suffix))
        } else {
            (one.clone(), one.clone())
        };
        Self { one, all, add, constant }
    }

    fn all(&self) -> [&Ident; 3] {
        [&self.one, &self.all, &self.add]
    }
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
