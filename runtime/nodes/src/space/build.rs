//! Mounting models: wire indexes, required models, grafts, the tree of reference types.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::AtomicU64;

use uaforge_codec::NamespaceMap;

use super::statics::{Mounted, NONE, Statics};
use super::tree::ReferenceTypes;
use super::{AddressSpace, RwLock};
use crate::overlay::Overlay;
use crate::table::StaticModel;

/// Why models do not make an address space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A model was not given that another one requires.
    #[error("{model} requires {required}, which is not among the models of this server")]
    MissingModel {
        /// Who requires it.
        model: String,
        /// The namespace URI that is missing.
        required: String,
    },
    /// Two models of one namespace.
    #[error("there are two models of {model}")]
    DuplicateModel {
        /// The namespace URI.
        model: String,
    },
    /// A model adds references to a node that its model does not have: the two were generated from
    /// NodeSets of different versions.
    #[error("{model} refers to {node}, which does not exist in the model it belongs to")]
    MissingNode {
        /// Who refers to it.
        model: String,
        /// The node, with its wire index.
        node: String,
    },
    /// More namespaces than a NodeId can tell apart.
    #[error("there are more than 65,534 namespaces")]
    TooManyNamespaces,
}

/// Collects models and namespaces.
#[derive(Debug)]
pub struct AddressSpaceBuilder {
    namespaces: NamespaceMap,
    models: Vec<&'static StaticModel>,
    seed: u64,
}

impl AddressSpaceBuilder {
    pub(crate) fn new(application_uri: &str) -> Self {
        let mut namespaces = NamespaceMap::new();
        namespaces.push(application_uri);
        Self { namespaces, models: Vec::new(), seed: 0 }
    }

    /// Adds a model; its namespace gets the next index. In any order.
    #[must_use]
    pub fn model(mut self, model: &'static StaticModel) -> Self {
        self.models.push(model);
        self.namespace(model.uri())
    }

    /// Adds a namespace for nodes that are made at run time.
    #[must_use]
    pub fn namespace(mut self, uri: &str) -> Self {
        if self.namespaces.index_of(uri).is_none() {
            self.namespaces.push(uri);
        }
        self
    }

    /// Random bits, so that peers cannot choose ids that collide in the maps of added nodes.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The namespace URIs so far.
    pub fn namespaces(&self) -> &NamespaceMap {
        &self.namespaces
    }

    /// Builds the address space.
    ///
    /// # Errors
    /// If a required model is missing, or two models do not fit together.
    pub fn build(self) -> Result<AddressSpace, BuildError> {
        let namespaces = self.namespaces;
        if namespaces.len() >= usize::from(u16::MAX) {
            return Err(BuildError::TooManyNamespaces);
        }
        let mut by_wire = vec![NONE; namespaces.len()];
        for (index, model) in (0u16..).zip(&self.models) {
            let wire = namespaces.index_of(model.uri()).map(usize::from);
            if let Some(place) = wire.and_then(|wire| by_wire.get_mut(wire)) {
                if *place != NONE {
                    return Err(BuildError::DuplicateModel { model: model.uri().to_string() });
                }
                *place = index;
            }
        }
        let mut models = Vec::with_capacity(self.models.len());
        for model in self.models {
            models.push(mount(model, &namespaces, &by_wire)?);
        }
        let mut statics = Statics::new(namespaces, models, by_wire);
        if let Err((by, node)) = statics.merge_grafts() {
            let model = statics.mounted(by).map(|m| m.model.uri().to_string()).unwrap_or_default();
            return Err(BuildError::MissingNode { model, node: node.to_owned().to_string() });
        }
        let types = ReferenceTypes::from_statics(&statics);
        statics.number_types(&types);
        Ok(AddressSpace {
            statics: Arc::new(statics),
            overlay: RwLock::new(Arc::new(Overlay::new(types, self.seed))),
            editing: RwLock::new(()),
            generation: AtomicU64::new(0),
        })
    }
}

fn mount(
    model: &'static StaticModel,
    namespaces: &NamespaceMap,
    by_wire: &[u16],
) -> Result<Mounted, BuildError> {
    let mut wire = Vec::with_capacity(model.slots.len());
    let mut models = Vec::with_capacity(model.slots.len());
    for uri in model.slots {
        let index = namespaces.index_of(uri);
        let mounted = index.and_then(|index| by_wire.get(usize::from(index)).copied());
        let (Some(index), Some(mounted)) = (index, mounted.filter(|mounted| *mounted != NONE)) else {
            return Err(BuildError::MissingModel {
                model: model.uri().to_string(),
                required: (*uri).to_string(),
            });
        };
        wire.push(index);
        models.push(mounted);
    }
    Ok(Mounted::new(model, wire, models))
}
