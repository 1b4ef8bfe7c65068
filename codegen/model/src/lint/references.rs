//! References and what stands in for them.

use std::collections::HashSet;

use super::Linter;
use crate::diagnostic::{Diagnostic, codes};
use crate::query::well_known::{HAS_ENCODING, HAS_SUBTYPE};
use crate::resolve::Declared;
use crate::resolved::{Id, Node};

/// The same reference twice at one node.
pub(super) fn repeated(linter: &mut Linter<'_>, declared: &[Declared]) {
    let mut seen = HashSet::new();
    for reference in declared {
        if !seen.insert((&reference.declared_by, &reference.triple)) {
            let node = linter.id(&reference.declared_by, reference.span);
            let other = match reference.triple.source == reference.declared_by {
                true => &reference.triple.target,
                false => &reference.triple.source,
            };
            let message =
                format!("node {node} has the same reference to {} twice", linter.id(other, reference.span));
            linter.add(
                Diagnostic::note(codes::REPEATED_REFERENCE, message)
                    .at(reference.span)
                    .node(node)
                    .help("remove one; it is taken once"),
            );
        }
    }
}

/// A ParentNodeId that no reference backs.
pub(super) fn parent(linter: &mut Linter<'_>, node: &Node) {
    let Some(parent) = &node.parent_hint else {
        return;
    };
    let set = linter.set;
    let mut links = set.inverse(&node.id).iter().filter(|link| link.target == *parent);
    if links.any(|link| link.reference_type == HAS_ENCODING || set.is_hierarchical(&link.reference_type)) {
        return;
    }
    let message = format!(
        "{} names {} as its parent, but has no hierarchical reference from it",
        linter.name(node),
        linter.id(parent, node.span)
    );
    let help = "ParentNodeId is a hint and makes no reference: add one, or correct the attribute";
    linter.report(node, Diagnostic::warning(codes::PARENT_WITHOUT_REFERENCE, message).help(help));
}

/// A node that is not deprecated itself and stands on one that is.
pub(super) fn deprecated(linter: &mut Linter<'_>, node: &Node) {
    let is_deprecated = |id: &Id| {
        linter.set.node(id).is_some_and(|node| node.release_status.as_deref() == Some("Deprecated"))
    };
    if node.release_status.is_some() {
        return;
    }
    let bases = linter.set.inverse(&node.id).iter().filter(|link| link.reference_type == HAS_SUBTYPE);
    let mut used = bases
        .map(|link| &link.target)
        .chain(linter.set.type_definition(&node.id))
        .chain((node.data_type != Id::ns0(24)).then_some(&node.data_type));
    let Some(old) = used.find(|id| is_deprecated(id)) else {
        return;
    };
    let message = format!("{} uses {}, which is deprecated", linter.name(node), linter.other(old, node.span));
    let help = "see the model that deprecates it for what takes its place";
    linter.report(node, Diagnostic::note(codes::DEPRECATED_USED, message).help(help));
}
