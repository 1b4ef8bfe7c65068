//! DataTypeDefinition and its fields (OPC 10000-6 §F.12, §F.13).

use super::scalars::{text, texts};
use super::{Context, Resolver};
use crate::resolved::{Definition, Field, Id};
use crate::schema::{Element, Spanned, required};

impl<'a> Resolver<'a, '_> {
    pub(super) fn definition(
        &mut self,
        context: &Context<'a>,
        element: Element<'a>,
        node: &str,
    ) -> Definition {
        let fields = element.children().filter(|child| child.name() == "Field");
        let fields = fields.filter_map(|field| self.field(context, field, node)).collect();
        Definition {
            symbolic_name: text(element, "SymbolicName"),
            is_union: self.flag(element, "IsUnion", false),
            is_option_set: self.flag(element, "IsOptionSet", false),
            fields,
        }
    }

    fn field(&mut self, context: &Context<'a>, element: Element<'a>, node: &str) -> Option<Field> {
        required(element, "Name", self.diagnostics)?;
        let name = element.attribute("Name").map(|name| name.value.to_owned()).unwrap_or_default();
        let data_type = element.attribute("DataType");
        let data_type = data_type.and_then(|text| self.id(context, text, Some(node)));
        Some(Field {
            name,
            symbolic_name: text(element, "SymbolicName"),
            data_type: data_type.unwrap_or(Id::ns0(24)),
            value_rank: self.number(element, "ValueRank", -1),
            array_dimensions: self.dimensions(element),
            max_string_length: self.number(element, "MaxStringLength", 0),
            value: self.optional_number(element, "Value"),
            is_optional: self.flag(element, "IsOptional", false),
            allow_sub_types: self.flag(element, "AllowSubTypes", false),
            display_name: texts(element, "DisplayName"),
            description: texts(element, "Description"),
            span: element.span(),
        })
    }

    /// The id in an element's text.
    pub(super) fn id_in(&mut self, context: &Context<'a>, element: Element<'a>, node: &str) -> Option<Id> {
        let content = element.text();
        let text = Spanned { value: content.as_ref(), span: element.text_span() };
        self.id(context, text, Some(node))
    }
}
