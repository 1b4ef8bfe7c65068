//! Lowers ObjectTypes of the resolved model to the IR of the emitter.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use uaforge_emit::ir::Namespace;
use uaforge_emit::objects::{Handlers, Member, MemberKind, Method, Name, ObjectType, Placeholder, Rule};
use uaforge_model::resolved::{Id, ModelSet, Node, NodeClass, Ns};

use super::members::{Declaration, ModellingRule};
use super::methods::Methods;
use super::names::{self, MemberNames};
use crate::data_types::{Cx, lower, value_type};

/// All ObjectTypes of the model, in the order of ids.
pub(crate) fn object_types(cx: &Cx<'_>) -> Vec<ObjectType> {
    let lowering = Lowering { cx, known: Methods::new(cx.set) };
    let Some(model) = cx.set.model(cx.ns) else {
        return Vec::new();
    };
    let types = model.nodes.values().filter(|node| node.class == NodeClass::ObjectType);
    types.filter_map(|node| lowering.object_type(node)).collect()
}

struct Lowering<'a, 'c> {
    cx: &'a Cx<'c>,
    known: Methods<'c>,
}

impl Lowering<'_, '_> {
    fn object_type(&self, node: &Node) -> Option<ObjectType> {
        let ident = self.cx.names.of_object_type(&node.id)?.clone();
        let (members, methods) = self.members(&node.id, &ident);
        let supertypes = self.cx.set.supertypes(&node.id);
        let ancestors = supertypes.iter().map(|id| self.path(id)).collect();
        Some(ObjectType {
            proxy: ending(&ident, "Proxy"),
            handle: ending(&ident, "Handle"),
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

    /// The path of an ObjectType; one without a crate is an object of any type.
    fn path(&self, id: &Id) -> TokenStream {
        match (self.cx.names.of_object_type(id), self.crate_of(id)) {
            (Some(name), Some(path)) => quote!(#path #name),
            _ => self.base(),
        }
    }

    /// The path of the crate with a type, with `::` behind it; empty for the model itself.
    fn crate_of(&self, id: &Id) -> Option<TokenStream> {
        if id.ns == self.cx.ns {
            return Some(TokenStream::new());
        }
        if id.ns == Ns(0) {
            let ns0 = &self.cx.ns0;
            return Some(quote!(#ns0::));
        }
        let path = self.cx.set.model(id.ns)?.rust_path.as_deref()?.parse::<TokenStream>().ok()?;
        Some(quote!(#path::))
    }

    /// Own members with values or members, and own Methods.
    fn members(&self, id: &Id, owner: &Ident) -> (Vec<Member>, Vec<Method>) {
        let (mut members, mut methods) = (Vec::new(), Vec::new());
        for (member, names) in names::own(self.cx, id) {
            match member.node.class {
                NodeClass::Method => methods.push(self.method(id, owner, &member, names)),
                _ => members.push(self.member(member, names)),
            }
        }
        (members, methods)
    }

    fn method(&self, id: &Id, owner: &Ident, member: &Declaration<'_>, names: MemberNames) -> Method {
        let (cx, node) = (self.cx, member.node);
        let structure = format!("{owner}{}Outputs", names::pascal(&names.one));
        let structure = cx.names.outputs(cx.ns, id, &node.id, &structure).unwrap_or_else(|| owner.clone());
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
        Some(ending(self.cx.names.of_object_type(id)?, "Methods"))
    }

    /// The path of the trait of a type's handlers.
    fn handlers_path(&self, id: &Id) -> Option<TokenStream> {
        let name = self.trait_name(id)?;
        let path = self.crate_of(id)?;
        Some(if path.is_empty() { quote!(#name) } else { quote!(#path server::#name) })
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

/// What stands for an ObjectType elsewhere: its name and an ending.
fn ending(ident: &Ident, ending: &str) -> Ident {
    let name = ident.to_string();
    format_ident!("{}{ending}", name.trim_end_matches('_'))
}
