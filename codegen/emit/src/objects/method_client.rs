//! Emits calls of Methods as methods of proxies.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Method, Signature, method};
use crate::ir::Roots;

/// Calls a Method of a proxy's object.
pub(super) fn call(
    owner: &Ident,
    (index, method): (usize, &Method),
    roots: &Roots,
    client: &TokenStream,
) -> TokenStream {
    let codec = &roots.codec;
    let ident = &method.ident;
    let docs = method.docs();
    let described = method::described(owner, index, roots);
    let parameters = method.signature.parameters(roots);
    let many = method.signature.many(1);
    let output = method.signature.output_type(roots);
    let object = quote!(#client::typed::ObjectProxy);
    let body = match &method.signature {
        Signature::Open => quote! {
            #object::call_open(self, METHOD, inputs).await
        },
        Signature::Declared { inputs, outputs, structure } => {
            let variants = inputs.iter().map(|input| {
                let ident = &input.ident;
                if input.is_optional {
                    quote!(#client::typed::optional_input(#ident))
                } else {
                    quote!(#codec::IntoVariant::into_variant(#ident))
                }
            });
            let call = quote!(#object::call(self, METHOD, [#(#variants),*]).await?);
            match outputs.as_slice() {
                [] => quote! {
                    #call;
                    ::core::result::Result::Ok(())
                },
                [_] => quote! {
                    let mut outputs = #call;
                    outputs.take()
                },
                _ => {
                    let fields = outputs.iter().map(|output| &output.ident);
                    quote! {
                        let mut outputs = #call;
                        ::core::result::Result::Ok(#structure { #(#fields: outputs.take()?),* })
                    }
                }
            }
        }
    };
    quote! {
        #(#[doc = #docs])*
        ///
        /// # Errors
        /// The object does not have the Method, the Method failed, or the service did.
        #many
        #[inline]
        pub async fn #ident(&self, #(#parameters),*) -> ::core::result::Result<#output, #client::Error> {
            #described
            #body
        }
    }
}
