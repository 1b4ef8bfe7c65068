//! Prefix sums and the rank bitmap, computed while a model crate is compiled.
//!
//! Overflow or a wrong array length here stops the compilation of the model crate; nothing of this
//! runs later.

use super::rows::{GraftRow, NamedRow, NodeRow, Starts, TextRow, ValueRow, ValueStart, VariableRow, kind};

/// Where each node's parts begin.
pub const fn starts<const N: usize>(nodes: &[NodeRow; N], variables: &[VariableRow]) -> [Starts; N] {
    let mut out = [Starts { text: 0, references: 0, variables: 0, dimensions: 0, values: 0 }; N];
    let mut at = Starts { text: 0, references: 0, variables: 0, dimensions: 0, values: 0 };
    let mut i = 0;
    while i < N {
        out[i] = at;
        let row = &nodes[i];
        at.text += row.3 as u32 + row.4 as u32;
        at.references += row.5 + row.6;
        if row.1 & (kind::V | kind::VT) != 0 {
            at.dimensions += variables[at.variables as usize].4 as u32;
            at.variables += 1;
        }
        if row.1 & kind::VALUE != 0 {
            at.values += 1;
        }
        i += 1;
    }
    out
}

/// Where each value's bytes and relocations begin.
pub const fn value_starts<const N: usize>(values: &[ValueRow; N]) -> [ValueStart; N] {
    let mut out = [ValueStart { bytes: 0, relocations: 0 }; N];
    let mut at = ValueStart { bytes: 0, relocations: 0 };
    let mut i = 0;
    while i < N {
        out[i] = at;
        at.bytes += values[i].0;
        at.relocations += values[i].1;
        i += 1;
    }
    out
}

/// Where each graft's references begin.
pub const fn graft_starts<const N: usize>(grafts: &[GraftRow; N]) -> [u32; N] {
    let mut out = [0; N];
    let (mut at, mut i) = (0, 0);
    while i < N {
        out[i] = at;
        at += grafts[i].2 + grafts[i].3;
        i += 1;
    }
    out
}

/// Where the bytes of each named id begin.
pub const fn named_starts<const N: usize>(named: &[NamedRow; N]) -> [u32; N] {
    let mut out = [0; N];
    let (mut at, mut i) = (0, 0);
    while i < N {
        out[i] = at;
        at += named[i].3;
        i += 1;
    }
    out
}

/// Where each further text begins.
pub const fn text_starts<const N: usize>(texts: &[TextRow; N]) -> [u32; N] {
    let mut out = [0; N];
    let (mut at, mut i) = (0, 0);
    while i < N {
        out[i] = at;
        at += texts[i].2 as u32 + texts[i].3;
        i += 1;
    }
    out
}

/// The set of numeric ids: bit `id % 64` of word `id / 64`. With `W` = 0 the model has no bitmap and
/// is searched by halves.
pub const fn bitmap<const W: usize>(nodes: &[NodeRow]) -> [u64; W] {
    let mut words = [0u64; W];
    let mut i = 0;
    while W > 0 && i < nodes.len() {
        let row = &nodes[i];
        if row.1 & kind::NAMED == 0 {
            words[row.0 as usize / 64] |= 1 << (row.0 % 64);
        }
        i += 1;
    }
    words
}

/// The number of ids before each word of the bitmap.
pub const fn ranks<const W: usize>(words: &[u64; W]) -> [u32; W] {
    let mut out = [0; W];
    let (mut at, mut i) = (0, 0);
    while i < W {
        out[i] = at;
        at += words[i].count_ones();
        i += 1;
    }
    out
}
