//! Models in dependency order.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Names;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Model, Ns, Span};

/// Dependencies first, equals by URI.
pub(super) fn order(
    mut models: BTreeMap<Ns, Model>,
    names: &Names,
    spans: &BTreeMap<Ns, Span>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Model> {
    let mut ordered = Vec::with_capacity(models.len());
    let mut done: BTreeSet<Ns> = BTreeSet::new();
    while !models.is_empty() {
        let ready = models.values().find(|model| {
            let required = model.required.iter().filter_map(|required| names.ns(&required.uri));
            required.filter(|ns| *ns != model.ns).all(|ns| done.contains(&ns) || !models.contains_key(&ns))
        });
        let next = match (ready, models.keys().next()) {
            (Some(model), _) => model.ns,
            (None, Some(first)) => {
                let uris: Vec<&str> = models
                    .keys()
                    .filter_map(|ns| names.uris.get(usize::from(ns.0)).map(|uri| &**uri))
                    .collect();
                let message = format!("these models require each other: {}", uris.join(", "));
                let span = spans.get(first).copied().unwrap_or(Span::NONE);
                let help = "requirements cannot form a circle: merge the models or move what they share";
                diagnostics.push(Diagnostic::error(codes::MODEL_CYCLE, message).at(span).help(help));
                *first
            }
            (None, None) => break,
        };
        done.insert(next);
        ordered.extend(models.remove(&next));
    }
    ordered
}
