//! Emits proxies: what clients hold of objects.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Member, MemberKind, Newtype, ObjectType, Placeholder, Rule, method_client, newtype};
use crate::ir::Roots;

/// The proxy of a type. `client` is the path of the client crate.
#[must_use]
pub fn proxy(ir: &ObjectType, roots: &Roots, client: &TokenStream) -> TokenStream {
    let ObjectType { ident, proxy, supertype, .. } = ir;
    let inner = quote!(#client::typed::ProxyOf<#supertype>);
    let base = quote!(#client::typed::ObjectProxy);
    let docs = format!(" A `{}` on a server.", ir.name);
    let newtype = newtype(ir, roots, &Newtype { ident: proxy, inner, base, docs });
    let members = ir.members.iter().map(|member| method(ir, member, roots, client));
    let calls = ir.methods.iter().enumerate();
    let calls = calls.map(|method| method_client::call(&ir.ident, method, roots, client));
    let methods = super::block(proxy, members.chain(calls));
    quote! {
        #newtype

        impl #client::typed::ProxyType for #ident {
            type Proxy = #proxy;
        }

        #methods
    }
}

fn method(ir: &ObjectType, member: &Member, roots: &Roots, client: &TokenStream) -> TokenStream {
    let owner = &ir.ident;
    let name = member.name.expression(roots);
    let ident = &member.ident;
    let docs = format!(" `{}`", member.name.name);
    let base = quote!(#client::typed::ObjectProxy);
    let (ty, one, maybe) = match &member.kind {
        MemberKind::Variable(value) => (
            quote!(#client::typed::Var<#value>),
            quote!(#base::variable::<#value>),
            quote!(#base::optional_variable::<#value>),
        ),
        MemberKind::Object(object) => (
            quote!(#client::typed::ProxyOf<#object>),
            quote!(#base::object::<#object>),
            quote!(#base::optional_object::<#object>),
        ),
    };
    match &member.rule {
        Rule::Mandatory => quote! {
            #[doc = #docs]
            #[must_use]
            #[inline]
            pub fn #ident(&self) -> #ty {
                #one(self, #name)
            }
        },
        Rule::Optional(constant) => quote! {
            #[doc = #docs]
            ///
            /// # Errors
            /// The service failed.
            #[inline]
            pub async fn #ident(&self) -> #client::typed::Maybe<#ty> {
                #maybe(self, #owner::#constant.name()).await
            }
        },
        Rule::Placeholder(placeholder) => {
            let nodes = &roots.nodes;
            let all = all(owner, member, placeholder, client, &ty);
            quote! {
                #all

                #[doc = #docs]
                #[must_use]
                #[inline]
                pub fn #ident(&self, name: impl ::core::convert::Into<#nodes::typed::InstanceName>) -> #ty {
                    #one(self, name)
                }
            }
        }
    }
}

fn all(
    owner: &Ident,
    member: &Member,
    placeholder: &Placeholder,
    client: &TokenStream,
    ty: &TokenStream,
) -> TokenStream {
    let Placeholder { constant, all, .. } = placeholder;
    let docs = format!(" Everything that stands for `{}`, browsed.", member.name.name);
    let browse = match &member.kind {
        MemberKind::Variable(value) => quote!(placeholder_variables::<#owner, #value>),
        MemberKind::Object(object) => quote!(placeholder_objects::<#owner, #object>),
    };
    quote! {
        #[doc = #docs]
        ///
        /// # Errors
        /// The service failed.
        #[inline]
        pub async fn #all(&self) -> #client::typed::Found<#ty> {
            #client::typed::ObjectProxy::#browse(self, #owner::#constant).await
        }
    }
}
