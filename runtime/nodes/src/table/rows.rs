//! The rows of the tables, as the generator writes them.

/// One node: id, kind, slot of the browse name, length of the browse name, length of the display
/// name (0: the same as the browse name), number of forward and of inverse references.
#[derive(Clone, Copy, Debug)]
pub struct NodeRow(pub u32, pub u16, pub u8, pub u16, pub u16, pub u32, pub u32);

/// What a [`NodeRow`] says in its second field: the NodeClass (OPC 10000-3 §8.29) in the low byte,
/// flags above.
pub mod kind {
    /// Object.
    pub const O: u16 = 1;
    /// Variable.
    pub const V: u16 = 2;
    /// Method.
    pub const M: u16 = 4;
    /// ObjectType.
    pub const OT: u16 = 8;
    /// VariableType.
    pub const VT: u16 = 16;
    /// ReferenceType.
    pub const RT: u16 = 32;
    /// DataType.
    pub const DT: u16 = 64;
    /// View.
    pub const W: u16 = 128;
    /// The node has a row in the table of values: its Value, or the DataTypeDefinition of a data type.
    pub const VALUE: u16 = 0x100;
    /// There are rows in the table of further texts.
    pub const TEXT: u16 = 0x200;
    /// There are rows in the table of rare attributes.
    pub const EXTRA: u16 = 0x400;
    /// IsAbstract.
    pub const ABSTRACT: u16 = 0x800;
    /// Symmetric.
    pub const SYMMETRIC: u16 = 0x1000;
    /// The id is the key of a named id.
    pub const NAMED: u16 = 0x2000;
}

/// One reference: index of its type in the model's reference types, slot and number of the other end.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceRow(pub u16, pub u8, pub u32);

/// A reference type that the model uses: slot and number.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceTypeRow(pub u8, pub u32);

/// What only Variables and VariableTypes have, in the order of the nodes: slot and number of the
/// data type, ValueRank, AccessLevelEx, number of ArrayDimensions.
#[derive(Clone, Copy, Debug)]
pub struct VariableRow(pub u8, pub u32, pub i32, pub u32, pub u8);

/// One value, in the order of the nodes: length of its encoded Variant, number of relocations.
#[derive(Clone, Copy, Debug)]
pub struct ValueRow(pub u32, pub u32);

/// References that this model adds to a node of another: slot and number of that node, number of
/// forward and of inverse references. Ordered by slot and number.
#[derive(Clone, Copy, Debug)]
pub struct GraftRow(pub u8, pub u32, pub u32, pub u32);

/// A named id, ordered by key: key, slot, kind ([`NamedKind`](super::NamedKind)), length in bytes.
#[derive(Clone, Copy, Debug)]
pub struct NamedRow(pub u32, pub u8, pub u8, pub u32);

/// A text beside browse and display name: node, what it is (with [`NAMED`](super::NAMED) if the node
/// is a named one), length of the locale, length of the text. Ordered by named, node and what.
#[derive(Clone, Copy, Debug)]
pub struct TextRow(pub u32, pub u8, pub u8, pub u32);

/// A rare attribute: node, which one (with [`NAMED`](super::NAMED) if the node is a named one), slot,
/// and two numbers. Ordered by named, node and which.
#[derive(Clone, Copy, Debug)]
pub struct ExtraRow(pub u32, pub u8, pub u8, pub u32, pub u32);

/// What a [`TextRow`] holds.
pub mod text {
    /// A DisplayName with a locale (the first one replaces that of the node row).
    pub const DISPLAY_NAME: u8 = 1;
    /// Description.
    pub const DESCRIPTION: u8 = 2;
    /// InverseName.
    pub const INVERSE_NAME: u8 = 3;
}

/// What an [`ExtraRow`] holds.
pub mod extra {
    /// WriteMask in the first number.
    pub const WRITE_MASK: u8 = 1;
    /// EventNotifier in the first number.
    pub const EVENT_NOTIFIER: u8 = 2;
    /// MinimumSamplingInterval: high and low half of the bits of a Double.
    pub const SAMPLING: u8 = 3;
    /// Historizing is true.
    pub const HISTORIZING: u8 = 4;
    /// ContainsNoLoops is true.
    pub const NO_LOOPS: u8 = 5;
    /// Executable is false.
    pub const NOT_EXECUTABLE: u8 = 6;
    /// AccessRestrictions in the first number.
    pub const RESTRICTIONS: u8 = 7;
    /// One of the RolePermissions: slot and number of the role, permissions in the second number.
    pub const ROLE: u8 = 8;
    /// MethodDeclarationId: slot and number.
    pub const DECLARATION: u8 = 9;
}

/// Prefix sums over the nodes: where the parts of a node begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Starts {
    /// In the text.
    pub text: u32,
    /// In the references.
    pub references: u32,
    /// In the variables.
    pub variables: u32,
    /// In the array dimensions.
    pub dimensions: u32,
    /// In the values.
    pub values: u32,
}

/// Prefix sums over the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueStart {
    /// In the bytes.
    pub bytes: u32,
    /// In the relocations.
    pub relocations: u32,
}
