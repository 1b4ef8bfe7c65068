//! A value in a JSON text: the slice that it is, read by serde_json when it is needed.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::{TextError, TextReason};

/// A value, as it stands in the text. Its syntax has been checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'t> {
    raw: &'t str,
    /// Address of the text's first byte, for offsets.
    base: usize,
}

/// What a value is by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl<'t> Node<'t> {
    /// The value that a text is; nothing but white space may follow it.
    pub(super) fn parse(text: &'t str) -> Result<Self, TextError> {
        let base = text.as_ptr() as usize;
        let without_mark = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let raw: &RawValue = serde_json::from_str(without_mark).map_err(|error| {
            let offset = offset_of(without_mark, error.line(), error.column());
            syntax(&error).at_offset(text.len() - without_mark.len() + offset)
        })?;
        Ok(Self { raw: raw.get(), base })
    }

    fn child(self, raw: &'t RawValue) -> Self {
        Self { raw: raw.get(), base: self.base }
    }

    /// The byte of the text at which it stands.
    pub(super) fn offset_in_text(self) -> usize {
        (self.raw.as_ptr() as usize).saturating_sub(self.base)
    }

    pub(super) fn kind(self) -> Kind {
        match self.raw.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'n') | None => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// An error about this value.
    pub(super) fn expected(self, what: &'static str) -> TextError {
        self.error(TextReason::Expected(what))
    }

    /// An error about this value.
    pub(super) fn error(self, reason: TextReason) -> TextError {
        TextError::from(reason).at_offset(self.offset_in_text())
    }

    pub(super) fn boolean(self) -> Result<bool, TextError> {
        match self.raw {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// The digits of a number, or of one written as a string.
    pub(super) fn digits(self) -> Result<Cow<'t, str>, TextError> {
        match self.kind() {
            Kind::Number => Ok(Cow::Borrowed(self.raw)),
            Kind::String => self.string(),
            _ => Err(self.expected("a number")),
        }
    }

    /// The text of a string.
    pub(super) fn string(self) -> Result<Cow<'t, str>, TextError> {
        if self.kind() != Kind::String {
            return Err(self.expected("a string"));
        }
        let text: Text<'t> = serde_json::from_str(self.raw).map_err(|error| self.wrong(&error))?;
        Ok(text.0)
    }

    /// The elements of an array.
    pub(super) fn items(self) -> Result<Vec<Self>, TextError> {
        if self.kind() != Kind::Array {
            return Err(self.expected("an array"));
        }
        let items: Vec<&'t RawValue> = serde_json::from_str(self.raw).map_err(|error| self.wrong(&error))?;
        Ok(items.into_iter().map(|item| self.child(item)).collect())
    }

    /// The members of an object in their order, duplicates included.
    pub(super) fn members(self) -> Result<Vec<(Cow<'t, str>, Self)>, TextError> {
        if self.kind() != Kind::Object {
            return Err(self.expected("an object"));
        }
        let members: Object<'t> = serde_json::from_str(self.raw).map_err(|error| self.wrong(&error))?;
        Ok(members.0.into_iter().map(|(name, value)| (name.0, self.child(value))).collect())
    }

    fn wrong(self, error: &serde_json::Error) -> TextError {
        syntax(error).at_offset(self.offset_in_text() + offset_of(self.raw, error.line(), error.column()))
    }
}

fn syntax(error: &serde_json::Error) -> TextError {
    let text = error.to_string();
    // Lines are of a part of the text only; the offset says it better.
    let text = text.split(" at line ").next().unwrap_or_default();
    TextReason::Syntax(text.into()).into()
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// A string, borrowed where it has no escapes.
struct Text<'t>(Cow<'t, str>);

impl<'t> Deserialize<'t> for Text<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'t> Visitor<'t> for TextVisitor {
            type Value = Text<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'t str) -> Result<Text<'t>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'t>, E> {
                Ok(Text(Cow::Owned(String::from(text))))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

struct Object<'t>(Vec<(Text<'t>, &'t RawValue)>);

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'t> Visitor<'t> for ObjectVisitor {
            type Value = Object<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut access: A) -> Result<Object<'t>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}
