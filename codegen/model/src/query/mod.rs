//! Questions to a resolved set: types, fields, encodings, members.

mod components;
mod data_types;
mod declarations;
mod index;
mod instances;
mod symbolic;
mod types;

use std::sync::{Arc, OnceLock};

pub use components::{Components, Edges};
pub use data_types::{DataTypeKind, Encodings, StructureType, Wire, builtin_name};
pub use declarations::{Declaration, ModellingRule};
pub use index::{Index, Link};
pub use instances::MandatoryInstances;
pub use types::well_known;

use crate::resolved::{Id, Model, ModelSet, Node, Ns};

impl ModelSet {
    /// A set of models that share `uris`.
    pub fn new(uris: Vec<Arc<str>>, models: Vec<Model>) -> Self {
        Self { uris, models, index: OnceLock::new() }
    }

    /// Forgets the index after a change of `models`.
    pub fn reindex(&mut self) {
        self.index = OnceLock::new();
    }

    /// The model of a namespace.
    pub fn model(&self, ns: Ns) -> Option<&Model> {
        self.models.iter().find(|model| model.ns == ns)
    }

    /// A node of any model.
    pub fn node(&self, id: &Id) -> Option<&Node> {
        self.model(id.ns)?.nodes.get(&id.ident)
    }

    /// True for what is never in an address space ([`Node::types_only`]).
    pub fn is_types_only(&self, id: &Id) -> bool {
        self.node(id).is_some_and(|node| node.types_only)
    }
}
