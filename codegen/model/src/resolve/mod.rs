//! Resolution by namespace URI: documents in any order become one set with one URI table.

mod check;
mod containment;
pub(crate) mod context;
mod definition;
mod dictionary;
mod interfaces;
mod merge;
mod nodes;
mod order;
mod requirements;
mod scalars;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::NS0_URI;
use crate::diagnostic::{Diagnostic, codes};
use crate::identifiers::{self, Table};
use crate::ids::{NamespacePart, parse_node_id};
use crate::lint;
use crate::resolved::{Id, Model, ModelSet, Ns, Span, Triple};
use crate::schema::{Dictionary, Element, Header, is_dictionary, read_dictionary, read_header};
use crate::value::{Expected, MAX_DEFAULTS, Reader};
use context::{Context, Names};
pub(crate) use interfaces::Interface;

/// What a caller may relax.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) allow_older_models: bool,
    pub(crate) drop_unknown_references: bool,
    pub(crate) lints: bool,
}

/// One file with its header.
struct Document<'a> {
    header: Header<'a>,
    /// URIs that are models of this file.
    model_uris: Vec<Arc<str>>,
}

/// A Value element waiting until all data types are known.
struct PendingValue<'a> {
    node: Id,
    document: usize,
    element: Element<'a>,
    /// The node's element.
    owner: Element<'a>,
}

/// A reference as declared, for the checks.
pub(crate) struct Declared {
    pub(crate) triple: Triple,
    pub(crate) declared_by: Id,
    pub(crate) span: Span,
}

/// State of one run.
struct Resolver<'a, 'd> {
    names: Names,
    models: BTreeMap<Ns, Model>,
    declared: Vec<Declared>,
    values: Vec<PendingValue<'a>>,
    merge: merge::Merge<'a>,
    tables: context::Tables,
    /// Where each model is declared.
    model_spans: BTreeMap<Ns, Span>,
    /// Identifier tables.
    identifiers: &'d [Table<'d>],
    diagnostics: &'d mut Vec<Diagnostic>,
    options: &'d Options,
}

/// Resolves parsed documents; gives the set, and the models of each document.
pub(crate) fn resolve(
    documents: &[(u32, roxmltree::Document<'_>)],
    mut interfaces: Vec<Interface<'_>>,
    identifiers: &[Table<'_>],
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> (ModelSet, Vec<(u32, Vec<Ns>)>) {
    let roots = documents.iter().map(|(file, document)| Element::new(*file, document.root_element()));
    let (dictionaries, documents): (Vec<Element<'_>>, Vec<Element<'_>>) =
        roots.partition(|root| is_dictionary(*root));
    let dictionaries: Vec<Dictionary<'_>> =
        dictionaries.into_iter().filter_map(|root| read_dictionary(root, diagnostics)).collect();
    let documents: Vec<Document<'_>> =
        documents.into_iter().map(|root| read_document(root, diagnostics)).collect();
    interfaces::choose(&mut interfaces, &documents, diagnostics);
    let mut resolver = Resolver {
        names: Names::new(uri_table(&documents, &dictionaries, &interfaces)),
        models: BTreeMap::new(),
        declared: Vec::new(),
        values: Vec::new(),
        merge: merge::Merge::default(),
        tables: context::Tables::default(),
        model_spans: BTreeMap::new(),
        identifiers,
        diagnostics,
        options,
    };
    resolver.read_interfaces(interfaces);
    resolver.declare_models(&documents);
    resolver.collect_standard_names(&documents);
    let contexts: Vec<Context<'_>> =
        documents.iter().map(|document| resolver.context(&document.header)).collect();
    for (index, (document, context)) in documents.iter().zip(&contexts).enumerate() {
        resolver.read_nodes(index, document, context);
    }
    let read = |dictionary: &Dictionary<'_>| (dictionary.span.file, dictionary.target.value.to_owned());
    for dictionary in &dictionaries {
        resolver.read_dictionary(dictionary);
    }
    let set = resolver.finish(&contexts);
    let models = |document: &Document<'_>| document.model_uris.iter().filter_map(|uri| set.ns(uri)).collect();
    let nodesets = documents.iter().map(|document| (document.header.span.file, models(document)));
    let types = dictionaries.iter().map(read).map(|(file, uri)| (file, set.ns(&uri).into_iter().collect()));
    let documents = nodesets.chain(types).collect();
    (set, documents)
}

fn read_document<'a>(root: Element<'a>, diagnostics: &mut Vec<Diagnostic>) -> Document<'a> {
    let header = read_header(root, diagnostics);
    let mut model_uris: Vec<Arc<str>> =
        header.models.iter().map(|model| Arc::from(model.uri.value)).collect();
    if model_uris.is_empty() {
        model_uris = models_of_nodes(&header);
        let message = match model_uris.as_slice() {
            [] => "no Models element and no nodes: there is nothing to read".to_owned(),
            uris => format!("no Models element; the file's nodes make it the model {}", uris.join(", ")),
        };
        let help = "add a Models element with ModelUri, Version, PublicationDate and the required models";
        diagnostics.push(Diagnostic::note(codes::NO_MODELS, message).at(header.span).help(help));
    }
    Document { header, model_uris }
}

/// Without a Models element, the namespaces that the file has nodes of are its models.
fn models_of_nodes(header: &Header<'_>) -> Vec<Arc<str>> {
    let mut indexes = BTreeSet::new();
    for node in &header.nodes {
        let id = node.attribute("NodeId").and_then(|id| parse_node_id(id.value));
        if let Some((NamespacePart::Index(index), _)) = id {
            indexes.insert(index);
        }
    }
    let uri_of = |index: u32| match index {
        0 => Some(Arc::from(NS0_URI)),
        _ => header.namespace_uris.get(index as usize - 1).map(|uri| Arc::from(uri.value.as_str())),
    };
    indexes.into_iter().filter_map(uri_of).collect()
}

/// All URIs of all inputs, sorted, the OPC UA namespace first: the order of the inputs has no influence.
fn uri_table(
    documents: &[Document<'_>],
    dictionaries: &[Dictionary<'_>],
    interfaces: &[Interface<'_>],
) -> Vec<Arc<str>> {
    let mut uris: BTreeSet<Arc<str>> = BTreeSet::new();
    uris.extend(interfaces.iter().flat_map(|interface| &interface.head.uris).cloned());
    let required = interfaces.iter().flat_map(|interface| &interface.head.required);
    uris.extend(required.map(|required| required.uri.clone()));
    uris.extend(dictionaries.iter().map(|dictionary| Arc::from(dictionary.target.value)));
    for document in documents {
        uris.extend(document.model_uris.iter().cloned());
        uris.extend(document.header.namespace_uris.iter().map(|uri| Arc::from(uri.value.as_str())));
        let required = document.header.models.iter().flat_map(|model| &model.required);
        uris.extend(required.map(|model| Arc::from(model.uri.value)));
    }
    uris.remove(NS0_URI);
    uris.remove("");
    let mut table = vec![Arc::from(NS0_URI)];
    table.extend(uris.into_iter().take(usize::from(u16::MAX) - 1));
    table
}

impl<'a> Resolver<'a, '_> {
    fn collect_standard_names(&mut self, documents: &[Document<'a>]) {
        let base =
            documents.iter().filter(|document| document.model_uris.iter().any(|uri| **uri == *NS0_URI));
        for element in base.flat_map(|document| &document.header.nodes) {
            if !matches!(element.name(), "UADataType" | "UAReferenceType") {
                continue;
            }
            let id = element.attribute("NodeId").and_then(|id| parse_node_id(id.value));
            let name = element.attribute("BrowseName");
            if let (Some((NamespacePart::Index(0), ident)), Some(name)) = (id, name) {
                self.names.standard.entry(Arc::from(name.value)).or_insert(Id { ns: Ns::UA, ident });
            }
        }
    }

    fn finish(mut self, contexts: &[Context<'a>]) -> ModelSet {
        self.report_merges();
        for declared in &self.declared {
            let owner = self.models.get_mut(&declared.declared_by.ns);
            if let Some(model) = owner {
                model.references.push(declared.triple.clone());
            }
        }
        for model in self.models.values_mut() {
            model.references.sort_unstable();
            model.references.dedup();
        }
        self.mark_types_only();
        self.check();
        let models =
            order::order(std::mem::take(&mut self.models), &self.names, &self.model_spans, self.diagnostics);
        let mut set = ModelSet::new(self.names.uris.clone(), models);
        types::check(&set, &self.tables, self.diagnostics);
        self.read_values(&mut set, contexts);
        set.uris = self.names.uris.clone();
        identifiers::check(&set, self.identifiers, self.diagnostics);
        if self.options.lints {
            let (tables, declared, model_spans) = (&self.tables, &self.declared[..], &self.model_spans);
            lint::check(&lint::Input { set: &set, tables, declared, model_spans }, self.diagnostics);
        }
        set
    }

    /// Value elements, now that all data types are known; in order of node id.
    fn read_values(&mut self, set: &mut ModelSet, contexts: &[Context<'a>]) {
        let mut pending = std::mem::take(&mut self.values);
        pending.sort_by(|first, second| first.node.cmp(&second.node));
        let mut values = Vec::with_capacity(pending.len());
        let mut defaults = MAX_DEFAULTS;
        let merge = &self.merge;
        pending.retain(|value| merge.is_taken(&value.node, value.owner));
        for PendingValue { node: id, document, element, .. } in pending {
            let (Some(context), Some(node)) = (contexts.get(document), set.node(&id)) else {
                continue;
            };
            let expected = Expected { data_type: node.data_type.clone(), value_rank: node.value_rank };
            let mut reader = Reader {
                set,
                names: &mut self.names,
                context,
                diagnostics: self.diagnostics,
                defaults: &mut defaults,
                node: context::local_text(&context.namespaces, &id),
            };
            values.push((reader.read(element, &expected), id));
        }
        for (value, id) in values {
            let model = set.models.iter_mut().find(|model| model.ns == id.ns);
            if let Some(node) = model.and_then(|model| model.nodes.get_mut(&id.ident)) {
                node.value = value;
            }
        }
    }

    /// Encodings and properties of a data type that is a type only are no nodes either.
    fn mark_types_only(&mut self) {
        let only = |id: &Id, models: &BTreeMap<Ns, Model>| {
            models
                .get(&id.ns)
                .and_then(|model| model.nodes.get(&id.ident))
                .is_some_and(|node| node.types_only)
        };
        let belongs = |triple: &Triple| matches!(triple.reference_type.ns0_number(), Some(38 | 46));
        let triples = self.models.values().flat_map(|model| &model.references);
        let marked: Vec<Id> = triples
            .filter(|triple| belongs(triple) && only(&triple.source, &self.models))
            .map(|triple| triple.target.clone())
            .collect();
        for id in marked {
            let node = self.models.get_mut(&id.ns).and_then(|model| model.nodes.get_mut(&id.ident));
            if let Some(node) = node {
                node.types_only = true;
            }
        }
    }
}
