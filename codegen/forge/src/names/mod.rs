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

mod words;

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

/// Names given so far in one scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    /// A scope in which some names are reserved.
    pub(crate) fn with_reserved(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// `base`, or with the suffix if that is taken; numbered if even that is.
    fn give(&mut self, base: String, suffix: &str) -> Ident {
        let mut name = base.clone();
        if self.taken.contains(&name) {
            name = format!("{base}{suffix}");
        }
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}{suffix}_{number}");
            number += 1;
        }
        ident(&name)
    }

    /// A field, function or module.
    pub(crate) fn snake(&mut self, name: &str, suffix: &str) -> Ident {
        let suffix = words::snake(suffix);
        self.give(guarded(words::snake(name), "unnamed", "_"), &format!("_{suffix}"))
    }

    /// A constant.
    pub(crate) fn screaming(&mut self, name: &str, suffix: &str) -> Ident {
        let suffix = words::screaming(suffix);
        self.give(guarded(words::screaming(name), "UNNAMED", "_"), &format!("_{suffix}"))
    }

    /// A type or variant.
    pub(crate) fn pascal(&mut self, name: &str, suffix: &str) -> Ident {
        let suffix = words::pascal(suffix);
        self.give(guarded(words::pascal(name), "Unnamed", "N"), &suffix)
    }

    /// Takes a name that was given in an earlier generation.
    pub(crate) fn keep(&mut self, name: &str) -> Ident {
        self.taken.insert(name.to_owned());
        ident(name)
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
