//! Model interface files: a model as its dependents need it, in a sorted, versioned, diffable text.
//!
//! The first line is `uaforge-interface` and the format version. Then come lines of fields separated by tabs,
//! the first field says what the line is:
//!
//! | line | fields |
//! |---|---|
//! | `model` | URI |
//! | `version`, `date`, `model-version`, `xml-schema`, `rust` | text |
//! | `require` | URI, version, date, model version |
//! | `ns` | index of this file, URI; 0 is OPC UA, 1 the model itself (0 for OPC UA), the others sorted |
//! | `name` | ledger: scope, original name, Rust name |
//! | `N` | id, class, browse name, then `key=value` for what differs from the schema's default |
//! | `D` | definition of the data type above: `union`, `optionset`, `symbolic=` |
//! | `F` | own field: name, then `key=value` |
//! | `V` | value of the variable above, only where dependents need it |
//! | `>` | forward reference of the node above: type, target |
//! | `R` | reference with a foreign source: source, type, target |
//!
//! Nodes are ordered by id, references by their ids. There are no descriptions.

mod read;
mod read_node;
mod text;
mod value;
mod value_read;
mod write;

pub(crate) use read::{Head, read_body, read_head};
pub use read::{ledger, read};
pub(crate) use value::Values;
pub use write::write;

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;

/// First word of an interface file.
const MAGIC: &str = "uaforge-interface";

/// The interface of the OPC UA namespace itself.
pub(crate) const NS0: &str = include_str!("../../interface/ns0.txt");

/// Values that dependents need: signatures of methods, texts of enumerations, numbers of states.
pub(crate) const KEPT_VALUES: [&str; 7] = [
    "EnumStrings",
    "EnumValues",
    "InputArguments",
    "OptionSetValues",
    "OutputArguments",
    "StateNumber",
    "TransitionNumber",
];

/// True if a text says that it is an interface file.
pub(crate) fn is_interface(text: &str) -> bool {
    text.starts_with(MAGIC)
}
