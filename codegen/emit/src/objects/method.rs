//! Methods of ObjectTypes: what both sides know of them.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Name, Rule};
use crate::ir::{Key, Roots};

/// A Method that a type declares itself.
#[derive(Clone, Debug)]
pub struct Method {
    /// What calls it, and what handles it.
    pub ident: Ident,
    /// What binds a handler for it alone.
    pub on: Ident,
    /// Its browse name.
    pub name: Name,
    /// The Method of the type.
    pub declaration: Key,
    /// Whether objects have it; never a placeholder.
    pub rule: Rule,
    /// Its arguments.
    pub signature: Signature,
    /// Whether the type's handlers have to handle it.
    pub is_required: bool,
}

/// The arguments of a Method.
#[derive(Clone, Debug)]
pub enum Signature {
    /// The model does not say: any values.
    Open,
    /// As declared.
    Declared {
        /// InputArguments.
        inputs: Vec<Argument>,
        /// OutputArguments.
        outputs: Vec<Argument>,
        /// The structure of two or more outputs.
        structure: Ident,
    },
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its parameter or field.
    pub ident: Ident,
    /// Its exact name.
    pub name: String,
    /// Its Rust type.
    pub ty: TokenStream,
    /// Whether a call may leave it out.
    pub is_optional: bool,
}

/// The trait of a type's handlers.
#[derive(Clone, Debug)]
pub struct Handlers {
    /// Name of the trait, if the type has mandatory Methods that its supertypes lack.
    pub own: Option<Ident>,
    /// Path of the nearest supertype's trait, if there is one.
    pub inherited: Option<TokenStream>,
}

/// Above it, Clippy asks whether a function should have fewer parameters.
const MAX_PARAMETERS: usize = 7;

/// The description of a type's own Method at `index`.
pub(super) fn described(ident: &Ident, index: usize, roots: &Roots) -> TokenStream {
    let nodes = &roots.nodes;
    let index = proc_macro2::Literal::usize_unsuffixed(index);
    quote! {
        const METHOD: &#nodes::typed::MethodMember = &<#ident as #nodes::typed::ObjectType>::METHODS[#index];
    }
}

impl Method {
    /// What describes the Method to the runtime.
    pub(super) fn member(&self, roots: &Roots) -> TokenStream {
        let nodes = &roots.nodes;
        let (name, declaration) = (self.name.expression(roots), self.declaration.expression(roots));
        let names = |arguments: &[Argument]| arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
        let (inputs, outputs) = match &self.signature {
            Signature::Open => (Vec::new(), Vec::new()),
            Signature::Declared { inputs, outputs, .. } => (names(inputs), names(outputs)),
        };
        let optional = match &self.signature {
            Signature::Open => 0,
            Signature::Declared { inputs, .. } => {
                inputs.iter().rev().take_while(|input| input.is_optional).count()
            }
        };
        let optional = proc_macro2::Literal::usize_unsuffixed(optional);
        quote! {
            #nodes::typed::MethodMember {
                name: #name,
                declaration: #declaration,
                inputs: &[#(#inputs),*],
                optional_inputs: #optional,
                outputs: &[#(#outputs),*],
            }
        }
    }

    /// Lines of documentation.
    pub(super) fn docs(&self) -> Vec<String> {
        let list = |arguments: &[Argument]| {
            let names = arguments.iter().map(|argument| format!("`{}`", argument.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let mut docs = vec![format!(" `{}`", self.name.name)];
        if let Signature::Declared { outputs, .. } = &self.signature
            && !outputs.is_empty()
        {
            docs.push(String::new());
            docs.push(format!(" Gives {}.", list(outputs)));
        }
        docs
    }
}

impl Signature {
    /// Parameters after `self`.
    pub(super) fn parameters(&self, roots: &Roots) -> Vec<TokenStream> {
        let idents = self.idents();
        let types = self.input_types(roots);
        idents.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty)).collect()
    }

    /// Says that a function may have this many parameters, `before` of them its own.
    pub(super) fn many(&self, before: usize) -> Option<TokenStream> {
        (self.idents().len() + before > MAX_PARAMETERS)
            .then(|| quote!(#[allow(clippy::too_many_arguments, reason = "the Method has as many")]))
    }

    /// Names of the parameters.
    pub(super) fn idents(&self) -> Vec<Ident> {
        match self {
            Self::Open => vec![quote::format_ident!("inputs")],
            Self::Declared { inputs, .. } => inputs.iter().map(|input| input.ident.clone()).collect(),
        }
    }

    /// Types of the parameters.
    pub(super) fn input_types(&self, roots: &Roots) -> Vec<TokenStream> {
        let codec = &roots.codec;
        match self {
            Self::Open => vec![quote!(#codec::Array<#codec::Variant>)],
            Self::Declared { inputs, .. } => inputs.iter().map(Argument::parameter_type).collect(),
        }
    }

    /// What a call gives: nothing, a value, or a structure of several.
    pub(super) fn output_type(&self, roots: &Roots) -> TokenStream {
        let codec = &roots.codec;
        match self {
            Self::Open => quote!(#codec::Array<#codec::Variant>),
            Self::Declared { outputs, structure, .. } => match outputs.as_slice() {
                [] => quote!(()),
                [output] => output.ty.clone(),
                _ => quote!(#structure),
            },
        }
    }
}

impl Argument {
    fn parameter_type(&self) -> TokenStream {
        let ty = &self.ty;
        if self.is_optional { quote!(::core::option::Option<#ty>) } else { ty.clone() }
    }
}

/// The structure of two or more outputs.
pub(super) fn outputs(method: &Method) -> Option<TokenStream> {
    let Signature::Declared { outputs, structure, .. } = &method.signature else {
        return None;
    };
    if outputs.len() < 2 {
        return None;
    }
    let docs = format!(" What `{}` gives.", method.name.name);
    let fields = outputs.iter().map(|output| {
        let Argument { ident, name, ty, .. } = output;
        let docs = format!(" `{name}`");
        quote!(#[doc = #docs] pub #ident: #ty)
    });
    Some(quote! {
        #[doc = #docs]
        #[derive(Clone, Debug, PartialEq)]
        pub struct #structure {
            #(#fields,)*
        }
    })
}
