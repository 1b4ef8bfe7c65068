//! Emits open enumerations and option sets: unknown values and bits survive.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::ir::{Enumeration, Form, Roots, option};
use crate::size;

/// The item with everything that belongs to it.
#[must_use]
pub fn enumeration(ir: &Enumeration, roots: &Roots) -> TokenStream {
    let Enumeration { ident, docs, .. } = ir;
    let width = width(ir);
    let impls = impls(ir, roots);
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct #ident(pub #width);

        #impls
    }
}

/// Everything but the item: what a derive macro adds to an enumeration that is already there.
#[must_use]
pub fn impls(ir: &Enumeration, roots: &Roots) -> TokenStream {
    let width = width(ir);
    let item = match &ir.form {
        Form::Number => {
            let constants = constants(ir);
            let operators = if ir.option_set.is_some() { operators(ir) } else { TokenStream::new() };
            let debug = debug(ir);
            quote!(#constants #operators #debug)
        }
        Form::Variants { unknown } => numbers(ir, unknown, &width),
    };
    let coding = coding(ir, &width, roots);
    let conversions = conversions(ir, &width, roots);
    let description = description(ir, roots);
    quote!(#item #coding #conversions #description)
}

fn width(ir: &Enumeration) -> Ident {
    ir.option_set.clone().unwrap_or_else(|| format_ident!("i32"))
}

fn constants(ir: &Enumeration) -> TokenStream {
    let ident = &ir.ident;
    let members = ir.members.iter().map(|member| {
        let (name, doc) = (&member.ident, format!(" `{}`", member.name));
        let value = Literal::i64_unsuffixed(member.value);
        let value = if ir.option_set.is_some() { quote!(1 << #value) } else { quote!(#value) };
        quote!(#[doc = #doc] pub const #name: Self = Self(#value);)
    });
    quote!(impl #ident { #(#members)* })
}

/// The way between the variants of an enum and their numbers.
fn numbers(ir: &Enumeration, unknown: &Ident, width: &Ident) -> TokenStream {
    let ident = &ir.ident;
    let names: Vec<_> = ir.members.iter().map(|member| &member.ident).collect();
    let values: Vec<_> = ir.members.iter().map(|member| Literal::i64_unsuffixed(member.value)).collect();
    quote! {
        impl #ident {
            /// The number on the wire.
            #[must_use]
            pub const fn value(&self) -> #width {
                match self {
                    #(Self::#names => #values,)*
                    Self::#unknown(value) => *value,
                }
            }

            /// The variant of a number.
            #[must_use]
            pub const fn from_value(value: #width) -> Self {
                match value {
                    #(#values => Self::#names,)*
                    _ => Self::#unknown(value),
                }
            }
        }
    }
}

/// How code gets at the number of an item, and how it makes an item of a number.
fn get(ir: &Enumeration, item: &TokenStream) -> TokenStream {
    match ir.form {
        Form::Number => quote!(#item.0),
        Form::Variants { .. } => quote!(#item.value()),
    }
}

fn make(ir: &Enumeration) -> TokenStream {
    match ir.form {
        Form::Number => quote!(Self),
        Form::Variants { .. } => quote!(Self::from_value),
    }
}

fn operators(ir: &Enumeration) -> TokenStream {
    let ident = &ir.ident;
    quote! {
        impl #ident {
            /// Whether every bit of `bits` is set.
            #[must_use]
            pub const fn contains(self, bits: Self) -> bool {
                self.0 & bits.0 == bits.0
            }
        }

        impl ::core::ops::BitOr for #ident {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl ::core::ops::BitAnd for #ident {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }
    }
}

fn debug(ir: &Enumeration) -> TokenStream {
    let ident = &ir.ident;
    // The name is a part of the format, where braces are doubled.
    let name = ir.name.replace('{', "{{").replace('}', "}}");
    if ir.option_set.is_some() {
        let format = format!("{name}({{:#x}})");
        return quote! {
            impl ::core::fmt::Debug for #ident {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::write!(f, #format, self.0)
                }
            }
        };
    }
    let format = format!("{name}({{value}})");
    quote! {
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let value = ::core::primitive::i64::from(self.0);
                match Self::DESCRIPTOR.values.iter().find(|member| member.value == value) {
                    ::core::option::Option::Some(member) => f.write_str(member.name),
                    ::core::option::Option::None => ::core::write!(f, #format),
                }
            }
        }
    }
}

fn coding(ir: &Enumeration, width: &Ident, roots: &Roots) -> TokenStream {
    let (codec, ident) = (&roots.codec, &ir.ident);
    let min_size = size::number(size::of_builtin(&width.to_string()).unwrap_or(0));
    let (number, make) = (get(ir, &quote!(self)), make(ir));
    let decode = match ir.form {
        Form::Number => quote!(#codec::Decode::decode_into(&mut self.0, d)),
        Form::Variants { .. } => quote! {
            *self = #make(<::core::primitive::#width as #codec::Decode>::decode(d)?);
            ::core::result::Result::Ok(())
        },
    };
    quote! {
        impl #codec::Encode for #ident {
            fn encode(&self, e: &mut #codec::Encoder<'_>) {
                #codec::Encode::encode(&#number, e);
            }
        }

        impl #codec::Decode for #ident {
            #min_size
            fn decode_into(
                &mut self,
                d: &mut #codec::Decoder<'_>,
            ) -> ::core::result::Result<(), #codec::DecodeError> {
                #decode
            }
        }

        impl<'a> #codec::DecodeRef<'a> for #ident {
            #min_size
            fn decode_ref(
                d: &mut #codec::Decoder<'a>,
            ) -> ::core::result::Result<Self, #codec::DecodeError> {
                <::core::primitive::#width as #codec::DecodeRef>::decode_ref(d).map(#make)
            }
        }
    }
}

fn conversions(ir: &Enumeration, width: &Ident, roots: &Roots) -> TokenStream {
    let (codec, ident) = (&roots.codec, &ir.ident);
    let (number, of_item, make) = (get(ir, &quote!(self)), get(ir, &quote!(item)), make(ir));
    quote! {
        impl #codec::IntoVariant for #ident {
            fn into_variant(self) -> #codec::Variant {
                #codec::IntoVariant::into_variant(#number)
            }

            fn array_into_variant(items: #codec::Array<Self>) -> #codec::Variant {
                #codec::IntoVariant::array_into_variant(
                    items.into_iter().map(|item| #of_item).collect::<#codec::Array<::core::primitive::#width>>(),
                )
            }
        }

        impl #codec::FromVariant for #ident {
            fn from_variant(
                value: &#codec::Variant,
            ) -> ::core::result::Result<Self, #codec::VariantTypeError> {
                #codec::FromVariant::from_variant(value).map(#make)
            }

            fn array_from_variant(
                value: &#codec::Variant,
            ) -> ::core::result::Result<#codec::Array<Self>, #codec::VariantTypeError> {
                let items = <::core::primitive::#width as #codec::FromVariant>::array_from_variant(value)?;
                ::core::result::Result::Ok(items.into_iter().map(#make).collect())
            }
        }
    }
}

fn description(ir: &Enumeration, roots: &Roots) -> TokenStream {
    let codec = &roots.codec;
    let Enumeration { ident, name, .. } = ir;
    let data_type = ir.data_type.expression(roots);
    let builtin = ir.option_set.as_ref().map(|width| {
        let builtin = match width.to_string().as_str() {
            "u8" => quote!(Byte),
            "u16" => quote!(UInt16),
            "u32" => quote!(UInt32),
            _ => quote!(UInt64),
        };
        quote!(#codec::BuiltinType::#builtin)
    });
    let field_type = if builtin.is_some() { quote!(OptionSet) } else { quote!(Enumeration) };
    let builtin = option(builtin);
    let values = ir.members.iter().map(|member| {
        let (name, value) = (&member.name, Literal::i64_unsuffixed(member.value));
        quote!(#codec::EnumValue { name: #name, value: #value })
    });
    quote! {
        impl #ident {
            /// The static description of the DataType.
            pub const DESCRIPTOR: &'static #codec::EnumerationDescriptor = &#codec::EnumerationDescriptor {
                name: #name,
                data_type: #data_type,
                option_set: #builtin,
                values: &[#(#values),*],
            };
        }

        impl #codec::Described for #ident {
            const DATA_TYPE: #codec::TypeKey = Self::DESCRIPTOR.data_type;
            const FIELD_TYPE: #codec::FieldType = #codec::FieldType::#field_type(Self::DESCRIPTOR);
        }
    }
}
