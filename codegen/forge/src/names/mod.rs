//! The naming specification (D14): Rust names from the names of a model.
//!
//! 1. The symbolic name counts, else the browse name.
//! 2. It is split into words and written as Rust writes that kind of name.
//! 3. Letters beyond Latin, Han, kana and Hangul are spelled by their numbers, as Rust warns of names
//!    that look like others. A leading digit gets `_` (`N` in type names); a name without letters or digits is `unnamed`.
//! 4. A keyword is raw (`r#type`), or gets `_` where raw is not allowed (`self_`).
//! 5. Within a scope names are given in the order of ids or declarations; a name that is taken, or
//!    reserved for what the generator adds itself, gets a suffix that does not depend on its neighbours.
//! 6. A name in the ledger of the previous interface file stays as it was.

mod ledger;
mod words;

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

pub(crate) use ledger::{Ledger, Ledgers, Names};

/// Names given so far in one scope.
///
/// Everything that gets a name has a key, which stays as long as the thing does: a node id, a name in
/// the model.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    taken: BTreeSet<String>,
    ledger: Option<(&'a Ledger, String)>,
}

impl<'a> Scope<'a> {
    /// A scope in which some names are reserved, and those of earlier generations are kept.
    pub(crate) fn new(ledger: &'a Ledger, name: impl Into<String>, reserved: &[&str]) -> Self {
        let name = name.into();
        let mut taken: BTreeSet<String> = reserved.iter().map(|name| (*name).to_owned()).collect();
        taken.extend(ledger.kept_in(&name).map(str::to_owned));
        Self { taken, ledger: Some((ledger, name)) }
    }

    /// A scope of its own, whose names depend on nothing else.
    pub(crate) fn with_reserved(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect(), ledger: None }
    }

    /// The kept name; else `base`, or with the suffix if that is taken; numbered if even that is.
    fn give(&mut self, key: &str, base: String, suffix: &str, free: impl Fn(&str, &Self) -> bool) -> Ident {
        if let Some(kept) = self.ledger.as_ref().and_then(|(ledger, scope)| ledger.kept(scope, key)) {
            let kept = kept.to_owned();
            return self.record(key, kept);
        }
        let mut name = base.clone();
        if !free(&name, self) {
            name = format!("{base}{suffix}");
        }
        let mut number = 2;
        while !free(&name, self) {
            name = format!("{base}{suffix}_{number}");
            number += 1;
        }
        self.record(key, name)
    }

    fn record(&mut self, key: &str, name: String) -> Ident {
        if let Some((ledger, scope)) = &self.ledger {
            ledger.give(scope, key, &name);
        }
        let ident = ident(&name);
        self.taken.insert(name);
        ident
    }

    fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    /// A field, function or module.
    pub(crate) fn snake(&mut self, key: &str, name: &str, suffix: &str) -> Ident {
        let suffix = words::snake(suffix);
        let base = guarded(words::snake(name), "unnamed", "_");
        self.give(key, base, &format!("_{suffix}"), |name, scope| scope.is_free(name))
    }

    /// A constant.
    pub(crate) fn screaming(&mut self, key: &str, name: &str, suffix: &str) -> Ident {
        let suffix = words::screaming(suffix);
        let base = guarded(words::screaming(name), "UNNAMED", "_");
        self.give(key, base, &format!("_{suffix}"), |name, scope| scope.is_free(name))
    }

    /// A type or variant.
    pub(crate) fn pascal(&mut self, key: &str, name: &str, suffix: &str) -> Ident {
        self.family(key, name, suffix, &[])
    }

    /// A type together with others whose names are its own and an ending.
    pub(crate) fn family(&mut self, key: &str, name: &str, suffix: &str, endings: &[&str]) -> Ident {
        let suffix = words::pascal(suffix);
        let base = guarded(words::pascal(name), "Unnamed", "N");
        let free = |name: &str, scope: &Self| {
            scope.is_free(name) && endings.iter().all(|ending| scope.is_free(&format!("{name}{ending}")))
        };
        let ident = self.give(key, base, &suffix, free);
        self.taken.extend(endings.iter().map(|ending| format!("{ident}{ending}")));
        ident
    }

    /// Takes a name that stands in another scope too.
    pub(crate) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }
}

fn guarded(name: String, unnamed: &str, digit_prefix: &str) -> String {
    match name.chars().next() {
        None => unnamed.to_owned(),
        Some(first) if first.is_numeric() => format!("{digit_prefix}{name}"),
        Some(_) => name,
    }
}

/// An identifier of any text that consists of letters, digits and `_`.
pub(crate) fn ident(name: &str) -> Ident {
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        return Ident::new(&format!("{name}_"), Span::call_site());
    }
    match syn::parse_str::<Ident>(name) {
        // A keyword of edition 2024 that the parser still takes for a name.
        Ok(_) if name == "gen" => Ident::new_raw(name, Span::call_site()),
        Ok(ident) => ident,
        Err(_) if syn::parse_str::<Ident>(&format!("r#{name}")).is_ok() => {
            Ident::new_raw(name, Span::call_site())
        }
        // What is neither a name nor a keyword has letters that identifiers cannot have.
        Err(_) => Ident::new(&format!("n_{}", words::in_ascii(name)), Span::call_site()),
    }
}
