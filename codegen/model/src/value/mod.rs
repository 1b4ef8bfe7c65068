//! Value elements in XML encoding (OPC 10000-6 §5.3, §F.14) to values of the resolved model.

mod array;
mod builtin;
mod compound;
mod extension;
mod fields;
mod fit;

use crate::diagnostic::{Code, Diagnostic, codes};
use crate::query::builtin_name;
use crate::resolve::context::{Context, Names};
use crate::resolved::{Id, ModelSet, Span, Value};
use crate::schema::Element;

/// XML namespace of the builtin types.
const TYPES_XMLNS: &str = "http://opcfoundation.org/UA/2008/02/Types.xsd";
/// Number of ExtensionObject and structures.
const EXTENSION_OBJECT: u8 = 22;
/// Most defaults of one run. All public NodeSets together need some 100,000.
pub(crate) const MAX_DEFAULTS: usize = 1 << 20;
/// Number of Variant.
const VARIANT: u8 = 24;

/// Reads the value of one node.
pub(crate) struct Reader<'s, 'a> {
    pub(crate) set: &'s ModelSet,
    pub(crate) names: &'s mut Names,
    pub(crate) context: &'s Context<'a>,
    pub(crate) diagnostics: &'s mut Vec<Diagnostic>,
    /// How many defaults of fields may still be made, over all values of a run.
    pub(crate) defaults: &'s mut usize,
    /// The node as its file writes it.
    pub(crate) node: String,
}

/// What a value of a variable may be.
pub(crate) struct Expected {
    pub(crate) data_type: Id,
    pub(crate) value_rank: i32,
}

/// The number of a builtin type by its name.
pub(crate) fn builtin_number(name: &str) -> Option<u8> {
    (1..=25).find(|number| builtin_name(*number) == name)
}

impl<'a> Reader<'_, 'a> {
    /// The value of a `Value` element; `None` if it holds nothing that can be kept, which is reported.
    pub(crate) fn read(&mut self, element: Element<'a>, expected: &Expected) -> Option<Value> {
        let content = element.children().next()?;
        let value = self.any(content)?;
        if *self.defaults == 0 {
            let message = "the fields that are left out have too many defaults: the value is left out";
            self.report(Diagnostic::error(codes::VALUE_TOO_LARGE, message).at(content.name_span()).help(
                "structures that hold many structures multiply; write the value in full or make it smaller",
            ));
            return None;
        }
        self.fit(value, expected, content.name_span())
    }

    /// A value whose element names its type: builtin, ListOf…, Matrix or Variant.
    fn any(&mut self, element: Element<'a>) -> Option<Value> {
        let name = element.name();
        if is_nil(element) {
            return Some(Value::Null);
        }
        if name == "Variant" {
            return Some(self.variant(element));
        }
        if name == "Matrix" {
            return self.matrix(element);
        }
        if let Some(builtin) = builtin_number(name) {
            return Some(self.builtin(builtin, element));
        }
        if let Some(builtin) = name.strip_prefix("ListOf").and_then(builtin_number) {
            let items = element.children().map(|item| self.item(builtin, item)).collect();
            return Some(Value::Array { builtin, items });
        }
        let message =
            format!("{name} is no value: a builtin type, ListOf with a builtin type, or Matrix is expected");
        self.report(
            Diagnostic::error(codes::UNKNOWN_VALUE_ELEMENT, message)
                .at(element.name_span())
                .help("structures stand in an ExtensionObject"),
        );
        None
    }

    /// What a Variant element holds; a Variant in a Variant is not kept as nested.
    fn variant(&mut self, element: Element<'a>) -> Value {
        let content = element.child("Value").and_then(|value| value.children().next());
        content.and_then(|content| self.any(content)).unwrap_or(Value::Null)
    }

    fn warn(&mut self, code: Code, message: String, span: Span) {
        let help = match code {
            codes::MASK_MISMATCH => "what is there counts as present",
            _ => "correct the value, or DataType and ValueRank of the variable",
        };
        self.report(Diagnostic::warning(code, message).at(span).help(help));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let node = self.node.clone();
        self.diagnostics.push(diagnostic.node(node));
    }
}

/// True for `xsi:nil="true"`.
fn is_nil(element: Element<'_>) -> bool {
    element.xsi_nil()
}
