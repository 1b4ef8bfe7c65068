//! The row writer: a model's nodes, references and values as flat tables in Rust text (D4).
//!
//! What is written here is read by `uaforge_nodes::table`; the two change together.

mod definition;
mod encode;
mod layout;
mod mentions;
mod names;
mod parts;
mod plan;
mod render;

use uaforge_model::resolved::{ModelSet, Ns};

pub use names::slots;

/// What goes into the tables, and the paths they are written with.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Rust path of `uaforge_nodes` as the written crate sees it.
    pub nodes_path: String,
    /// Keep every Description, of nodes and inside values.
    pub descriptions: bool,
    /// Keep the values of type dictionaries (BSD and XSD documents).
    pub dictionaries: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { nodes_path: "::uaforge_nodes".into(), descriptions: true, dictionaries: true }
    }
}

/// A model that does not fit into tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The set has no model with this namespace.
    #[error("the set holds no model for namespace {0}")]
    NoModel(u16),
    /// More namespaces than slots.
    #[error("{uri} requires more than 126 namespaces")]
    TooManySlots {
        /// The model.
        uri: String,
    },
    /// A number that a row has no room for.
    #[error("{node}: {what} is too large for a table row")]
    TooLarge {
        /// The node.
        node: String,
        /// The attribute.
        what: &'static str,
    },
    /// A value that does not fit its type.
    #[error("{node}: {reason}")]
    Value {
        /// The node.
        node: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Writes the tables of one model. `tables.rs` is a module file that has the other files, beside it, as
/// its modules; it holds `MODEL`, a `StaticModel`. The result depends on the set and the options only.
///
/// # Errors
/// If the model is not in the set, or a value or number does not fit.
pub fn write(set: &ModelSet, ns: Ns, options: &TableOptions) -> Result<Vec<(String, Vec<u8>)>, TableError> {
    let layout = plan::plan(set, ns, options)?;
    Ok(render::files(&layout, options))
}
