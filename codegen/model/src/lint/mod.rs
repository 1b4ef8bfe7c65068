//! Advice: what is legal or harmless to the reader, and still surprises people and tools. One diagnostic for a
//! code and file, with a count.

mod data_types;
mod header;
mod members;
mod names;
mod references;
mod variables;

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::resolve::Declared;
use crate::resolve::context::Tables;
use crate::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns, Span};

/// Most further places that a folded diagnostic shows.
const MAX_LABELS: usize = 2;

/// Everything that the rules look at.
pub(crate) struct Input<'s> {
    pub(crate) set: &'s ModelSet,
    pub(crate) tables: &'s Tables,
    /// References as the files have them.
    pub(crate) declared: &'s [Declared],
    /// Where each model is declared.
    pub(crate) model_spans: &'s BTreeMap<Ns, Span>,
}

/// Applies all rules to the models that came as documents.
pub(crate) fn check(input: &Input<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut linter = Linter { set: input.set, tables: input.tables, found: BTreeMap::new() };
    references::repeated(&mut linter, input.declared);
    for model in input.set.models.iter().filter(|model| !model.from_interface) {
        header::check(&mut linter, model, input.model_spans.get(&model.ns).copied());
        names::types(&mut linter, model);
        for node in model.nodes.values() {
            linter.node(node);
        }
    }
    diagnostics.extend(linter.found.into_values().map(Finding::into_diagnostic));
}

/// One code in one file.
struct Finding {
    first: Diagnostic,
    more: usize,
}

impl Finding {
    fn into_diagnostic(self) -> Diagnostic {
        let mut diagnostic = self.first;
        if self.more > 0 {
            diagnostic.message.push_str(&format!(", and {} more of the kind in this file", self.more));
        }
        diagnostic
    }
}

struct Linter<'s> {
    set: &'s ModelSet,
    tables: &'s Tables,
    found: BTreeMap<(Code, u32), Finding>,
}

impl<'s> Linter<'s> {
    fn node(&mut self, node: &'s Node) {
        names::spelling(self, node);
        names::siblings(self, node);
        references::parent(self, node);
        references::deprecated(self, node);
        match node.class {
            NodeClass::DataType => data_types::check(self, node),
            NodeClass::ObjectType | NodeClass::VariableType => members::of_type(self, node),
            NodeClass::Method => members::method(self, node),
            NodeClass::Object => members::object(self, node),
            NodeClass::Variable => variables::check(self, node),
            NodeClass::ReferenceType | NodeClass::View => {}
        }
    }

    /// Name and id, for messages.
    fn name(&self, node: &Node) -> String {
        format!("{} ({})", node.browse_name.name, self.id(&node.id, node.span))
    }

    fn id(&self, id: &Id, span: Span) -> String {
        self.tables.text(&self.set.uris, id, span)
    }

    /// Name and id of a node of any model, as the file at `span` writes it.
    fn other(&self, id: &Id, span: Span) -> String {
        let text = self.id(id, span);
        self.set.node(id).map_or_else(|| text.clone(), |node| format!("{} ({text})", node.browse_name.name))
    }

    /// Reports something at a node.
    fn report(&mut self, node: &Node, diagnostic: Diagnostic) {
        let text = self.id(&node.id, node.span);
        let diagnostic = if diagnostic.span.is_none() { diagnostic.at(node.span) } else { diagnostic };
        self.add(diagnostic.node(text));
    }

    /// Adds a diagnostic, or counts it at the first one of its code and file.
    fn add(&mut self, diagnostic: Diagnostic) {
        let file = diagnostic.span.map_or(Span::NONE.file, |span| span.file);
        match self.found.get_mut(&(diagnostic.code, file)) {
            Some(finding) => {
                finding.more += 1;
                if let Some(span) = diagnostic.span.filter(|_| finding.first.labels.len() < MAX_LABELS) {
                    finding.first = finding.first.clone().label(span, "here too");
                }
            }
            None => {
                self.found.insert((diagnostic.code, file), Finding { first: diagnostic, more: 0 });
            }
        }
    }

    /// Models that are loaded beside this one.
    fn other_models(&self, model: &Model) -> impl Iterator<Item = &'s Model> {
        let own = model.ns;
        self.set.models.iter().filter(move |other| other.ns != own)
    }
}
