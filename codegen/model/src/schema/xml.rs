//! XML text to a tree, with the limits of a reader of foreign files.

use roxmltree::{Document, Error, ParsingOptions};

use super::{Element, NODESET_XMLNS, is_dictionary};
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Span;
use crate::source::Source;

/// Deepest nesting of elements. Real models stay below 30.
pub(crate) const MAX_DEPTH: usize = 200;
/// Most XML nodes of one file.
const MAX_NODES: u32 = 1 << 27;

/// Parses one NodeSet2 file or type dictionary.
pub(crate) fn parse(file: u32, source: &Source) -> Result<Document<'_>, Box<Diagnostic>> {
    if source.text.trim_start().starts_with('{') {
        let start = source.text.find('{').unwrap_or(0);
        let what = "JSON, such as a Thing Description or Thing Model of the Web of Things";
        return Err(other_format(source, what, span(file, start, start + 1)));
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&source.text, options)
        .map_err(|error| Box::new(malformed(file, source, &error)))?;
    check_depth(file, &document)?;
    let root = document.root_element();
    let name = root.tag_name();
    if is_dictionary(Element::new(file, root)) {
        return Ok(document);
    }
    if name.name() != "UANodeSet" || name.namespace() != Some(NODESET_XMLNS) {
        let start = root.range().start;
        let place = span(file, start, start + 1 + name.name().len());
        if let Some(what) = other_language(name.name()) {
            return Err(other_format(source, what, place));
        }
        let message = format!("{} is no NodeSet2 file: its root element is {}", source.name, name.name());
        let diagnostic = Diagnostic::error(codes::NOT_A_NODESET, message)
            .at(place)
            .help(format!("the root element must be UANodeSet in namespace {NODESET_XMLNS}"));
        return Err(Box::new(diagnostic));
    }
    Ok(document)
}

/// What a root element begins, if it is a description of a model in another language.
fn other_language(root: &str) -> Option<&'static str> {
    match root {
        "ModelDesign" => Some("a ModelDesign, the source of the model compiler"),
        _ => None,
    }
}

fn other_format(source: &Source, what: &str, place: Span) -> Box<Diagnostic> {
    let message = format!("{} is {what}, which is not read yet", source.name);
    let help = "export the model as a NodeSet2 file (UANodeSet) and give that";
    Box::new(Diagnostic::error(codes::OTHER_FORMAT, message).at(place).help(help))
}

fn malformed(file: u32, source: &Source, error: &Error) -> Diagnostic {
    if matches!(error, Error::DtdDetected) {
        let at = source.text.find("<!DOCTYPE").unwrap_or(0);
        return Diagnostic::error(codes::DOCTYPE, "DOCTYPE: a document type declaration is not accepted")
            .at(span(file, at, at + 9))
            .help(
                "remove the declaration; a NodeSet2 file needs none, and entities could expand without bound",
            );
    }
    let at = offset_of(&source.text, error.pos());
    let message = format!("the file is not well-formed XML: {error}");
    Diagnostic::error(codes::MALFORMED_XML, message)
        .at(span(file, at, at + 1))
        .help("nothing of the file is read until it is well-formed")
}

/// Byte offset of a parser position (line and column from 1, the column in characters).
fn offset_of(text: &str, position: roxmltree::TextPos) -> usize {
    let mut start = 0;
    for _ in 1..position.row {
        match text.get(start..).and_then(|rest| rest.find('\n')) {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let line = text.get(start..).unwrap_or_default();
    let column = line.char_indices().nth((position.col as usize).saturating_sub(1));
    start + column.map_or(line.len(), |(at, _)| at)
}

fn check_depth(file: u32, document: &Document<'_>) -> Result<(), Box<Diagnostic>> {
    let mut depth = 0usize;
    for edge in document.root().traverse_edges() {
        match edge {
            Edge::Open(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let message = format!("elements are nested more than {MAX_DEPTH} deep");
                    let place = span(file, start, start + 1);
                    return Err(Box::new(
                        Diagnostic::error(codes::TOO_DEEP, message)
                            .at(place)
                            .help("real models nest some 30 deep"),
                    ));
                }
            }
            Edge::Close => depth -= 1,
        }
    }
    Ok(())
}

enum Edge {
    Open(usize),
    Close,
}

trait TraverseEdges {
    fn traverse_edges(self) -> impl Iterator<Item = Edge>;
}

impl TraverseEdges for roxmltree::Node<'_, '_> {
    /// Elements in document order, opening and closing, without recursion.
    fn traverse_edges(self) -> impl Iterator<Item = Edge> {
        let mut next = self.first_element_child();
        let mut open = Vec::new();
        std::iter::from_fn(move || {
            if let Some(element) = next {
                next = element.first_element_child();
                open.push(element);
                return Some(Edge::Open(element.range().start));
            }
            let done = open.pop()?;
            next = done.next_sibling_element();
            Some(Edge::Close)
        })
    }
}

pub(crate) fn span(file: u32, start: usize, end: usize) -> Span {
    Span { file, start: start as u32, end: end as u32 }
}
