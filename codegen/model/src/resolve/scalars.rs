//! Attribute texts to numbers, flags and lists; a wrong text is reported and the schema's default taken.

use std::str::FromStr;

use super::Resolver;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Text;
use crate::schema::{Element, Spanned};

impl<'a> Resolver<'a, '_> {
    /// An optional attribute of a number type.
    pub(super) fn number<T: FromStr>(&mut self, element: Element<'a>, name: &str, default: T) -> T {
        self.optional_number(element, name).unwrap_or(default)
    }

    pub(super) fn optional_number<T: FromStr>(&mut self, element: Element<'a>, name: &str) -> Option<T> {
        let text = element.attribute(name)?;
        let number = text.value.trim().parse().ok();
        if number.is_none() {
            self.invalid(name, text, "a number in range");
        }
        number
    }

    /// An optional attribute of type xs:boolean.
    pub(super) fn flag(&mut self, element: Element<'a>, name: &str, default: bool) -> bool {
        let Some(text) = element.attribute(name) else {
            return default;
        };
        match text.value.trim() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => {
                self.invalid(name, text, "true or false");
                default
            }
        }
    }

    /// A list of numbers separated by commas.
    pub(super) fn dimensions(&mut self, element: Element<'a>) -> Vec<u32> {
        let Some(text) = element.attribute("ArrayDimensions") else {
            return Vec::new();
        };
        if text.value.trim().is_empty() {
            return Vec::new();
        }
        let parsed: Option<Vec<u32>> = text.value.split(',').map(|part| part.trim().parse().ok()).collect();
        if parsed.is_none() {
            self.invalid("ArrayDimensions", text, "numbers separated by commas");
        }
        parsed.unwrap_or_default()
    }

    fn invalid(&mut self, name: &str, text: Spanned<&str>, wanted: &str) {
        let message = format!("{name}=\"{}\" is not {wanted}", text.value);
        self.diagnostics.push(
            Diagnostic::error(codes::INVALID_ATTRIBUTE, message)
                .at(text.span)
                .help("the schema's default is taken until it is corrected"),
        );
    }
}

/// All LocalizedText children of this name.
pub(super) fn texts(element: Element<'_>, name: &str) -> Vec<Text> {
    element.children().filter(|child| child.name() == name).map(Element::localized_text).collect()
}

/// A trimmed, non-empty attribute.
pub(super) fn text(element: Element<'_>, name: &str) -> Option<String> {
    let text = element.attribute(name)?.value.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
