//! Texts of one file to ids and names of the set.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Resolver;
use crate::NS0_URI;
use crate::diagnostic::{Diagnostic, codes};
use crate::ids::{NamespacePart, parse_node_id, shared, split_qualified_name};
use crate::resolved::{Id, Ns, QName, Span};
use crate::schema::{Header, Spanned};

/// The URI table of the set and the names of the standard types.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) uris: Vec<Arc<str>>,
    by_uri: HashMap<Arc<str>, Ns>,
    /// Browse names of the data types and reference types of the OPC UA namespace.
    pub(crate) standard: HashMap<Arc<str>, Id>,
}

impl Names {
    pub(crate) fn new(uris: Vec<Arc<str>>) -> Self {
        let by_uri = (0u16..).zip(&uris).map(|(at, uri)| (uri.clone(), Ns(at))).collect();
        Self { uris, by_uri, standard: HashMap::new() }
    }

    pub(crate) fn ns(&self, uri: &str) -> Option<Ns> {
        self.by_uri.get(uri).copied()
    }

    /// The namespace of a URI, added to the table if it is new.
    pub(crate) fn intern(&mut self, uri: &str) -> Ns {
        if let Some(ns) = self.ns(uri) {
            return ns;
        }
        let ns = Ns(u16::try_from(self.uris.len()).unwrap_or(u16::MAX));
        self.uris.push(shared(uri));
        self.by_uri.insert(shared(uri), ns);
        ns
    }
}

/// How one file writes ids: its namespace table and its aliases.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// Namespaces by the file's index.
    pub(crate) namespaces: Vec<Ns>,
    aliases: HashMap<&'a str, Option<Id>>,
    /// What was reported already, so that each name is reported once per file.
    reported: RefCell<HashSet<String>>,
}

impl Context<'_> {
    /// True the first time it is asked for a thing.
    fn first(&self, thing: &str) -> bool {
        self.reported.borrow_mut().insert(thing.to_owned())
    }
}

/// Why a text gave no id.
pub(crate) enum IdProblem {
    Malformed,
    OutOfRange { index: u32, size: usize },
}

impl IdProblem {
    /// What to say of it.
    pub(crate) fn diagnostic(&self, text: &str) -> Diagnostic {
        match self {
            IdProblem::Malformed => {
                Diagnostic::error(codes::MALFORMED_NODE_ID, format!("\"{text}\" is not a NodeId")).help(
                    "a NodeId looks like i=85, ns=1;i=5001, ns=1;s=Name, ns=1;g=<GUID> or ns=1;b=<base64>",
                )
            }
            IdProblem::OutOfRange { index, size } => Diagnostic::error(
                codes::NAMESPACE_OUT_OF_RANGE,
                format!("\"{text}\" has namespace index {index}, but NamespaceUris has {size} entries"),
            )
            .help("index 1 is the first Uri of NamespaceUris; add the missing Uri or correct the index"),
        }
    }
}

/// A NodeId text of a file, aliases not considered.
pub(crate) fn id_of(names: &mut Names, namespaces: &[Ns], text: &str) -> Result<Id, IdProblem> {
    let (namespace, ident) = parse_node_id(text).ok_or(IdProblem::Malformed)?;
    let ns = match namespace {
        NamespacePart::Index(index) => namespace_of(namespaces, index)?,
        NamespacePart::Uri(uri) => names.intern(&uri),
    };
    Ok(Id { ns, ident })
}

fn namespace_of(namespaces: &[Ns], index: u32) -> Result<Ns, IdProblem> {
    let found = namespaces.get(index as usize).copied();
    found.ok_or(IdProblem::OutOfRange { index, size: namespaces.len().saturating_sub(1) })
}

impl<'a> Resolver<'a, '_> {
    /// Builds a file's context and reports broken aliases.
    pub(super) fn context(&mut self, header: &Header<'a>) -> Context<'a> {
        let mut namespaces = vec![Ns::UA];
        for uri in &header.namespace_uris {
            namespaces.push(if uri.value == NS0_URI { Ns::UA } else { self.names.intern(&uri.value) });
        }
        let mut context = Context { namespaces, aliases: HashMap::new(), reported: RefCell::default() };
        for alias in &header.aliases {
            let text = alias.element.text();
            let id = id_of(&mut self.names, &context.namespaces, &text);
            if let Err(problem) = &id {
                self.report_id(problem, &text, alias.element.text_span(), None);
            }
            context.aliases.insert(alias.name, id.ok());
        }
        self.tables.add(header.span.file, context.namespaces.clone());
        context
    }

    /// An id or alias; what is wrong with it is reported.
    pub(super) fn id(
        &mut self,
        context: &Context<'a>,
        text: Spanned<&str>,
        node: Option<&str>,
    ) -> Option<Id> {
        let name = text.value.trim();
        if let Some(alias) = context.aliases.get(name) {
            return alias.clone();
        }
        match id_of(&mut self.names, &context.namespaces, name) {
            Ok(id) => Some(id),
            Err(IdProblem::Malformed) if !name.contains('=') => {
                self.standard_name(context, name, text.span, node)
            }
            Err(problem) => {
                self.report_id(&problem, name, text.span, node);
                None
            }
        }
    }

    fn standard_name(
        &mut self,
        context: &Context<'a>,
        name: &str,
        span: Span,
        node: Option<&str>,
    ) -> Option<Id> {
        let found = self.names.standard.get(name).cloned();
        if !context.first(name) {
            return found;
        }
        let mut diagnostic = match &found {
            Some(id) => Diagnostic::warning(
                codes::STANDARD_NAME_WITHOUT_ALIAS,
                format!("{name} is no alias of this file; the standard {name} ({}) is used", id.ident),
            )
            .help(format!("add <Alias Alias=\"{name}\">{}</Alias>", id.ident)),
            None => Diagnostic::error(
                codes::UNKNOWN_ALIAS,
                format!("{name} is neither a NodeId, nor an alias of this file, nor a standard type"),
            )
            .help(format!("add an Alias element for {name}, or write the NodeId")),
        };
        diagnostic.node = node.map(str::to_owned);
        self.diagnostics.push(diagnostic.at(span));
        found
    }

    pub(super) fn report_id(&mut self, problem: &IdProblem, text: &str, span: Span, node: Option<&str>) {
        let mut diagnostic = problem.diagnostic(text.trim()).at(span);
        diagnostic.node = node.map(str::to_owned);
        self.diagnostics.push(diagnostic);
    }

    /// A QualifiedName; an index beyond the table is reported and gives the OPC UA namespace.
    pub(super) fn qualified_name(
        &mut self,
        context: &Context<'a>,
        text: Spanned<&str>,
        node: Option<&str>,
    ) -> QName {
        let (index, name) = split_qualified_name(text.value);
        let ns = namespace_of(&context.namespaces, index).unwrap_or_else(|problem| {
            self.report_id(&problem, text.value, text.span, node);
            Ns::UA
        });
        QName { ns, name: shared(name) }
    }
}

/// Namespace tables of all files, to write ids in messages as their file does.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    by_file: HashMap<u32, Vec<Ns>>,
}

impl Tables {
    /// An id as the file at `span` writes it.
    pub(crate) fn text(&self, names: &[Arc<str>], id: &Id, span: Span) -> String {
        let table = self.by_file.get(&span.file).map_or(&[][..], Vec::as_slice);
        if id.ns == Ns::UA || table.contains(&id.ns) {
            return local_text(table, id);
        }
        let uri = names.get(usize::from(id.ns.0)).map_or("", |uri| uri);
        format!("nsu={uri};{}", id.ident)
    }

    /// The index that a file has for a namespace.
    pub(crate) fn index(&self, file: u32, ns: Ns) -> Option<usize> {
        self.by_file.get(&file)?.iter().position(|known| *known == ns)
    }

    pub(super) fn add(&mut self, file: u32, namespaces: Vec<Ns>) {
        self.by_file.insert(file, namespaces);
    }
}

/// An id with the index of a file's table.
pub(crate) fn local_text(namespaces: &[Ns], id: &Id) -> String {
    match namespaces.iter().position(|ns| *ns == id.ns) {
        None | Some(0) => id.ident.to_string(),
        Some(index) => format!("ns={index};{}", id.ident),
    }
}
