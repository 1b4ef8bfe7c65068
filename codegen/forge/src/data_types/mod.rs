//! Lowers the data types of a resolved model to the IR of the emitters.

mod fields;
mod graph;
pub(crate) mod lower;
mod sizes;
mod type_names;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use uaforge_emit::ir::{Enumeration, Roots, Structure};
use uaforge_emit::view::Views;
use uaforge_model::resolved::{Id, ModelSet, Ns};

use crate::names::Ledgers;

pub(crate) use fields::value_type;
pub(crate) use type_names::TypeNames;

/// The data types of one model, ordered by Rust name.
#[derive(Debug, Default)]
pub(crate) struct DataTypes {
    pub(crate) structures: Vec<Structure>,
    pub(crate) enumerations: Vec<Enumeration>,
    /// Structures that get a borrowed view.
    pub(crate) views: BTreeSet<String>,
}

/// What is known of all structures of the set before one is lowered.
struct Known<'g> {
    recursion: graph::Recursion<'g>,
    sizes: sizes::Sizes,
}

/// What lowering needs to know at every place.
pub(crate) struct Cx<'a> {
    pub(crate) set: &'a ModelSet,
    pub(crate) ns: Ns,
    pub(crate) ledgers: &'a Ledgers,
    pub(crate) names: TypeNames<'a>,
    pub(crate) roots: Roots,
    /// The crate of the base model's ObjectTypes.
    pub(crate) ns0: TokenStream,
}

impl Cx<'_> {
    /// The path of the Rust type of a data type that is emitted as an item.
    pub(crate) fn path(&self, id: &Id) -> Option<TokenStream> {
        let name = self.names.of(id)?;
        if id.ns == self.ns {
            return Some(quote!(#name));
        }
        if id.ns == Ns(0) {
            let types = &self.roots.types;
            return Some(quote!(#types::#name));
        }
        let path = self.set.model(id.ns)?.rust_path.as_deref()?;
        let path: TokenStream = path.parse().ok()?;
        Some(quote!(#path::#name))
    }
}

impl Views for DataTypes {
    fn has_view(&self, path: &str) -> bool {
        self.views.contains(path)
    }
}
