//! The ledger: a name once given stays (D2).
//!
//! An interface file says which names are not those that the naming rules give by themselves. What
//! generates a model anew takes the names of the previous interface file, all of them, and notes in
//! the new one where they differ from the rules; so a dependent, who has the new file alone, gets the
//! same names.

use std::cell::RefCell;
use std::collections::BTreeMap;

use uaforge_model::resolved::{ModelSet, Ns};

use super::Scope;

/// Names by scope and key.
pub(crate) type Names = BTreeMap<(String, String), String>;

/// The names of one model.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    kept: Names,
    given: RefCell<Names>,
}

impl Ledger {
    pub(super) fn kept(&self, scope: &str, key: &str) -> Option<&str> {
        self.kept.get(&(scope.to_owned(), key.to_owned())).map(String::as_str)
    }

    pub(super) fn kept_in(&self, scope: &str) -> impl Iterator<Item = &str> {
        let from = (scope.to_owned(), String::new());
        let entries = self.kept.range(from..).take_while(move |((of, _), _)| of == scope);
        entries.map(|(_, name)| name.as_str())
    }

    pub(super) fn give(&self, scope: &str, key: &str, name: &str) {
        self.given.borrow_mut().insert((scope.to_owned(), key.to_owned()), name.to_owned());
    }
}

/// The ledgers of all models of a set.
#[derive(Debug, Default)]
pub(crate) struct Ledgers(BTreeMap<Ns, Ledger>);

impl Ledgers {
    pub(crate) fn new(set: &ModelSet) -> Self {
        let of = |kept: &Names| Ledger { kept: kept.clone(), given: RefCell::default() };
        Self(set.models.iter().map(|model| (model.ns, of(&model.ledger))).collect())
    }

    /// A scope of a model, in which some names are reserved.
    pub(crate) fn scope(&self, ns: Ns, name: impl Into<String>, reserved: &[&str]) -> Scope<'_> {
        match self.0.get(&ns) {
            Some(ledger) => Scope::new(ledger, name, reserved),
            None => Scope::with_reserved(reserved),
        }
    }

    /// All names that were given so far in a model.
    pub(crate) fn given(&self, ns: Ns) -> Names {
        self.0.get(&ns).map(|ledger| ledger.given.borrow().clone()).unwrap_or_default()
    }
}
