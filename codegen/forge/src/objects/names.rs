//! Rust names of the ObjectTypes of every model in the set.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use uaforge_model::resolved::{Id, ModelSet, NodeClass, Ns};

use crate::data_types::TypeNames;
use crate::names::Scope;

/// Scope of the ledger in which ObjectTypes stand.
const LEDGER_SCOPE: &str = "object_type";

/// Rust names of all ObjectTypes but those of the base model, which are not emitted.
#[derive(Debug, Default)]
pub(super) struct ObjectNames(BTreeMap<Id, Ident>);

impl ObjectNames {
    /// Names depend on each model alone, as those of data types do. Both stand in one scope.
    pub(super) fn new(set: &ModelSet, types: &TypeNames) -> Self {
        let mut names = BTreeMap::new();
        for model in set.models.iter().filter(|model| model.ns != Ns(0)) {
            let mut scope = Scope::with_reserved(&["Namespaces"]);
            for (_, ident) in types.of_model(model.ns) {
                scope.keep(&ident.to_string());
            }
            let nodes: Vec<_> =
                model.nodes.values().filter(|node| node.class == NodeClass::ObjectType).collect();
            let key = |id: &Id| (LEDGER_SCOPE.to_owned(), id.ident.to_string());
            for node in &nodes {
                if let Some(kept) = model.ledger.get(&key(&node.id)) {
                    names.insert(node.id.clone(), scope.keep(kept));
                }
            }
            for node in nodes {
                let name = node.symbolic_name.as_deref().unwrap_or(&node.browse_name.name);
                let id = &node.id;
                names.entry(id.clone()).or_insert_with(|| scope.pascal(name, &id.ident.to_string()));
            }
        }
        Self(names)
    }

    /// A name that is made from others; with the id behind it if a DataType or ObjectType of the model
    /// is called so.
    pub(super) fn derived(&self, types: &TypeNames, id: &Id, name: &str) -> Ident {
        let mut scope = Scope::default();
        let objects = self.0.iter().filter(|(own, _)| own.ns == id.ns).map(|(_, ident)| ident);
        for ident in types.of_model(id.ns).map(|(_, ident)| ident).chain(objects) {
            scope.keep(&ident.to_string());
        }
        scope.pascal(name, &id.ident.to_string())
    }

    pub(super) fn of(&self, id: &Id) -> Option<&Ident> {
        self.0.get(id)
    }
}
