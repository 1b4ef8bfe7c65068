//! Reads what `value` writes.

use std::sync::Arc;

use super::read_node::Ids;
use crate::ids::{decode_base64, parse_ident};
use crate::resolved::{Ident, Text, Value};

/// Deepest nesting of a value.
const MAX_DEPTH: usize = 64;

pub(super) struct ValueReader<'a> {
    rest: &'a str,
    ids: &'a Ids<'a>,
}

/// The value of a line; `None` if the text is none.
pub(super) fn read_value(text: &str, ids: &Ids<'_>) -> Option<Value> {
    let mut reader = ValueReader { rest: text, ids };
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

impl<'a> ValueReader<'a> {
    fn eat(&mut self, token: char) -> bool {
        let tail = self.rest.strip_prefix(token);
        self.rest = tail.unwrap_or(self.rest);
        tail.is_some()
    }

    fn number(&mut self) -> Option<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, tail) = self.rest.split_at_checked(end)?;
        self.rest = tail;
        digits.parse().ok()
    }

    fn quoted(&mut self) -> Option<String> {
        if !self.eat('"') {
            return None;
        }
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(text);
                }
                '\\' => text.push(chars.next()?.1),
                _ => text.push(c),
            }
        }
        None
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.eat('-') {
            return Some(Value::Null);
        }
        if self.eat('(') {
            let inner = self.value(depth + 1)?;
            return self.eat(')').then(|| Value::Variant(Box::new(inner)));
        }
        if self.eat('[') {
            return self.list(depth);
        }
        if self.eat('{') {
            return self.structure(depth);
        }
        if self.eat('<') {
            let data_type = self.ids.id(&self.quoted()?)?;
            let mut field = None;
            if self.eat(' ') {
                let number = self.number()?;
                self.eat(' ');
                field = Some((number, Box::new(self.value(depth + 1)?)));
            }
            return self.eat('>').then_some(Value::Union { data_type, field });
        }
        self.scalar()
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let builtin = u8::try_from(self.number()?).ok()?;
        let mut dimensions = Vec::new();
        let matrix = self.eat('x');
        if matrix {
            dimensions.push(self.number()?);
        }
        while matrix && self.eat(',') {
            dimensions.push(self.number()?);
        }
        let mut items = Vec::new();
        while self.eat(' ') {
            items.push(self.value(depth + 1)?);
        }
        if !self.eat(']') {
            return None;
        }
        Some(if matrix {
            Value::Matrix { builtin, dimensions, items }
        } else {
            Value::Array { builtin, items }
        })
    }

    fn structure(&mut self, depth: usize) -> Option<Value> {
        let data_type = self.ids.id(&self.quoted()?)?;
        let mut fields = Vec::new();
        while self.eat(' ') {
            let name = self.quoted()?;
            if !self.eat('=') {
                return None;
            }
            let value = if self.eat('~') { None } else { Some(self.value(depth + 1)?) };
            fields.push((name, value));
        }
        self.eat('}').then_some(Value::Structure { data_type, fields })
    }

    fn scalar(&mut self) -> Option<Value> {
        let builtin = self.number()?;
        if self.eat('-') {
            return match builtin {
                12 => Some(Value::String(None)),
                15 => Some(Value::ByteString(None)),
                16 => Some(Value::XmlElement(None)),
                _ => None,
            };
        }
        let text = self.quoted()?;
        Some(match builtin {
            1 => Value::Boolean(text.parse().ok()?),
            2 => Value::SByte(text.parse().ok()?),
            3 => Value::Byte(text.parse().ok()?),
            4 => Value::Int16(text.parse().ok()?),
            5 => Value::UInt16(text.parse().ok()?),
            6 => Value::Int32(text.parse().ok()?),
            7 => Value::UInt32(text.parse().ok()?),
            8 => Value::Int64(text.parse().ok()?),
            9 => Value::UInt64(text.parse().ok()?),
            10 => Value::Float(text.parse().ok()?),
            11 => Value::Double(text.parse().ok()?),
            12 => Value::String(Some(text.into())),
            13 => Value::DateTime(text.parse().ok()?),
            14 => match parse_ident(&text)? {
                Ident::Guid(bytes) => Value::Guid(bytes),
                _ => return None,
            },
            15 => Value::ByteString(Some(Arc::from(decode_base64(&text)?))),
            16 => Value::XmlElement(Some(text.into())),
            17 => Value::NodeId(self.ids.id(&text)?),
            18 => Value::ExpandedNodeId(self.ids.id(&text)?),
            19 => Value::StatusCode(text.parse().ok()?),
            20 => Value::QualifiedName(self.ids.name(&text)?),
            21 => {
                let locale = (!text.is_empty()).then_some(text);
                Value::LocalizedText(Text { locale, text: self.quoted()? })
            }
            _ => return None,
        })
    }
}
