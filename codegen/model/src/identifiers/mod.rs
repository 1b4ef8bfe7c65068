//! Identifier tables (CSV), as they are published beside NodeSets: lines of name, identifier and node class.
//!
//! They guard against ids that drift, and give ids to the types of a dictionary (BSD) without a NodeSet. They decide
//! nothing else: published tables disagree in their shape and in the names of placeholders.

mod drift;

use crate::canonical::class_of;
use crate::diagnostic::{Diagnostic, codes};
use crate::ids::parse_ident;
use crate::resolved::{Ident, ModelSet, NodeClass, Ns, Span};

pub(crate) use drift::check;

/// A table with the lines that could be read.
pub(crate) struct Table<'a> {
    /// The model that it is of; else that of the loaded documents which it fits best.
    pub(crate) uri: Option<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
    /// The first line.
    pub(crate) span: Span,
}

/// A line.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) ident: Ident,
    pub(crate) class: Option<NodeClass>,
    pub(crate) span: Span,
}

/// True for a text that is no XML and in whose first two lines (the first may be a head) an id has a name.
pub(crate) fn is_table(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(2);
    !text.trim_start().starts_with(['<', '{']) && lines.any(|line| row(line, Span::NONE).is_some())
}

/// Reads a table; lines that cannot be read are told once.
pub(crate) fn read<'a>(
    file: u32,
    text: &'a str,
    uri: Option<&'a str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Table<'a> {
    let mut rows = Vec::new();
    let mut broken: Vec<Span> = Vec::new();
    let mut start = 0;
    let mut is_head = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let span = Span { file, start: start as u32, end: (start + content.len()) as u32 };
        start += line.len();
        if content.trim().is_empty() {
            continue;
        }
        match row(content, span) {
            Some(row) => rows.push(row),
            None if is_head => {}
            None => broken.push(span),
        }
        is_head = false;
    }
    if let Some((first, rest)) = broken.split_first() {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(", and neither can {} more of this file", rest.len())
        };
        let message = format!("this line of an identifier table cannot be read{more}");
        let help = "a line has a name, an identifier (a number, or s=, g= or b= and a text) and a node class, \
                    with commas or tabs between them";
        diagnostics.push(Diagnostic::error(codes::IDENTIFIERS_LINE, message).at(*first).help(help));
    }
    let end = text.lines().next().unwrap_or_default().trim_end().len() as u32;
    Table { uri, rows, span: Span { file, start: 0, end } }
}

/// Name, identifier and class of a line; a class may be missing.
fn row(line: &str, span: Span) -> Option<Row<'_>> {
    let separator = if line.contains('\t') { '\t' } else { ',' };
    let mut fields = line.split(separator).map(|field| field.trim().trim_matches('"'));
    let name = fields.next().filter(|name| !name.is_empty())?;
    let id = fields.next()?;
    let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
    let ident = if is_number { Ident::Numeric(id.parse().ok()?) } else { parse_ident(id)? };
    let class = match fields.next().filter(|class| !class.is_empty()) {
        Some(word) => Some(class_of(word)?),
        None => None,
    };
    Some(Row { name, ident, class, span })
}

impl Table<'_> {
    /// How many names of the table some model has under the same id.
    fn agreement(&self, set: &ModelSet, ns: Ns) -> usize {
        let Some(model) = set.model(ns) else { return 0 };
        let nodes = self.rows.iter().filter_map(|row| Some((row, model.nodes.get(&row.ident)?)));
        nodes.filter(|(row, node)| drift::same_name(row.name, &set.symbolic_id(node))).count()
    }

    /// The model of the table.
    fn model(&self, set: &ModelSet) -> Option<Ns> {
        if let Some(uri) = self.uri {
            return set.ns(uri).filter(|ns| set.model(*ns).is_some());
        }
        let own = set.models.iter().filter(|model| !model.from_interface).map(|model| model.ns);
        // Of several that fit equally, the first one in the order of URIs.
        own.max_by_key(|ns| (self.agreement(set, *ns), std::cmp::Reverse(*ns)))
    }

    /// The identifier of a name, of a node of this class.
    pub(crate) fn find(&self, name: &str, class: NodeClass) -> Option<&Ident> {
        let row =
            self.rows.iter().find(|row| row.name == name && row.class.is_none_or(|known| known == class))?;
        Some(&row.ident)
    }
}
