//! Emits what stands for an ObjectType on both sides.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Member, ObjectType, Rule};
use crate::ir::Roots;

/// The unit struct of a type with its id, members and constants.
#[must_use]
pub fn marker(ir: &ObjectType, roots: &Roots) -> TokenStream {
    let Roots { codec, nodes, .. } = roots;
    let ObjectType { ident, name, supertype, ancestors, docs, .. } = ir;
    let id = ir.id.expression(roots);
    let names = |wanted: fn(&Rule) -> bool| {
        let members = ir.members.iter().filter(move |member| wanted(&member.rule));
        members.map(|member| member.name.expression(roots)).collect::<Vec<_>>()
    };
    let mandatory = names(|rule| matches!(rule, Rule::Mandatory));
    let optional = names(|rule| matches!(rule, Rule::Optional(_)));
    let constants = super::block(ident, ir.members.iter().filter_map(|member| constant(member, roots)));
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
            const REGISTER: &'static [#nodes::typed::RegisterTypes] = REGISTER;
        }

        #concrete
        impl #nodes::typed::IsA<#ident> for #ident {}
        #(impl #nodes::typed::IsA<#ancestors> for #ident {})*
    }
}

fn constant(member: &Member, roots: &Roots) -> Option<TokenStream> {
    let nodes = &roots.nodes;
    let name = member.name.expression(roots);
    let text = &member.name.name;
    match &member.rule {
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
