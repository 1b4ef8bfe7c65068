//! Whether names and ids of a model are those of its table.

use std::collections::{HashMap, HashSet};

use super::{Row, Table};
use crate::canonical::class_name;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Ident, Model, ModelSet, Node, NodeClass};

/// How many further places one finding shows.
const MAX_LABELS: usize = 2;

/// Compares all tables with their models.
pub(crate) fn check(set: &ModelSet, tables: &[Table<'_>], diagnostics: &mut Vec<Diagnostic>) {
    for table in tables {
        let Some(model) = table.model(set).and_then(|ns| set.model(ns)) else {
            let message = match table.uri {
                Some(uri) => format!("this table has the identifiers of {uri}, which is not loaded"),
                None => {
                    "this table has the identifiers of a model, and no document of one is loaded".to_owned()
                }
            };
            let help = "load the NodeSet of the model beside its table, or correct the URI";
            let diagnostic = Diagnostic::error(codes::IDENTIFIERS_WITHOUT_MODEL, message);
            diagnostics.push(diagnostic.at(table.span).help(help));
            continue;
        };
        Comparison::new(set, model, table).run(diagnostics);
    }
}

/// Tables write `_Placeholder` where a name has angle brackets, and differ in punctuation.
pub(super) fn same_name(row: &str, node: &str) -> bool {
    row == node || squeezed(row) == squeezed(node)
}

fn squeezed(name: &str) -> String {
    name.replace("_Placeholder", "").chars().filter(|letter| letter.is_alphanumeric()).collect()
}

struct Comparison<'s> {
    set: &'s ModelSet,
    model: &'s Model,
    table: &'s Table<'s>,
    /// The nodes of a name.
    nodes: HashMap<String, Vec<&'s Node>>,
    /// The ids that the table gives to a name.
    listed: HashMap<String, Vec<&'s Ident>>,
}

impl<'s> Comparison<'s> {
    fn new(set: &'s ModelSet, model: &'s Model, table: &'s Table<'s>) -> Self {
        let mut nodes: HashMap<String, Vec<&Node>> = HashMap::new();
        for node in model.nodes.values() {
            nodes.entry(squeezed(&set.symbolic_id(node))).or_default().push(node);
        }
        let mut listed: HashMap<String, Vec<&Ident>> = HashMap::new();
        for row in &table.rows {
            listed.entry(squeezed(row.name)).or_default().push(&row.ident);
        }
        Self { set, model, table, nodes, listed }
    }

    fn run(&self, diagnostics: &mut Vec<Diagnostic>) {
        let mut renamed = Folded::new();
        let mut gone = Folded::new();
        let mut moved = HashSet::new();
        for row in &self.table.rows {
            let node = self.model.nodes.get(&row.ident);
            let named = node.filter(|node| same_name(row.name, &self.set.symbolic_id(node)));
            if named.is_none()
                && let Some(elsewhere) = self.elsewhere(row)
            {
                diagnostics.push(Self::moved(row, elsewhere));
                moved.insert(&elsewhere.id.ident);
                continue;
            }
            let Some(node) = node else {
                gone.add(Self::gone(row));
                continue;
            };
            if let Some(class) = row.class.filter(|class| *class != node.class) {
                diagnostics.push(self.class(row, class, node));
            } else if named.is_none() {
                renamed.add(self.renamed(row, node));
            }
        }
        let known: HashSet<&Ident> = self.table.rows.iter().map(|row| &row.ident).collect();
        let mut new = Folded::new();
        for node in self.model.nodes.values() {
            if !known.contains(&node.id.ident) && !moved.contains(&node.id.ident) {
                new.add(self.new_node(node));
            }
        }
        diagnostics.extend([renamed, gone, new].into_iter().filter_map(Folded::into_diagnostic));
    }

    /// A node of a line's name and class whose id the table does not have under that name.
    fn elsewhere(&self, row: &Row<'_>) -> Option<&'s Node> {
        let name = squeezed(row.name);
        let listed = self.listed.get(&name);
        let is_listed = |node: &Node| listed.is_some_and(|ids| ids.contains(&&node.id.ident));
        let nodes = self.nodes.get(&name)?.iter();
        nodes.copied().find(|node| !is_listed(node) && row.class.is_none_or(|class| class == node.class))
    }

    fn moved(row: &Row<'_>, node: &Node) -> Diagnostic {
        let message = format!(
            "{} has the id {} in this table, and {} in the NodeSet",
            row.name, row.ident, node.id.ident
        );
        let help = "a published id stays: give the node its id back, or correct the table if the node is another one";
        Diagnostic::error(codes::IDENTIFIER_MOVED, message)
            .at(row.span)
            .label(node.span, "it stands here")
            .help(help)
            .node(node.id.ident.to_string())
    }

    fn class(&self, row: &Row<'_>, class: NodeClass, node: &Node) -> Diagnostic {
        let message = format!(
            "{} is the {} {} in this table, and the {} {} in the NodeSet",
            row.ident,
            class_name(class),
            row.name,
            class_name(node.class),
            self.set.symbolic_id(node)
        );
        Diagnostic::error(codes::IDENTIFIER_CLASS, message)
            .at(row.span)
            .label(node.span, "it stands here")
            .help("a published id stays with its node: give a new node a new id")
            .node(row.ident.to_string())
    }

    fn renamed(&self, row: &Row<'_>, node: &Node) -> Diagnostic {
        let name = self.set.symbolic_id(node);
        let message = format!("{} is {} in this table, and {name} in the NodeSet", row.ident, row.name);
        Diagnostic::note(codes::IDENTIFIER_NAME, message)
            .at(row.span)
            .label(node.span, "it stands here")
            .help("the NodeSet counts; where the name was changed by mistake, a SymbolicName gives it back")
            .node(row.ident.to_string())
    }

    /// Tables have ids of optional members that no NodeSet has, but no such types.
    fn gone(row: &Row<'_>) -> Diagnostic {
        let message = format!("{} ({}) is in this table, but in no NodeSet", row.name, row.ident);
        let is_type = matches!(
            row.class,
            Some(
                NodeClass::ObjectType
                    | NodeClass::VariableType
                    | NodeClass::DataType
                    | NodeClass::ReferenceType
            )
        );
        let diagnostic = match is_type {
            true => Diagnostic::warning(codes::IDENTIFIER_GONE, message),
            false => Diagnostic::note(codes::IDENTIFIER_GONE, message),
        };
        diagnostic
            .at(row.span)
            .help("programs that use the id find nothing; deprecate nodes before they are removed")
    }

    fn new_node(&self, node: &Node) -> Diagnostic {
        let name = self.set.symbolic_id(node);
        let message = format!("{name} ({}) is in the NodeSet, but not in this table", node.id.ident);
        Diagnostic::warning(codes::IDENTIFIER_NEW, message)
            .at(self.table.span)
            .label(node.span, "it stands here")
            .help("the table is of an older version, or not complete: add the node, so that its id is guarded too")
            .node(node.id.ident.to_string())
    }
}

/// Findings of one code: the first of the worst severity, places of others, and a count.
struct Folded {
    found: Option<Diagnostic>,
    more: usize,
}

impl Folded {
    fn new() -> Self {
        Self { found: None, more: 0 }
    }

    fn add(&mut self, diagnostic: Diagnostic) {
        let Some(first) = self.found.take() else {
            self.found = Some(diagnostic);
            return;
        };
        let (mut shown, other) =
            if diagnostic.severity < first.severity { (diagnostic, first) } else { (first, diagnostic) };
        self.more += 1;
        if self.more <= MAX_LABELS
            && let Some(span) = other.labels.first().map(|label| label.span).or(other.span)
        {
            shown = shown.label(span, "here too");
        }
        self.found = Some(shown);
    }

    fn into_diagnostic(self) -> Option<Diagnostic> {
        let mut diagnostic = self.found?;
        if self.more > 0 {
            diagnostic.message.push_str(&format!(", and {} more of the kind", self.more));
        }
        Some(diagnostic)
    }
}
