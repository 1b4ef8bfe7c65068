//! Emits typed id constants (D10, D12).

use proc_macro2::{Ident, Literal, TokenStream};

use crate::ir::ConstIdentifier;

/// The id of a node of the model itself.
#[derive(Clone, Debug)]
pub struct NodeConstant {
    /// Constant, in SCREAMING_SNAKE_CASE.
    pub ident: Ident,
    /// Kind, such as `Object`.
    pub kind: Ident,
    /// Rust type of the value, for variables and variable types.
    pub value: Option<TokenStream>,
    /// The identifier.
    pub id: ConstIdentifier,
}

/// One constant, as text on one line: there are thousands of them.
#[must_use]
pub fn constant(ir: &NodeConstant) -> String {
    let NodeConstant { ident, kind, .. } = ir;
    let value = ir.value.as_ref().map(|value| format!(", {}", type_text(value))).unwrap_or_default();
    let expression = match &ir.id {
        ConstIdentifier::Numeric(id) => format!("numeric(0, {id})"),
        ConstIdentifier::String(id) => format!("string(0, {})", Literal::string(id)),
        ConstIdentifier::Guid(id) => format!("guid(0, codec::Guid({id:?}))"),
        ConstIdentifier::Opaque(id) => format!("opaque(0, &{id:?})"),
    };
    // Types of the model are in scope under any name, so that those of the codec have a path.
    format!(
        "pub const {ident}: codec::ModelId<codec::kind::{kind}<Namespaces{value}>> = codec::ModelId::{expression};"
    )
}

/// A type without the blanks that the tokens' own text has.
fn type_text(ty: &TokenStream) -> String {
    ty.to_string().replace(' ', "")
}
