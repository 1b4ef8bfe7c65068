//! Matrices: dimensions and elements (OPC 10000-6 §5.3.1.17, §5.3.4).

use super::{Reader, VARIANT, builtin_number};
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Value;
use crate::schema::Element;

impl<'a> Reader<'_, 'a> {
    /// A Matrix element; its items name their type.
    pub(super) fn matrix(&mut self, element: Element<'a>) -> Option<Value> {
        let dimensions = self.matrix_dimensions(element);
        let elements = element.child("Elements")?;
        let builtin =
            elements.children().next().and_then(|first| builtin_number(first.name())).unwrap_or(VARIANT);
        let items: Vec<Value> = elements.children().map(|item| self.item(builtin, item)).collect();
        self.finish_matrix(builtin, dimensions, items, element)
    }

    pub(super) fn matrix_dimensions(&mut self, element: Element<'a>) -> Vec<u32> {
        let Some(list) = element.child("Dimensions") else {
            return Vec::new();
        };
        let numbers = list.children().map(|item| match self.builtin(6, item) {
            Value::Int32(number) => u32::try_from(number).unwrap_or(0),
            _ => 0,
        });
        numbers.collect()
    }

    /// Checks that the dimensions make up the number of elements.
    pub(super) fn finish_matrix(
        &mut self,
        builtin: u8,
        dimensions: Vec<u32>,
        items: Vec<Value>,
        element: Element<'a>,
    ) -> Option<Value> {
        let product = dimensions.iter().try_fold(1u64, |product, size| product.checked_mul(u64::from(*size)));
        if product == Some(items.len() as u64) && !dimensions.is_empty() {
            return Some(Value::Matrix { builtin, dimensions, items });
        }
        let shown: Vec<String> = dimensions.iter().map(u32::to_string).collect();
        let message = format!("a matrix of dimensions [{}] has {} elements", shown.join(", "), items.len());
        self.report(
            Diagnostic::error(codes::MATRIX_MISMATCH, message)
                .at(element.name_span())
                .help("the product of the dimensions is the number of elements"),
        );
        None
    }
}
