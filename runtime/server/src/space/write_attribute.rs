//! Write of attributes other than a Variable's Value (OPC 10000-3 §5.2.7, §8.60).

use uaforge_codec::{LocalizedText, NodeIdRef, StatusCode, UaString, Variant};
use uaforge_nodes::{AttributeId, AttributeValue, Edit, Node};
use uaforge_types::status;

use super::{SpaceManager, check};
use crate::manager::{WriteCx, WriteItem};

/// An attribute to write over, checked but for what `Edit` checks itself.
pub(super) struct Attribute<'i> {
    node: NodeIdRef<'i>,
    attribute: AttributeId,
    value: Variant,
}

/// Data types of attributes that are structures (OPC 10000-3 §8.47, §8.55).
const DATA_TYPE_DEFINITION: NodeIdRef<'static> = NodeIdRef::Numeric(0, 97);
const ROLE_PERMISSION_TYPE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 96);

impl SpaceManager {
    /// The checks of an attribute.
    pub(super) fn check_attribute<'i>(
        &self,
        cx: &WriteCx<'_, '_>,
        item: &WriteItem<'i>,
        node: &Node<'_>,
        attribute: AttributeId,
    ) -> Result<Attribute<'i>, StatusCode> {
        let current = node.attribute(attribute)?;
        let bit = write_mask_bit(attribute);
        let mask = match node.attribute(AttributeId::WriteMask)? {
            AttributeValue::UInt32(mask) => mask,
            _ => 0,
        };
        if mask & bit == 0 {
            return Err(status::BAD_NOT_WRITABLE);
        }
        if self.rights.write_mask(cx.access(), item.node, mask) & bit == 0 {
            return Err(status::BAD_USER_ACCESS_DENIED);
        }
        let written = item.value;
        // Only Values have a status and timestamps of their own.
        let alone = written.status_or_good() == StatusCode::GOOD
            && written.source_timestamp().is_none()
            && written.server_timestamp().is_none();
        if !alone || !item.range.is_empty() {
            return Err(status::BAD_WRITE_NOT_SUPPORTED);
        }
        let value = written.value().unwrap_or(&Variant::Null);
        let value = match attribute {
            AttributeId::Value => check_default(cx, node, value)?,
            AttributeId::DataTypeDefinition => structure(cx, value, DATA_TYPE_DEFINITION, -1)?,
            AttributeId::RolePermissions => structure(cx, value, ROLE_PERMISSION_TYPE, 1)?,
            _ => match (value, text_of(&current)) {
                (Variant::LocalizedText(text), Some(before)) => localized(text, before)?.into(),
                _ => value.clone(),
            },
        };
        Ok(Attribute { node: item.node, attribute, value })
    }
}

impl Attribute<'_> {
    pub(super) fn write(self, edit: &mut Edit) -> Result<(), StatusCode> {
        edit.set_attribute(&self.node.to_owned(), self.attribute, self.value)
    }
}

/// The default Value of a VariableType.
fn check_default(cx: &WriteCx<'_, '_>, node: &Node<'_>, value: &Variant) -> Result<Variant, StatusCode> {
    let of = node.value_type().ok_or(status::BAD_ATTRIBUTE_ID_INVALID)?;
    let fits = check::value(cx.snapshot, value, of.data_type, of.value_rank, of.array_dimensions)?;
    Ok(fits.unwrap_or_else(|| value.clone()))
}

fn structure(
    cx: &WriteCx<'_, '_>,
    value: &Variant,
    data_type: NodeIdRef<'_>,
    value_rank: i32,
) -> Result<Variant, StatusCode> {
    check::value(cx.snapshot, value, data_type, value_rank, &[])?;
    Ok(value.clone())
}

/// The LocalizedText that an attribute holds.
fn text_of(value: &AttributeValue<'_>) -> Option<LocalizedText> {
    match value {
        AttributeValue::LocalizedText(text) => {
            Some(LocalizedText { locale: text_or_null(text.locale), text: text_or_null(text.text) })
        }
        AttributeValue::Variant(Variant::LocalizedText(text)) => Some((**text).clone()),
        _ => None,
    }
}

fn text_or_null(text: &str) -> UaString {
    if text.is_empty() { UaString::NULL } else { text.into() }
}

/// What becomes of a text of which there is one, in one locale (OPC 10000-4 §5.11.4.1): a text replaces it, a
/// null text ends it if it is of that locale, and whatever its locale if none is named.
fn localized(written: &LocalizedText, before: LocalizedText) -> Result<LocalizedText, StatusCode> {
    if !written.locale.is_empty() && !is_locale(written.locale.as_str().unwrap_or_default()) {
        return Err(status::BAD_LOCALE_NOT_SUPPORTED);
    }
    if !written.text.is_null() {
        return Ok(written.clone());
    }
    let ends = written.locale.is_empty() || written.locale == before.locale;
    Ok(if ends { LocalizedText::default() } else { before })
}

/// A language and sub-tags as LocaleId has them (OPC 10000-3 §8.4).
fn is_locale(text: &str) -> bool {
    let mut tags = text.split('-');
    let is_tag =
        |tag: &str, fits: fn(&u8) -> bool| (1..=8).contains(&tag.len()) && tag.as_bytes().iter().all(fits);
    tags.next().is_some_and(|language| is_tag(language, u8::is_ascii_alphabetic))
        && tags.all(|tag| is_tag(tag, u8::is_ascii_alphanumeric))
}

/// The bit of WriteMask that makes an attribute writable (AttributeWriteMask, OPC 10000-3 §8.60).
const fn write_mask_bit(attribute: AttributeId) -> u32 {
    let bit = match attribute {
        AttributeId::AccessLevel => 0,
        AttributeId::ArrayDimensions => 1,
        AttributeId::BrowseName => 2,
        AttributeId::ContainsNoLoops => 3,
        AttributeId::DataType => 4,
        AttributeId::Description => 5,
        AttributeId::DisplayName => 6,
        AttributeId::EventNotifier => 7,
        AttributeId::Executable => 8,
        AttributeId::Historizing => 9,
        AttributeId::InverseName => 10,
        AttributeId::IsAbstract => 11,
        AttributeId::MinimumSamplingInterval => 12,
        AttributeId::NodeClass => 13,
        AttributeId::NodeId => 14,
        AttributeId::Symmetric => 15,
        AttributeId::UserAccessLevel => 16,
        AttributeId::UserExecutable => 17,
        AttributeId::UserWriteMask => 18,
        AttributeId::ValueRank => 19,
        AttributeId::WriteMask => 20,
        AttributeId::Value => 21,
        AttributeId::DataTypeDefinition => 22,
        AttributeId::RolePermissions => 23,
        AttributeId::AccessRestrictions => 24,
        AttributeId::AccessLevelEx => 25,
        // Follows from RolePermissions.
        AttributeId::UserRolePermissions => return 0,
    };
    1 << bit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales() {
        for good in ["en", "en-US", "zh-Hans-CN", "x-klingon", "de-1996"] {
            assert!(is_locale(good), "{good}");
        }
        for bad in ["", "e1", "en_US", "en-", "-en", "toolongtag", "ä"] {
            assert!(!is_locale(bad), "{bad}");
        }
    }

    #[test]
    fn a_null_text_ends_the_text_of_its_locale() {
        let text = |locale: &str, text: &str| LocalizedText {
            locale: text_or_null(locale),
            text: text_or_null(text),
        };
        let before = text("en", "Pump");
        assert_eq!(localized(&text("de", "Pumpe"), before.clone()), Ok(text("de", "Pumpe")));
        assert_eq!(localized(&text("de", ""), before.clone()), Ok(before.clone()));
        assert_eq!(localized(&text("en", ""), before.clone()), Ok(text("", "")));
        assert_eq!(localized(&text("", ""), before.clone()), Ok(text("", "")));
        assert_eq!(localized(&text("no such", "x"), before), Err(status::BAD_LOCALE_NOT_SUPPORTED));
    }
}
