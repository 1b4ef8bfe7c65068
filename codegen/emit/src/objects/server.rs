//! Emits handles: what servers hold of their own objects.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Member, MemberKind, Newtype, ObjectType, Placeholder, Rule, method_server, newtype};
use crate::ir::Roots;

/// The handle of a type. `server` is the path of the server crate.
#[must_use]
pub fn handle(ir: &ObjectType, roots: &Roots, server: &TokenStream) -> TokenStream {
    let ObjectType { ident, handle, supertype, .. } = ir;
    let inner = quote!(#server::typed::HandleOf<#supertype>);
    let base = quote!(#server::typed::ObjectHandle);
    let docs = format!(" A `{}` of this server.", ir.name);
    let newtype = newtype(ir, roots, &Newtype { ident: handle, inner, base, docs });
    let members = ir.members.iter().map(|member| method(ir, member, roots, server));
    let on = ir.methods.iter().enumerate();
    let on = on.map(|method| method_server::on(ir, method, roots, server));
    let methods = super::block(handle, members.chain(on));
    let handlers = method_server::handlers(ir, roots, server);
    quote! {
        #newtype

        impl #server::typed::HandleType for #ident {
            type Handle = #handle;
        }

        #methods

        #handlers
    }
}

fn method(ir: &ObjectType, member: &Member, roots: &Roots, server: &TokenStream) -> TokenStream {
    let owner = &ir.ident;
    let name = member.name.expression(roots);
    let ident = &member.ident;
    let docs = format!(" `{}`", member.name.name);
    let base = quote!(#server::typed::ObjectHandle);
    let (ty, one, maybe) = match &member.kind {
        MemberKind::Variable(value) => (
            quote!(#server::Variable<#value>),
            quote!(#base::variable::<#value>),
            quote!(#base::optional_variable::<#value>),
        ),
        MemberKind::Object(object) => (
            quote!(#server::typed::HandleOf<#object>),
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
            #[must_use]
            #[inline]
            pub fn #ident(&self) -> ::core::option::Option<#ty> {
                #maybe(self, #owner::#constant.name())
            }
        },
        Rule::Placeholder(placeholder) => placeholder_methods(ir, member, placeholder, roots, server, &ty),
    }
}

fn placeholder_methods(
    ir: &ObjectType,
    member: &Member,
    placeholder: &Placeholder,
    roots: &Roots,
    server: &TokenStream,
    ty: &TokenStream,
) -> TokenStream {
    let nodes = &roots.nodes;
    let (owner, ident) = (&ir.ident, &member.ident);
    let Placeholder { constant, all, add, .. } = placeholder;
    let text = &member.name.name;
    let (named_docs, all_docs, add_docs) = (
        format!(" `{text}` of this name, if there is one."),
        format!(" Everything that stands for `{text}`."),
        format!(" Adds one for `{text}`."),
    );
    let base = quote!(#server::typed::ObjectHandle);
    let name = quote!(name: impl ::core::convert::Into<#nodes::typed::InstanceName>);
    let (one, many, new) = match &member.kind {
        MemberKind::Variable(value) => (
            quote!(named_variable::<#value>),
            quote!(placeholder_variables::<#owner, #value>),
            quote!(add_variable::<#owner, #value>),
        ),
        MemberKind::Object(object) => (
            quote!(named_object::<#object>),
            quote!(placeholder_objects::<#owner, #object>),
            quote!(add_object::<#owner, #object>),
        ),
    };
    quote! {
        #[doc = #named_docs]
        #[must_use]
        #[inline]
        pub fn #ident(&self, #name) -> ::core::option::Option<#ty> {
            #base::#one(self, name)
        }

        #[doc = #all_docs]
        #[must_use]
        #[inline]
        pub fn #all(&self) -> #server::typed::Named<#ty> {
            #base::#many(self, #owner::#constant)
        }

        #[doc = #add_docs]
        ///
        /// # Errors
        /// The name is taken, or the type is abstract.
        #[inline]
        pub fn #add(&self, #name) -> ::core::result::Result<#ty, #server::typed::InstanceError> {
            #base::#new(self, #owner::#constant, name)
        }
    }
}
