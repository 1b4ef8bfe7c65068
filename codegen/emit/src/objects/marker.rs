//! Emits what stands for an ObjectType on both sides.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Name, ObjectType, Rule, method};
use crate::ir::Roots;

/// The unit struct of a type with its id, members and constants.
#[must_use]
pub fn marker(ir: &ObjectType, roots: &Roots) -> TokenStream {
    let Roots { codec, nodes, .. } = roots;
    let ObjectType { ident, name, supertype, ancestors, docs, .. } = ir;
    let id = ir.id.expression(roots);
    let mandatory = ir.names(roots, |rule| matches!(rule, Rule::Mandatory));
    let optional = ir.names(roots, |rule| matches!(rule, Rule::Optional(_)));
    let members = ir.members.iter().map(|member| (&member.name, &member.rule));
    let methods = ir.methods.iter().map(|method| (&method.name, &method.rule));
    let constants = members.chain(methods).filter_map(|(name, rule)| constant(name, rule, roots));
    let constants = super::block(ident, constants);
    let described = ir.methods.iter().map(|method| method.member(roots));
    let outputs = ir.methods.iter().filter_map(method::outputs);
    let concrete = (!ir.is_abstract).then(|| quote!(impl #nodes::typed::Concrete for #ident {}));
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Copy, Debug)]
        pub struct #ident;

        #constants

        impl #nodes::typed::ObjectType for #ident {
            type Namespaces = Namespaces;
            const ID: #codec::ModelId<#codec::kind::ObjectType<Namespaces>> = #codec::ModelId::new(0, #id);
            const NAME: &'static str = #name;
            const MEMBERS: &'static #nodes::typed::Members = &#nodes::typed::Members {
                mandatory: &[#(#mandatory),*],
                optional: &[#(#optional),*],
                supertype: ::core::option::Option::Some(<#supertype as #nodes::typed::ObjectType>::MEMBERS),
            };
            const METHODS: &'static [#nodes::typed::MethodMember] = &[#(#described),*];
            const REGISTER: &'static [#nodes::typed::RegisterTypes] = REGISTER;
        }

        #concrete
        impl #nodes::typed::IsA<#ident> for #ident {}
        #(impl #nodes::typed::IsA<#ancestors> for #ident {})*
        #(#outputs)*
    }
}

fn constant(member: &Name, rule: &Rule, roots: &Roots) -> Option<TokenStream> {
    let nodes = &roots.nodes;
    let name = member.expression(roots);
    let text = &member.name;
    match rule {
        Rule::Mandatory => None,
        Rule::Optional(constant) => {
            let docs = format!(" The optional member `{text}`.");
            Some(quote! {
                #[doc = #docs]
                pub const #constant: #nodes::typed::OptionalMember<Self> = #nodes::typed::OptionalMember::new(#name);
            })
        }
        Rule::Placeholder(placeholder) => {
            let constant = &placeholder.constant;
            let reference_type = placeholder.reference_type.expression(roots);
            let type_definition = placeholder.type_definition.expression(roots);
            let docs = format!(" The placeholder `{text}`.");
            Some(quote! {
                #[doc = #docs]
                pub const #constant: #nodes::typed::PlaceholderMember<Self> =
                    #nodes::typed::PlaceholderMember::new(#name, #reference_type, #type_definition);
            })
        }
    }
}
