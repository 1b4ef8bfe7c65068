//! Checks of types over the finished set: supertypes, fields, values and bits.

use std::collections::{BTreeMap, HashSet};

use super::containment::{self, Sizes};
use super::context::Tables;
use crate::diagnostic::{Diagnostic, codes};
use crate::query::well_known::{HAS_SUBTYPE, HAS_TYPE_DEFINITION};
use crate::query::{Components, DataTypeKind, builtin_name};
use crate::resolved::{Field, Id, ModelSet, Node, NodeClass};

/// Types that have no supertype: BaseDataType, References, BaseObjectType, BaseVariableType.
const ROOTS: [u32; 4] = [24, 31, 58, 62];

/// Checks the types of all models that came as documents.
pub(super) fn check(set: &ModelSet, tables: &Tables, diagnostics: &mut Vec<Diagnostic>) {
    let always = containment::always(set);
    let mut checker =
        Checker { set, tables, diagnostics, always: Components::new(&always), sizes: Sizes::new(set) };
    for node in set.models.iter().filter(|model| !model.from_interface).flat_map(|model| model.nodes.values())
    {
        match node.class {
            NodeClass::Object | NodeClass::Variable => checker.type_definition(node),
            NodeClass::Method | NodeClass::View => {}
            _ => checker.supertype(node),
        }
        if node.class == NodeClass::DataType {
            checker.data_type(node);
        }
    }
}

struct Checker<'s, 'd> {
    set: &'s ModelSet,
    tables: &'s Tables,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// Structures in fields that are always there.
    always: Components<'d>,
    sizes: Sizes<'s>,
}

impl<'s> Checker<'s, '_> {
    fn report(&mut self, diagnostic: Diagnostic, node: &Node) {
        let text = self.tables.text(&self.set.uris, &node.id, node.span);
        let diagnostic = if diagnostic.span.is_none() { diagnostic.at(node.span) } else { diagnostic };
        self.diagnostics.push(diagnostic.node(text));
    }

    /// Name and id, for messages.
    fn name(&self, node: &Node) -> String {
        format!("{} ({})", node.browse_name.name, self.tables.text(&self.set.uris, &node.id, node.span))
    }

    fn type_definition(&mut self, node: &Node) {
        let links = self.set.forward(&node.id).iter();
        match links.filter(|link| link.reference_type == HAS_TYPE_DEFINITION).count() {
            0 => {
                let message = format!("{} has no type definition", self.name(node));
                let help = "add a HasTypeDefinition reference to its ObjectType or VariableType";
                self.report(Diagnostic::warning(codes::NO_TYPE_DEFINITION, message).help(help), node);
            }
            1 => {}
            count => {
                let message = format!("{} has {count} type definitions", self.name(node));
                let help = "keep one HasTypeDefinition reference";
                self.report(Diagnostic::error(codes::SEVERAL_TYPE_DEFINITIONS, message).help(help), node);
            }
        }
    }

    fn supertype(&mut self, node: &Node) {
        let bases: Vec<&Id> = self
            .set
            .inverse(&node.id)
            .iter()
            .filter(|link| link.reference_type == HAS_SUBTYPE)
            .map(|link| &link.target)
            .collect();
        let root = node.id.ns0_number().is_some_and(|number| ROOTS.contains(&number));
        let message = match bases.len() {
            0 if root => return,
            0 => {
                let message = format!("{} has no supertype", self.name(node));
                let help = "add an inverse HasSubtype reference to its supertype";
                return self.report(Diagnostic::error(codes::NO_SUPERTYPE, message).help(help), node);
            }
            1 => String::new(),
            count => format!("{} has {count} supertypes", self.name(node)),
        };
        if !message.is_empty() {
            let help = "keep one; OPC UA types have single inheritance, use HasInterface for more";
            self.report(Diagnostic::error(codes::SEVERAL_SUPERTYPES, message).help(help), node);
        }
        if self.in_cycle(&node.id) {
            let message = format!("{} is its own supertype, directly or through others", self.name(node));
            self.report(
                Diagnostic::error(codes::SUBTYPE_CYCLE, message)
                    .help("correct the HasSubtype reference that leads back"),
                node,
            );
        }
    }

    fn in_cycle(&self, id: &Id) -> bool {
        let mut seen = HashSet::new();
        let mut next = self.set.supertype(id);
        while let Some(base) = next {
            if base == id {
                return true;
            }
            if !seen.insert(base) {
                return false;
            }
            next = self.set.supertype(base);
        }
        false
    }

    fn data_type(&mut self, node: &'s Node) {
        match self.set.kind_of_data_type(&node.id) {
            Some(DataTypeKind::Enumeration) => self.enumeration(node),
            Some(DataTypeKind::OptionSet) => self.option_set(node, width(self.set.builtin_type(&node.id))),
            Some(DataTypeKind::Structure) if self.set.is_option_set_structure(&node.id) => {
                self.option_set(node, i64::from(u16::MAX));
            }
            Some(kind @ (DataTypeKind::Structure | DataTypeKind::Union)) => {
                self.structure(node, kind == DataTypeKind::Union);
            }
            _ => {}
        }
    }

    fn enumeration(&mut self, node: &Node) {
        for field in own(node) {
            if field.value.is_none_or(|value| i32::try_from(value).is_err()) {
                let value =
                    field.value.map_or_else(|| "no value".to_owned(), |value| format!("the value {value}"));
                let message = format!("{} of {} has {value}", field.name, self.name(node));
                let help = "a value of an enumeration is an Int32";
                let diagnostic =
                    Diagnostic::error(codes::ENUMERATION_VALUE, message).at(field.span).help(help);
                self.report(diagnostic, node);
            }
        }
        self.unique_names(node, own(node));
        self.unique_values(node);
    }

    fn option_set(&mut self, node: &Node, bits: i64) {
        for field in own(node) {
            if field.value.is_none_or(|bit| !(0..bits).contains(&bit)) {
                let bit = field.value.map_or_else(|| "no bit".to_owned(), |bit| format!("bit {bit}"));
                let message = format!("{} of {} has {bit}", field.name, self.name(node));
                let help = format!("Value is a bit number from 0 to {}", bits - 1);
                let diagnostic = Diagnostic::error(codes::OPTION_SET_BIT, message).at(field.span).help(help);
                self.report(diagnostic, node);
            }
        }
        self.unique_names(node, own(node));
        self.unique_values(node);
    }

    fn unique_names(&mut self, node: &Node, fields: &[Field]) {
        let mut seen = BTreeMap::new();
        for field in fields {
            if let Some(first) = seen.insert(field.name.as_str(), field) {
                let message = format!("{} stands twice in {}", field.name, self.name(node));
                let diagnostic = Diagnostic::error(codes::DUPLICATE_FIELD, message)
                    .at(field.span)
                    .help("names are unique in a type, inherited ones included")
                    .label(first.span, "the first one is here");
                self.report(diagnostic, node);
            }
        }
    }

    fn unique_values(&mut self, node: &Node) {
        let mut seen = BTreeMap::new();
        for field in own(node) {
            let Some(value) = field.value else { continue };
            if let Some(first) = seen.insert(value, field) {
                let message = format!("{} and {} are both {value}", first.name, field.name);
                let diagnostic = Diagnostic::warning(codes::DUPLICATE_VALUE, message)
                    .at(field.span)
                    .help("where a value is shown by name, the first name is taken")
                    .label(first.span, "the first one is here");
                self.report(diagnostic, node);
            }
        }
    }

    fn structure(&mut self, node: &'s Node, union: bool) {
        let all: Vec<Field> =
            self.set.all_fields(&node.id).into_iter().map(|(_, field)| field.clone()).collect();
        if !own(node).is_empty() {
            self.unique_names(node, &all);
        }
        let says_union = node.definition.as_ref().is_some_and(|definition| definition.is_union);
        if says_union != union && node.definition.is_some() && node.id.ns0_number() != Some(12756) {
            let (says, is) = if union { ("no IsUnion", "a union") } else { ("IsUnion", "no union") };
            let message =
                format!("the definition of {} has {says}, but by its supertype it is {is}", self.name(node));
            let help = "unions derive from Union (i=12756) and have IsUnion=\"true\"";
            self.report(Diagnostic::warning(codes::UNION_MISMATCH, message).help(help), node);
        }
        let optional = all.iter().filter(|field| field.is_optional).count();
        let subtyped = all.iter().any(|field| field.allow_sub_types);
        if optional > 0 && (union || subtyped) {
            let what = if union { "a union" } else { "a structure whose fields allow subtypes" };
            let message = format!("{} has optional fields, but is {what}", self.name(node));
            self.report(
                Diagnostic::warning(codes::MIXED_STRUCTURE, message)
                    .help("remove IsOptional, or AllowSubTypes"),
                node,
            );
        }
        if optional > 32 {
            let message = format!("{} has {optional} optional fields", self.name(node));
            let help = "the EncodingMask has 32 bits for the whole chain of types";
            self.report(Diagnostic::error(codes::TOO_MANY_OPTIONAL, message).help(help), node);
        }
        if self.always.is_cyclic(&node.id) {
            let message = format!("{} contains itself in a field that is always there", self.name(node));
            let help = "make the field optional or an array, or the type has no finite value";
            self.report(Diagnostic::error(codes::INFINITE_STRUCTURE, message).help(help), node);
        }
        if let Some(size) = self.sizes.too_large(&node.id) {
            let message = format!(
                "{} is too large: with the structures in its fields it takes {size} bytes, more than {}",
                self.name(node),
                containment::MAX_SIZE
            );
            let help = "make a field with a large structure an array or optional with subtypes allowed";
            self.report(Diagnostic::error(codes::STRUCTURE_TOO_LARGE, message).help(help), node);
        }
    }
}

fn own(node: &Node) -> &[Field] {
    node.definition.as_ref().map_or(&[], |definition| &definition.fields)
}

/// Bits of an unsigned integer.
fn width(builtin: u8) -> i64 {
    match builtin_name(builtin) {
        "Byte" => 8,
        "UInt16" => 16,
        "UInt32" => 32,
        _ => 64,
    }
}
