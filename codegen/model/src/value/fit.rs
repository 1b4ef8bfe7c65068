//! A value against its variable: what does not fit is reported, and converted, wrapped or dropped.

use super::{EXTENSION_OBJECT, Expected, Reader, VARIANT};
use crate::diagnostic::codes;
use crate::query::builtin_name;
use crate::query::well_known::OPTION_SET;
use crate::resolved::{Id, Span, Value};

impl Reader<'_, '_> {
    pub(super) fn fit(&mut self, value: Value, expected: &Expected, span: Span) -> Option<Value> {
        let builtin = self.set.builtin_type(&expected.data_type);
        let value = match value {
            Value::Array { builtin: found, items } => {
                let items = self.fit_items(found, items, builtin, expected, span)?;
                Value::Array { builtin: if builtin == VARIANT { found } else { builtin }, items }
            }
            Value::Matrix { builtin: found, dimensions, items } => {
                let items = self.fit_items(found, items, builtin, expected, span)?;
                Value::Matrix { builtin: if builtin == VARIANT { found } else { builtin }, dimensions, items }
            }
            Value::Null => return Some(Value::Null),
            scalar => self.fit_one(scalar, builtin, expected, span)?,
        };
        self.fit_rank(value, expected.value_rank, builtin, span)
    }

    fn fit_rank(&mut self, value: Value, rank: i32, builtin: u8, span: Span) -> Option<Value> {
        let found = match &value {
            Value::Array { .. } => 1,
            Value::Matrix { dimensions, .. } => dimensions.len(),
            _ => 0,
        };
        let fits = match rank {
            -3 => found <= 1,
            -2 => true,
            -1 => found == 0,
            0 => found >= 1,
            _ => found == rank as usize,
        };
        if fits {
            return Some(value);
        }
        if found == 0 && matches!(rank, 0 | 1) {
            let message = "a single value on an array variable: taken as an array of one".to_owned();
            self.warn(codes::VALUE_DOES_NOT_FIT, message, span);
            let builtin = if builtin == VARIANT { number_of(&value) } else { builtin };
            return Some(Value::Array { builtin, items: vec![value] });
        }
        // An array of bytes and a ByteString are the same to a variable of type Byte[].
        let message = format!("a value of {found} dimensions on a variable of ValueRank {rank}: left out");
        self.warn(codes::VALUE_DOES_NOT_FIT, message, span);
        None
    }

    fn fit_items(
        &mut self,
        found: u8,
        items: Vec<Value>,
        builtin: u8,
        expected: &Expected,
        span: Span,
    ) -> Option<Vec<Value>> {
        if builtin == VARIANT || (found == builtin && builtin != EXTENSION_OBJECT) {
            return Some(items);
        }
        items.into_iter().map(|item| self.fit_one(item, builtin, expected, span)).collect()
    }

    fn fit_one(&mut self, value: Value, builtin: u8, expected: &Expected, span: Span) -> Option<Value> {
        let found = number_of(&value);
        let of_type = match &value {
            Value::Structure { data_type, .. } | Value::Union { data_type, .. } => {
                // An option set without encodings of its own is written as an OptionSet.
                self.set.is_subtype_of(data_type, &expected.data_type)
                    || (*data_type == OPTION_SET && self.set.is_option_set_structure(&expected.data_type))
            }
            _ => found == builtin || matches!(value, Value::Null),
        };
        if of_type || builtin == VARIANT {
            return Some(value);
        }
        let wanted = self.name_of(&expected.data_type);
        if let Some(converted) = convert(&value, builtin) {
            let message = format!("{} on a variable of type {wanted}: converted", builtin_name(found));
            self.warn(codes::VALUE_DOES_NOT_FIT, message, span);
            return Some(converted);
        }
        let name = match &value {
            Value::Structure { data_type, .. } | Value::Union { data_type, .. } => self.name_of(data_type),
            _ => builtin_name(found).to_owned(),
        };
        let message = format!("{name} on a variable of type {wanted}: left out");
        self.warn(codes::VALUE_DOES_NOT_FIT, message, span);
        None
    }

    fn name_of(&self, id: &Id) -> String {
        self.set.node(id).map_or_else(|| self.set.id_text(id), |node| node.browse_name.name.to_string())
    }
}

/// The builtin number of a value.
fn number_of(value: &Value) -> u8 {
    match value {
        Value::Boolean(_) => 1,
        Value::SByte(_) => 2,
        Value::Byte(_) => 3,
        Value::Int16(_) => 4,
        Value::UInt16(_) => 5,
        Value::Int32(_) => 6,
        Value::UInt32(_) => 7,
        Value::Int64(_) => 8,
        Value::UInt64(_) => 9,
        Value::Float(_) => 10,
        Value::Double(_) => 11,
        Value::String(_) => 12,
        Value::DateTime(_) => 13,
        Value::Guid(_) => 14,
        Value::ByteString(_) => 15,
        Value::XmlElement(_) => 16,
        Value::NodeId(_) => 17,
        Value::ExpandedNodeId(_) => 18,
        Value::StatusCode(_) => 19,
        Value::QualifiedName(_) => 20,
        Value::LocalizedText(_) => 21,
        Value::DataValue(_) => 23,
        Value::DiagnosticInfo(_) => 25,
        Value::Structure { .. }
        | Value::Union { .. }
        | Value::OpaqueXml { .. }
        | Value::OpaqueBinary { .. } => 22,
        Value::Array { builtin, .. } | Value::Matrix { builtin, .. } => *builtin,
        Value::Null | Value::Variant(_) => 24,
    }
}

/// Numbers of another width or sign where they fit, String for LocalizedText.
fn convert(value: &Value, builtin: u8) -> Option<Value> {
    if let (Value::String(Some(text)), 21) = (value, builtin) {
        return Some(Value::LocalizedText(crate::resolved::Text { locale: None, text: text.to_string() }));
    }
    if let Value::Float(number) = value {
        return (builtin == 11).then(|| Value::Double(f64::from(*number)));
    }
    let number: i128 = match value {
        Value::SByte(number) => i128::from(*number),
        Value::Byte(number) => i128::from(*number),
        Value::Int16(number) => i128::from(*number),
        Value::UInt16(number) => i128::from(*number),
        Value::Int32(number) => i128::from(*number),
        Value::UInt32(number) => i128::from(*number),
        Value::Int64(number) => i128::from(*number),
        Value::UInt64(number) => i128::from(*number),
        Value::Double(number) => {
            let narrow = *number as f32;
            let exact = f64::from(narrow) == *number || number.is_nan();
            return (builtin == 10 && exact).then_some(Value::Float(narrow));
        }
        _ => return None,
    };
    integer(number, builtin)
}

fn integer(number: i128, builtin: u8) -> Option<Value> {
    match builtin {
        2 => number.try_into().ok().map(Value::SByte),
        3 => number.try_into().ok().map(Value::Byte),
        4 => number.try_into().ok().map(Value::Int16),
        5 => number.try_into().ok().map(Value::UInt16),
        6 => number.try_into().ok().map(Value::Int32),
        7 => number.try_into().ok().map(Value::UInt32),
        8 => number.try_into().ok().map(Value::Int64),
        9 => number.try_into().ok().map(Value::UInt64),
        10 => (number.unsigned_abs() <= 1 << 24).then_some(Value::Float(number as f32)),
        11 => (number.unsigned_abs() <= 1 << 53).then_some(Value::Double(number as f64)),
        19 => number.try_into().ok().map(Value::StatusCode),
        _ => None,
    }
}
