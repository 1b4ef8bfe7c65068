//! Nodes that are made while the program runs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use uaforge_codec::{LocalizedText, NodeId, QualifiedName, Variant};

use crate::class::NodeClass;

/// The attributes of a node to be added (OPC 10000-3 §5).
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// NodeId.
    pub id: NodeId,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// DisplayName.
    pub display_name: LocalizedText,
    /// Description.
    pub description: LocalizedText,
    /// WriteMask.
    pub write_mask: u32,
    /// What its class has.
    pub attributes: ClassAttributes,
}

/// The attributes that only some classes have.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassAttributes {
    /// Object.
    Object {
        /// EventNotifier.
        event_notifier: u8,
    },
    /// Variable.
    Variable(VariableAttributes),
    /// Method.
    Method {
        /// Executable.
        executable: bool,
    },
    /// ObjectType.
    ObjectType {
        /// IsAbstract.
        is_abstract: bool,
    },
    /// VariableType.
    VariableType {
        /// IsAbstract.
        is_abstract: bool,
        /// DataType, ValueRank and ArrayDimensions.
        variable: Box<VariableAttributes>,
    },
    /// ReferenceType.
    ReferenceType {
        /// IsAbstract.
        is_abstract: bool,
        /// Symmetric.
        symmetric: bool,
        /// InverseName.
        inverse_name: Box<LocalizedText>,
    },
    /// DataType.
    DataType {
        /// IsAbstract.
        is_abstract: bool,
        /// DataTypeDefinition, an ExtensionObject; Null if there is none.
        definition: Box<Variant>,
    },
    /// View.
    View {
        /// EventNotifier.
        event_notifier: u8,
        /// ContainsNoLoops.
        contains_no_loops: bool,
    },
}

/// What a Variable has beside its value.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableAttributes {
    /// DataType.
    pub data_type: NodeId,
    /// ValueRank.
    pub value_rank: i32,
    /// ArrayDimensions; empty if not given.
    pub array_dimensions: Vec<u32>,
    /// AccessLevelEx; the low byte is AccessLevel.
    pub access_level: u32,
    /// MinimumSamplingInterval in milliseconds.
    pub minimum_sampling_interval: f64,
    /// Historizing.
    pub historizing: bool,
}

impl Default for VariableAttributes {
    /// BaseDataType, scalar, readable.
    fn default() -> Self {
        Self {
            data_type: NodeId::numeric(0, 24),
            value_rank: -1,
            array_dimensions: Vec::new(),
            access_level: 1,
            minimum_sampling_interval: 0.0,
            historizing: false,
        }
    }
}

impl NewNode {
    /// A node whose DisplayName is its browse name.
    pub fn new(id: NodeId, browse_name: QualifiedName, attributes: ClassAttributes) -> Self {
        let display_name = LocalizedText { text: browse_name.name.clone(), ..Default::default() };
        Self {
            id,
            browse_name,
            display_name,
            description: LocalizedText::default(),
            write_mask: 0,
            attributes,
        }
    }

    /// The node's class.
    pub fn class(&self) -> NodeClass {
        match self.attributes {
            ClassAttributes::Object { .. } => NodeClass::Object,
            ClassAttributes::Variable(_) => NodeClass::Variable,
            ClassAttributes::Method { .. } => NodeClass::Method,
            ClassAttributes::ObjectType { .. } => NodeClass::ObjectType,
            ClassAttributes::VariableType { .. } => NodeClass::VariableType,
            ClassAttributes::ReferenceType { .. } => NodeClass::ReferenceType,
            ClassAttributes::DataType { .. } => NodeClass::DataType,
            ClassAttributes::View { .. } => NodeClass::View,
        }
    }

    /// What a Variable or VariableType has.
    pub fn variable(&self) -> Option<&VariableAttributes> {
        match &self.attributes {
            ClassAttributes::Variable(variable) => Some(variable),
            ClassAttributes::VariableType { variable, .. } => Some(variable),
            _ => None,
        }
    }
}
