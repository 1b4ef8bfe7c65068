//! From the resolved model to rows.

use std::collections::{BTreeMap, BTreeSet};

use uaforge_model::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns, Text, Triple};

use super::definition;
use super::encode::Encoder;
use super::layout::{
    EncodedValue, Extra, FurtherText, Layout, NodeLayout, Reference, ReferenceType, References, Variable,
    flag,
};
use super::names::{Key, NAMED, Names, screaming, slots};
use super::{TableError, TableOptions, mentions};

/// A type dictionary variable is of this type (OPC 10000-3 Annex D).
const DATA_TYPE_DICTIONARY_TYPE: Id = Id::ns0(72);

struct Planner<'a> {
    set: &'a ModelSet,
    names: &'a Names,
    options: &'a TableOptions,
}

pub(super) fn plan(set: &ModelSet, ns: Ns, options: &TableOptions) -> Result<Layout, TableError> {
    let model = set.models.iter().find(|m| m.ns == ns).ok_or(TableError::NoModel(ns.0))?;
    let nodes: Vec<&Node> = model.nodes.values().filter(|n| !n.types_only).collect();
    let triples = own_triples(set, model);
    let mentioned = (nodes.iter().flat_map(|n| mentions::ids(n)))
        .chain(triples.iter().flat_map(|t| [&t.source, &t.reference_type, &t.target]));
    let names = Names::new(set, ns, mentioned)?;
    let planner = Planner { set, names: &names, options };

    let reference_types = planner.reference_types(&triples);
    let mut references = planner.references(&triples, &reference_types)?;
    let mut rows = Vec::with_capacity(nodes.len());
    for node in nodes {
        let own = references.remove(&planner.names.key(&node.id)).unwrap_or_default();
        rows.push(planner.node(node, own)?);
    }
    rows.sort_by_key(|row| row.key);
    let uri = |ns: &Ns| set.uris.get(usize::from(ns.0)).map(|u| u.to_string()).unwrap_or_default();
    Ok(Layout {
        slots: slots(set, ns).iter().map(uri).collect(),
        version: model.version.clone(),
        publication_date: model.publication_date.clone(),
        nodes: rows,
        reference_types,
        grafts: references.into_iter().collect(),
        named: names.named.into_iter().collect(),
    })
}

/// The model's triples between nodes of the address space: without ends that are types only or in no
/// document, and without those between foreign nodes that another model has already.
fn own_triples<'a>(set: &'a ModelSet, model: &'a Model) -> Vec<&'a Triple> {
    let elsewhere = |t: &Triple| {
        let between_others = t.source.ns != model.ns && t.target.ns != model.ns;
        between_others && set.models.iter().any(|m| m.ns != model.ns && m.references.binary_search(t).is_ok())
    };
    let gone = |id: &Id| match set.node(id) {
        Some(node) => node.types_only,
        None => set.model(id.ns).is_some(),
    };
    (model.references.iter()).filter(|t| !gone(&t.source) && !gone(&t.target) && !elsewhere(t)).collect()
}

impl Planner<'_> {
    fn reference_types(&self, triples: &[&Triple]) -> Vec<ReferenceType> {
        let used: BTreeSet<&Id> = triples.iter().map(|t| &t.reference_type).collect();
        let mut keyed: Vec<(Key, &Id)> = used.into_iter().map(|id| (self.names.key(id), id)).collect();
        // ns0 first: its types are the most used, and slot 1 comes before foreign ones anyway.
        keyed.sort_by_key(|(key, id)| (id.ns.0 != 0, *key));
        let mut taken = BTreeSet::new();
        let mut out = Vec::with_capacity(keyed.len());
        for (key, id) in keyed {
            let named = self.set.node(id).map(|n| screaming(&n.browse_name)).unwrap_or_default();
            let name = if named.is_empty() || taken.contains(&named) {
                format!("{}_{}_{}", if named.is_empty() { "T" } else { &named }, key.slot & !NAMED, key.id)
            } else {
                named
            };
            taken.insert(name.clone());
            out.push(ReferenceType { key, name });
        }
        out
    }

    fn references(
        &self,
        triples: &[&Triple],
        types: &[ReferenceType],
    ) -> Result<BTreeMap<Key, References>, TableError> {
        let index: BTreeMap<Key, usize> = types.iter().enumerate().map(|(i, t)| (t.key, i)).collect();
        let mut of: BTreeMap<Key, References> = BTreeMap::new();
        for triple in triples {
            let position = index.get(&self.names.key(&triple.reference_type)).copied();
            let reference_type = u16::try_from(position.unwrap_or_default())
                .map_err(|_| self.too_large(&triple.source, "the number of reference types"))?;
            let (source, target) = (self.names.key(&triple.source), self.names.key(&triple.target));
            of.entry(source).or_default().forward.push(Reference { reference_type, target });
            let back = Reference { reference_type, target: source };
            of.entry(target).or_default().inverse.push(back);
        }
        for references in of.values_mut() {
            for direction in [&mut references.forward, &mut references.inverse] {
                direction.sort_unstable();
                direction.dedup();
            }
        }
        Ok(of)
    }

    fn node(&self, node: &Node, references: References) -> Result<NodeLayout, TableError> {
        let key = self.names.key(&node.id);
        let display_name = node.display_name.first().map(|t| t.text.clone()).unwrap_or_default();
        let same = display_name.is_empty() || *display_name == *node.browse_name.name;
        let value = self.value(node)?;
        let texts = self.texts(node)?;
        let extras = self.extras(node);
        let flags = [
            (flag::VALUE, value.is_some()),
            (flag::TEXT, !texts.is_empty()),
            (flag::EXTRA, !extras.is_empty()),
            (flag::ABSTRACT, node.is_abstract),
            (flag::SYMMETRIC, node.symmetric),
            (flag::NAMED, key.slot & NAMED != 0),
        ];
        let row = NodeLayout {
            key,
            class: node.class as u16,
            flags: flags.iter().filter(|(_, set)| *set).fold(0, |all, (flag, _)| all | flag),
            browse_slot: self.names.slot(node.browse_name.ns),
            browse_name: node.browse_name.name.to_string(),
            display_name: if same { String::new() } else { display_name },
            references,
            variable: self.variable(node)?,
            value,
            texts,
            extras,
        };
        if row.browse_name.len().max(row.display_name.len()) > usize::from(u16::MAX) {
            return Err(self.too_large(&node.id, "its name"));
        }
        Ok(row)
    }

    fn variable(&self, node: &Node) -> Result<Option<Variable>, TableError> {
        if !matches!(node.class, NodeClass::Variable | NodeClass::VariableType) {
            return Ok(None);
        }
        if node.array_dimensions.len() > usize::from(u8::MAX) {
            return Err(self.too_large(&node.id, "ArrayDimensions"));
        }
        Ok(Some(Variable {
            data_type: self.names.key(&node.data_type),
            rank: node.value_rank,
            access: node.access_level,
            dimensions: node.array_dimensions.clone(),
        }))
    }

    fn value(&self, node: &Node) -> Result<Option<EncodedValue>, TableError> {
        let mut encoder = Encoder::new(self.set, self.names, self.options.descriptions);
        let is_dictionary = self.set.type_definition(&node.id) == Some(&DATA_TYPE_DICTIONARY_TYPE);
        let encoded = match (&node.class, &node.value) {
            (NodeClass::DataType, _) => definition::encode(&mut encoder, node),
            (_, Some(_)) if is_dictionary && !self.options.dictionaries => Ok(false),
            (NodeClass::Variable | NodeClass::VariableType, Some(value)) => {
                encoder.variant(value).map(|()| true)
            }
            _ => Ok(false),
        };
        let present =
            encoded.map_err(|reason| TableError::Value { node: self.set.id_text(&node.id), reason })?;
        let Encoder { bytes, relocations, .. } = encoder;
        Ok(present.then_some(EncodedValue { bytes, relocations }))
    }

    fn texts(&self, node: &Node) -> Result<Vec<FurtherText>, TableError> {
        let mut out = Vec::new();
        let with_locale = node.display_name.len() > 1
            || node.display_name.first().is_some_and(|t| !t.locale.as_deref().unwrap_or("").is_empty());
        let mut add = |what: u8, texts: &[Text]| {
            for text in texts.iter().filter(|t| !t.text.is_empty() || t.locale.is_some()) {
                let locale = text.locale.clone().unwrap_or_default();
                out.push(FurtherText { what, locale, text: text.text.clone() });
            }
        };
        if with_locale {
            add(1, &node.display_name);
        }
        if self.options.descriptions {
            add(2, &node.description);
        }
        if node.class == NodeClass::ReferenceType {
            add(3, &node.inverse_name);
        }
        if out.iter().any(|t| t.locale.len() > usize::from(u8::MAX)) {
            return Err(self.too_large(&node.id, "a locale"));
        }
        Ok(out)
    }

    fn extras(&self, node: &Node) -> Vec<Extra> {
        let number = |what, a| Extra { what, slot: 0, a, b: 0 };
        let sampling = node.minimum_sampling_interval.to_bits();
        let class = node.class;
        let stated = [
            (node.write_mask != 0, number(1, node.write_mask)),
            (node.event_notifier != 0, number(2, node.event_notifier.into())),
            (
                sampling != 0 && class == NodeClass::Variable,
                Extra { what: 3, slot: 0, a: (sampling >> 32) as u32, b: sampling as u32 },
            ),
            (node.historizing, number(4, 0)),
            (node.contains_no_loops, number(5, 0)),
            (!node.executable && class == NodeClass::Method, number(6, 0)),
        ];
        let mut out: Vec<Extra> =
            stated.into_iter().filter(|(stated, _)| *stated).map(|(_, extra)| extra).collect();
        out.extend(node.access_restrictions.map(|bits| number(7, bits.into())));
        for (role, permissions) in &node.role_permissions {
            let key = self.names.key(role);
            out.push(Extra { what: 8, slot: key.slot, a: key.id, b: *permissions });
        }
        if let Some(declaration) = &node.method_declaration {
            let key = self.names.key(declaration);
            out.push(Extra { what: 9, slot: key.slot, a: key.id, b: 0 });
        }
        out
    }

    fn too_large(&self, id: &Id, what: &'static str) -> TableError {
        TableError::TooLarge { node: self.set.id_text(id), what }
    }
}
