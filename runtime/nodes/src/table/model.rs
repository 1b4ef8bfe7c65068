//! One model's tables and what can be read from them without knowing any other model.

use super::NAMED;
use super::rows::{
    ExtraRow, GraftRow, NamedRow, NodeRow, ReferenceRow, ReferenceTypeRow, Starts, TextRow, ValueRow,
    ValueStart, VariableRow, kind, text,
};

/// The address space of one model as static data. Built by generated code only.
#[derive(Debug)]
pub struct StaticModel {
    /// Namespace URIs by slot: the model, ns0, the required ones.
    pub slots: &'static [&'static str],
    /// Version of the model.
    pub version: Option<&'static str>,
    /// Publication date as the NodeSet has it.
    pub publication_date: Option<&'static str>,
    /// How many nodes have numeric ids; they come first.
    pub numeric: usize,
    /// The nodes, numeric ids first, each part ordered.
    pub nodes: &'static [NodeRow],
    /// Prefix sums over `nodes`.
    pub starts: &'static [Starts],
    /// The bitmap of numeric ids, or nothing.
    pub words: &'static [u64],
    /// Ranks of the bitmap's words.
    pub ranks: &'static [u32],
    /// Browse and display names in the order of the nodes.
    pub text: &'static str,
    /// References in the order of the nodes, forward ones first.
    pub references: &'static [ReferenceRow],
    /// The reference types that rows name, ordered by slot and number.
    pub reference_types: &'static [ReferenceTypeRow],
    /// Variables and variable types.
    pub variables: &'static [VariableRow],
    /// Array dimensions.
    pub dimensions: &'static [u32],
    /// Values and data type definitions.
    pub values: &'static [ValueRow],
    /// Prefix sums over `values`.
    pub value_starts: &'static [ValueStart],
    /// The encoded Variants.
    pub value_bytes: &'static [u8],
    /// Positions of namespace slots, two bytes each, relative to their value.
    pub relocations: &'static [u32],
    /// Rare attributes.
    pub extras: &'static [ExtraRow],
    /// Further texts.
    pub texts: &'static [TextRow],
    /// Prefix sums over `texts`.
    pub text_starts: &'static [u32],
    /// Locale and text of each of `texts`.
    pub more_text: &'static str,
    /// Named ids.
    pub named: &'static [NamedRow],
    /// Prefix sums over `named`.
    pub named_starts: &'static [u32],
    /// Their bytes.
    pub named_bytes: &'static [u8],
    /// References that belong to nodes of other models.
    pub grafts: &'static [GraftRow],
    /// Prefix sums over `grafts`.
    pub graft_starts: &'static [u32],
    /// References in the order of the grafts, forward ones first.
    pub graft_references: &'static [ReferenceRow],
}

/// References of one node in one model, in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub struct References {
    /// Forward ones, ordered by type.
    pub forward: &'static [ReferenceRow],
    /// Inverse ones, ordered by type.
    pub inverse: &'static [ReferenceRow],
}

/// The foreign node of a graft: slot and number, and what is added to it.
#[derive(Clone, Copy, Debug)]
pub struct Grafted {
    /// Slot, with [`NAMED`] for a named id.
    pub slot: u8,
    /// Number or key.
    pub id: u32,
    /// The references.
    pub references: References,
}

/// A LocalizedText of the tables (OPC 10000-3 §8.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticText {
    /// The locale; empty if there is none.
    pub locale: &'static str,
    /// The text.
    pub text: &'static str,
}

/// A pre-encoded Variant and where in it namespace slots stand.
#[derive(Clone, Copy, Debug)]
pub struct StaticValue {
    /// The encoding, with slots in the place of namespace indexes.
    pub bytes: &'static [u8],
    /// Positions of those slots.
    pub relocations: &'static [u32],
}

fn part<T>(all: &'static [T], start: u32, count: u32) -> &'static [T] {
    let start = start as usize;
    all.get(start..start + count as usize).unwrap_or_default()
}

fn part_of_text(all: &'static str, start: u32, len: u32) -> &'static str {
    let start = start as usize;
    all.get(start..start + len as usize).unwrap_or_default()
}

impl StaticModel {
    /// The namespace URI of the model.
    pub fn uri(&self) -> &'static str {
        self.slots.first().copied().unwrap_or_default()
    }

    /// The row itself.
    #[inline]
    pub fn row(&self, row: u32) -> Option<(&'static NodeRow, &'static Starts)> {
        Some((self.nodes.get(row as usize)?, self.starts.get(row as usize)?))
    }

    /// Browse name without its namespace.
    #[inline]
    pub fn browse_name(&self, row: u32) -> &'static str {
        match self.row(row) {
            Some((node, start)) => part_of_text(self.text, start.text, node.3.into()),
            None => "",
        }
    }

    /// The first DisplayName.
    #[inline]
    pub fn display_name(&self, row: u32) -> StaticText {
        let Some((node, start)) = self.row(row) else {
            return StaticText::default();
        };
        if node.1 & kind::TEXT != 0
            && let Some(stated) = self.further_text(row, text::DISPLAY_NAME)
        {
            return stated;
        }
        let text = match node.4 {
            0 => part_of_text(self.text, start.text, node.3.into()),
            len => part_of_text(self.text, start.text + u32::from(node.3), len.into()),
        };
        StaticText { locale: "", text }
    }

    /// Description, InverseName or a DisplayName with a locale: the first such text.
    pub fn further_text(&self, row: u32, what: u8) -> Option<StaticText> {
        let (node, _) = self.row(row)?;
        if node.1 & kind::TEXT == 0 {
            return None;
        }
        let key = (node.1 & kind::NAMED != 0, node.0, what);
        let index = self.texts.partition_point(|t| (t.1 & NAMED != 0, t.0, t.1 & !NAMED) < key);
        let found = self.texts.get(index)?;
        if (found.1 & NAMED != 0, found.0, found.1 & !NAMED) != key {
            return None;
        }
        let start = *self.text_starts.get(index)?;
        let locale = u32::from(found.2);
        Some(StaticText {
            locale: part_of_text(self.more_text, start, locale),
            text: part_of_text(self.more_text, start + locale, found.3),
        })
    }

    /// All texts of one kind, in the order of the model.
    pub fn further_texts(&self, row: u32, what: u8) -> impl Iterator<Item = StaticText> {
        let node = self.row(row).map(|(node, _)| node).filter(|node| node.1 & kind::TEXT != 0);
        let key = node.map(|node| (node.1 & kind::NAMED != 0, node.0, what));
        let of = |t: &TextRow| (t.1 & NAMED != 0, t.0, t.1 & !NAMED);
        let start = key.map_or(self.texts.len(), |key| self.texts.partition_point(|t| of(t) < key));
        let rest = self.texts.get(start..).unwrap_or_default();
        let starts = self.text_starts.get(start..).unwrap_or_default();
        let same = rest.iter().zip(starts).take_while(move |(t, _)| Some(of(t)) == key);
        same.map(|(row, start)| {
            let locale = u32::from(row.2);
            StaticText {
                locale: part_of_text(self.more_text, *start, locale),
                text: part_of_text(self.more_text, start + locale, row.3),
            }
        })
    }

    /// The rare attributes of one kind.
    pub fn extras(&self, row: u32, what: u8) -> &'static [ExtraRow] {
        let Some((node, _)) = self.row(row) else {
            return &[];
        };
        if node.1 & kind::EXTRA == 0 {
            return &[];
        }
        let key = (node.1 & kind::NAMED != 0, node.0, what);
        let of = |e: &ExtraRow| (e.1 & NAMED != 0, e.0, e.1 & !NAMED);
        let start = self.extras.partition_point(|e| of(e) < key);
        let rest = self.extras.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|e| of(e) == key).count();
        rest.get(..count).unwrap_or_default()
    }

    /// What only variables and variable types have, and the array dimensions.
    pub fn variable(&self, row: u32) -> Option<(&'static VariableRow, &'static [u32])> {
        let (node, start) = self.row(row)?;
        if node.1 & (kind::V | kind::VT) == 0 {
            return None;
        }
        let variable = self.variables.get(start.variables as usize)?;
        Some((variable, part(self.dimensions, start.dimensions, variable.4.into())))
    }

    /// The encoded value, or the data type definition.
    pub fn value(&self, row: u32) -> Option<StaticValue> {
        let (node, start) = self.row(row)?;
        if node.1 & kind::VALUE == 0 {
            return None;
        }
        let value = self.values.get(start.values as usize)?;
        let at = self.value_starts.get(start.values as usize)?;
        Some(StaticValue {
            bytes: part(self.value_bytes, at.bytes, value.0),
            relocations: part(self.relocations, at.relocations, value.1),
        })
    }

    /// The references that this model holds for its own node.
    #[inline]
    pub fn references(&self, row: u32) -> References {
        match self.row(row) {
            Some((node, start)) => References {
                forward: part(self.references, start.references, node.5),
                inverse: part(self.references, start.references + node.5, node.6),
            },
            None => References::default(),
        }
    }

    /// The graft with this index.
    pub fn graft(&self, index: u32) -> Option<Grafted> {
        let row = self.grafts.get(index as usize)?;
        let start = *self.graft_starts.get(index as usize)?;
        Some(Grafted {
            slot: row.0,
            id: row.1,
            references: References {
                forward: part(self.graft_references, start, row.2),
                inverse: part(self.graft_references, start + row.2, row.3),
            },
        })
    }
}
