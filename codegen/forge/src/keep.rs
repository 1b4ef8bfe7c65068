//! Names of earlier generations: a name once given stays (D2).

use std::collections::BTreeMap;

use uaforge_model::resolved::{ModelSet, Ns};
use uaforge_model::{Diagnostic, Loader, Severity, interface};

use crate::crates::{Paths, context};
use crate::data_types::lower;
use crate::names::{Ledgers, Names};
use crate::{ids, objects};

/// Keeps the Rust names that the model's previous interface file gave to types, fields, members and
/// ids, whatever else was added since. What the naming rules alone do not give is noted in the model's
/// ledger, and so in its new interface file: dependents come to the same names.
///
/// # Errors
/// The previous interface file cannot be read.
pub fn keep_names(set: &mut ModelSet, ns: Ns, previous: &str) -> Result<(), Box<Diagnostic>> {
    let before = previous_names(set, ns, previous)?;
    let wanted = with_ledger(set, ns, before);
    let plain = with_ledger(set, ns, BTreeMap::new());
    let mut ledger = differences(&wanted, &plain);
    loop {
        let now = with_ledger(set, ns, ledger.clone());
        if now == wanted {
            return Ok(());
        }
        ledger.extend(differences(&wanted, &now));
    }
}

fn previous_names(set: &ModelSet, ns: Ns, previous: &str) -> Result<Names, Box<Diagnostic>> {
    let mut loader = Loader::new().interface(previous, None);
    for model in set.models.iter().filter(|model| model.ns != ns && model.ns != Ns(0)) {
        loader = loader.interface(interface::write(set, model.ns), model.rust_path.as_deref());
    }
    let loaded = loader.load();
    let broken = loaded.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    match (broken, loaded.set.ns(set.uri(ns))) {
        (Some(diagnostic), _) => Err(Box::new(diagnostic)),
        (None, Some(ns)) => Ok(given(&loaded.set, ns)),
        // It is of another model: nothing was given before.
        (None, None) => Ok(BTreeMap::new()),
    }
}

/// All names of the model if its ledger is this one.
fn with_ledger(set: &mut ModelSet, ns: Ns, ledger: Names) -> Names {
    for model in set.models.iter_mut().filter(|model| model.ns == ns) {
        model.ledger.clone_from(&ledger);
    }
    given(set, ns)
}

/// All names that generation gives.
fn given(set: &ModelSet, ns: Ns) -> Names {
    let ledgers = Ledgers::new(set);
    let cx = context(set, ns, &Paths::model_crate(), &ledgers);
    lower::data_types(&cx);
    ids::modules(&cx);
    objects::object_types(&cx);
    ledgers.given(ns)
}

/// What of the first is not so in the second.
fn differences(wanted: &Names, other: &Names) -> Names {
    let differing = wanted.iter().filter(|(key, name)| other.get(*key) != Some(*name));
    differing.map(|(key, name)| (key.clone(), name.clone())).collect()
}
