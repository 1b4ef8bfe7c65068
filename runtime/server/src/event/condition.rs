//! The where clause of an EventFilter (ContentFilter, OPC 10000-4 §7.7), checked and evaluated.
//!
//! Operands lead from an element to later ones only. So the elements are evaluated from the last one to the first, each
//! once, without recursion, whatever a client sends.

use core::cmp::Ordering;

use uaforge_codec::{Array, BuiltinType, ExtensionObject, NodeId, NodeIdRef, StatusCode, Variant};
use uaforge_nodes::Snapshot;
use uaforge_types::{
    ContentFilter, ContentFilterElement, ContentFilterElementResult, ContentFilterResult, ElementOperand,
    FilterOperator, LiteralOperand, SimpleAttributeOperand, status,
};

use super::convert::{bitwise, cast, compare, equals, string, truth};
use super::field::{EventTypes, Field};
use super::like::is_like;
use super::occurrence::Occurrence;

/// A checked where clause; without elements every event passes.
#[derive(Debug)]
pub(super) struct Condition(Box<[Element]>);

#[derive(Debug)]
struct Element {
    operator: FilterOperator,
    operands: Box<[Operand]>,
}

#[derive(Debug)]
enum Operand {
    /// The result of a later element.
    Element(usize),
    Literal(Variant),
    Field(Box<Field>),
}

/// How many operands an operator has, at least and at most; `None` if there is no such operator.
fn operand_count(operator: FilterOperator) -> Option<(usize, usize)> {
    Some(match operator {
        FilterOperator::IS_NULL | FilterOperator::NOT | FilterOperator::OF_TYPE | FilterOperator::IN_VIEW => {
            (1, 1)
        }
        FilterOperator::EQUALS
        | FilterOperator::GREATER_THAN
        | FilterOperator::LESS_THAN
        | FilterOperator::GREATER_THAN_OR_EQUAL
        | FilterOperator::LESS_THAN_OR_EQUAL
        | FilterOperator::LIKE
        | FilterOperator::AND
        | FilterOperator::OR
        | FilterOperator::CAST
        | FilterOperator::BITWISE_AND
        | FilterOperator::BITWISE_OR => (2, 2),
        FilterOperator::BETWEEN => (3, 3),
        FilterOperator::IN_LIST => (2, usize::MAX),
        FilterOperator::RELATED_TO => (6, 6),
        _ => return None,
    })
}

impl Condition {
    /// Checks a where clause.
    ///
    /// # Errors
    /// What is wrong with which element and operand (OPC 10000-4 §7.7.2).
    pub(super) fn check(filter: &ContentFilter, types: &EventTypes<'_>) -> Result<Self, ContentFilterResult> {
        let count = filter.elements.len();
        let checked: Vec<Result<Element, ContentFilterElementResult>> = filter
            .elements
            .iter()
            .enumerate()
            .map(|(index, element)| Element::check(element, index, count, types))
            .collect();
        if checked.iter().all(Result::is_ok) {
            return Ok(Self(checked.into_iter().filter_map(Result::ok).collect()));
        }
        let results: Vec<ContentFilterElementResult> =
            checked.into_iter().map(|element| element.err().unwrap_or_default()).collect();
        Err(ContentFilterResult {
            element_results: Array::from(results),
            element_diagnostic_infos: Array::default(),
        })
    }

    /// Whether an event meets the condition: NULL is not enough.
    pub(super) fn is_true(&self, occurrence: &Occurrence<'_>) -> bool {
        let mut results = vec![Variant::Null; self.0.len()];
        for (index, element) in self.0.iter().enumerate().rev() {
            let result = element.evaluate(&results, occurrence);
            if let Some(place) = results.get_mut(index) {
                *place = result;
            }
        }
        results.first().is_none_or(|first| truth(first) == Some(true))
    }
}

impl Element {
    fn check(
        element: &ContentFilterElement,
        index: usize,
        count: usize,
        types: &EventTypes<'_>,
    ) -> Result<Self, ContentFilterElementResult> {
        let refused = |status_code| ContentFilterElementResult { status_code, ..Default::default() };
        let operator = element.filter_operator;
        let (least, most) =
            operand_count(operator).ok_or_else(|| refused(status::BAD_FILTER_OPERATOR_INVALID))?;
        // Events are of no View, and there is nothing that they could be related to (OPC 10000-4 §7.22.3).
        if matches!(operator, FilterOperator::IN_VIEW | FilterOperator::RELATED_TO) {
            return Err(refused(status::BAD_FILTER_OPERATOR_UNSUPPORTED));
        }
        let operands = &element.filter_operands;
        if !(least..=most).contains(&operands.len()) {
            return Err(refused(status::BAD_FILTER_OPERAND_COUNT_MISMATCH));
        }
        let checked: Vec<Result<Operand, StatusCode>> = operands
            .iter()
            .enumerate()
            .map(|(place, operand)| {
                let operand = Operand::check(operand, index, count, types)?;
                operand.check_place(operator, place, types.snapshot).map(|()| operand)
            })
            .collect();
        if checked.iter().all(Result::is_ok) {
            let operands = checked.into_iter().filter_map(Result::ok).collect();
            return Ok(Self { operator, operands });
        }
        let of_operand = |operand: Result<Operand, StatusCode>| operand.err().unwrap_or_default();
        Err(ContentFilterElementResult {
            status_code: status::BAD_FILTER_OPERAND_INVALID,
            operand_status_codes: checked.into_iter().map(of_operand).collect(),
            operand_diagnostic_infos: Array::default(),
        })
    }

    /// The result of the operator (OPC 10000-4 §7.7.3).
    fn evaluate(&self, results: &[Variant], occurrence: &Occurrence<'_>) -> Variant {
        let value = |index: usize| match self.operands.get(index) {
            Some(Operand::Element(element)) => results.get(*element).cloned().unwrap_or_default(),
            Some(Operand::Literal(literal)) => literal.clone(),
            Some(Operand::Field(field)) => occurrence.value(field),
            None => Variant::Null,
        };
        let ordered = |fits: fn(Ordering) -> bool| compare(&value(0), &value(1)).is_some_and(fits);
        let result = match self.operator {
            FilterOperator::EQUALS => Some(equals(&value(0), &value(1))),
            FilterOperator::IS_NULL => Some(value(0).is_null()),
            FilterOperator::GREATER_THAN => Some(ordered(Ordering::is_gt)),
            FilterOperator::LESS_THAN => Some(ordered(Ordering::is_lt)),
            FilterOperator::GREATER_THAN_OR_EQUAL => Some(ordered(Ordering::is_ge)),
            FilterOperator::LESS_THAN_OR_EQUAL => Some(ordered(Ordering::is_le)),
            FilterOperator::LIKE => {
                let texts = string(&value(0)).zip(string(&value(1)));
                Some(texts.is_some_and(|(text, pattern)| is_like(&text, &pattern)))
            }
            FilterOperator::NOT => truth(&value(0)).map(|value| !value),
            FilterOperator::BETWEEN => {
                let middle = value(0);
                let is_above = compare(&middle, &value(1)).is_some_and(Ordering::is_ge);
                Some(is_above && compare(&middle, &value(2)).is_some_and(Ordering::is_le))
            }
            FilterOperator::IN_LIST => {
                let wanted = value(0);
                Some((1..self.operands.len()).any(|index| equals(&wanted, &value(index))))
            }
            // Three-valued logic: what is decided without a NULL is decided.
            FilterOperator::AND => match (truth(&value(0)), truth(&value(1))) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            FilterOperator::OR => match (truth(&value(0)), truth(&value(1))) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            FilterOperator::OF_TYPE => Some(match value(0) {
                Variant::NodeId(event_type) => occurrence.is_a(&event_type),
                _ => false,
            }),
            FilterOperator::CAST => return cast_to(occurrence.snapshot, &value(0), &value(1)),
            FilterOperator::BITWISE_AND => return bitwise(&value(0), &value(1), |a, b| a & b),
            FilterOperator::BITWISE_OR => return bitwise(&value(0), &value(1), |a, b| a | b),
            _ => None,
        };
        result.map_or(Variant::Null, Variant::Boolean)
    }
}

impl Operand {
    fn check(
        operand: &ExtensionObject,
        index: usize,
        count: usize,
        types: &EventTypes<'_>,
    ) -> Result<Self, StatusCode> {
        if let Some(element) = operand.downcast_ref::<ElementOperand>() {
            // Only a later element: so no evaluation comes back to where it was.
            let to = usize::try_from(element.index).ok().filter(|to| (index + 1..count).contains(to));
            return to.map(Self::Element).ok_or(status::BAD_FILTER_ELEMENT_INVALID);
        }
        if let Some(literal) = operand.downcast_ref::<LiteralOperand>() {
            return Ok(Self::Literal(literal.value.clone()));
        }
        if let Some(field) = operand.downcast_ref::<SimpleAttributeOperand>() {
            return Field::check(field, types).map(|field| Self::Field(Box::new(field)));
        }
        // AttributeOperands name no fields of events (OPC 10000-4 §7.22.3).
        Err(status::BAD_FILTER_OPERAND_INVALID)
    }

    /// Whether a literal can be an operand of this operator at all.
    fn check_place(
        &self,
        operator: FilterOperator,
        place: usize,
        snapshot: &Snapshot,
    ) -> Result<(), StatusCode> {
        let Self::Literal(literal) = self else { return Ok(()) };
        match (operator, place, literal) {
            (FilterOperator::OF_TYPE, _, Variant::NodeId(event_type)) => {
                let is_known = super::types::is_operand_type(snapshot, event_type.as_ref());
                if is_known { Ok(()) } else { Err(status::BAD_TYPE_DEFINITION_INVALID) }
            }
            (FilterOperator::CAST, 1, Variant::NodeId(data_type)) => {
                let is_known = builtin_of(snapshot, data_type).is_some();
                if is_known { Ok(()) } else { Err(status::BAD_TYPE_DEFINITION_INVALID) }
            }
            (FilterOperator::OF_TYPE, ..) | (FilterOperator::CAST, 1, _) => {
                Err(status::BAD_FILTER_LITERAL_INVALID)
            }
            (FilterOperator::LIKE, _, literal) if string(literal).is_none() => {
                Err(status::BAD_FILTER_LITERAL_INVALID)
            }
            _ => Ok(()),
        }
    }
}

/// Highest id of a DataType that stands for a builtin type (OPC 10000-6 §5.1.2).
const LAST_BUILTIN: u32 = 25;
/// Enumeration, whose subtypes are Int32 on the wire (OPC 10000-3 §8.14).
const ENUMERATION: NodeIdRef<'static> = NodeIdRef::Numeric(0, 29);

/// The builtin type that values of a DataType have.
fn builtin_of(snapshot: &Snapshot, data_type: &NodeId) -> Option<BuiltinType> {
    let start = snapshot.node(data_type.as_ref())?;
    if snapshot.is_subtype(data_type.as_ref(), ENUMERATION) {
        return Some(BuiltinType::Int32);
    }
    core::iter::successors(Some(start), |node| node.supertype()).take(100).find_map(|node| match node.id() {
        NodeIdRef::Numeric(0, id @ 1..=LAST_BUILTIN) if id != BuiltinType::Variant as u32 => {
            BuiltinType::from_number(u8::try_from(id).ok()?)
        }
        _ => None,
    })
}

fn cast_to(snapshot: &Snapshot, value: &Variant, data_type: &Variant) -> Variant {
    let Variant::NodeId(data_type) = data_type else { return Variant::Null };
    builtin_of(snapshot, data_type).and_then(|target| cast(value, target)).unwrap_or_default()
}
