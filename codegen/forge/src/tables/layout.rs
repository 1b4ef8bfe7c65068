//! What the tables of one model hold, ready to be written as text.

use super::names::{Key, Named};

/// Mirrors `uaforge_nodes::table::kind`.
pub(super) mod flag {
    pub(in super::super) const VALUE: u16 = 0x100;
    pub(in super::super) const TEXT: u16 = 0x200;
    pub(in super::super) const EXTRA: u16 = 0x400;
    pub(in super::super) const ABSTRACT: u16 = 0x800;
    pub(in super::super) const SYMMETRIC: u16 = 0x1000;
    pub(in super::super) const NAMED: u16 = 0x2000;
}

/// A reference row: index into the reference types, other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    pub(super) reference_type: u16,
    pub(super) target: Key,
}

/// References of one node, each direction sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    pub(super) forward: Vec<Reference>,
    pub(super) inverse: Vec<Reference>,
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) data_type: Key,
    pub(super) rank: i32,
    pub(super) access: u32,
    pub(super) dimensions: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct EncodedValue {
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct FurtherText {
    pub(super) what: u8,
    pub(super) locale: String,
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extra {
    pub(super) what: u8,
    pub(super) slot: u8,
    pub(super) a: u32,
    pub(super) b: u32,
}

#[derive(Clone, Debug)]
pub(super) struct NodeLayout {
    pub(super) key: Key,
    pub(super) class: u16,
    pub(super) flags: u16,
    pub(super) browse_slot: u8,
    pub(super) browse_name: String,
    /// Empty: the same as the browse name.
    pub(super) display_name: String,
    pub(super) references: References,
    pub(super) variable: Option<Variable>,
    pub(super) value: Option<EncodedValue>,
    pub(super) texts: Vec<FurtherText>,
    pub(super) extras: Vec<Extra>,
}

#[derive(Debug)]
pub(super) struct ReferenceType {
    pub(super) key: Key,
    /// Name of its constant.
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) slots: Vec<String>,
    pub(super) version: Option<String>,
    pub(super) publication_date: Option<String>,
    pub(super) nodes: Vec<NodeLayout>,
    pub(super) reference_types: Vec<ReferenceType>,
    pub(super) named: Vec<(u32, Named)>,
    pub(super) grafts: Vec<(Key, References)>,
}
