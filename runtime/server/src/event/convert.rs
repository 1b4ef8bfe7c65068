//! Conversions between the types of operands (OPC 10000-4 §7.7.3): which of two types the other one is converted to,
//! and what is converted without being asked to.

use core::cmp::Ordering;
use std::sync::Arc;

use uaforge_codec::{
    BuiltinType, ExpandedNodeId, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
};

/// Types by precedence, the highest first: an operand of another type is converted to it.
const PRECEDENCE: [BuiltinType; 18] = [
    BuiltinType::Double,
    BuiltinType::Float,
    BuiltinType::Int64,
    BuiltinType::UInt64,
    BuiltinType::Int32,
    BuiltinType::UInt32,
    BuiltinType::StatusCode,
    BuiltinType::Int16,
    BuiltinType::UInt16,
    BuiltinType::SByte,
    BuiltinType::Byte,
    BuiltinType::Boolean,
    BuiltinType::Guid,
    BuiltinType::String,
    BuiltinType::ExpandedNodeId,
    BuiltinType::NodeId,
    BuiltinType::LocalizedText,
    BuiltinType::QualifiedName,
];

fn rank(builtin: BuiltinType) -> Option<usize> {
    PRECEDENCE.iter().position(|known| *known == builtin)
}

/// A number on its way to another type.
#[derive(Clone, Copy)]
enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    fn of(value: &Variant) -> Option<Self> {
        Some(match value {
            Variant::Boolean(value) => Self::Whole((*value).into()),
            Variant::SByte(value) => Self::Whole((*value).into()),
            Variant::Byte(value) => Self::Whole((*value).into()),
            Variant::Int16(value) => Self::Whole((*value).into()),
            Variant::UInt16(value) => Self::Whole((*value).into()),
            Variant::Int32(value) => Self::Whole((*value).into()),
            Variant::UInt32(value) => Self::Whole((*value).into()),
            Variant::Int64(value) => Self::Whole((*value).into()),
            Variant::UInt64(value) => Self::Whole((*value).into()),
            Variant::StatusCode(value) => Self::Whole(value.0.into()),
            Variant::Float(value) => Self::Real((*value).into()),
            Variant::Double(value) => Self::Real(*value),
            _ => return None,
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = text.parse().ok().map(Self::Whole);
        whole.or_else(|| text.parse().ok().filter(|value: &f64| !value.is_nan()).map(Self::Real))
    }

    fn whole<T: TryFrom<i128>>(self) -> Option<T> {
        let value = match self {
            Self::Whole(value) => value,
            // The nearest whole number; what is beyond every integer saturates, and is refused by the type.
            Self::Real(value) if value.is_nan() => return None,
            Self::Real(value) => value.round() as i128,
        };
        T::try_from(value).ok()
    }

    fn real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    fn into_variant(self, target: BuiltinType) -> Option<Variant> {
        Some(match target {
            BuiltinType::Boolean => Variant::Boolean(self.real() != 0.0),
            BuiltinType::SByte => Variant::SByte(self.whole()?),
            BuiltinType::Byte => Variant::Byte(self.whole()?),
            BuiltinType::Int16 => Variant::Int16(self.whole()?),
            BuiltinType::UInt16 => Variant::UInt16(self.whole()?),
            BuiltinType::Int32 => Variant::Int32(self.whole()?),
            BuiltinType::UInt32 => Variant::UInt32(self.whole()?),
            BuiltinType::Int64 => Variant::Int64(self.whole()?),
            BuiltinType::UInt64 => Variant::UInt64(self.whole()?),
            BuiltinType::StatusCode => Variant::StatusCode(StatusCode(self.whole()?)),
            BuiltinType::Float => Variant::Float(self.real() as f32),
            BuiltinType::Double => Variant::Double(self.real()),
            _ => return None,
        })
    }
}

/// The string form of a value, of types that have one.
fn text(value: &Variant) -> Option<String> {
    Some(match value {
        Variant::String(value) => value.as_str()?.to_owned(),
        Variant::LocalizedText(value) => value.text.as_str()?.to_owned(),
        Variant::QualifiedName(value) => value.to_string(),
        Variant::NodeId(value) => value.to_string(),
        Variant::ExpandedNodeId(value) => value.to_string(),
        Variant::Guid(value) => value.to_string(),
        Variant::DateTime(value) => value.to_string(),
        Variant::Boolean(value) => value.to_string(),
        Variant::Float(value) => value.to_string(),
        Variant::Double(value) => value.to_string(),
        value => match Number::of(value)? {
            Number::Whole(value) => value.to_string(),
            Number::Real(value) => value.to_string(),
        },
    })
}

fn from_text(text: &str, target: BuiltinType) -> Option<Variant> {
    Some(match target {
        BuiltinType::Boolean => match text.trim() {
            "true" | "True" | "TRUE" | "1" => Variant::Boolean(true),
            "false" | "False" | "FALSE" | "0" => Variant::Boolean(false),
            _ => return None,
        },
        BuiltinType::Guid => Variant::Guid(text.parse::<Guid>().ok()?),
        BuiltinType::NodeId => Variant::NodeId(text.parse::<NodeId>().ok()?),
        BuiltinType::ExpandedNodeId => {
            Variant::ExpandedNodeId(Arc::new(text.parse::<ExpandedNodeId>().ok()?))
        }
        BuiltinType::QualifiedName => Variant::QualifiedName(Arc::new(text.parse::<QualifiedName>().ok()?)),
        BuiltinType::LocalizedText => {
            Variant::LocalizedText(Arc::new(LocalizedText::new(UaString::NULL, text)))
        }
        BuiltinType::StatusCode => return None,
        target => return Number::parse(text)?.into_variant(target),
    })
}

/// Converts a value, whether the conversion is an implicit one or has to be asked for (Cast). `None` if there is no
/// such conversion or the value has no place in the type.
pub(super) fn cast(value: &Variant, target: BuiltinType) -> Option<Variant> {
    if value.is_array() {
        return None;
    }
    let source = value.builtin_type()?;
    if source == target {
        return Some(value.clone());
    }
    match (value, target) {
        (_, BuiltinType::String) => Some(Variant::String(text(value)?.into())),
        (Variant::String(text), target) => from_text(text.as_str()?, target),
        (Variant::NodeId(id), BuiltinType::ExpandedNodeId) => {
            Some(Variant::ExpandedNodeId(Arc::new(ExpandedNodeId::from(id.clone()))))
        }
        (Variant::ExpandedNodeId(id), BuiltinType::NodeId) => {
            (id.server_index == 0 && id.namespace_uri.is_null()).then(|| Variant::NodeId(id.node_id.clone()))
        }
        (Variant::QualifiedName(name), BuiltinType::LocalizedText) => {
            let text = LocalizedText::new(UaString::NULL, name.name.clone());
            Some(Variant::LocalizedText(Arc::new(text)))
        }
        _ => Number::of(value)?.into_variant(target),
    }
}

/// Whether a value of one type becomes one of another without a Cast: along the precedence, and only within the same
/// family of types.
fn is_implicit(source: BuiltinType, target: BuiltinType) -> bool {
    let is_number = |builtin| rank(builtin).is_some_and(|rank| rank <= 11);
    match (source, target) {
        (BuiltinType::StatusCode, target) => {
            !matches!(target, BuiltinType::Double | BuiltinType::Float) && is_number(target)
        }
        (source, BuiltinType::StatusCode) => matches!(source, BuiltinType::UInt16 | BuiltinType::UInt32),
        (BuiltinType::String, target) => target == BuiltinType::Guid || is_number(target),
        (BuiltinType::NodeId, target) => matches!(target, BuiltinType::ExpandedNodeId | BuiltinType::String),
        (BuiltinType::ExpandedNodeId | BuiltinType::LocalizedText, target) => target == BuiltinType::String,
        (BuiltinType::QualifiedName, target) => {
            matches!(target, BuiltinType::String | BuiltinType::LocalizedText)
        }
        (source, target) => is_number(source) && is_number(target),
    }
}

/// Both operands as values of one type; `None` if no implicit conversion leads there.
fn common(a: &Variant, b: &Variant) -> Option<(Variant, Variant)> {
    let (of_a, of_b) = (a.builtin_type()?, b.builtin_type()?);
    if of_a == of_b {
        return Some((a.clone(), b.clone()));
    }
    let (source, target) = if rank(of_a)? < rank(of_b)? { (of_b, of_a) } else { (of_a, of_b) };
    if !is_implicit(source, target) {
        return None;
    }
    Some((cast(a, target)?, cast(b, target)?))
}

/// Equality after conversion to a common type. Null arrays and empty ones of a type are equal.
pub(super) fn equals(a: &Variant, b: &Variant) -> bool {
    match (a, b) {
        (Variant::Array(left), Variant::Array(right)) => {
            left == right
                || (left.is_empty() && right.is_empty() && left.builtin_type() == right.builtin_type())
        }
        (Variant::LocalizedText(left), Variant::LocalizedText(right)) => left.text == right.text,
        _ if a.is_array() || b.is_array() => a == b,
        _ if a.is_null() || b.is_null() => a.is_null() && b.is_null(),
        _ => common(a, b).is_some_and(|(a, b)| a == b),
    }
}

/// The order of two values of ordered types; `None` if they have none.
pub(super) fn compare(a: &Variant, b: &Variant) -> Option<Ordering> {
    if a.is_array() || b.is_array() {
        return None;
    }
    let (a, b) = common(a, b)?;
    match (&a, &b) {
        (Variant::DateTime(a), Variant::DateTime(b)) => Some(a.0.cmp(&b.0)),
        (Variant::Boolean(_) | Variant::StatusCode(_), _) => None,
        _ => match (Number::of(&a)?, Number::of(&b)?) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (a, b) => a.real().partial_cmp(&b.real()),
        },
    }
}

/// What an operand says as a Boolean; `None` is NULL.
pub(super) fn truth(value: &Variant) -> Option<bool> {
    match value {
        Variant::Boolean(value) => Some(*value),
        Variant::String(_) => match cast(value, BuiltinType::Boolean)? {
            Variant::Boolean(value) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// What an operand says as a String.
pub(super) fn string(value: &Variant) -> Option<String> {
    match value.builtin_type()? {
        _ if value.is_array() => None,
        BuiltinType::String => text(value),
        source if is_implicit(source, BuiltinType::String) => text(value),
        _ => None,
    }
}

/// Two integers with the bits of both or of either, in the type that the operands have in common.
pub(super) fn bitwise(a: &Variant, b: &Variant, combine: fn(i128, i128) -> i128) -> Variant {
    let combined = || {
        if a.is_array() || b.is_array() {
            return None;
        }
        let (a, b) = common(a, b)?;
        let target = a.builtin_type()?;
        match (Number::of(&a)?, Number::of(&b)?) {
            (Number::Whole(a), Number::Whole(b)) if target != BuiltinType::Boolean => {
                Number::Whole(combine(a, b)).into_variant(target)
            }
            _ => None,
        }
    };
    combined().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_of_different_types_meet_at_the_higher_one() {
        let pairs: [(Variant, Variant); 9] = [
            (Variant::Int16(5), Variant::Double(5.0)),
            (Variant::UInt32(5), Variant::Int32(5)),
            (Variant::Byte(1), Variant::Boolean(true)),
            (Variant::from("12"), Variant::UInt64(12)),
            (Variant::from("0.5"), Variant::Float(0.5)),
            (Variant::from("true"), Variant::Boolean(true)),
            (Variant::NodeId(NodeId::numeric(1, 7)), Variant::from("ns=1;i=7")),
            (Variant::StatusCode(StatusCode(7)), Variant::UInt16(7)),
            (Variant::Array(Arc::new(uaforge_codec::VariantArray::null(BuiltinType::Byte))), {
                Variant::Array(Arc::new(uaforge_codec::VariantArray::Byte(Vec::new().into())))
            }),
        ];
        for (a, b) in pairs {
            assert!(equals(&a, &b) && equals(&b, &a), "{a:?} {b:?}");
        }
    }

    #[test]
    fn without_an_implicit_conversion_nothing_is_equal_or_ordered() {
        let pairs = [
            (Variant::from("abc"), Variant::Int32(1)),
            (Variant::Int32(-1), Variant::UInt32(u32::MAX)),
            (Variant::Null, Variant::Int32(0)),
            (Variant::StatusCode(StatusCode(7)), Variant::Double(7.0)),
            (Variant::from("i=7"), Variant::Int32(7)),
        ];
        for (a, b) in pairs {
            assert!(!equals(&a, &b) && !equals(&b, &a), "{a:?} {b:?}");
            assert_eq!(compare(&a, &b), None, "{a:?} {b:?}");
        }
        assert!(equals(&Variant::Null, &Variant::Null));
        assert_eq!(compare(&Variant::Double(f64::NAN), &Variant::Double(1.0)), None);
    }

    #[test]
    fn a_cast_says_no_where_a_value_has_no_place() {
        assert_eq!(cast(&Variant::Double(2.6), BuiltinType::Int32), Some(Variant::Int32(3)));
        assert_eq!(cast(&Variant::Double(1e30), BuiltinType::Int64), None);
        assert_eq!(cast(&Variant::Double(f64::NAN), BuiltinType::Byte), None);
        assert_eq!(cast(&Variant::Int32(256), BuiltinType::Byte), None);
        assert_eq!(cast(&Variant::Int32(7), BuiltinType::String), Some(Variant::from("7")));
        assert_eq!(cast(&Variant::Null, BuiltinType::String), None);
        assert_eq!(cast(&Variant::from("x"), BuiltinType::NodeId), None);
    }
}
