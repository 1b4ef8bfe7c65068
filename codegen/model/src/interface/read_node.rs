//! Node, definition, field, value and reference lines of an interface file.

use std::collections::BTreeMap;

use super::text::unescape;
use super::value_read::read_value;
use crate::canonical::class_of;
use crate::ids::{NamespacePart, parse_node_id, shared, split_qualified_name};
use crate::resolved::{Definition, Field, Id, Ident, Node, Ns, QName, Span, Text, Triple};

/// The file's indexes to namespaces of the set.
pub(super) struct Ids<'a> {
    pub(super) namespaces: &'a [Ns],
}

impl Ids<'_> {
    pub(super) fn id(&self, text: &str) -> Option<Id> {
        // Nearly all ids of nearly all files, without the general parser.
        if let Some(number) = text.strip_prefix("i=") {
            return Some(Id::ns0(number.parse().ok()?));
        }
        match parse_node_id(text)? {
            (NamespacePart::Index(index), ident) => {
                Some(Id { ns: *self.namespaces.get(index as usize)?, ident })
            }
            (NamespacePart::Uri(_), _) => None,
        }
    }

    pub(super) fn name(&self, text: &str) -> Option<QName> {
        let (index, name) = split_qualified_name(text);
        Some(QName { ns: *self.namespaces.get(index as usize)?, name: shared(name) })
    }
}

pub(super) struct Body<'a> {
    ids: &'a Ids<'a>,
    nodes: BTreeMap<Ident, Node>,
    references: Vec<Triple>,
    current: Option<Node>,
}

impl<'a> Body<'a> {
    pub(super) fn new(ids: &'a Ids<'a>) -> Self {
        Self { ids, nodes: BTreeMap::new(), references: Vec::new(), current: None }
    }

    pub(super) fn finish(mut self) -> (BTreeMap<Ident, Node>, Vec<Triple>) {
        self.close();
        (self.nodes, self.references)
    }

    fn close(&mut self) {
        if let Some(node) = self.current.take() {
            self.nodes.insert(node.id.ident.clone(), node);
        }
    }

    /// `None` if the line is broken.
    pub(super) fn line(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once('\t').unwrap_or((line, ""));
        match kind {
            "N" => {
                self.close();
                self.current = Some(self.node(rest)?);
            }
            ">" => {
                let (reference_type, target) = rest.split_once('\t')?;
                let source = self.current.as_ref()?.id.clone();
                let (reference_type, target) = (self.id(reference_type)?, self.id(target)?);
                self.references.push(Triple { source, reference_type, target });
            }
            "R" => {
                let mut ids = rest.split('\t').map(|text| self.id(text));
                let (source, reference_type, target) = (ids.next()??, ids.next()??, ids.next()??);
                self.references.push(Triple { source, reference_type, target });
            }
            "D" => self.current.as_mut()?.definition = Some(definition(rest)),
            "F" => {
                let field = self.field(rest)?;
                self.current.as_mut()?.definition.as_mut()?.fields.push(field);
            }
            "V" => {
                let value = read_value(&unescape(rest), self.ids)?;
                self.current.as_mut()?.value = Some(value);
            }
            _ => return None,
        }
        Some(())
    }

    fn id(&self, text: &str) -> Option<Id> {
        self.ids.id(&unescape(text))
    }

    fn node(&self, rest: &str) -> Option<Node> {
        let mut fields = rest.split('\t');
        let id = self.id(fields.next()?)?;
        let class = class_of(fields.next()?)?;
        let browse_name = self.ids.name(&unescape(fields.next()?))?;
        let mut node = Node::new(id, class, browse_name);
        node.span = Span::NONE;
        let mut no_display = false;
        for fact in fields.map(unescape) {
            let (key, value) = fact.split_once('=').unwrap_or((&fact, ""));
            no_display |= key == "nodisplay";
            self.node_fact(&mut node, key, value)?;
        }
        if node.display_name.is_empty() && !no_display {
            node.display_name.push(Text { locale: None, text: node.browse_name.name.to_string() });
        }
        Some(node)
    }

    fn node_fact(&self, node: &mut Node, key: &str, value: &str) -> Option<()> {
        let (key, locale) =
            key.split_once('@').map_or((key, None), |(key, locale)| (key, Some(locale.to_owned())));
        let text = || Text { locale: locale.clone(), text: value.to_owned() };
        match key {
            "display" => node.display_name.push(text()),
            "inverse" => node.inverse_name.push(text()),
            "symbolic" => node.symbolic_name = Some(value.to_owned()),
            "parent" => node.parent_hint = Some(self.ids.id(value)?),
            "writemask" => node.write_mask = value.parse().ok()?,
            "abstract" => node.is_abstract = true,
            "symmetric" => node.symmetric = true,
            "notifier" => node.event_notifier = value.parse().ok()?,
            "noloops" => node.contains_no_loops = true,
            "notexecutable" => node.executable = false,
            "declaration" => node.method_declaration = Some(self.ids.id(value)?),
            "typesonly" => node.types_only = true,
            "designtool" => node.design_tool_only = true,
            "restrictions" => node.access_restrictions = Some(value.parse().ok()?),
            "status" => node.release_status = Some(value.to_owned()),
            "type" => node.data_type = self.ids.id(value)?,
            "rank" => node.value_rank = value.parse().ok()?,
            "dims" => node.array_dimensions = dimensions(value)?,
            "access" => node.access_level = value.parse().ok()?,
            "sampling" => node.minimum_sampling_interval = value.parse().ok()?,
            "historizing" => node.historizing = true,
            // Facts of a later minor format are not needed here.
            _ => {}
        }
        Some(())
    }

    fn field(&self, rest: &str) -> Option<Field> {
        let mut parts = rest.split('\t').map(unescape);
        let mut field = Field {
            name: parts.next()?.into_owned(),
            symbolic_name: None,
            data_type: Id::ns0(24),
            value_rank: -1,
            array_dimensions: Vec::new(),
            max_string_length: 0,
            value: None,
            is_optional: false,
            allow_sub_types: false,
            display_name: Vec::new(),
            description: Vec::new(),
            span: Span::NONE,
        };
        for fact in parts {
            let (key, value) = fact.split_once('=').unwrap_or((&fact, ""));
            match key {
                "symbolic" => field.symbolic_name = Some(value.to_owned()),
                "type" => field.data_type = self.ids.id(value)?,
                "rank" => field.value_rank = value.parse().ok()?,
                "dims" => field.array_dimensions = dimensions(value)?,
                "maxlength" => field.max_string_length = value.parse().ok()?,
                "value" => field.value = Some(value.parse().ok()?),
                "optional" => field.is_optional = true,
                "subtypes" => field.allow_sub_types = true,
                _ if key == "display" || key.starts_with("display@") => {
                    let locale = key.strip_prefix("display@").map(str::to_owned);
                    field.display_name.push(Text { locale, text: value.to_owned() });
                }
                _ => {}
            }
        }
        Some(field)
    }
}

fn definition(rest: &str) -> Definition {
    let mut definition = Definition::default();
    for fact in rest.split('\t').map(unescape) {
        match fact.as_ref() {
            "union" => definition.is_union = true,
            "optionset" => definition.is_option_set = true,
            other => {
                let name = other.strip_prefix("symbolic=").map(str::to_owned);
                definition.symbolic_name = name.or(definition.symbolic_name);
            }
        }
    }
    definition
}

fn dimensions(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|part| part.parse().ok()).collect()
}
