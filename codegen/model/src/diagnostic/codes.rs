//! The codes, one constant each.

use super::Code;

/// A file cannot be read.
pub const UNREADABLE: Code = Code("UAF0001");
/// Neither UTF-8 nor UTF-16.
pub const NOT_TEXT: Code = Code("UAF0002");
/// Larger than the reader accepts.
pub const TOO_LARGE: Code = Code("UAF0003");
/// A document type declaration.
pub const DOCTYPE: Code = Code("UAF0004");
/// Not well-formed XML.
pub const MALFORMED_XML: Code = Code("UAF0005");
/// Elements nested too deeply.
pub const TOO_DEEP: Code = Code("UAF0006");
/// The root element is not UANodeSet.
pub const NOT_A_NODESET: Code = Code("UAF0007");
/// No Models element: the model is taken from NamespaceUris.
pub const NO_MODELS: Code = Code("UAF0008");
/// A description of models in another language than NodeSet2.
pub const OTHER_FORMAT: Code = Code("UAF0009");
/// An element that the schema does not have there.
pub const UNKNOWN_ELEMENT: Code = Code("UAF0010");
/// A documented repair changed a file.
pub const REPAIRED: Code = Code("UAF0011");
/// A repair that cannot be read, does not fit its file, or has none.
pub const BROKEN_REPAIR: Code = Code("UAF0012");

/// A standard name is used without an alias.
pub const STANDARD_NAME_WITHOUT_ALIAS: Code = Code("UAF0101");
/// An alias that is not defined.
pub const UNKNOWN_ALIAS: Code = Code("UAF0102");
/// A text that is no NodeId.
pub const MALFORMED_NODE_ID: Code = Code("UAF0103");
/// A namespace index beyond the table.
pub const NAMESPACE_OUT_OF_RANGE: Code = Code("UAF0104");
/// A required attribute is missing.
pub const MISSING_ATTRIBUTE: Code = Code("UAF0105");
/// An attribute's text has the wrong form.
pub const INVALID_ATTRIBUTE: Code = Code("UAF0106");
/// Two different nodes have one id.
pub const DUPLICATE_NODE: Code = Code("UAF0107");
/// A node stands twice, word for word.
pub const REPEATED_NODE: Code = Code("UAF0108");
/// A reference type that no document has.
pub const UNKNOWN_REFERENCE_TYPE: Code = Code("UAF0109");
/// A reference to a node that no document has.
pub const UNKNOWN_TARGET: Code = Code("UAF0110");
/// An id where a node of another class is needed.
pub const WRONG_NODE_CLASS: Code = Code("UAF0111");
/// A node whose namespace is no model of its file.
pub const FOREIGN_NODE: Code = Code("UAF0112");
/// An object or variable without a type definition.
pub const NO_TYPE_DEFINITION: Code = Code("UAF0113");
/// A node with several type definitions.
pub const SEVERAL_TYPE_DEFINITIONS: Code = Code("UAF0114");

/// A required model is not loaded.
pub const MISSING_MODEL: Code = Code("UAF0120");
/// A required model is older than asked for.
pub const MODEL_TOO_OLD: Code = Code("UAF0121");
/// Models require each other.
pub const MODEL_CYCLE: Code = Code("UAF0122");
/// Documents of one URI with different versions.
pub const SEVERAL_DOCUMENTS: Code = Code("UAF0123");
/// A date that cannot be read.
pub const INVALID_DATE: Code = Code("UAF0124");
/// Nodes that differ between documents of one model.
pub const DOCUMENTS_DIFFER: Code = Code("UAF0125");

/// A data type that no document has.
pub const UNKNOWN_DATA_TYPE: Code = Code("UAF0201");
/// A type without a supertype.
pub const NO_SUPERTYPE: Code = Code("UAF0202");
/// A type that is its own ancestor.
pub const SUBTYPE_CYCLE: Code = Code("UAF0203");
/// A type with several supertypes.
pub const SEVERAL_SUPERTYPES: Code = Code("UAF0204");
/// Two fields of one name.
pub const DUPLICATE_FIELD: Code = Code("UAF0205");
/// An enumeration value that is missing or no Int32.
pub const ENUMERATION_VALUE: Code = Code("UAF0206");
/// Two names for one enumeration value or bit.
pub const DUPLICATE_VALUE: Code = Code("UAF0207");
/// A bit beyond the width of its option set.
pub const OPTION_SET_BIT: Code = Code("UAF0208");
/// Optional fields in a union, or beside fields that allow subtypes.
pub const MIXED_STRUCTURE: Code = Code("UAF0209");
/// More optional fields than the EncodingMask has bits.
pub const TOO_MANY_OPTIONAL: Code = Code("UAF0210");
/// A structure that contains itself without an end.
pub const INFINITE_STRUCTURE: Code = Code("UAF0211");
/// IsUnion and the supertype disagree.
pub const UNION_MISMATCH: Code = Code("UAF0212");
/// A structure whose structures in structures are too large to hold.
pub const STRUCTURE_TOO_LARGE: Code = Code("UAF0213");

/// A value element of an unknown name.
pub const UNKNOWN_VALUE_ELEMENT: Code = Code("UAF0301");
/// A text that is no value of its type.
pub const INVALID_VALUE: Code = Code("UAF0302");
/// A value that does not fit its variable or field.
pub const VALUE_DOES_NOT_FIT: Code = Code("UAF0303");
/// An ExtensionObject of a type that is not known.
pub const UNKNOWN_ENCODING: Code = Code("UAF0304");
/// An element that is no field of its structure.
pub const UNKNOWN_FIELD: Code = Code("UAF0305");
/// EncodingMask or SwitchField contradict the fields.
pub const MASK_MISMATCH: Code = Code("UAF0306");
/// A matrix whose dimensions and elements differ.
pub const MATRIX_MISMATCH: Code = Code("UAF0307");
/// Structures that grow beyond all bounds by their defaults.
pub const VALUE_TOO_LARGE: Code = Code("UAF0308");

/// A line of an interface file that cannot be read.
pub const MALFORMED_INTERFACE: Code = Code("UAF0401");
/// An interface file of another format version.
pub const INTERFACE_FORMAT: Code = Code("UAF0402");

/// A model is not index 1 of its own file.
pub const OWN_INDEX: Code = Code("UAF0501");
/// A reference stands twice at one node.
pub const REPEATED_REFERENCE: Code = Code("UAF0502");
/// A ParentNodeId without a reference.
pub const PARENT_WITHOUT_REFERENCE: Code = Code("UAF0503");
/// A model without version or publication date.
pub const NO_VERSION: Code = Code("UAF0504");
/// A required model that is not used.
pub const UNUSED_REQUIREMENT: Code = Code("UAF0505");
/// A URI whose last segment names no model.
pub const URI_WITHOUT_NAME: Code = Code("UAF0506");
/// A URI with blanks, or with a twin that differs in a slash or in case only.
pub const URI_SPELLING: Code = Code("UAF0507");
/// Node and Definition have different symbolic names.
pub const SYMBOLIC_NAMES_DIFFER: Code = Code("UAF0510");
/// Names that differ in punctuation, case or namespace only.
pub const NAMES_ALIKE: Code = Code("UAF0511");
/// Two children of a node with one browse name.
pub const SIBLINGS_ONE_NAME: Code = Code("UAF0512");
/// Two types of one name.
pub const TYPE_NAME_TWICE: Code = Code("UAF0513");
/// A type whose name is in another namespace than its id.
pub const TYPE_NAME_NAMESPACE: Code = Code("UAF0514");
/// A data type with the name of another model's.
pub const NAMESAKE: Code = Code("UAF0515");
/// A name with blanks around it.
pub const PADDED_NAME: Code = Code("UAF0516");
/// A concrete structure without Default Binary.
pub const NO_BINARY_ENCODING: Code = Code("UAF0520");
/// A concrete structure without Default XML or Default JSON.
pub const NO_TEXT_ENCODING: Code = Code("UAF0521");
/// A concrete structure or enumeration without a Definition.
pub const NO_DEFINITION: Code = Code("UAF0522");
/// An enumeration without the value 0.
pub const NO_ZERO_VALUE: Code = Code("UAF0523");
/// EnumStrings or EnumValues contradict the Definition.
pub const ENUM_TEXTS_DIFFER: Code = Code("UAF0524");
/// An option set whose Definition does not say so.
pub const OPTION_SET_UNMARKED: Code = Code("UAF0525");
/// A field of an abstract structure without AllowSubTypes.
pub const SUBTYPES_UNMARKED: Code = Code("UAF0526");
/// An enumeration whose values are combined as bits.
pub const MASK_ENUMERATION: Code = Code("UAF0527");
/// A type that lacks mandatory members of its interface.
pub const INTERFACE_NOT_REPEATED: Code = Code("UAF0530");
/// A name in angle brackets with a plain modelling rule, or the reverse.
pub const PLACEHOLDER_NAME: Code = Code("UAF0531");
/// A method with another signature than its declaration.
pub const SIGNATURE_DIFFERS: Code = Code("UAF0532");
/// InputArguments or OutputArguments without a value.
pub const ARGUMENTS_WITHOUT_VALUE: Code = Code("UAF0533");
/// ArrayDimensions that are not the number of arguments.
pub const ARGUMENT_COUNT: Code = Code("UAF0534");
/// An override whose data type is no subtype.
pub const OVERRIDE_TYPE: Code = Code("UAF0535");
/// A variable whose ValueRank its type does not allow.
pub const RANK_DIFFERS: Code = Code("UAF0536");
/// An instance of an abstract type.
pub const ABSTRACT_INSTANCE: Code = Code("UAF0537");
/// A transition without FromState or ToState.
pub const TRANSITION_WITHOUT_STATES: Code = Code("UAF0538");
/// An event type with an interface.
pub const EVENT_INTERFACE: Code = Code("UAF0539");
/// Something deprecated is used.
pub const DEPRECATED_USED: Code = Code("UAF0540");
/// A Method that several nodes have as their component.
pub const SHARED_METHOD: Code = Code("UAF0541");

/// A type of a dictionary that nothing defines.
pub const DICTIONARY_TYPE: Code = Code("UAF0601");
/// A layout in a dictionary that no data type has.
pub const DICTIONARY_LAYOUT: Code = Code("UAF0602");
/// Types of a dictionary without nodes.
pub const DICTIONARY_WITHOUT_IDS: Code = Code("UAF0603");
/// A dictionary that contradicts the NodeSet.
pub const DICTIONARY_DIFFERS: Code = Code("UAF0604");

/// A line of an identifier table that cannot be read.
pub const IDENTIFIERS_LINE: Code = Code("UAF0610");
/// An identifier table of a model that is not loaded.
pub const IDENTIFIERS_WITHOUT_MODEL: Code = Code("UAF0611");
/// A name with another id than its table says.
pub const IDENTIFIER_MOVED: Code = Code("UAF0612");
/// An id with a node of another class than its table says.
pub const IDENTIFIER_CLASS: Code = Code("UAF0613");
/// An id with another name than its table says.
pub const IDENTIFIER_NAME: Code = Code("UAF0614");
/// An id of a table that no node has.
pub const IDENTIFIER_GONE: Code = Code("UAF0615");
/// A node that its table does not have.
pub const IDENTIFIER_NEW: Code = Code("UAF0616");
