//! The type tree and hierarchical references.

use crate::resolved::{Id, ModelSet, Node, NodeClass, QName};

/// Ids of the OPC UA namespace that the resolver itself needs (OPC 10000-5, OPC 10000-6 Annex A).
pub mod well_known {
    use crate::resolved::Id;

    /// BaseDataType.
    pub const BASE_DATA_TYPE: Id = Id::ns0(24);
    /// BaseObjectType.
    pub const BASE_OBJECT_TYPE: Id = Id::ns0(58);
    /// Structure.
    pub const STRUCTURE: Id = Id::ns0(22);
    /// Enumeration.
    pub const ENUMERATION: Id = Id::ns0(29);
    /// Union.
    pub const UNION: Id = Id::ns0(12756);
    /// OptionSet, the structure.
    pub const OPTION_SET: Id = Id::ns0(12755);
    /// HierarchicalReferences.
    pub const HIERARCHICAL_REFERENCES: Id = Id::ns0(33);
    /// HasModellingRule.
    pub const HAS_MODELLING_RULE: Id = Id::ns0(37);
    /// HasEncoding.
    pub const HAS_ENCODING: Id = Id::ns0(38);
    /// HasTypeDefinition.
    pub const HAS_TYPE_DEFINITION: Id = Id::ns0(40);
    /// GeneratesEvent.
    pub const GENERATES_EVENT: Id = Id::ns0(41);
    /// HasSubtype.
    pub const HAS_SUBTYPE: Id = Id::ns0(45);
    /// HasProperty.
    pub const HAS_PROPERTY: Id = Id::ns0(46);
    /// HasComponent.
    pub const HAS_COMPONENT: Id = Id::ns0(47);
    /// HasInterface.
    pub const HAS_ORDERED_COMPONENT: Id = Id::ns0(49);
    /// HasInterface
    pub const HAS_INTERFACE: Id = Id::ns0(17603);
    /// DataTypeEncodingType.
    pub const DATA_TYPE_ENCODING_TYPE: Id = Id::ns0(76);
}

use well_known::{HAS_SUBTYPE, HAS_TYPE_DEFINITION};

/// Longest chain of supertypes; only a cycle is longer.
pub(crate) const MAX_CHAIN: usize = 256;

impl ModelSet {
    /// The direct supertype of a type.
    pub fn supertype(&self, id: &Id) -> Option<&Id> {
        self.inverse(id).iter().find(|link| link.reference_type == HAS_SUBTYPE).map(|link| &link.target)
    }

    /// Supertypes, the nearest first. A cycle ends the chain.
    pub fn supertypes(&self, id: &Id) -> Vec<&Id> {
        let mut chain: Vec<&Id> = Vec::new();
        let mut next = self.supertype(id);
        while let Some(base) = next {
            if chain.len() >= MAX_CHAIN || base == id || chain.contains(&base) {
                break;
            }
            chain.push(base);
            next = self.supertype(base);
        }
        chain
    }

    /// Direct subtypes, in order of id.
    pub fn subtypes(&self, id: &Id) -> impl Iterator<Item = &Id> {
        self.forward(id).iter().filter(|link| link.reference_type == HAS_SUBTYPE).map(|link| &link.target)
    }

    /// True if `id` is `base` or below it.
    pub fn is_subtype_of(&self, id: &Id, base: &Id) -> bool {
        id == base || self.supertypes(id).contains(&base)
    }

    /// The first type definition of an object or variable.
    pub fn type_definition(&self, id: &Id) -> Option<&Id> {
        self.forward(id)
            .iter()
            .find(|link| link.reference_type == HAS_TYPE_DEFINITION)
            .map(|link| &link.target)
    }

    /// Targets of forward hierarchical references but HasSubtype, with the reference type.
    pub fn children(&self, id: &Id) -> impl Iterator<Item = (&Id, &Node)> {
        let links = self
            .forward(id)
            .iter()
            .filter(|link| link.reference_type != HAS_SUBTYPE && self.is_hierarchical(&link.reference_type));
        links.filter_map(|link| Some((&link.reference_type, self.node(&link.target)?)))
    }

    /// The first child with this browse name.
    pub fn child(&self, id: &Id, name: &QName) -> Option<&Node> {
        self.children(id).find(|(_, node)| node.browse_name == *name).map(|(_, node)| node)
    }

    /// A property of the OPC UA namespace by its name (EnumStrings, InputArguments …).
    pub fn property(&self, id: &Id, name: &str) -> Option<&Node> {
        let links = self.forward(id).iter().filter(|link| link.reference_type == well_known::HAS_PROPERTY);
        let nodes = links.filter_map(|link| self.node(&link.target));
        nodes.into_iter().find(|node| {
            node.class == NodeClass::Variable && node.browse_name.ns.0 == 0 && &*node.browse_name.name == name
        })
    }
}
