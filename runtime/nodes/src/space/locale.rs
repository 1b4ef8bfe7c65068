//! The text of a node that suits a client best, where its model has several (OPC 10000-4 §5.4).

use uaforge_codec::UaString;

use super::node::At;
use super::{Node, Text};
use crate::class::AttributeId;
use crate::table::text;

impl<'a> Node<'a> {
    /// DisplayName, Description or InverseName in the first of these locales that the model has a text for.
    /// A locale fits a text of the same locale, else one of the same language (OPC 10000-3 §8.4). `None`:
    /// the text that the attribute gives anyway is as good as any other, or was written while the program
    /// runs.
    ///
    /// The locales `mul` and `qst`, which ask for several texts at once (OPC 10000-3 §8.5), fit none.
    pub fn localized(&self, attribute: AttributeId, locales: &[UaString]) -> Option<Text<'a>> {
        let what = match attribute {
            AttributeId::DisplayName => text::DISPLAY_NAME,
            AttributeId::Description => text::DESCRIPTION,
            AttributeId::InverseName => text::INVERSE_NAME,
            _ => return None,
        };
        let At::Static(node) = self.at() else { return None };
        let texts = || node.mounted.model.further_texts(node.index.row, what);
        if texts().nth(1).is_none() || self.overridden(attribute).is_some() {
            return None;
        }
        let wanted = locales.iter().filter_map(UaString::as_str).filter(|locale| !locale.is_empty());
        let found = wanted.into_iter().find_map(|locale| {
            let same = texts().find(|text| text.locale.eq_ignore_ascii_case(locale));
            same.or_else(|| texts().find(|text| language(text.locale).eq_ignore_ascii_case(language(locale))))
        });
        found.map(Text::from)
    }
}

/// The language of a locale such as `de-AT`.
fn language(locale: &str) -> &str {
    locale.split('-').next().unwrap_or_default()
}
