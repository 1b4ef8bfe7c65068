//! Models and what they require (OPC 10000-6 §F.5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Document, Resolver};
use crate::NS0_URI;
use crate::dates::parse_date;
use crate::diagnostic::{Diagnostic, Severity, codes};
use crate::known::Known;
use crate::resolved::{Model, Ns, Requirement, Span};
use crate::schema::{RawModel, Spanned};

/// A model that nothing is known of yet.
pub(super) fn empty_model(ns: Ns) -> Model {
    Model {
        ns,
        version: None,
        publication_date: None,
        model_version: None,
        xml_schema_uri: None,
        required: Vec::new(),
        nodes: BTreeMap::new(),
        references: Vec::new(),
        from_interface: false,
        rust_path: None,
        ledger: BTreeMap::new(),
    }
}

fn owned(text: Option<Spanned<&str>>) -> Option<String> {
    text.map(|text| text.value.to_owned())
}

impl<'a> Resolver<'a, '_> {
    /// Enters the models of all documents, then compares what they require with what there is.
    pub(super) fn declare_models(&mut self, documents: &[Document<'a>]) {
        for document in documents {
            let dates = document.header.models.iter().filter_map(|model| model.publication_date);
            if let Some(date) = dates.filter_map(|date| parse_date(date.value)).max() {
                self.merge.dates.insert(document.header.span.file, date);
            }
            for uri in &document.model_uris {
                let ns = self.names.intern(uri);
                self.models.entry(ns).or_insert_with(|| empty_model(ns));
            }
            for raw in &document.header.models {
                self.declare_model(raw);
            }
            if document.header.models.is_empty() {
                self.require_by_table(document);
            }
        }
        self.check_requirements(documents);
    }

    fn check_dates(&mut self, raw: &RawModel<'a>) {
        for date in std::iter::once(raw).chain(&raw.required).filter_map(|model| model.publication_date) {
            if parse_date(date.value).is_none() {
                let message = format!("PublicationDate=\"{}\" is not a date", date.value);
                self.diagnostics.push(
                    Diagnostic::warning(codes::INVALID_DATE, message)
                        .at(date.span)
                        .help("write it as 2024-01-01T00:00:00Z; it is not compared as it stands"),
                );
            }
        }
    }

    fn declare_model(&mut self, raw: &RawModel<'a>) {
        self.check_dates(raw);
        let ns = self.names.intern(raw.uri.value);
        self.model_spans.entry(ns).or_insert(raw.uri.span);
        let model = self.models.entry(ns).or_insert_with(|| empty_model(ns));
        let (version, date) = (owned(raw.version), owned(raw.publication_date));
        let first = model.version.is_none() && model.publication_date.is_none() && model.required.is_empty();
        if !first && (model.version != version || model.publication_date != date) {
            let name = |version: &Option<String>, date: &Option<String>| {
                format!("{} of {}", version.as_deref().unwrap_or("-"), date.as_deref().unwrap_or("-"))
            };
            let message = format!(
                "several documents of {}: version {} and version {}; their nodes are merged",
                raw.uri.value,
                name(&model.version, &model.publication_date),
                name(&version, &date),
            );
            self.diagnostics.push(
                Diagnostic::warning(codes::SEVERAL_DOCUMENTS, message)
                    .at(raw.uri.span)
                    .help("load one of them, unless each has nodes of its own"),
            );
        }
        // The document with the latest date gives the model's version, whatever the order of the files.
        if first || newer(date.as_deref(), model.publication_date.as_deref()) {
            model.version = version;
            model.publication_date = date;
            model.model_version = owned(raw.model_version);
        }
        if model.xml_schema_uri.is_none() {
            model.xml_schema_uri = owned(raw.xml_schema_uri);
        }
        for required in &raw.required {
            let requirement = Requirement {
                uri: Arc::from(required.uri.value),
                version: owned(required.version),
                publication_date: owned(required.publication_date),
                model_version: owned(required.model_version),
            };
            if !model.required.contains(&requirement) {
                model.required.push(requirement);
            }
        }
    }

    /// Old files have no Models element: what their table names is required.
    fn require_by_table(&mut self, document: &Document<'a>) {
        let table = document.header.namespace_uris.iter().map(|uri| uri.value.as_str());
        let others: BTreeSet<&str> = table.chain([NS0_URI]).filter(|uri| !uri.is_empty()).collect();
        for own in &document.model_uris {
            let ns = self.names.intern(own);
            let Some(model) = self.models.get_mut(&ns) else {
                continue;
            };
            for uri in others.iter().filter(|uri| ***uri != **own) {
                let requirement = Requirement {
                    uri: Arc::from(*uri),
                    version: None,
                    publication_date: None,
                    model_version: None,
                };
                if !model.required.iter().any(|known| known.uri == requirement.uri) {
                    model.required.push(requirement);
                }
            }
        }
    }

    fn check_requirements(&mut self, documents: &[Document<'a>]) {
        let mut missing = BTreeSet::new();
        for document in documents {
            for raw in &document.header.models {
                for required in &raw.required {
                    self.check_requirement(raw, required, &mut missing);
                }
            }
            for uri in document.header.namespace_uris.iter().filter(|uri| !uri.value.is_empty()) {
                let loaded = self.names.ns(&uri.value).is_some_and(|ns| self.models.contains_key(&ns));
                if document.header.models.is_empty() && !loaded && missing.insert(uri.value.clone()) {
                    let name = document.model_uris.first().map_or("this file", |uri| uri);
                    self.report_missing(name, &uri.value, uri.span);
                }
            }
        }
        self.check_interface_requirements(&mut missing);
        if !self.models.contains_key(&Ns::UA) && missing.insert(NS0_URI.to_owned()) {
            let message = format!("the base model {NS0_URI} is not loaded");
            self.diagnostics.push(Diagnostic::error(codes::MISSING_MODEL, message));
        }
    }

    fn check_requirement(
        &mut self,
        raw: &RawModel<'a>,
        required: &RawModel<'a>,
        missing: &mut BTreeSet<String>,
    ) {
        let uri = required.uri.value;
        let ns = self.names.intern(uri);
        let Some(model) = self.models.get(&ns) else {
            if missing.insert(uri.to_owned()) {
                self.report_missing(raw.uri.value, uri, required.uri.span);
            }
            return;
        };
        let found = model.publication_date.clone();
        let (Some(wanted), Some(found)) = (required.publication_date, found) else {
            return;
        };
        if !newer(Some(wanted.value), Some(&found)) {
            return;
        }
        let carrier = model.rust_path.as_deref().filter(|_| model.from_interface);
        let found = carrier.map_or_else(
            || format!("the one loaded is of {found}"),
            |path| format!("the crate {} carries that of {found}", path.trim_start_matches("::")),
        );
        let message = format!("{} requires {uri} of {} or later, but {found}", raw.uri.value, wanted.value);
        let help = newer_than(uri, wanted.value, carrier.is_some());
        let mut diagnostic = Diagnostic::error(codes::MODEL_TOO_OLD, message).at(wanted.span).help(help);
        if self.options.allow_older_models {
            diagnostic.severity = Severity::Warning;
        }
        self.diagnostics.push(diagnostic);
    }

    /// What the models of other crates require.
    fn check_interface_requirements(&mut self, missing: &mut BTreeSet<String>) {
        let carried = self.models.values().filter(|model| model.from_interface);
        let required: Vec<(Ns, Requirement)> = carried
            .flat_map(|model| model.required.iter().map(|required| (model.ns, required.clone())))
            .collect();
        for (by, required) in required {
            let ns = self.names.intern(&required.uri);
            if !self.models.contains_key(&ns) && missing.insert(required.uri.to_string()) {
                let by = self.names.uris.get(usize::from(by.0)).cloned().unwrap_or_default();
                self.report_missing(&by, &required.uri, Span::NONE);
            }
        }
    }

    fn report_missing(&mut self, by: &str, uri: &str, span: Span) {
        let message = format!("the model {uri}, required by {by}, is not loaded");
        let help = match Known::of(uri) {
            Some(known) => format!(
                "add the crate that carries it to [dependencies] of Cargo.toml: {}; or add its NodeSet2 file",
                known.dependency()
            ),
            None => "add its NodeSet2 file, or depend on the crate that carries the model".to_owned(),
        };
        self.diagnostics.push(Diagnostic::error(codes::MISSING_MODEL, message).at(span).help(help));
    }
}

/// Where a document of a model is that was published at a date or later.
fn newer_than(uri: &str, wanted: &str, is_carried: bool) -> String {
    let known = Known::of(uri).filter(|known| !newer(Some(wanted), Some(known.date)));
    match known {
        Some(known) if is_carried => format!(
            "update the crate, or write in [dependencies] of Cargo.toml: {}; it carries {} of {}",
            known.dependency(),
            known.version,
            known.date
        ),
        Some(known) => format!(
            "load a newer document, or add the crate that carries {} of {} to [dependencies] of Cargo.toml: {}; \
             or allow older models to go on with a warning",
            known.version,
            known.date,
            known.dependency()
        ),
        None => "load a newer document of the required model, or allow older models to go on with a warning"
            .to_owned(),
    }
}

/// True if the first date is later than the second.
fn newer(first: Option<&str>, second: Option<&str>) -> bool {
    match (first.and_then(parse_date), second.and_then(parse_date)) {
        (Some(first), Some(second)) => first > second,
        _ => false,
    }
}
