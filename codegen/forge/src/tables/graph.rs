//! What the row writer asks about types: supertypes, encodings, fields.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uaforge_model::resolved::{Field, Id, Ident, Model, ModelSet, Node, NodeClass, Ns};

pub(super) const STRUCTURE: u32 = 22;
pub(super) const BASE_DATA_TYPE: u32 = 24;
pub(super) const ENUMERATION: u32 = 29;
pub(super) const HAS_ENCODING: u32 = 38;
pub(super) const HAS_TYPE_DEFINITION: u32 = 40;
pub(super) const HAS_SUBTYPE: u32 = 45;
pub(super) const HAS_PROPERTY: u32 = 46;
pub(super) const DATA_TYPE_DICTIONARY_TYPE: u32 = 72;
pub(super) const OPTION_SET: u32 = 12755;
pub(super) const UNION: u32 = 12756;

/// Longest chain of supertypes that is followed; a cycle ends there.
const MAX_CHAIN: usize = 64;

/// How one element of a field is encoded (OPC 10000-6 §5.2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// A builtin type by its number; 22 is an ExtensionObject, 24 a Variant.
    Builtin(u8),
    /// The fields of this structure or union follow directly.
    Inline(Id),
}

/// The id of an ns0 node.
pub(super) fn ns0(id: u32) -> Id {
    Id { ns: Ns(0), ident: Ident::Numeric(id) }
}

fn ns0_number(id: &Id) -> Option<u32> {
    match (&id.ns, &id.ident) {
        (Ns(0), Ident::Numeric(number)) => Some(*number),
        _ => None,
    }
}

/// Indexes over all references of a set.
pub(super) struct Graph<'a> {
    models: BTreeMap<Ns, &'a Model>,
    supertype: HashMap<&'a Id, &'a Id>,
    binary: HashMap<&'a Id, &'a Id>,
    type_definition: HashMap<&'a Id, &'a Id>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(set: &'a ModelSet) -> Self {
        let models = set.models.iter().map(|m| (m.ns, m)).collect();
        let mut graph = Self {
            models,
            supertype: HashMap::new(),
            binary: HashMap::new(),
            type_definition: HashMap::new(),
        };
        for triple in set.models.iter().flat_map(|m| &m.references) {
            match ns0_number(&triple.reference_type) {
                Some(HAS_SUBTYPE) => {
                    graph.supertype.entry(&triple.target).or_insert(&triple.source);
                }
                Some(HAS_TYPE_DEFINITION) => {
                    graph.type_definition.entry(&triple.source).or_insert(&triple.target);
                }
                Some(HAS_ENCODING) if graph.is_binary(&triple.target) => {
                    graph.binary.entry(&triple.source).or_insert(&triple.target);
                }
                _ => {}
            }
        }
        graph
    }

    fn is_binary(&self, encoding: &Id) -> bool {
        self.node(encoding).is_some_and(|n| &*n.browse_name.name == "Default Binary")
    }

    pub(super) fn node(&self, id: &Id) -> Option<&'a Node> {
        self.models.get(&id.ns)?.nodes.get(&id.ident)
    }

    /// True if the set knows the model of the id but has no such node.
    pub(super) fn is_dangling(&self, id: &Id) -> bool {
        self.models.contains_key(&id.ns) && self.node(id).is_none()
    }

    pub(super) fn supertype(&self, id: &Id) -> Option<&'a Id> {
        self.supertype.get(id).copied()
    }

    /// The Default Binary encoding of a data type.
    pub(super) fn binary_encoding(&self, id: &Id) -> Option<&'a Id> {
        self.binary.get(id).copied()
    }

    pub(super) fn has_type(&self, id: &Id, type_definition: u32) -> bool {
        self.type_definition.get(id).is_some_and(|t| **t == ns0(type_definition))
    }

    /// The type itself and its supertypes, nearest first.
    pub(super) fn chain(&self, id: &Id) -> Vec<Id> {
        let mut chain = vec![id.clone()];
        while let Some(next) = chain.last().and_then(|id| self.supertype(id))
            && chain.len() < MAX_CHAIN
        {
            chain.push(next.clone());
        }
        chain
    }

    pub(super) fn is_below(&self, id: &Id, ancestor: u32) -> bool {
        let ancestor = ns0(ancestor);
        self.chain(id).contains(&ancestor)
    }

    /// All fields in encoding order, inherited ones first. Bits of option sets are no fields.
    pub(super) fn all_fields(&self, id: &Id) -> Vec<&'a Field> {
        let mut fields = Vec::new();
        for id in self.chain(id).iter().rev() {
            let is_bits = *id != ns0(OPTION_SET) && self.is_below(id, OPTION_SET);
            let definition = self.node(id).and_then(|n| n.definition.as_ref());
            if let Some(definition) = definition.filter(|_| !is_bits) {
                fields.extend(&definition.fields);
            }
        }
        fields
    }

    pub(super) fn is_union(&self, id: &Id) -> bool {
        self.is_below(id, UNION)
            || self.node(id).and_then(|n| n.definition.as_ref()).is_some_and(|d| d.is_union)
    }

    /// How an element of a field of this type is encoded.
    pub(super) fn wire(&self, data_type: &Id, allow_sub_types: bool) -> Wire {
        for id in self.chain(data_type) {
            match ns0_number(&id) {
                Some(STRUCTURE) => {
                    let is_abstract = self.node(data_type).is_none_or(|n| n.is_abstract);
                    let open = allow_sub_types || is_abstract || *data_type == ns0(STRUCTURE);
                    return if open {
                        Wire::Builtin(STRUCTURE as u8)
                    } else {
                        Wire::Inline(data_type.clone())
                    };
                }
                Some(ENUMERATION) => return Wire::Builtin(6),
                Some(n @ (1..=21 | 23 | 25)) => return Wire::Builtin(n as u8),
                _ => {}
            }
        }
        Wire::Builtin(BASE_DATA_TYPE as u8)
    }

    /// The nodes of a model that are nodes of an address space: not the data types that are types
    /// only, nor what hangs on those by HasEncoding or HasProperty.
    pub(super) fn dropped(&self, ns: Ns) -> BTreeSet<Id> {
        let Some(model) = self.models.get(&ns) else {
            return BTreeSet::new();
        };
        let types_only = |n: &&&Node| n.class == NodeClass::DataType && n.types_only;
        let mut dropped: BTreeSet<Id> =
            model.nodes.values().collect::<Vec<_>>().iter().filter(types_only).map(|n| n.id.clone()).collect();
        if dropped.is_empty() {
            return dropped;
        }
        let of_type = |n: Option<u32>| matches!(n, Some(HAS_ENCODING | HAS_PROPERTY));
        let attached: Vec<Id> = (model.references.iter())
            .filter(|t| of_type(ns0_number(&t.reference_type)) && dropped.contains(&t.source))
            .map(|t| t.target.clone())
            .filter(|id| id.ns == ns)
            .collect();
        dropped.extend(attached);
        dropped
    }
}
