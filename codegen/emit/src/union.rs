//! Emits unions (OPC 10000-6 §5.2.8).

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::{Roots, Structure};
use crate::size;
use crate::structure::field_type;
use crate::structure_codec::{check_subtypes, path_segment};

pub(crate) fn item(ir: &Structure, roots: &Roots) -> TokenStream {
    let Structure { ident, docs, .. } = ir;
    let fields = ir.fields.iter().map(|field| {
        let (name, ty) = (&field.ident, field_type(field, roots));
        let doc = format!(" `{}`", field.name);
        quote!(#[doc = #doc] #name(#ty))
    });
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum #ident {
            /// No field: switch value 0.
            #[default]
            Null,
            #(#fields),*
        }
    }
}

pub(crate) fn coding(ir: &Structure, roots: &Roots) -> TokenStream {
    let (codec, ident) = (&roots.codec, &ir.ident);
    let min_size = size::constant(ir);
    let encode = ir.fields.iter().zip(1_u32..).map(|(field, switch)| {
        let (name, switch) = (&field.ident, Literal::u32_unsuffixed(switch));
        quote! {
            Self::#name(value) => {
                e.put_u32(#switch);
                #codec::Encode::encode(value, e);
            }
        }
    });
    let decode = ir.fields.iter().zip(1_u32..).map(|(field, switch)| {
        let (name, switch, path) = (&field.ident, Literal::u32_unsuffixed(switch), path_segment(&field.name));
        let check = check_subtypes(field, &quote!(&value), roots);
        if check.is_empty() {
            quote!(#switch => Self::#name(d.union_field(#path)?))
        } else {
            quote! {
                #switch => {
                    let value = d.union_field(#path)?;
                    #check
                    Self::#name(value)
                }
            }
        }
    });
    let (enter, leave) =
        if ir.recursive { (quote!(d.enter()?;), quote!(d.leave();)) } else { <_>::default() };
    quote! {
        impl #codec::Encode for #ident {
            fn encode(&self, e: &mut #codec::Encoder<'_>) {
                match self {
                    Self::Null => e.put_u32(0),
                    #(#encode)*
                }
            }
        }

        impl #codec::Decode for #ident {
            #min_size
            fn decode_into(
                &mut self,
                d: &mut #codec::Decoder<'_>,
            ) -> ::core::result::Result<(), #codec::DecodeError> {
                #enter
                *self = match d.u32()? {
                    0 => Self::Null,
                    #(#decode,)*
                    _ => return ::core::result::Result::Err(#codec::DecodeReason::BadSwitch.into()),
                };
                #leave
                ::core::result::Result::Ok(())
            }
        }
    }
}
