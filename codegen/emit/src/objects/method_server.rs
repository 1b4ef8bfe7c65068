//! Emits what handles Methods on a server: a trait for those that all objects have, and closures.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Argument, Method, ObjectType, Signature, method};
use crate::ir::Roots;

/// The trait of a type's handlers, and what binds them; or that there is nothing to bind.
pub(super) fn handlers(ir: &ObjectType, roots: &Roots, server: &TokenStream) -> TokenStream {
    let (ident, handle) = (&ir.ident, &ir.handle);
    let Some(handlers) = &ir.handlers else {
        return quote!(impl #server::typed::WithoutMethods for #ident {});
    };
    let (bound, own) = match (&handlers.own, &handlers.inherited) {
        (Some(own), _) => (quote!(#own), Some(own)),
        (None, inherited) => (quote!(#inherited), None),
    };
    let declared = own.map(|own| declare(ir, own, roots, server));
    let required = ir.methods.iter().enumerate().filter(|(_, method)| method.is_required);
    let binds = required.clone().map(|method| bind(ident, &bound, method, roots, server));
    let binds = super::block(ident, binds);
    let calls = required.map(|(_, method)| {
        let bind = bind_name(method);
        quote!(Self::#bind(binder, logic);)
    });
    let supertype = &ir.supertype;
    let inherited = handlers
        .inherited
        .as_ref()
        .map(|_| quote!(<#supertype as #server::typed::MethodHandlers<H>>::bind(binder, logic);));
    let bind_methods = own.map(|own| {
        let docs = format!(
            " Binds handlers for the mandatory Methods of a `{}`, in place of those it has.",
            ir.name
        );
        quote! {
            impl #handle {
                #[doc = #docs]
                ///
                /// # Errors
                /// The object is gone.
                pub fn bind_methods(
                    &self,
                    logic: impl #own,
                ) -> ::core::result::Result<(), #server::MethodBindError> {
                    #server::typed::ObjectHandle::bind::<#ident, _>(self, logic)
                }
            }
        }
    });
    quote! {
        #declared

        impl<H: #bound> #server::typed::MethodHandlers<H> for #ident {
            fn bind(binder: &mut #server::typed::MethodBinder, logic: &#server::typed::Logic<H>) {
                #inherited
                #(#calls)*
            }
        }

        #binds

        #bind_methods
    }
}

fn declare(ir: &ObjectType, own: &Ident, roots: &Roots, server: &TokenStream) -> TokenStream {
    let ident = &ir.ident;
    let docs = format!(" Handlers of the mandatory Methods of `{}`.", ir.name);
    // The message is a format, where braces are doubled.
    let name = ir.name.replace('{', "{{").replace('}', "}}");
    let message = format!("`{{Self}}` does not handle the Methods of `{name}`");
    let label = format!("`{own}` is not implemented for it");
    let supertrait = ir.handlers.as_ref().and_then(|handlers| handlers.inherited.clone());
    let supertrait =
        supertrait.unwrap_or_else(|| quote!(::core::marker::Send + ::core::marker::Sync + 'static));
    let methods = ir.methods.iter().filter(|method| method.is_required).map(|method| {
        let name = &method.ident;
        let docs = method.docs();
        let parameters = method.signature.parameters(roots);
        let output = method.signature.output_type(roots);
        let many = method.signature.many(2);
        quote! {
            #(#[doc = #docs])*
            #many
            fn #name(
                &self,
                call: #server::typed::MethodContext<#ident>,
                #(#parameters),*
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<#output, #server::MethodError>
            > + ::core::marker::Send;
        }
    });
    quote! {
        #[doc = #docs]
        ///
        /// Each may be written as an `async fn`. One that does not wait is answered at once.
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        pub trait #own: #supertrait {
            #(#methods)*
        }
    }
}

/// Binds one Method to the type's logic.
fn bind(
    ident: &Ident,
    own: &TokenStream,
    (index, method): (usize, &Method),
    roots: &Roots,
    server: &TokenStream,
) -> TokenStream {
    let described = method::described(ident, index, roots);
    let name = &method.ident;
    let arguments = method.signature.idents();
    let (parameter, inputs) = match &method.signature {
        Signature::Open => (quote!(inputs), quote!(let inputs = inputs.into_values();)),
        Signature::Declared { inputs, .. } if inputs.is_empty() => (quote!(_), quote!()),
        Signature::Declared { inputs, .. } => {
            let (taken, some) = (taken(inputs), some(inputs));
            let refuse = quote!(return ::core::result::Result::Err(inputs.into_error()));
            (quote!(mut inputs), quote!(let #some = #taken else { #refuse; };))
        }
    };
    let outputs =
        outputs(method, roots, server, &quote!(<H as #own>::#name(&*logic, call, #(#arguments),*).await));
    let bind = bind_name(method);
    quote! {
        fn #bind<H: #own>(binder: &mut #server::typed::MethodBinder, logic: &#server::typed::Logic<H>) {
            #described
            let logic = ::core::clone::Clone::clone(logic);
            binder.bind::<#ident, _>(METHOD, move |call, #parameter: #server::typed::InputArguments| {
                let logic = ::core::clone::Clone::clone(&logic);
                async move {
                    #inputs
                    #outputs
                }
            });
        }
    }
}

fn bind_name(method: &Method) -> Ident {
    let name = method.ident.to_string();
    quote::format_ident!("bind_{}", name.trim_start_matches("r#"))
}

/// A method of the handle that binds a closure to one Method.
pub(super) fn on(
    ir: &ObjectType,
    (index, method): (usize, &Method),
    roots: &Roots,
    server: &TokenStream,
) -> TokenStream {
    let (ident, on) = (&ir.ident, &method.on);
    let docs = format!(" Binds a handler for `{}`, in place of the one it has.", method.name.name);
    let described = method::described(ident, index, roots);
    let types = method.signature.input_types(roots);
    let output = method.signature.output_type(roots);
    let arguments = method.signature.idents();
    let (parameter, call, called) = match &method.signature {
        Signature::Open => {
            (quote!(inputs), quote!(let called = handler(call, inputs.into_values());), quote!(called.await))
        }
        Signature::Declared { inputs, .. } if inputs.is_empty() => {
            (quote!(_), quote!(let called = handler(call);), quote!(called.await))
        }
        Signature::Declared { inputs, .. } => {
            let (taken, some) = (taken(inputs), some(inputs));
            let call = quote! {
                let called = match #taken {
                    #some => ::core::result::Result::Ok(handler(call, #(#arguments),*)),
                    _ => ::core::result::Result::Err(inputs.into_error()),
                };
            };
            (quote!(mut inputs), call, quote!(called?.await))
        }
    };
    let outputs = outputs(method, roots, server, &called);
    quote! {
        #[doc = #docs]
        ///
        /// # Errors
        /// The object does not have the Method.
        pub fn #on<F>(
            &self,
            handler: impl Fn(#server::typed::MethodContext<#ident>, #(#types),*) -> F
                + ::core::marker::Send + ::core::marker::Sync + 'static,
        ) -> ::core::result::Result<(), #server::MethodBindError>
        where
            F: ::core::future::Future<Output = ::core::result::Result<#output, #server::MethodError>>
                + ::core::marker::Send + 'static,
        {
            #described
            let handler = move |call, #parameter: #server::typed::InputArguments| {
                #call
                async move { #outputs }
            };
            #server::typed::ObjectHandle::on_method::<#ident, _>(self, METHOD, handler)
        }
    }
}

/// Takes all inputs as their types, each `None` if it is none.
fn taken(inputs: &[Argument]) -> TokenStream {
    let next = inputs.iter().map(|input| {
        let ty = &input.ty;
        if input.is_optional { quote!(inputs.take_optional::<#ty>()) } else { quote!(inputs.take::<#ty>()) }
    });
    match inputs {
        [_] => quote!(#(#next)*),
        _ => quote!((#(#next),*)),
    }
}

/// The pattern of inputs that are all there.
fn some(inputs: &[Argument]) -> TokenStream {
    let some = inputs.iter().map(|input| {
        let ident = &input.ident;
        quote!(::core::option::Option::Some(#ident))
    });
    match inputs {
        [_] => quote!(#(#some)*),
        _ => quote!((#(#some),*)),
    }
}

/// Makes values of what a handler gives.
fn outputs(method: &Method, roots: &Roots, server: &TokenStream, called: &TokenStream) -> TokenStream {
    let into = {
        let codec = &roots.codec;
        quote!(#codec::IntoVariant::into_variant)
    };
    let Signature::Declared { outputs, .. } = &method.signature else {
        return quote!(#server::typed::open_outputs(#called?));
    };
    match outputs.as_slice() {
        [] => quote! {
            #called?;
            #server::typed::outputs([])
        },
        [_] => quote! {
            let output = #called?;
            #server::typed::outputs([#into(output)])
        },
        _ => {
            let fields = outputs.iter().map(|output| &output.ident);
            quote! {
                let outputs = #called?;
                #server::typed::outputs([#(#into(outputs.#fields)),*])
            }
        }
    }
}
