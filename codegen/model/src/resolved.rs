//! The resolved model: what a NodeSet says once every index, alias and direction is settled.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::query::Index;

/// Index into [`ModelSet::uris`]; 0 is always the OPC UA namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ns(pub u16);

/// The identifier part of a NodeId. Ordered: numbers first, by value (the order of the tables).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ident {
    /// `i=`
    Numeric(u32),
    /// `s=`
    String(Arc<str>),
    /// `g=`, as 16 bytes in text order
    Guid([u8; 16]),
    /// `b=`
    Opaque(Arc<[u8]>),
}

/// A NodeId whose namespace is an index into the set's own URI table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The namespace.
    pub ns: Ns,
    /// The identifier.
    pub ident: Ident,
}

/// A QualifiedName whose namespace is an index into the set's URI table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QName {
    /// The namespace.
    pub ns: Ns,
    /// The exact text.
    pub name: Arc<str>,
}

/// Everything that was loaded: documents in dependency order, sharing one URI table.
#[derive(Clone, Debug, Default)]
pub struct ModelSet {
    /// Namespace URIs; index 0 is `http://opcfoundation.org/UA/`.
    pub uris: Vec<Arc<str>>,
    /// Models, dependencies first.
    pub models: Vec<Model>,
    /// Reference and type index of the queries, built at the first one; call
    /// [`ModelSet::reindex`] after changing `models`.
    #[doc(hidden)]
    pub index: OnceLock<Arc<Index>>,
}

/// One model (one URI), from NodeSet documents or from an interface file.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its namespace.
    pub ns: Ns,
    /// `Version` of the Model element.
    pub version: Option<String>,
    /// `PublicationDate` as written.
    pub publication_date: Option<String>,
    /// `ModelVersion` (a semantic version), if stated.
    pub model_version: Option<String>,
    /// `XmlSchemaUri`, if stated: the XML namespace of the model's structures.
    pub xml_schema_uri: Option<String>,
    /// Required models in the order of the file.
    pub required: Vec<Requirement>,
    /// Nodes, ordered by identifier.
    pub nodes: BTreeMap<Ident, Node>,
    /// Distinct forward triples declared by this model's documents, sorted; sources may be foreign.
    pub references: Vec<Triple>,
    /// True when it came from an interface file (no values, no descriptions).
    pub from_interface: bool,
    /// Rust path of the crate that carries the model, when it is a dependency (`::uaforge_di`).
    pub rust_path: Option<String>,
    /// Names given in an earlier generation: (scope, original) to Rust name. Once given, a name stays.
    pub ledger: BTreeMap<(String, String), String>,
}

/// A `RequiredModel` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The URI.
    pub uri: Arc<str>,
    /// Least version.
    pub version: Option<String>,
    /// Least publication date.
    pub publication_date: Option<String>,
    /// Least model version.
    pub model_version: Option<String>,
}

/// A forward reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Triple {
    /// From.
    pub source: Id,
    /// ReferenceType.
    pub reference_type: Id,
    /// To.
    pub target: Id,
}

/// NodeClass (OPC 10000-3 §8.29) with the wire's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum NodeClass {
    Object = 1,
    Variable = 2,
    Method = 4,
    ObjectType = 8,
    VariableType = 16,
    ReferenceType = 32,
    DataType = 64,
    View = 128,
}

/// LocalizedText as the file has it (white space as written).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Locale, if any.
    pub locale: Option<String>,
    /// The text.
    pub text: String,
}

/// Where something stands in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Index of the input file in the loader's file list.
    pub file: u32,
    /// Byte offsets into it.
    pub start: u32,
    /// End of the range.
    pub end: u32,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its id.
    pub id: Id,
    /// Its class.
    pub class: NodeClass,
    /// BrowseName.
    pub browse_name: QName,
    /// DisplayName (all locales; the first is used where one is needed).
    pub display_name: Vec<Text>,
    /// Description; empty in interface files.
    pub description: Vec<Text>,
    /// SymbolicName attribute.
    pub symbolic_name: Option<String>,
    /// ParentNodeId, a hint.
    pub parent_hint: Option<Id>,
    /// WriteMask, default 0.
    pub write_mask: u32,
    /// IsAbstract of types.
    pub is_abstract: bool,
    /// Symmetric of reference types.
    pub symmetric: bool,
    /// InverseName of reference types.
    pub inverse_name: Vec<Text>,
    /// EventNotifier of objects and views.
    pub event_notifier: u8,
    /// ContainsNoLoops of views.
    pub contains_no_loops: bool,
    /// DataType of variables and variable types (default BaseDataType, i=24).
    pub data_type: Id,
    /// ValueRank (default -1).
    pub value_rank: i32,
    /// ArrayDimensions; empty if not given.
    pub array_dimensions: Vec<u32>,
    /// AccessLevel (AccessLevelEx, default 1).
    pub access_level: u32,
    /// MinimumSamplingInterval, milliseconds.
    pub minimum_sampling_interval: f64,
    /// Historizing.
    pub historizing: bool,
    /// Executable of methods (default true).
    pub executable: bool,
    /// MethodDeclarationId.
    pub method_declaration: Option<Id>,
    /// Value, resolved; `None` for no Value element or in interface files.
    pub value: Option<Value>,
    /// Definition of data types.
    pub definition: Option<Definition>,
    /// `Purpose` is ServicesOnly or CodeGenerator, or the node is an encoding or a property of such a
    /// data type: a type only, never a node of an address space.
    pub types_only: bool,
    /// AccessRestrictions bits, if stated.
    pub access_restrictions: Option<u16>,
    /// RolePermissions: role id and permission bits.
    pub role_permissions: Vec<(Id, u32)>,
    /// ReleaseStatus text, if not Released.
    pub release_status: Option<String>,
    /// Documentation URL.
    pub documentation: Option<String>,
    /// DesignToolOnly: never in a running address space.
    pub design_tool_only: bool,
    /// Where the node stands.
    pub span: Span,
}

/// DataTypeDefinition as the file has it: own fields only.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    /// SymbolicName of the definition.
    pub symbolic_name: Option<String>,
    /// IsUnion.
    pub is_union: bool,
    /// IsOptionSet.
    pub is_option_set: bool,
    /// Own fields, enumeration values or bits.
    pub fields: Vec<Field>,
}

/// A Field element.
#[derive(Clone, Debug)]
pub struct Field {
    /// Exact name.
    pub name: String,
    /// SymbolicName.
    pub symbolic_name: Option<String>,
    /// DataType (default BaseDataType).
    pub data_type: Id,
    /// ValueRank (default -1).
    pub value_rank: i32,
    /// ArrayDimensions.
    pub array_dimensions: Vec<u32>,
    /// MaxStringLength (0 no limit).
    pub max_string_length: u32,
    /// Value of an enumeration member, or bit number of an option set.
    pub value: Option<i64>,
    /// IsOptional.
    pub is_optional: bool,
    /// AllowSubTypes.
    pub allow_sub_types: bool,
    /// DisplayName, if stated.
    pub display_name: Vec<Text>,
    /// Description, if stated.
    pub description: Vec<Text>,
    /// Where it stands.
    pub span: Span,
}

/// A value from XML, resolved: ids and names by the set's URI table.
/// The numbers of builtin types are those of OPC 10000-6 §5.1.2.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Null,
    Boolean(bool),
    SByte(i8),
    Byte(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float(f32),
    Double(f64),
    /// `None` is the null string.
    String(Option<Arc<str>>),
    /// Ticks of 100 ns since 1601.
    DateTime(i64),
    Guid([u8; 16]),
    ByteString(Option<Arc<[u8]>>),
    XmlElement(Option<Arc<str>>),
    NodeId(Id),
    ExpandedNodeId(Id),
    StatusCode(u32),
    QualifiedName(QName),
    LocalizedText(Text),
    /// A structure whose type is known to the set: the data type's id and its fields in encoding
    /// order (inherited first); `None` is an absent optional field.
    Structure {
        data_type: Id,
        fields: Vec<(String, Option<Value>)>,
    },
    /// A union value: the data type's id, and the switch value (1 for the first field) with the field's value.
    Union {
        data_type: Id,
        field: Option<(u32, Box<Value>)>,
    },
    /// A body that could not be resolved (reported): encoding id and raw XML.
    OpaqueXml {
        type_id: Id,
        xml: Arc<str>,
    },
    /// A body in binary encoding: encoding id and bytes.
    OpaqueBinary {
        type_id: Id,
        bytes: Arc<[u8]>,
    },
    DataValue(Box<DataValueParts>),
    DiagnosticInfo(Box<DiagnosticInfoParts>),
    /// A one-dimensional array: builtin type number (22 for structures, 24 for Variants) and elements.
    Array {
        builtin: u8,
        items: Vec<Value>,
    },
    /// A matrix, last dimension fastest.
    Matrix {
        builtin: u8,
        dimensions: Vec<u32>,
        items: Vec<Value>,
    },
    /// A Variant element inside an array of Variants or a field of type BaseDataType; null is `Value::Null` inside.
    Variant(Box<Value>),
}

/// The parts of a DataValue (OPC 10000-6 §5.1.11).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataValueParts {
    /// The value.
    pub value: Option<Value>,
    /// StatusCode.
    pub status: Option<u32>,
    /// SourceTimestamp in ticks.
    pub source_timestamp: Option<i64>,
    /// SourcePicoseconds.
    pub source_picoseconds: Option<u16>,
    /// ServerTimestamp in ticks.
    pub server_timestamp: Option<i64>,
    /// ServerPicoseconds.
    pub server_picoseconds: Option<u16>,
}

/// The parts of a DiagnosticInfo (OPC 10000-6 §5.1.12).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiagnosticInfoParts {
    /// SymbolicId.
    pub symbolic_id: Option<i32>,
    /// NamespaceUri.
    pub namespace_uri: Option<i32>,
    /// Locale.
    pub locale: Option<i32>,
    /// LocalizedText.
    pub localized_text: Option<i32>,
    /// AdditionalInfo.
    pub additional_info: Option<String>,
    /// InnerStatusCode.
    pub inner_status_code: Option<u32>,
    /// InnerDiagnosticInfo.
    pub inner: Option<Box<DiagnosticInfoParts>>,
}
