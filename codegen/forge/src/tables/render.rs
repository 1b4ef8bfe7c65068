//! Rows as Rust text: one node a line, at most 16 references a line.

use std::fmt::Write as _;

use super::TableOptions;
use super::layout::{Layout, NodeLayout, Reference, flag};
use super::names::{Key, NAMED};

const REFERENCES_PER_LINE: usize = 16;

/// Ids spread wider than this are searched by halves instead of a bitmap.
const BITS_PER_NODE: u64 = 64;

const HEADER: &str = "// Written by uaforge; changes here are lost.\n";

pub(super) fn files(layout: &Layout, options: &TableOptions) -> Vec<(String, Vec<u8>)> {
    let text = |name: &str, text: String| (name.to_owned(), text.into_bytes());
    vec![
        text("tables.rs", tables(layout, options)),
        text("nodes.rs", nodes(layout)),
        text("references.rs", references(layout)),
        text("text.rs", texts(layout)),
        text("values.rs", values(layout)),
        ("values.bin".to_owned(), value_bytes(layout)),
    ]
}

/// Opens `static NAME: [T; len] = [`.
fn open(out: &mut String, name: &str, row: &str, len: usize) {
    let _ = writeln!(out, "#[rustfmt::skip]\nstatic {name}: [{row}; {len}] = [");
}

fn is_named(key: Key) -> bool {
    key.slot & NAMED != 0
}

/// The number of words of the bitmap over numeric ids; 0 for none.
fn words(layout: &Layout) -> u64 {
    let numeric = layout.nodes.iter().filter(|n| !is_named(n.key));
    let max = numeric.clone().map(|n| u64::from(n.key.id)).max().unwrap_or(0);
    let count = numeric.count() as u64;
    if count > 0 && max < BITS_PER_NODE * count { max / 64 + 1 } else { 0 }
}

fn tables(layout: &Layout, options: &TableOptions) -> String {
    let nodes = layout.nodes.len();
    let numeric = layout.nodes.iter().filter(|n| !is_named(n.key)).count();
    let words = words(layout);
    let values = layout.nodes.iter().filter(|n| n.value.is_some()).count();
    let texts: usize = layout.nodes.iter().map(|n| n.texts.len()).sum();
    let (named, grafts) = (layout.named.len(), layout.grafts.len());
    let path = &options.nodes_path;
    let slots = layout.slots.len();
    let mut out = HEADER.to_owned();
    let _ = write!(
        out,
        "use {path}::table::{{self, StaticModel, Starts, ValueStart, ExtraRow as E, GraftRow as G, \
         NamedRow as I, NodeRow as N, ReferenceRow as R, ReferenceTypeRow as Y, TextRow as X, \
         ValueRow as L, VariableRow as A}};\n\
         #[allow(unused_imports)]\nuse {path}::table::kind::*;\n\n\
         include!(\"nodes.rs\");\ninclude!(\"references.rs\");\ninclude!(\"text.rs\");\n\
         include!(\"values.rs\");\n\n"
    );
    let computed = [
        ("STARTS", "Starts", nodes as u64, "starts(&NODES, &VARIABLES)"),
        ("WORDS", "u64", words, "bitmap(&NODES)"),
        ("RANKS", "u32", words, "ranks(&WORDS)"),
        ("VALUE_STARTS", "ValueStart", values as u64, "value_starts(&VALUES)"),
        ("TEXT_STARTS", "u32", texts as u64, "text_starts(&TEXTS)"),
        ("NAMED_STARTS", "u32", named as u64, "named_starts(&NAMED)"),
        ("GRAFT_STARTS", "u32", grafts as u64, "graft_starts(&GRAFTS)"),
    ];
    for (name, row, len, function) in computed {
        let _ = writeln!(
            out,
            "#[allow(long_running_const_eval)]\nstatic {name}: [{row}; {len}] = table::{function};"
        );
    }
    let _ = writeln!(out, "static SLOTS: [&str; {slots}] = {:?};\n", layout.slots);
    let _ = write!(
        out,
        "/// The tables of `{}`.\npub static MODEL: StaticModel = StaticModel {{\n    slots: &SLOTS,\n    \
         version: {:?},\n    publication_date: {:?},\n    numeric: {numeric},\n",
        layout.slots.first().map_or("", String::as_str),
        layout.version,
        layout.publication_date,
    );
    let fields = "nodes NODES starts STARTS words WORDS ranks RANKS references REFERENCES \
        reference_types REFERENCE_TYPES variables VARIABLES dimensions DIMENSIONS values VALUES \
        value_starts VALUE_STARTS relocations RELOCATIONS extras EXTRAS texts TEXTS \
        text_starts TEXT_STARTS named NAMED named_starts NAMED_STARTS grafts GRAFTS \
        graft_starts GRAFT_STARTS graft_references GRAFT_REFERENCES";
    let words: Vec<&str> = fields.split_whitespace().collect();
    for pair in words.chunks(2) {
        if let [field, table] = pair {
            let _ = writeln!(out, "    {field}: &{table},");
        }
    }
    out.push_str(
        "    text: TEXT,\n    more_text: MORE_TEXT,\n    named_bytes: NAMED_BYTES,\n    \
         value_bytes: include_bytes!(\"values.bin\"),\n};\n",
    );
    out
}

fn kind(node: &NodeLayout) -> String {
    let mut out = match node.class {
        1 => "O",
        2 => "V",
        4 => "M",
        8 => "OT",
        16 => "VT",
        32 => "RT",
        64 => "DT",
        _ => "W",
    }
    .to_owned();
    let flags = [
        (flag::VALUE, "|VALUE"),
        (flag::TEXT, "|TEXT"),
        (flag::EXTRA, "|EXTRA"),
        (flag::ABSTRACT, "|ABSTRACT"),
        (flag::SYMMETRIC, "|SYMMETRIC"),
        (flag::NAMED, "|NAMED"),
    ];
    for (_, name) in flags.iter().filter(|(flag, _)| node.flags & flag != 0) {
        out.push_str(name);
    }
    out
}

fn nodes(layout: &Layout) -> String {
    let mut out = HEADER.to_owned();
    open(&mut out, "NODES", "N", layout.nodes.len());
    for node in &layout.nodes {
        let references = &node.references;
        let _ = writeln!(
            out,
            "N({},{},{},{},{},{},{}),",
            node.key.id,
            kind(node),
            node.browse_slot,
            node.browse_name.len(),
            node.display_name.len(),
            references.forward.len(),
            references.inverse.len(),
        );
    }
    out.push_str("];\n");
    let variables = layout.nodes.iter().filter_map(|n| Some((n, n.variable.as_ref()?)));
    open(&mut out, "VARIABLES", "A", variables.clone().count());
    for (node, v) in variables.clone() {
        let dimensions = v.dimensions.len();
        let (slot, id) = (v.data_type.slot, v.data_type.id);
        let _ = writeln!(out, "A({slot},{id},{},{},{dimensions}), // {}", v.rank, v.access, node.key.id);
    }
    out.push_str("];\n");
    let count = variables.clone().map(|(_, v)| v.dimensions.len()).sum();
    open(&mut out, "DIMENSIONS", "u32", count);
    for (node, v) in variables.filter(|(_, v)| !v.dimensions.is_empty()) {
        let list: Vec<String> = v.dimensions.iter().map(u32::to_string).collect();
        let _ = writeln!(out, "{}, // {}", list.join(","), node.key.id);
    }
    out.push_str("];\n");
    extras(&mut out, layout);
    named(&mut out, layout);
    out
}

fn extras(out: &mut String, layout: &Layout) {
    let count = layout.nodes.iter().map(|n| n.extras.len()).sum();
    open(out, "EXTRAS", "E", count);
    for node in &layout.nodes {
        for extra in &node.extras {
            let what = extra.what | if is_named(node.key) { NAMED } else { 0 };
            let _ = writeln!(out, "E({},{what},{},{},{}),", node.key.id, extra.slot, extra.a, extra.b);
        }
    }
    out.push_str("];\n");
}

fn named(out: &mut String, layout: &Layout) {
    open(out, "NAMED", "I", layout.named.len());
    for (key, row) in &layout.named {
        let _ = writeln!(out, "I({key},{},{},{}),", row.slot, row.kind, row.bytes.len());
    }
    out.push_str("];\n#[rustfmt::skip]\nstatic NAMED_BYTES: &[u8] = b\"");
    for (_, row) in &layout.named {
        out.push_str("\\\n");
        for byte in &row.bytes {
            match byte {
                b'!' | b'#'..=b'[' | b']'..=b'~' => out.push(char::from(*byte)),
                _ => {
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
        }
    }
    out.push_str("\";\n");
}

fn references(layout: &Layout) -> String {
    let mut out = HEADER.to_owned();
    for (index, reference_type) in layout.reference_types.iter().enumerate() {
        let _ = writeln!(out, "const {}: u16 = {index};", reference_type.name);
    }
    open(&mut out, "REFERENCE_TYPES", "Y", layout.reference_types.len());
    for reference_type in &layout.reference_types {
        let _ = writeln!(out, "Y({},{}),", reference_type.key.slot, reference_type.key.id);
    }
    out.push_str("];\n");
    let of = |r: &super::layout::References| r.forward.len() + r.inverse.len();
    open(&mut out, "REFERENCES", "R", layout.nodes.iter().map(|n| of(&n.references)).sum());
    for node in &layout.nodes {
        lines(&mut out, layout, node.key, &node.references.forward, ">");
        lines(&mut out, layout, node.key, &node.references.inverse, "<");
    }
    out.push_str("];\n");
    open(&mut out, "GRAFTS", "G", layout.grafts.len());
    for (key, r) in &layout.grafts {
        let _ = writeln!(out, "G({},{},{},{}),", key.slot, key.id, r.forward.len(), r.inverse.len());
    }
    out.push_str("];\n");
    open(&mut out, "GRAFT_REFERENCES", "R", layout.grafts.iter().map(|(_, r)| of(r)).sum());
    for (key, r) in &layout.grafts {
        lines(&mut out, layout, *key, &r.forward, ">");
        lines(&mut out, layout, *key, &r.inverse, "<");
    }
    out.push_str("];\n");
    out
}

fn lines(out: &mut String, layout: &Layout, key: Key, references: &[Reference], arrow: &str) {
    for chunk in references.chunks(REFERENCES_PER_LINE) {
        for r in chunk {
            let name = layout.reference_types.get(usize::from(r.reference_type));
            let name = name.map_or("0", |t| t.name.as_str());
            let _ = write!(out, "R({name},{},{}),", r.target.slot, r.target.id);
        }
        let _ = writeln!(out, " // {}{arrow}", key.id);
    }
}

/// Appends text as it stands inside a string literal.
fn escape(out: &mut String, text: &str) {
    for (at, c) in text.char_indices() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // White space after the line continuation would vanish.
            ' ' if at == 0 => out.push_str("\\x20"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// Characters that change how a line looks: bidirectional marks, separators, zero width ones.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn texts(layout: &Layout) -> String {
    let mut out = HEADER.to_owned();
    out.push_str("#[rustfmt::skip]\nstatic TEXT: &str = \"");
    for node in &layout.nodes {
        out.push_str("\\\n");
        // A line continuation swallows leading white space of the line, so each part escapes its own.
        escape(&mut out, &node.browse_name);
        escape(&mut out, &node.display_name);
    }
    out.push_str("\";\n");
    let all = layout.nodes.iter().flat_map(|n| n.texts.iter().map(move |t| (n, t)));
    open(&mut out, "TEXTS", "X", all.clone().count());
    for (node, text) in all.clone() {
        let what = text.what | if is_named(node.key) { NAMED } else { 0 };
        let _ = writeln!(out, "X({},{what},{},{}),", node.key.id, text.locale.len(), text.text.len());
    }
    out.push_str("];\n#[rustfmt::skip]\nstatic MORE_TEXT: &str = \"");
    for (_, text) in all {
        out.push_str("\\\n");
        escape(&mut out, &text.locale);
        escape(&mut out, &text.text);
    }
    out.push_str("\";\n");
    out
}

fn values(layout: &Layout) -> String {
    let mut out = HEADER.to_owned();
    let values = layout.nodes.iter().filter_map(|n| Some((n, n.value.as_ref()?)));
    open(&mut out, "VALUES", "L", values.clone().count());
    for (node, value) in values.clone() {
        let (len, relocations) = (value.bytes.len(), value.relocations.len());
        let _ = writeln!(out, "L({len},{relocations}), // {}", node.key.id);
    }
    out.push_str("];\n");
    open(&mut out, "RELOCATIONS", "u32", values.clone().map(|(_, v)| v.relocations.len()).sum());
    for (node, value) in values {
        for chunk in value.relocations.chunks(REFERENCES_PER_LINE) {
            let list: Vec<String> = chunk.iter().map(u32::to_string).collect();
            let _ = writeln!(out, "{}, // {}", list.join(","), node.key.id);
        }
    }
    out.push_str("];\n");
    out
}

fn value_bytes(layout: &Layout) -> Vec<u8> {
    let values = layout.nodes.iter().filter_map(|n| n.value.as_ref());
    values.flat_map(|v| v.bytes.iter().copied()).collect()
}
