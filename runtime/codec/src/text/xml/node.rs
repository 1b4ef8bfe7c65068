//! An element of an XML document.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::text::{TextError, TextReason};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// An element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a, 'text>(roxmltree::Node<'a, 'text>);

impl<'a, 'text> Node<'a, 'text> {
    pub(super) fn new(element: roxmltree::Node<'a, 'text>) -> Self {
        Self(element)
    }

    /// The name without its prefix.
    pub(super) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    pub(super) fn is_nil(self) -> bool {
        matches!(self.0.attribute((XSI, "nil")).map(str::trim), Some("true" | "1"))
    }

    pub(super) fn start(self) -> usize {
        self.0.range().start
    }

    pub(super) fn error(self, reason: TextReason) -> TextError {
        TextError::from(reason).at_offset(self.start())
    }

    pub(super) fn expected(self, what: &'static str) -> TextError {
        self.error(TextReason::Expected(what))
    }

    /// The elements in it.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        self.0.children().filter(roxmltree::Node::is_element).map(Self)
    }

    /// The element with this name in it.
    pub(super) fn child(self, name: &str) -> Result<Option<Self>, TextError> {
        let mut found = self.children().filter(|child| child.name() == name);
        let first = found.next();
        match found.next() {
            Some(second) => Err(second.error(TextReason::Duplicate).in_field(name)),
            None => Ok(first),
        }
    }

    /// Its text; comments do not count.
    pub(super) fn text(self) -> Result<Cow<'a, str>, TextError> {
        if let Some(child) = self.children().next() {
            return Err(child.expected("text"));
        }
        let parts: Vec<&str> =
            self.0.children().filter_map(|child| child.text().filter(|_| child.is_text())).collect();
        match parts.as_slice() {
            [] => Ok(Cow::Borrowed("")),
            [part] => Ok(Cow::Borrowed(part)),
            parts => Ok(Cow::Owned(parts.concat())),
        }
    }

    /// The text of the element with this name in it, or its own text if it has no elements.
    pub(super) fn text_of(self, name: &str) -> Result<Cow<'a, str>, TextError> {
        match self.child(name)? {
            Some(child) => child.text().map_err(|error| error.in_field(name)),
            None => self.text(),
        }
    }

    /// What is in it as it stands in the document: an element with prefixes of its own, or text.
    pub(super) fn fragment(self) -> Result<String, TextError> {
        let mut children = self.children();
        let Some(first) = children.next() else {
            return self.text().map(Cow::into_owned);
        };
        let end = children.last().unwrap_or(first).0.range().end;
        let text = self.0.document().input_text().get(first.start()..end).unwrap_or_default();
        Ok(first.with_declarations(text))
    }

    /// The element as it stands in the document.
    pub(super) fn source(self) -> String {
        let text = self.0.document().input_text().get(self.0.range()).unwrap_or_default();
        self.with_declarations(text)
    }

    /// Declares the prefixes in `text`, which begins with this element, that are declared further out.
    fn with_declarations(self, text: &str) -> String {
        let mut out = String::from(text);
        let name_end = text.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).unwrap_or(text.len());
        let tag = text.split_once('>').map_or(text, |(tag, _)| tag);
        let mut declarations = String::new();
        for namespace in self.0.namespaces() {
            let (attribute, used) = match namespace.name() {
                Some("xml") => continue,
                Some(prefix) => {
                    let used = [prefix, ":"].concat();
                    ([" xmlns:", prefix, "="].concat(), text.contains(&used))
                }
                None => (String::from(" xmlns="), true),
            };
            if used && !tag.contains(attribute.trim_start()) {
                let uri = namespace.uri().replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
                declarations.extend([&attribute, "\"", &uri, "\""]);
            }
        }
        out.insert_str(name_end, &declarations);
        out
    }
}
