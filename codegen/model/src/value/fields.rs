//! Structures and unions by their fields; what is left out has its default (OPC 10000-6 §5.3.6 to §5.3.8).

use super::builtin::default;
use super::{EXTENSION_OBJECT, Reader, VARIANT, builtin_number, is_nil};
use crate::diagnostic::{Diagnostic, codes};
use crate::query::{DataTypeKind, Wire};
use crate::resolved::{Field, Id, Value};
use crate::schema::Element;

/// Deepest default of a structure that holds structures.
const MAX_DEFAULT_DEPTH: usize = 32;

impl<'a> Reader<'_, 'a> {
    /// A structure or union whose element is `element`.
    pub(super) fn structure(&mut self, data_type: &Id, element: Element<'a>) -> Value {
        let set = self.set;
        let fields: Vec<&Field> = set.all_fields(data_type).into_iter().map(|(_, field)| field).collect();
        let union = set.kind_of_data_type(data_type) == Some(DataTypeKind::Union);
        self.report_unknown(&fields, element, if union { "SwitchField" } else { "EncodingMask" });
        if union {
            return self.union(data_type, &fields, element);
        }
        let mask = self.control(element, "EncodingMask");
        let mut bit = 0;
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            let content = field_element(element, field);
            let mut present = content.is_some();
            if field.is_optional {
                let stated = mask.map(|mask| mask >> bit & 1 == 1);
                bit = (bit + 1).min(31);
                if stated == Some(false) && present {
                    let message = format!("EncodingMask says that {} is absent, but it is here", field.name);
                    self.warn(codes::MASK_MISMATCH, message, content.unwrap_or(element).name_span());
                }
                present |= stated == Some(true);
            }
            let value = match content {
                Some(content) => Some(self.field(field, content)),
                None if field.is_optional && !present => None,
                None => Some(self.field_default(field, 0)),
            };
            values.push((field.name.clone(), value));
        }
        Value::Structure { data_type: data_type.clone(), fields: values }
    }

    fn union(&mut self, data_type: &Id, fields: &[&Field], element: Element<'a>) -> Value {
        let stated = self.control(element, "SwitchField");
        let found =
            (1u32..).zip(fields).find_map(|(number, field)| Some((number, field_element(element, field)?)));
        let chosen = match (stated, found) {
            (Some(0), None) | (None, None) => None,
            (Some(number), found) if found.is_none_or(|(at, _)| at == number) => Some(number),
            (stated, Some((number, content))) => {
                if stated.is_some() {
                    let message = format!("SwitchField does not choose {}, which is here", content.name());
                    self.warn(codes::MASK_MISMATCH, message, content.name_span());
                }
                Some(number)
            }
            (Some(number), None) => Some(number),
        };
        let field = chosen.and_then(|number| Some((number, *fields.get(number as usize - 1)?)));
        let field = field.map(|(number, field)| {
            let value = match field_element(element, field) {
                Some(content) => self.field(field, content),
                None => self.field_default(field, 0),
            };
            (number, Box::new(value))
        });
        if let (Some(number), None) = (chosen, &field) {
            let message = format!("SwitchField {number} is beyond the {} fields", fields.len());
            let help = "SwitchField is the number of a field from 1, or 0 for none";
            self.report(Diagnostic::error(codes::MASK_MISMATCH, message).at(element.name_span()).help(help));
        }
        Value::Union { data_type: data_type.clone(), field }
    }

    fn control(&mut self, element: Element<'a>, name: &str) -> Option<u32> {
        match self.builtin(7, element.child(name)?) {
            Value::UInt32(number) => Some(number),
            _ => None,
        }
    }

    fn report_unknown(&mut self, fields: &[&Field], element: Element<'a>, control: &str) {
        for child in element.children().filter(|child| child.name() != control) {
            if !fields.iter().any(|field| is_named(field, child.name())) {
                self.unknown_field(child, element.name());
            }
        }
    }

    pub(super) fn unknown_field(&mut self, element: Element<'a>, owner: &str) {
        let message = format!("{} is no field of {owner}", element.name());
        self.report(
            Diagnostic::warning(codes::UNKNOWN_FIELD, message)
                .at(element.name_span())
                .help("the element is left out; fields are named by Name or SymbolicName of the definition"),
        );
    }

    /// The value of a field from its element.
    fn field(&mut self, field: &Field, element: Element<'a>) -> Value {
        if is_nil(element) {
            return self.field_default(field, 0);
        }
        let builtin = self.element_builtin(field);
        if field.value_rank == -1 {
            return self.element(field, builtin, element);
        }
        if element.child("Dimensions").is_some() || field.value_rank > 1 {
            let dimensions = self.matrix_dimensions(element);
            let Some(elements) = element.child("Elements") else {
                return Value::Null;
            };
            let items = elements.children().map(|item| self.element(field, builtin, item)).collect();
            return self.finish_matrix(builtin, dimensions, items, element).unwrap_or(Value::Null);
        }
        let items = element.children().map(|item| self.element(field, builtin, item)).collect();
        Value::Array { builtin, items }
    }

    /// The builtin number of a field's elements; 22 for structures, inline or not.
    fn element_builtin(&self, field: &Field) -> u8 {
        match self.set.wire(field) {
            Wire::Builtin(number) => number,
            Wire::Inline => EXTENSION_OBJECT,
        }
    }

    fn element(&mut self, field: &Field, builtin: u8, element: Element<'a>) -> Value {
        if is_nil(element) {
            return self.element_default(field, 0);
        }
        if self.set.wire(field) == Wire::Inline {
            return self.structure(&field.data_type, element);
        }
        if builtin == 6 && self.set.kind_of_data_type(&field.data_type) == Some(DataTypeKind::Enumeration) {
            return self.enumeration(element);
        }
        if builtin == VARIANT && element.child("Value").is_none() {
            // Seen in files: the value stands in the field without the Value element of a Variant.
            let content = element.children().next().filter(|child| builtin_number(child.name()).is_some());
            let inner = content.and_then(|content| self.any(content)).unwrap_or(Value::Null);
            return Value::Variant(Box::new(inner));
        }
        self.builtin(builtin, element)
    }

    /// An enumeration is written `Name_5`, or as its number alone (OPC 10000-6 §5.3.2).
    fn enumeration(&mut self, element: Element<'a>) -> Value {
        let text = element.text();
        let text = text.trim();
        let number = text.rsplit_once('_').map_or(text, |(_, number)| number);
        match number.parse() {
            Ok(number) => Value::Int32(number),
            Err(_) => self.builtin(6, element),
        }
    }

    fn field_default(&mut self, field: &Field, depth: usize) -> Value {
        if field.value_rank == -1 { self.element_default(field, depth) } else { Value::Null }
    }

    fn element_default(&mut self, field: &Field, depth: usize) -> Value {
        match self.set.wire(field) {
            Wire::Builtin(number) => default(number),
            Wire::Inline if depth < MAX_DEFAULT_DEPTH => self.structure_default(&field.data_type, depth + 1),
            Wire::Inline => Value::Null,
        }
    }

    fn structure_default(&mut self, data_type: &Id, depth: usize) -> Value {
        let data_type = data_type.clone();
        if *self.defaults == 0 {
            return Value::Null;
        }
        if self.set.kind_of_data_type(&data_type) == Some(DataTypeKind::Union) {
            return Value::Union { data_type, field: None };
        }
        let set = self.set;
        let fields = set.all_fields(&data_type).into_iter().map(|(_, field)| {
            *self.defaults = self.defaults.saturating_sub(1);
            let value = (!field.is_optional).then(|| self.field_default(field, depth));
            (field.name.clone(), value)
        });
        let fields = fields.collect();
        Value::Structure { data_type, fields }
    }
}

fn is_named(field: &Field, name: &str) -> bool {
    field.name == name || field.symbolic_name.as_deref() == Some(name)
}

fn field_element<'a>(element: Element<'a>, field: &Field) -> Option<Element<'a>> {
    element.children().find(|child| is_named(field, child.name()))
}
