//! Rust names of the data types and ObjectTypes of every model in the set.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proc_macro2::Ident;
use uaforge_model::DataTypeKind;
use uaforge_model::query::well_known::BASE_OBJECT_TYPE;
use uaforge_model::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns};

use crate::names::{Ledgers, Scope};

/// Scope of the ledger in which types stand.
const LEDGER_SCOPE: &str = "type";

/// What generated modules declare themselves beside types.
const RESERVED: &[&str] = &["Namespaces", "MODEL", "REGISTER"];

/// Endings of what an ObjectType's name stands in: its proxy, its handle, its handlers.
const ENDINGS: &[&str] = &["Proxy", "Handle", "Methods"];

/// Rust names of all data types that are emitted as items, and of all ObjectTypes but BaseObjectType.
#[derive(Debug, Default)]
pub(crate) struct TypeNames<'a> {
    data_types: BTreeMap<Id, Ident>,
    object_types: BTreeMap<Id, Ident>,
    scopes: RefCell<BTreeMap<Ns, Scope<'a>>>,
}

impl<'a> TypeNames<'a> {
    /// Names depend on the sorted content of each model and its ledger alone, so that a dependent
    /// computes the same names from an interface file as the model's own crate did. Data types and
    /// ObjectTypes stand in one scope.
    pub(crate) fn new(set: &ModelSet, ledgers: &'a Ledgers) -> Self {
        let mut names = Self::default();
        let mut scopes = BTreeMap::new();
        for model in &set.models {
            let mut scope = ledgers.scope(model.ns, LEDGER_SCOPE, RESERVED);
            for node in of_class(model, NodeClass::DataType).filter(|node| is_emitted(set, node)) {
                let (name, id) = (type_name(node), node.id.ident.to_string());
                names.data_types.insert(node.id.clone(), scope.pascal(&id, name, &id));
            }
            for node in of_class(model, NodeClass::ObjectType).filter(|node| node.id != BASE_OBJECT_TYPE) {
                let (name, id) = (type_name(node), node.id.ident.to_string());
                names.object_types.insert(node.id.clone(), scope.family(&id, name, &id, ENDINGS));
            }
            scopes.insert(model.ns, scope);
        }
        Self { scopes: RefCell::new(scopes), ..names }
    }

    /// The Rust name of a data type.
    pub(crate) fn of(&self, id: &Id) -> Option<&Ident> {
        self.data_types.get(id)
    }

    /// The Rust name of an ObjectType.
    pub(crate) fn of_object_type(&self, id: &Id) -> Option<&Ident> {
        self.object_types.get(id)
    }

    /// All data types of one model, in the order of ids.
    pub(crate) fn of_model(&self, ns: Ns) -> impl Iterator<Item = (&Id, &Ident)> {
        self.data_types.iter().filter(move |(id, _)| id.ns == ns)
    }

    /// Names one more type of a model: the structure of the outputs that a Method of a type has.
    pub(crate) fn outputs(&self, ns: Ns, owner: &Id, method: &Id, name: &str) -> Option<Ident> {
        let mut scopes = self.scopes.borrow_mut();
        let scope = scopes.get_mut(&ns)?;
        let key = format!("outputs {} {}", owner.ident, method.ident);
        Some(scope.pascal(&key, name, &method.ident.to_string()))
    }
}

fn of_class(model: &Model, class: NodeClass) -> impl Iterator<Item = &Node> {
    model.nodes.values().filter(move |node| node.class == class)
}

fn type_name(node: &Node) -> &str {
    let definition = node.definition.as_ref().and_then(|definition| definition.symbolic_name.as_deref());
    node.symbolic_name.as_deref().or(definition).unwrap_or(&node.browse_name.name)
}

/// Concrete structures and unions, enumerations and option sets are items; everything else is a
/// builtin type where it is used.
fn is_emitted(set: &ModelSet, node: &Node) -> bool {
    match set.kind_of_data_type(&node.id) {
        Some(DataTypeKind::Structure | DataTypeKind::Union) => !node.is_abstract,
        Some(DataTypeKind::Enumeration | DataTypeKind::OptionSet) => true,
        _ => false,
    }
}
