//! An XML element with typed access to attributes and children.

use std::borrow::Cow;

use super::xml::span;
use crate::resolved::{Span, Text};

/// A text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// An element of one input file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    node: roxmltree::Node<'a, 'a>,
    file: u32,
}

impl<'a> Element<'a> {
    pub(crate) fn new(file: u32, node: roxmltree::Node<'a, 'a>) -> Self {
        Self { node, file }
    }

    /// Local name.
    pub(crate) fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    /// XML namespace; empty if there is none.
    pub(crate) fn namespace(self) -> &'a str {
        self.node.tag_name().namespace().unwrap_or("")
    }

    /// The XML namespace that a prefix stands for here.
    pub(crate) fn namespace_of(self, prefix: Option<&str>) -> Option<&'a str> {
        self.node.lookup_namespace_uri(prefix)
    }

    /// The file's index.
    pub(crate) fn file(self) -> u32 {
        self.file
    }

    /// Range of the whole element.
    pub(crate) fn span(self) -> Span {
        let range = self.node.range();
        span(self.file, range.start, range.end)
    }

    /// Range of the start tag's name, for messages.
    pub(crate) fn name_span(self) -> Span {
        let start = self.node.range().start;
        let text = self.node.document().input_text();
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/').unwrap_or(1);
        span(self.file, start, start + length.max(1))
    }

    /// The element as written.
    pub(crate) fn raw(self) -> &'a str {
        self.node.document().input_text().get(self.node.range()).unwrap_or_default()
    }

    /// An attribute without namespace.
    pub(crate) fn attribute(self, name: &str) -> Option<Spanned<&'a str>> {
        let attribute = self.node.attribute_node(name)?;
        let range = attribute.range_value();
        Some(Spanned { value: attribute.value(), span: span(self.file, range.start, range.end) })
    }

    /// Child elements.
    pub(crate) fn children(self) -> impl Iterator<Item = Element<'a>> {
        let file = self.file;
        self.node.children().filter(|node| node.is_element()).map(move |node| Element { node, file })
    }

    /// The first child with this local name.
    pub(crate) fn child(self, name: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.name() == name)
    }

    /// All text directly inside, joined over comments and CDATA borders.
    pub(crate) fn text(self) -> Cow<'a, str> {
        let mut texts =
            self.node.children().filter_map(|node| if node.is_text() { node.text() } else { None });
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                let rest: String = texts.collect();
                Cow::Owned([first, second, &rest].concat())
            }
        }
    }

    /// True for `xsi:nil="true"`.
    pub(crate) fn xsi_nil(self) -> bool {
        let nil = self.node.attribute(("http://www.w3.org/2001/XMLSchema-instance", "nil"));
        nil.is_some_and(|text| matches!(text.trim(), "true" | "1"))
    }

    /// What stands between the tags, as written, without white space around it; `None` if there is nothing.
    pub(crate) fn inner(self) -> Option<&'a str> {
        let span = self.text_span();
        self.node.first_child()?;
        let text = self.node.document().input_text();
        text.get(span.start as usize..span.end as usize).map(str::trim).filter(|text| !text.is_empty())
    }

    /// The text as a LocalizedText of the schema: `Locale` is an attribute.
    pub(crate) fn localized_text(self) -> Text {
        let locale = self.attribute("Locale").map(|locale| locale.value.trim().to_owned());
        Text { locale: locale.filter(|locale| !locale.is_empty()), text: self.text().into_owned() }
    }

    /// Range of the content between the tags, or of the element if it is empty.
    pub(crate) fn text_span(self) -> Span {
        match (self.node.first_child(), self.node.last_child()) {
            (Some(first), Some(last)) => span(self.file, first.range().start, last.range().end),
            _ => self.span(),
        }
    }
}
