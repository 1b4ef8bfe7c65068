//! The OPC Binary schema (OPC 10000-3 version 1.04, Annex C): a type dictionary as the file has it.

use super::{Element, Spanned, required};
use crate::diagnostic::Diagnostic;
use crate::resolved::Span;

/// XML namespace of the OPC Binary schema.
pub(crate) const BSD_XMLNS: &str = "http://opcfoundation.org/BinarySchema/";

/// A type dictionary.
#[derive(Debug)]
pub(crate) struct Dictionary<'a> {
    pub(crate) target: Spanned<&'a str>,
    pub(crate) byte_order: Option<Spanned<&'a str>>,
    pub(crate) types: Vec<RawType<'a>>,
    pub(crate) span: Span,
}

/// What element declares a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawKind {
    Opaque,
    Enumerated,
    Structured,
}

/// A type of a dictionary.
#[derive(Debug)]
pub(crate) struct RawType<'a> {
    pub(crate) kind: RawKind,
    pub(crate) name: Spanned<&'a str>,
    pub(crate) element: Element<'a>,
    /// Fields, or values of an enumeration.
    pub(crate) parts: Vec<Element<'a>>,
}

/// A qualified name: namespace URI and local name.
pub(crate) struct TypeRef<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

/// True for the root element of a type dictionary.
pub(crate) fn is_dictionary(root: Element<'_>) -> bool {
    root.name() == "TypeDictionary" && root.namespace() == BSD_XMLNS
}

/// Reads a dictionary; `None` if it does not say what it is of.
pub(crate) fn read_dictionary<'a>(
    root: Element<'a>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Dictionary<'a>> {
    let target = required(root, "TargetNamespace", diagnostics)?;
    let mut types = Vec::new();
    for element in root.children() {
        let (kind, part) = match element.name() {
            "OpaqueType" => (RawKind::Opaque, ""),
            "EnumeratedType" => (RawKind::Enumerated, "EnumeratedValue"),
            "StructuredType" => (RawKind::Structured, "Field"),
            _ => continue,
        };
        let Some(name) = required(element, "Name", diagnostics) else {
            continue;
        };
        let parts = element.children().filter(|child| child.name() == part).collect();
        types.push(RawType { kind, name, element, parts });
    }
    Some(Dictionary { target, byte_order: root.attribute("DefaultByteOrder"), types, span: root.name_span() })
}

impl<'a> Element<'a> {
    /// An attribute that is a qualified name; its prefix is looked up where the element stands.
    pub(crate) fn type_ref(self, attribute: &str) -> Option<TypeRef<'a>> {
        let text = self.attribute(attribute)?.value.trim();
        let (prefix, name) = text.split_once(':').map_or((None, text), |(prefix, name)| (Some(prefix), name));
        Some(TypeRef { namespace: self.namespace_of(prefix).unwrap_or(""), name })
    }
}
