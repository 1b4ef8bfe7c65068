//! ObjectTypes: what stands for them, proxies for clients and handles for servers (D12).
//!
//! A type has its own members only; inherited ones come by `Deref` to the supertype's proxy or handle.

mod client;
mod marker;
mod method;
mod method_client;
mod method_server;
mod server;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};

use crate::ir::{ConstIdentifier, Key, Namespace, Roots};

pub use client::proxy;
pub use marker::marker;
pub use method::{Argument, Handlers, Method, Signature};
pub use server::handle;

/// A browse name by URI.
#[derive(Clone, Debug)]
pub struct Name {
    /// The URI.
    pub namespace: Namespace,
    /// The exact name.
    pub name: String,
}

impl Name {
    fn expression(&self, roots: &Roots) -> TokenStream {
        let Roots { codec, nodes, .. } = roots;
        let name = &self.name;
        let namespace = match &self.namespace {
            Namespace::Ua => quote!(#codec::NS0_URI),
            Namespace::Uri(uri) => uri.to_token_stream(),
        };
        quote!(#nodes::typed::MemberName::new(#namespace, #name))
    }
}

/// What a member is.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// A Variable with values of this Rust type.
    Variable(TokenStream),
    /// An Object of this ObjectType.
    Object(TokenStream),
}

/// Whether instances have a member (OPC 10000-3 §6.4.4.4).
#[derive(Clone, Debug)]
pub enum Rule {
    /// All have it.
    Mandatory,
    /// Some have it; its constant.
    Optional(Ident),
    /// They have any number of it.
    Placeholder(Placeholder),
}

/// What is known of a placeholder.
#[derive(Clone, Debug)]
pub struct Placeholder {
    /// Its constant.
    pub constant: Ident,
    /// Method that gives all of them.
    pub all: Ident,
    /// Method that adds one on the server.
    pub add: Ident,
    /// The reference to its instances.
    pub reference_type: Key,
    /// The type of its instances.
    pub type_definition: Key,
}

/// A member that a type declares itself.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its method.
    pub ident: Ident,
    /// Its browse name.
    pub name: Name,
    /// What it is.
    pub kind: MemberKind,
    /// Whether instances have it.
    pub rule: Rule,
}

/// An ObjectType.
#[derive(Clone, Debug)]
pub struct ObjectType {
    /// Rust name.
    pub ident: Ident,
    /// Name of its proxy.
    pub proxy: Ident,
    /// Name of its handle.
    pub handle: Ident,
    /// Its browse name, without the namespace.
    pub name: String,
    /// Its id in its model.
    pub id: ConstIdentifier,
    /// No object is of just this type.
    pub is_abstract: bool,
    /// Path of its supertype.
    pub supertype: TokenStream,
    /// Paths of all supertypes.
    pub ancestors: Vec<TokenStream>,
    /// Its own members.
    pub members: Vec<Member>,
    /// Its own Methods.
    pub methods: Vec<Method>,
    /// What handles the Methods that all of its objects have; `None` if there are none.
    pub handlers: Option<Handlers>,
    /// Lines of documentation.
    pub docs: Vec<String>,
}

/// What a proxy or handle is made of.
struct Newtype<'a> {
    ident: &'a Ident,
    /// That of the supertype.
    inner: TokenStream,
    /// That of any object.
    base: TokenStream,
    docs: String,
}

impl ObjectType {
    /// Names of own members and Methods with one rule, as expressions.
    fn names(&self, roots: &Roots, wanted: fn(&Rule) -> bool) -> Vec<TokenStream> {
        let members = self.members.iter().map(|member| (&member.rule, &member.name));
        let methods = self.methods.iter().map(|method| (&method.rule, &method.name));
        let found = members.chain(methods).filter(|(rule, _)| wanted(rule));
        found.map(|(_, name)| name.expression(roots)).collect()
    }
}

/// A newtype over the supertype's, with `Deref` to it and conversion from the base.
fn newtype(ir: &ObjectType, roots: &Roots, parts: &Newtype<'_>) -> TokenStream {
    let Newtype { ident, inner, base, docs } = parts;
    let nodes = &roots.nodes;
    // Directly below BaseObjectType, the supertype's proxy or handle is the base itself.
    let below_base = ir.supertype.to_string() == quote!(#nodes::typed::BaseObjectType).to_string();
    let value = if below_base { quote!(object) } else { quote!(::core::convert::From::from(object)) };
    quote! {
        #[doc = #docs]
        #[derive(Clone, Debug)]
        pub struct #ident(#inner);

        impl ::core::convert::From<#base> for #ident {
            #[inline]
            fn from(object: #base) -> Self {
                Self(#value)
            }
        }

        impl ::core::ops::Deref for #ident {
            type Target = #inner;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    }
}

/// An `impl` block; nothing if it is empty.
fn block(ident: &Ident, items: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let items: Vec<TokenStream> = items.collect();
    (!items.is_empty()).then(|| quote!(impl #ident { #(#items)* }))
}
