//! Emits the binary coding of structures (OPC 10000-6 §5.2.6, §5.2.7).

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::ir::{Field, Kind, Roots, Structure};
use crate::size;

pub(crate) fn coding(ir: &Structure, roots: &Roots) -> TokenStream {
    if ir.fields.is_empty() {
        return empty(ir, roots);
    }
    let codec = &roots.codec;
    let ident = &ir.ident;
    let min_size = size::constant(ir);
    let (encode_mask, decode_mask) = masks(ir, roots);
    let encode = ir.fields.iter().map(|field| encode_field(field, roots));
    let mut bit = 0_u32;
    let decode: Vec<_> = ir.fields.iter().map(|field| decode_field(field, roots, &mut bit)).collect();
    let (enter, leave) =
        if ir.recursive { (quote!(d.enter()?;), quote!(d.leave();)) } else { <_>::default() };
    quote! {
        impl #codec::Encode for #ident {
            fn encode(&self, e: &mut #codec::Encoder<'_>) {
                #encode_mask
                #(#encode)*
            }
        }

        impl #codec::Decode for #ident {
            #min_size
            fn decode_into(
                &mut self,
                d: &mut #codec::Decoder<'_>,
            ) -> ::core::result::Result<(), #codec::DecodeError> {
                #enter
                #decode_mask
                #(#decode)*
                #leave
                ::core::result::Result::Ok(())
            }
        }
    }
}

fn empty(ir: &Structure, roots: &Roots) -> TokenStream {
    let (codec, ident) = (&roots.codec, &ir.ident);
    quote! {
        impl #codec::Encode for #ident {
            fn encode(&self, _: &mut #codec::Encoder<'_>) {}
        }

        impl #codec::Decode for #ident {
            fn decode_into(
                &mut self,
                _: &mut #codec::Decoder<'_>,
            ) -> ::core::result::Result<(), #codec::DecodeError> {
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// One mask over the whole chain, before all fields; bits count optional fields from the root down.
fn masks(ir: &Structure, roots: &Roots) -> (TokenStream, TokenStream) {
    if ir.kind != Kind::OptionalFields {
        return <_>::default();
    }
    let codec = &roots.codec;
    let optional: Vec<_> =
        ir.fields.iter().filter(|field| field.optional).map(|field| &field.ident).collect();
    let bits = 0_u32..;
    let defined = u32::MAX.checked_shr(32_u32.saturating_sub(u32::try_from(optional.len()).unwrap_or(32)));
    let defined = Literal::u32_unsuffixed(defined.unwrap_or(0));
    let terms = optional.iter().zip(bits).map(|(ident, bit)| {
        let present = quote!(::core::primitive::u32::from(self.#ident.is_some()));
        if bit == 0 { present } else { bit_of(&present, bit) }
    });
    let terms: Vec<_> = terms.collect();
    let mask = if terms.is_empty() { quote!(0_u32) } else { quote!(#(#terms)|*) };
    let encode = quote! {
        let mask = #mask;
        #codec::Encode::encode(&mask, e);
    };
    (encode, quote!(let mask = d.encoding_mask(#defined)?;))
}

fn bit_of(present: &TokenStream, bit: u32) -> TokenStream {
    let bit = Literal::u32_unsuffixed(bit);
    quote!((#present << #bit))
}

fn encode_field(field: &Field, roots: &Roots) -> TokenStream {
    let (codec, ident) = (&roots.codec, &field.ident);
    if field.optional {
        quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                #codec::Encode::encode(value, e);
            }
        }
    } else {
        quote!(#codec::Encode::encode(&self.#ident, e);)
    }
}

fn decode_field(field: &Field, roots: &Roots, bit: &mut u32) -> TokenStream {
    let ident = &field.ident;
    let name = path_segment(&field.name);
    let check = check_subtypes(field, &quote!(&self.#ident), roots);
    if field.optional {
        let this = Literal::u32_unsuffixed(1_u32.checked_shl(*bit).unwrap_or(0));
        *bit += 1;
        quote!(d.optional_field(mask & #this, #name, &mut self.#ident)?; #check)
    } else {
        quote!(d.field(#name, &mut self.#ident)?; #check)
    }
}

/// A statement that refuses structures which are no subtypes of the field's DataType.
pub(crate) fn check_subtypes(field: &Field, value: &TokenStream, roots: &Roots) -> TokenStream {
    let Some(base) = field.allowed_subtypes() else {
        return TokenStream::new();
    };
    let (name, base) = (path_segment(&field.name), base.expression(roots));
    quote!(d.check_subtypes(#name, #value, &#base)?;)
}

/// Paths of errors spell fields as the services of Part 4 do: `nodesToRead`.
pub(crate) fn path_segment(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
