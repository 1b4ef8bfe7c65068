//! Variables against their types.

use super::Linter;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Id, Node};

pub(super) fn check(linter: &mut Linter<'_>, node: &Node) {
    let Some(definition) = linter.set.type_definition(&node.id) else {
        return;
    };
    abstract_type(linter, node, definition);
    let Some(declared) = linter.set.node(definition) else {
        return;
    };
    if !rank_fits(node.value_rank, declared.value_rank) {
        let message = format!(
            "{} has ValueRank {}, its type {} says {}",
            linter.name(node),
            node.value_rank,
            linter.other(definition, node.span),
            declared.value_rank
        );
        let help = "a variable has the rank of its type or a narrower one (OPC 10000-3 §5.6.2); the variable's is taken";
        linter.report(node, Diagnostic::warning(codes::RANK_DIFFERS, message).help(help));
    }
}

/// True if values of one rank are values of the type's rank too.
fn rank_fits(rank: i32, declared: i32) -> bool {
    match declared {
        -2 => true,
        -3 => matches!(rank, -3 | -1 | 1),
        0 => rank >= 0,
        _ => rank == declared,
    }
}

/// An instance, not a declaration, of an abstract type.
pub(super) fn abstract_type(linter: &mut Linter<'_>, node: &Node, definition: &Id) {
    let set = linter.set;
    let is_abstract = set.node(definition).is_some_and(|node| node.is_abstract);
    if !is_abstract || set.modelling_rule(&node.id).is_some() {
        return;
    }
    let message = format!(
        "{} is an instance of the abstract type {}",
        linter.name(node),
        linter.other(definition, node.span)
    );
    let help = "an abstract type has no instances of its own (OPC 10000-3 §5.5.2): use a concrete subtype";
    linter.report(node, Diagnostic::warning(codes::ABSTRACT_INSTANCE, message).help(help));
}
