//! Rust names of the data types of every model in the set.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use uaforge_model::DataTypeKind;
use uaforge_model::resolved::{Id, ModelSet, NodeClass};

use crate::names::Scope;

/// Scope of the ledger in which data types stand.
pub(crate) const LEDGER_SCOPE: &str = "type";

/// Rust names of all data types that are emitted as items.
#[derive(Debug, Default)]
pub(crate) struct TypeNames(BTreeMap<Id, Ident>);

impl TypeNames {
    /// Names depend on the sorted content of each model and its ledger alone, so that a dependent
    /// computes the same names from an interface file as the model's own crate did.
    pub(crate) fn new(set: &ModelSet) -> Self {
        let mut names = BTreeMap::new();
        for model in &set.models {
            let mut scope = Scope::with_reserved(&["Namespaces"]);
            let emitted: Vec<_> = model.nodes.values().filter(|node| is_emitted(set, &node.id)).collect();
            let key = |id: &Id| (LEDGER_SCOPE.to_owned(), id.ident.to_string());
            for node in &emitted {
                if let Some(kept) = model.ledger.get(&key(&node.id)) {
                    names.insert(node.id.clone(), scope.keep(kept));
                }
            }
            for node in emitted {
                let name = type_name(set, &node.id).unwrap_or(&node.browse_name.name);
                let id = &node.id;
                names.entry(id.clone()).or_insert_with(|| scope.pascal(name, &id.ident.to_string()));
            }
        }
        Self(names)
    }

    /// The Rust name.
    pub(crate) fn of(&self, id: &Id) -> Option<&Ident> {
        self.0.get(id)
    }

    /// All of one model, in the order of ids.
    pub(crate) fn of_model(&self, ns: uaforge_model::resolved::Ns) -> impl Iterator<Item = (&Id, &Ident)> {
        self.0.iter().filter(move |(id, _)| id.ns == ns)
    }
}

fn type_name<'a>(set: &'a ModelSet, id: &Id) -> Option<&'a str> {
    let node = set.node(id)?;
    let definition = node.definition.as_ref().and_then(|definition| definition.symbolic_name.as_deref());
    node.symbolic_name.as_deref().or(definition)
}

/// Concrete structures and unions, concrete enumerations and option sets are items; everything else
/// is a builtin type where it is used.
fn is_emitted(set: &ModelSet, id: &Id) -> bool {
    let Some(node) = set.node(id).filter(|node| node.class == NodeClass::DataType) else {
        return false;
    };
    match set.kind_of_data_type(id) {
        Some(DataTypeKind::Structure | DataTypeKind::Union) => !node.is_abstract,
        Some(DataTypeKind::Enumeration | DataTypeKind::OptionSet) => true,
        _ => false,
    }
}
