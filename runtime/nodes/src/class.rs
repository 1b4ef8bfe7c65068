//! Node classes and attribute ids.

/// NodeClass (OPC 10000-3 §8.29) with the wire's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NodeClass {
    /// Object (OPC 10000-3 §5.5.1).
    Object = 1,
    /// Variable (OPC 10000-3 §5.6.2).
    Variable = 2,
    /// Method (OPC 10000-3 §5.7).
    Method = 4,
    /// ObjectType (OPC 10000-3 §5.5.2).
    ObjectType = 8,
    /// VariableType (OPC 10000-3 §5.6.5).
    VariableType = 16,
    /// ReferenceType (OPC 10000-3 §5.3).
    ReferenceType = 32,
    /// DataType (OPC 10000-3 §5.8.3).
    DataType = 64,
    /// View (OPC 10000-3 §5.4).
    View = 128,
}

impl NodeClass {
    /// The class whose number stands in the low byte of a row's kind.
    pub(crate) fn from_kind(kind: u16) -> Self {
        match kind & 0xff {
            2 => Self::Variable,
            4 => Self::Method,
            8 => Self::ObjectType,
            16 => Self::VariableType,
            32 => Self::ReferenceType,
            64 => Self::DataType,
            128 => Self::View,
            _ => Self::Object,
        }
    }

    /// The number on the wire, which is also its bit in a NodeClassMask (OPC 10000-4 §5.9.2).
    pub const fn value(self) -> u32 {
        self as u32
    }

    /// ObjectType, VariableType, ReferenceType or DataType.
    pub const fn is_type(self) -> bool {
        self as u8 & (8 | 16 | 32 | 64) != 0
    }
}

macro_rules! attribute_ids {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// AttributeId (OPC 10000-6 Annex A.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum AttributeId {
            $($(#[$doc])* $name = $number,)*
        }

        impl AttributeId {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The attribute with this number; `None` is Bad_AttributeIdInvalid.
            pub const fn from_u32(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

attribute_ids! {
    /// Every class.
    NodeId = 1,
    /// Every class.
    NodeClass = 2,
    /// Every class.
    BrowseName = 3,
    /// Every class.
    DisplayName = 4,
    /// Every class.
    Description = 5,
    /// Every class.
    WriteMask = 6,
    /// Every class.
    UserWriteMask = 7,
    /// Types.
    IsAbstract = 8,
    /// ReferenceType.
    Symmetric = 9,
    /// ReferenceType that is not symmetric.
    InverseName = 10,
    /// View.
    ContainsNoLoops = 11,
    /// Object and View.
    EventNotifier = 12,
    /// Variable, and VariableType with a default.
    Value = 13,
    /// Variable and VariableType.
    DataType = 14,
    /// Variable and VariableType.
    ValueRank = 15,
    /// Variable and VariableType.
    ArrayDimensions = 16,
    /// Variable.
    AccessLevel = 17,
    /// Variable.
    UserAccessLevel = 18,
    /// Variable.
    MinimumSamplingInterval = 19,
    /// Variable.
    Historizing = 20,
    /// Method.
    Executable = 21,
    /// Method.
    UserExecutable = 22,
    /// DataType with a definition.
    DataTypeDefinition = 23,
    /// Where stated.
    RolePermissions = 24,
    /// Depends on the user: the server's business.
    UserRolePermissions = 25,
    /// Where stated.
    AccessRestrictions = 26,
    /// Variable.
    AccessLevelEx = 27,
}
