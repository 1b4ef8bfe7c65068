//! What stands before the nodes: namespace URIs, models and aliases (OPC 10000-6 §F.2, §F.5).

use super::{Element, Spanned};
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Span;

/// The parts of a file that are not nodes, and the node elements.
#[derive(Debug)]
pub(crate) struct Header<'a> {
    pub(crate) namespace_uris: Vec<Spanned<String>>,
    pub(crate) models: Vec<RawModel<'a>>,
    pub(crate) aliases: Vec<Alias<'a>>,
    /// Node elements, and elements that the schema does not have.
    pub(crate) nodes: Vec<Element<'a>>,
    /// The root's start tag.
    pub(crate) span: Span,
}

/// A Model or RequiredModel element.
#[derive(Debug)]
pub(crate) struct RawModel<'a> {
    pub(crate) uri: Spanned<&'a str>,
    pub(crate) version: Option<Spanned<&'a str>>,
    pub(crate) publication_date: Option<Spanned<&'a str>>,
    pub(crate) model_version: Option<Spanned<&'a str>>,
    pub(crate) xml_schema_uri: Option<Spanned<&'a str>>,
    pub(crate) required: Vec<RawModel<'a>>,
}

/// An Alias element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias<'a> {
    pub(crate) name: &'a str,
    pub(crate) element: Element<'a>,
}

/// Reads everything but the nodes.
pub(crate) fn read_header<'a>(root: Element<'a>, diagnostics: &mut Vec<Diagnostic>) -> Header<'a> {
    let mut header = Header {
        namespace_uris: Vec::new(),
        models: Vec::new(),
        aliases: Vec::new(),
        nodes: Vec::new(),
        span: root.name_span(),
    };
    for child in root.children() {
        match child.name() {
            "NamespaceUris" => header.namespace_uris.extend(child.children().map(uri)),
            "Models" => {
                header.models.extend(child.children().filter_map(|model| read_model(model, diagnostics)));
            }
            "Aliases" => {
                header.aliases.extend(child.children().filter_map(|alias| read_alias(alias, diagnostics)));
            }
            "ServerUris" | "Extensions" => {}
            _ => header.nodes.push(child),
        }
    }
    header
}

fn uri(element: Element<'_>) -> Spanned<String> {
    Spanned { value: element.text().trim().to_owned(), span: element.text_span() }
}

fn read_model<'a>(element: Element<'a>, diagnostics: &mut Vec<Diagnostic>) -> Option<RawModel<'a>> {
    let uri = required(element, "ModelUri", diagnostics)?;
    let mut requirements = Vec::new();
    for child in element.children().filter(|child| child.name() == "RequiredModel") {
        let Some(uri) = required(child, "ModelUri", diagnostics) else {
            continue;
        };
        requirements.push(model_attributes(child, uri));
    }
    Some(RawModel { required: requirements, ..model_attributes(element, uri) })
}

fn model_attributes<'a>(element: Element<'a>, uri: Spanned<&'a str>) -> RawModel<'a> {
    let attribute = |name| element.attribute(name).map(trimmed).filter(|text| !text.value.is_empty());
    RawModel {
        uri,
        version: attribute("Version"),
        publication_date: attribute("PublicationDate"),
        model_version: attribute("ModelVersion"),
        xml_schema_uri: attribute("XmlSchemaUri"),
        required: Vec::new(),
    }
}

fn read_alias<'a>(element: Element<'a>, diagnostics: &mut Vec<Diagnostic>) -> Option<Alias<'a>> {
    let name = required(element, "Alias", diagnostics)?.value;
    Some(Alias { name, element })
}

/// A required attribute, reported when it is missing or empty.
pub(crate) fn required<'a>(
    element: Element<'a>,
    name: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Spanned<&'a str>> {
    let found = element.attribute(name).map(trimmed).filter(|text| !text.value.is_empty());
    if found.is_none() {
        let message = format!("{} has no {name}", element.name());
        diagnostics.push(
            Diagnostic::error(codes::MISSING_ATTRIBUTE, message)
                .at(element.name_span())
                .help(format!("the schema requires {name} here")),
        );
    }
    found
}

fn trimmed(text: Spanned<&str>) -> Spanned<&str> {
    Spanned { value: text.value.trim(), span: text.span }
}
