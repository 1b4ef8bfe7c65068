//! All codes with title and page.

use super::{Code, codes};

/// What is known of a code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// A few words.
    pub title: &'static str,
    /// The text of its page, in Markdown.
    pub page: &'static str,
}

macro_rules! entry {
    ($code:ident, $file:literal, $title:literal) => {
        Entry {
            code: codes::$code,
            title: $title,
            page: include_str!(concat!("../../explain/", $file, ".md")),
        }
    };
}

/// All codes, in order.
pub static REGISTRY: &[Entry] = &[
    entry!(UNREADABLE, "UAF0001", "a file cannot be read"),
    entry!(NOT_TEXT, "UAF0002", "a file is neither UTF-8 nor UTF-16"),
    entry!(TOO_LARGE, "UAF0003", "a file is too large"),
    entry!(DOCTYPE, "UAF0004", "a document type declaration"),
    entry!(MALFORMED_XML, "UAF0005", "a file is not well-formed XML"),
    entry!(TOO_DEEP, "UAF0006", "elements are nested too deeply"),
    entry!(NOT_A_NODESET, "UAF0007", "a file is no NodeSet2 file"),
    entry!(NO_MODELS, "UAF0008", "a file has no Models element"),
    entry!(OTHER_FORMAT, "UAF0009", "a model in a language that is not read yet"),
    entry!(UNKNOWN_ELEMENT, "UAF0010", "an element that the schema does not have"),
    entry!(REPAIRED, "UAF0011", "a documented repair of a published file"),
    entry!(BROKEN_REPAIR, "UAF0012", "a repair that does not fit"),
    entry!(STANDARD_NAME_WITHOUT_ALIAS, "UAF0101", "a standard name is used without an alias"),
    entry!(UNKNOWN_ALIAS, "UAF0102", "an unknown alias"),
    entry!(MALFORMED_NODE_ID, "UAF0103", "a text is not a NodeId"),
    entry!(NAMESPACE_OUT_OF_RANGE, "UAF0104", "a namespace index beyond the table"),
    entry!(MISSING_ATTRIBUTE, "UAF0105", "a required attribute is missing"),
    entry!(INVALID_ATTRIBUTE, "UAF0106", "an attribute has a wrong value"),
    entry!(DUPLICATE_NODE, "UAF0107", "two different nodes with one id"),
    entry!(REPEATED_NODE, "UAF0108", "a node stands twice"),
    entry!(UNKNOWN_REFERENCE_TYPE, "UAF0109", "an unknown reference type"),
    entry!(UNKNOWN_TARGET, "UAF0110", "a reference to an unknown node"),
    entry!(WRONG_NODE_CLASS, "UAF0111", "an id leads to a node of the wrong class"),
    entry!(FOREIGN_NODE, "UAF0112", "a node of a namespace that is no model of its file"),
    entry!(NO_TYPE_DEFINITION, "UAF0113", "an object or variable without a type definition"),
    entry!(SEVERAL_TYPE_DEFINITIONS, "UAF0114", "several type definitions"),
    entry!(MISSING_MODEL, "UAF0120", "a required model is not loaded"),
    entry!(MODEL_TOO_OLD, "UAF0121", "a required model is older than asked for"),
    entry!(MODEL_CYCLE, "UAF0122", "models require each other"),
    entry!(SEVERAL_DOCUMENTS, "UAF0123", "several documents of one model"),
    entry!(INVALID_DATE, "UAF0124", "a date that cannot be read"),
    entry!(DOCUMENTS_DIFFER, "UAF0125", "documents of one model differ"),
    entry!(UNKNOWN_DATA_TYPE, "UAF0201", "an unknown data type"),
    entry!(NO_SUPERTYPE, "UAF0202", "a type without a supertype"),
    entry!(SUBTYPE_CYCLE, "UAF0203", "a type that is its own supertype"),
    entry!(SEVERAL_SUPERTYPES, "UAF0204", "a type with several supertypes"),
    entry!(DUPLICATE_FIELD, "UAF0205", "a name stands twice in a type"),
    entry!(ENUMERATION_VALUE, "UAF0206", "an enumeration value that is missing or no Int32"),
    entry!(DUPLICATE_VALUE, "UAF0207", "two names for one value"),
    entry!(OPTION_SET_BIT, "UAF0208", "a bit beyond the width of its option set"),
    entry!(MIXED_STRUCTURE, "UAF0209", "optional fields where there cannot be any"),
    entry!(TOO_MANY_OPTIONAL, "UAF0210", "more than 32 optional fields"),
    entry!(INFINITE_STRUCTURE, "UAF0211", "a structure that contains itself"),
    entry!(UNION_MISMATCH, "UAF0212", "IsUnion and the supertype disagree"),
    entry!(STRUCTURE_TOO_LARGE, "UAF0213", "a structure that is too large"),
    entry!(UNKNOWN_VALUE_ELEMENT, "UAF0301", "a value of an unknown kind"),
    entry!(INVALID_VALUE, "UAF0302", "a text is no value of its type"),
    entry!(VALUE_DOES_NOT_FIT, "UAF0303", "a value does not fit its variable"),
    entry!(UNKNOWN_ENCODING, "UAF0304", "an ExtensionObject of an unknown type"),
    entry!(UNKNOWN_FIELD, "UAF0305", "an element that is no field"),
    entry!(MASK_MISMATCH, "UAF0306", "EncodingMask or SwitchField and the fields disagree"),
    entry!(MATRIX_MISMATCH, "UAF0307", "dimensions and elements of a matrix disagree"),
    entry!(VALUE_TOO_LARGE, "UAF0308", "a value grows without bound"),
    entry!(MALFORMED_INTERFACE, "UAF0401", "a line of an interface file cannot be read"),
    entry!(INTERFACE_FORMAT, "UAF0402", "an interface file of another format"),
    entry!(OWN_INDEX, "UAF0501", "a model is not index 1 of its own file"),
    entry!(REPEATED_REFERENCE, "UAF0502", "a reference stands twice"),
    entry!(PARENT_WITHOUT_REFERENCE, "UAF0503", "a ParentNodeId without a reference"),
    entry!(NO_VERSION, "UAF0504", "a model without version or date"),
    entry!(UNUSED_REQUIREMENT, "UAF0505", "a required model is not used"),
    entry!(URI_WITHOUT_NAME, "UAF0506", "a URI that names no model"),
    entry!(URI_SPELLING, "UAF0507", "a URI that is easily misspelt"),
    entry!(SYMBOLIC_NAMES_DIFFER, "UAF0510", "different symbolic names of node and definition"),
    entry!(NAMES_ALIKE, "UAF0511", "names that are hard to tell apart"),
    entry!(SIBLINGS_ONE_NAME, "UAF0512", "two children with one browse name"),
    entry!(TYPE_NAME_TWICE, "UAF0513", "two types of one name"),
    entry!(TYPE_NAME_NAMESPACE, "UAF0514", "a type's name in a foreign namespace"),
    entry!(NAMESAKE, "UAF0515", "a data type with a namesake"),
    entry!(PADDED_NAME, "UAF0516", "a name with blanks around it"),
    entry!(NO_BINARY_ENCODING, "UAF0520", "a structure without a binary encoding"),
    entry!(NO_TEXT_ENCODING, "UAF0521", "a structure without an XML or JSON encoding"),
    entry!(NO_DEFINITION, "UAF0522", "a data type without a Definition"),
    entry!(NO_ZERO_VALUE, "UAF0523", "an enumeration without the value 0"),
    entry!(ENUM_TEXTS_DIFFER, "UAF0524", "texts of an enumeration contradict its definition"),
    entry!(OPTION_SET_UNMARKED, "UAF0525", "an option set without IsOptionSet"),
    entry!(SUBTYPES_UNMARKED, "UAF0526", "an abstract field without AllowSubTypes"),
    entry!(MASK_ENUMERATION, "UAF0527", "an enumeration of bits"),
    entry!(INTERFACE_NOT_REPEATED, "UAF0530", "members of an interface are not repeated"),
    entry!(PLACEHOLDER_NAME, "UAF0531", "name and modelling rule of a placeholder disagree"),
    entry!(SIGNATURE_DIFFERS, "UAF0532", "a method differs from its declaration"),
    entry!(ARGUMENTS_WITHOUT_VALUE, "UAF0533", "arguments without a value"),
    entry!(ARGUMENT_COUNT, "UAF0534", "ArrayDimensions are not the number of arguments"),
    entry!(OVERRIDE_TYPE, "UAF0535", "an override with a foreign data type"),
    entry!(RANK_DIFFERS, "UAF0536", "a ValueRank that the type does not allow"),
    entry!(ABSTRACT_INSTANCE, "UAF0537", "an instance of an abstract type"),
    entry!(TRANSITION_WITHOUT_STATES, "UAF0538", "a transition without its states"),
    entry!(EVENT_INTERFACE, "UAF0539", "an event type with an interface"),
    entry!(DEPRECATED_USED, "UAF0540", "something deprecated is used"),
    entry!(SHARED_METHOD, "UAF0541", "a Method of several nodes"),
    entry!(DICTIONARY_TYPE, "UAF0601", "an unknown type in a type dictionary"),
    entry!(DICTIONARY_LAYOUT, "UAF0602", "a layout that no data type has"),
    entry!(DICTIONARY_WITHOUT_IDS, "UAF0603", "types of a dictionary without ids"),
    entry!(DICTIONARY_DIFFERS, "UAF0604", "a dictionary contradicts the NodeSet"),
    entry!(IDENTIFIERS_LINE, "UAF0610", "a line of an identifier table cannot be read"),
    entry!(IDENTIFIERS_WITHOUT_MODEL, "UAF0611", "an identifier table without its model"),
    entry!(IDENTIFIER_MOVED, "UAF0612", "a name has another id than its table says"),
    entry!(IDENTIFIER_CLASS, "UAF0613", "an id has another node class than its table says"),
    entry!(IDENTIFIER_NAME, "UAF0614", "an id has another name than its table says"),
    entry!(IDENTIFIER_GONE, "UAF0615", "an id of a table is no node"),
    entry!(IDENTIFIER_NEW, "UAF0616", "a node that its identifier table does not have"),
];

/// The entry of a code; `uaf0123` and `123` are accepted too.
pub fn explain(code: &str) -> Option<&'static Entry> {
    let text = code.trim();
    let digits = match text.get(..3) {
        Some(prefix) if prefix.eq_ignore_ascii_case("UAF") => text.get(3..)?,
        _ => text,
    };
    let number: u32 = digits.parse().ok()?;
    REGISTRY.iter().find(|entry| entry.code.0.get(3..).and_then(|digits| digits.parse().ok()) == Some(number))
}
