//! Several documents of one model, and nodes that stand twice.

use std::collections::{BTreeMap, HashMap};

use super::Resolver;
use super::requirements::empty_model;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Id, Node, Span};
use crate::schema::Element;

/// What was seen of each node, and repetitions between files.
#[derive(Debug, Default)]
pub(super) struct Merge<'a> {
    seen: HashMap<Id, Element<'a>>,
    /// PublicationDate of each file, where it states one.
    pub(super) dates: HashMap<u32, i64>,
    /// Equal nodes of two files: how many, and the first of them.
    repeated: Between,
    /// Nodes that differ between two documents of different dates.
    changed: Between,
}

type Between = BTreeMap<(u32, u32), (usize, Span, Span)>;

impl Merge<'_> {
    /// True if the node that the set has is this element's.
    pub(super) fn is_taken(&self, id: &Id, element: Element<'_>) -> bool {
        self.seen.get(id).is_some_and(|taken| taken.span() == element.span())
    }
}

fn count(between: &mut Between, first: Element<'_>, second: Element<'_>) {
    let files = (first.file(), second.file());
    between.entry(files).or_insert((0, first.name_span(), second.name_span())).0 += 1;
}

impl<'a> Resolver<'a, '_> {
    /// Adds a node to its model. A second one with the same id is a warning if it says the same, or comes from
    /// a document of another date (the later one is taken); else it is an error.
    pub(super) fn merge_node(&mut self, element: Element<'a>, node: Node, local: &str) {
        let model = self.models.entry(node.id.ns).or_insert_with(|| empty_model(node.id.ns));
        let Some(first) = self.merge.seen.get(&node.id).copied() else {
            self.merge.seen.insert(node.id.clone(), element);
            if model.from_interface && model.nodes.contains_key(&node.id.ident) {
                let message = format!("the model that another crate carries has a node {local} already");
                self.diagnostics.push(
                    Diagnostic::error(codes::DUPLICATE_NODE, message)
                        .at(element.name_span())
                        .node(local)
                        .help("give the node an id of a namespace of its own"),
                );
                return;
            }
            model.nodes.insert(node.id.ident.clone(), node);
            return;
        };
        let known = model.nodes.get(&node.id.ident);
        let same = first.raw() == element.raw()
            || known.is_some_and(|known| same_node(known, &node, first, element));
        let date = |element: Element<'_>| self.merge.dates.get(&element.file()).copied();
        if !same && date(first) != date(element) {
            let later = date(element) > date(first);
            count(&mut self.merge.changed, first, element);
            if later {
                self.merge.seen.insert(node.id.clone(), element);
                model.nodes.insert(node.id.ident.clone(), node);
            }
        } else if !same {
            let message = format!("two different nodes have the id {local}");
            self.diagnostics.push(
                Diagnostic::error(codes::DUPLICATE_NODE, message)
                    .at(element.name_span())
                    .label(first.name_span(), "the first one is here")
                    .node(local)
                    .help("give one of them another id; a NodeId is unique in a server"),
            );
        } else if first.file() == element.file() {
            let message = format!("node {local} stands twice, with the same content");
            self.diagnostics.push(
                Diagnostic::warning(codes::REPEATED_NODE, message)
                    .at(element.name_span())
                    .label(first.name_span(), "the first one is here")
                    .node(local)
                    .help("remove one of them"),
            );
        } else {
            count(&mut self.merge.repeated, first, element);
        }
    }

    pub(super) fn report_merges(&mut self) {
        for (count, first, second) in std::mem::take(&mut self.merge.repeated).into_values() {
            let message =
                format!("{count} nodes of this file stand in another one too, with the same content");
            self.diagnostics.push(
                Diagnostic::warning(codes::REPEATED_NODE, message)
                    .at(second)
                    .label(first, "the first of them is here")
                    .help("load one document of each model, unless each has nodes of its own"),
            );
        }
        for (count, first, second) in std::mem::take(&mut self.merge.changed).into_values() {
            let message = format!("{count} nodes differ from those of another document of this model");
            self.diagnostics.push(
                Diagnostic::warning(codes::DOCUMENTS_DIFFER, message)
                    .at(second)
                    .label(first, "the first of them is here")
                    .help("those of the later PublicationDate are taken; load one document if that is not meant"),
            );
        }
    }
}

/// Equal but for position, aliases and white space.
fn same_node(known: &Node, node: &Node, first: Element<'_>, second: Element<'_>) -> bool {
    let plain = |node: &Node| {
        let mut node = node.clone();
        node.span = Span::default();
        let fields = node.definition.iter_mut().flat_map(|definition| &mut definition.fields);
        fields.for_each(|field| field.span = Span::default());
        format!("{node:?}")
    };
    let value = |element: Element<'_>| element.child("Value").map(|value| squeeze(value.raw()));
    plain(known) == plain(node) && value(first) == value(second)
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
