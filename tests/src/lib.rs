//! Cross-crate tests: vectors, oracle, goldens, protocol pairs and peers.

pub mod canonical;

pub mod captures;

pub mod fixtures;

pub mod hand;

pub mod hostile;
pub mod interop;

pub mod mutator;

pub mod nesting;
pub mod nodes;

pub mod notation;

pub mod pair;

pub mod peer;
pub mod pki;

pub mod publishing;
pub mod random_values;
pub mod raw;
pub mod relay;
pub mod rogue;
pub mod running;
pub mod secured;
pub mod text;
uaforge::include_model!(brew_line);

/// The examples of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
