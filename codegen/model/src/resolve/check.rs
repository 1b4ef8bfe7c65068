//! Checks over the whole set: every id leads to a node of the right class.

use std::collections::{BTreeSet, HashSet};

use super::{Declared, Resolver};
use crate::diagnostic::{Diagnostic, Severity, codes};
use crate::resolved::{Id, NodeClass, Span};

/// What an id leads to.
enum Found {
    Node(NodeClass),
    /// The model is loaded and lacks it.
    Missing,
    /// The model is not loaded, which is reported once elsewhere.
    ModelMissing,
}

impl Resolver<'_, '_> {
    pub(super) fn check(&mut self) {
        let declared = std::mem::take(&mut self.declared);
        let mut unknown_types = HashSet::new();
        for reference in &declared {
            self.check_reference(reference, &mut unknown_types);
        }
        if !unknown_types.is_empty() && self.options.drop_unknown_references {
            for model in self.models.values_mut() {
                model.references.retain(|triple| !unknown_types.contains(&triple.reference_type));
            }
        }
        self.check_data_types();
        self.check_namespaces(&declared);
        self.declared = declared;
    }

    fn find(&self, id: &Id) -> Found {
        let Some(model) = self.models.get(&id.ns) else {
            return Found::ModelMissing;
        };
        model.nodes.get(&id.ident).map_or(Found::Missing, |node| Found::Node(node.class))
    }

    /// An id as the file at `span` writes it.
    fn text(&self, id: &Id, span: Span) -> String {
        self.tables.text(&self.names.uris, id, span)
    }

    fn check_reference(&mut self, reference: &Declared, unknown: &mut HashSet<Id>) {
        let triple = &reference.triple;
        let node = self.text(&reference.declared_by, reference.span);
        match self.find(&triple.reference_type) {
            Found::Node(NodeClass::ReferenceType) | Found::ModelMissing => {}
            Found::Node(_) => {
                let message = format!(
                    "{} is used as a reference type, but is none",
                    self.text(&triple.reference_type, reference.span)
                );
                self.diagnostics.push(
                    Diagnostic::error(codes::WRONG_NODE_CLASS, message).at(reference.span).node(node.clone()),
                );
            }
            Found::Missing => {
                unknown.insert(triple.reference_type.clone());
                self.report_unknown_type(reference, &node);
            }
        }
        for end in [&triple.source, &triple.target] {
            if matches!(self.find(end), Found::Missing) {
                let message = format!(
                    "node {node} has a reference to {}, which no document has",
                    self.text(end, reference.span)
                );
                self.diagnostics.push(
                    Diagnostic::warning(codes::UNKNOWN_TARGET, message)
                        .at(reference.span)
                        .node(node.clone())
                        .help("load the document that has the node, or remove the reference"),
                );
            }
        }
    }

    fn report_unknown_type(&mut self, reference: &Declared, node: &str) {
        let message = format!(
            "node {node} uses the reference type {}, which no document has",
            self.text(&reference.triple.reference_type, reference.span)
        );
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_REFERENCE_TYPE, message)
            .at(reference.span)
            .node(node)
            .help("load the document that defines it, or drop unknown references explicitly");
        if self.options.drop_unknown_references {
            diagnostic.severity = Severity::Warning;
        }
        self.diagnostics.push(diagnostic);
    }

    fn check_data_types(&mut self) {
        let mut uses: Vec<(Id, Id, Span)> = Vec::new();
        for node in
            self.models.values().filter(|model| !model.from_interface).flat_map(|model| model.nodes.values())
        {
            if matches!(node.class, NodeClass::Variable | NodeClass::VariableType) {
                uses.push((node.id.clone(), node.data_type.clone(), node.span));
            }
            for field in node.definition.iter().flat_map(|definition| &definition.fields) {
                uses.push((node.id.clone(), field.data_type.clone(), field.span));
            }
        }
        for (node, data_type, span) in uses {
            let (code, reason) = match self.find(&data_type) {
                Found::Node(NodeClass::DataType) | Found::ModelMissing => continue,
                Found::Node(_) => (codes::WRONG_NODE_CLASS, "which is no data type"),
                Found::Missing => (codes::UNKNOWN_DATA_TYPE, "which no document has"),
            };
            let (node, data_type) = (self.text(&node, span), self.text(&data_type, span));
            let message = format!("node {node} uses the data type {data_type}, {reason}");
            self.diagnostics.push(
                Diagnostic::error(code, message)
                    .at(span)
                    .node(node)
                    .help("load the document that defines the data type, or correct the id"),
            );
        }
    }

    /// Namespaces that are used, whose model is neither loaded nor reported as missing.
    fn check_namespaces(&mut self, declared: &[Declared]) {
        let required: BTreeSet<_> = self
            .models
            .values()
            .flat_map(|model| &model.required)
            .filter_map(|required| self.names.ns(&required.uri))
            .collect();
        let mut reported = BTreeSet::new();
        for reference in declared {
            let triple = &reference.triple;
            for id in [&triple.source, &triple.reference_type, &triple.target] {
                if self.models.contains_key(&id.ns) || required.contains(&id.ns) || !reported.insert(id.ns) {
                    continue;
                }
                let message = format!(
                    "{} is used, but its model is neither required nor loaded",
                    self.text(id, reference.span)
                );
                self.diagnostics.push(
                    Diagnostic::error(codes::MISSING_MODEL, message)
                        .at(reference.span)
                        .help("add a RequiredModel element and load the model"),
                );
            }
        }
    }
}
