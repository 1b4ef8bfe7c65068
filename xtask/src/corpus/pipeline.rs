//! One document after the other through parse, lint and generate, on all processors.

use super::documents::Document;
use crate::progress::Progress;
use anyhow::{Result, bail};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};
use uaforge_codegen::tables::{self, TableOptions};
use uaforge_codegen::{Files, Paths, object_files, type_files};
use uaforge_model::resolved::{ModelSet, NodeClass, Ns};
use uaforge_model::{Loaded, Loader, NS0_URI, Severity, canonical, interface};

/// What became of a document.
#[derive(Clone, Default)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) version: String,
    pub(crate) nodes: usize,
    pub(crate) data_types: usize,
    pub(crate) object_types: usize,
    /// How many diagnostics of each code and severity.
    pub(crate) diagnostics: BTreeMap<(String, &'static str), usize>,
    /// The diagnostics as text.
    pub(crate) report: String,
    /// Why nothing was generated.
    pub(crate) failure: Option<String>,
    /// The generated code of each model of the document, by path below the crate's `src`.
    pub(crate) files: Files,
    /// A document of the base model: its types are those of the runtime.
    pub(crate) is_base: bool,
    /// How many models were generated: the document's and those that were loaded beside it.
    pub(crate) models: usize,
    /// The URIs of models that were loaded beside it.
    pub(crate) beside: Vec<String>,
    /// The hash of what a client sees where the document is served.
    pub(crate) served: String,
    /// The interface of the document's first model.
    pub(crate) interface: String,
    /// SHA-256 over diagnostics and files.
    pub(crate) hash: String,
    pub(crate) time: Duration,
}

/// Which documents are done.
struct State {
    outcomes: Vec<Option<Outcome>>,
    begun: Vec<bool>,
}

/// Takes each document as soon as those below it are done.
pub(crate) fn run(documents: &[Document], progress: &Progress) -> Result<Vec<Outcome>> {
    let begun = vec![false; documents.len()];
    let state = Mutex::new(State { outcomes: vec![None; documents.len()], begun });
    let changed = Condvar::new();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(documents, &state, &changed, progress));
        }
    });
    let state = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let outcomes: Vec<Outcome> = state.outcomes.into_iter().flatten().collect();
    if outcomes.len() != documents.len() {
        bail!("the generator ended early, see above");
    }
    Ok(outcomes)
}

fn work(documents: &[Document], state: &Mutex<State>, changed: &Condvar, progress: &Progress) {
    while let Some((at, interfaces)) = next(documents, state, changed) {
        let Some(document) = documents.get(at) else { return };
        let outcome = outcome(document, &interfaces);
        progress.step(&document.name);
        let Ok(mut state) = state.lock() else { return };
        if let Some(place) = state.outcomes.get_mut(at) {
            *place = Some(outcome);
        }
        changed.notify_all();
    }
}

/// The first document that is not begun and has all that it needs: rust path and text of each interface.
fn next(
    documents: &[Document],
    state: &Mutex<State>,
    changed: &Condvar,
) -> Option<(usize, Vec<(String, String)>)> {
    let mut state = state.lock().ok()?;
    loop {
        if state.begun.iter().all(|begun| *begun) {
            return None;
        }
        let ready = documents.iter().enumerate().find(|(at, document)| {
            let done = |at: &usize| state.outcomes.get(*at).is_some_and(Option::is_some);
            !state.begun[*at] && document.below.iter().all(done)
        });
        if let Some((at, document)) = ready {
            state.begun[at] = true;
            let outcomes = document.below.iter().filter_map(|at| state.outcomes.get(*at)?.as_ref());
            let interfaces = outcomes
                .map(|outcome| (format!("::{}", crate_name(&outcome.name)), outcome.interface.clone()));
            return Some((at, interfaces.collect()));
        }
        // Another thread ends its document, or ends with a panic and leaves the lock poisoned.
        state = changed.wait_timeout(state, Duration::from_millis(100)).ok()?.0;
    }
}

/// How the names of all crates of the corpus begin.
pub(crate) const PREFIX: &str = "corpus_";

/// The crate of a document.
pub(crate) fn crate_name(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('-', "_"))
}

fn outcome(document: &Document, interfaces: &[(String, String)]) -> Outcome {
    let begun = Instant::now();
    let mut loader = Loader::new().text(format!("{}.xml", document.name), document.bytes.to_vec());
    if let Some(repair) = &document.repair {
        loader = loader.repair_file(repair);
    }
    for (name, bytes) in &document.with {
        loader = loader.text(format!("{name}.xml"), bytes.to_vec());
    }
    for (path, text) in interfaces {
        loader = loader.interface(text.clone(), Some(path));
    }
    let mut loaded = loader.load();
    let mut outcome = Outcome {
        name: document.name.clone(),
        uri: document.uri.clone(),
        version: document.version.clone(),
        ..Outcome::default()
    };
    outcome.is_base = document.uri == NS0_URI;
    outcome.report = loaded.report(false);
    for diagnostic in &loaded.diagnostics {
        let key = (diagnostic.code.0.to_owned(), diagnostic.severity.as_str());
        *outcome.diagnostics.entry(key).or_default() += 1;
    }
    count(&loaded, &mut outcome);
    if loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        outcome.failure = Some("errors".to_owned());
    } else {
        let models = models(&mut loaded);
        outcome.models = models.len();
        outcome.beside = models.iter().skip(1).map(|ns| loaded.set.uri(*ns).to_owned()).collect();
        if let Some(ns) = models.first() {
            outcome.served = canonical::served(&loaded.set, *ns).hashes().model;
        }
        match generate(&loaded.set, &models) {
            Ok(files) => outcome.files = files,
            Err(reason) => outcome.failure = Some(reason),
        }
    }
    if let Some(ns) = loaded.set.ns(&document.uri) {
        outcome.interface = interface::write(&loaded.set, ns);
    }
    let mut sha = Sha256::new();
    sha.update(&outcome.report);
    sha.update(&outcome.interface);
    for (path, bytes) in &outcome.files {
        sha.update(path);
        sha.update(bytes);
    }
    outcome.hash = hex::encode(sha.finalize());
    outcome.time = begun.elapsed();
    outcome
}

fn count(loaded: &Loaded, outcome: &mut Outcome) {
    let own = loaded.documents.iter().filter(|document| document.file == 0);
    let models = own.flat_map(|document| &document.models).filter_map(|ns| loaded.set.model(*ns));
    for node in models.flat_map(|model| model.nodes.values()) {
        outcome.nodes += 1;
        outcome.data_types += usize::from(node.class == NodeClass::DataType);
        outcome.object_types += usize::from(node.class == NodeClass::ObjectType);
    }
}

/// The models that came as documents, each but the first a module of the crate.
fn models(loaded: &mut Loaded) -> Vec<Ns> {
    let mut models: Vec<Ns> = Vec::new();
    for ns in loaded.documents.iter().flat_map(|document| &document.models) {
        if !models.contains(ns) {
            models.push(*ns);
        }
    }
    for model in &mut loaded.set.models {
        let at = models.iter().position(|ns| *ns == model.ns);
        if let Some(at) = at.filter(|at| *at > 0) {
            model.rust_path = Some(format!("crate::model_{at}"));
        }
    }
    models
}

/// The code of each model, by path below the crate's `src`.
fn generate(set: &ModelSet, models: &[Ns]) -> Result<Files, String> {
    let mut files = Files::new();
    for (at, ns) in models.iter().enumerate() {
        let folder = if at == 0 { "generated".to_owned() } else { format!("model_{at}/generated") };
        for (name, bytes) in model_files(set, *ns)? {
            files.insert(format!("{folder}/{name}"), bytes);
        }
    }
    Ok(files)
}

fn model_files(set: &ModelSet, ns: Ns) -> Result<Files, String> {
    let paths = Paths::model_crate();
    let options = TableOptions { descriptions: false, dictionaries: false, ..TableOptions::default() };
    let mut files = type_files(set, ns, &paths).map_err(|error| error.to_string())?;
    files.extend(object_files(set, ns, &paths).map_err(|error| error.to_string())?);
    files.extend(tables::write(set, ns, &options).map_err(|error| error.to_string())?);
    Ok(files)
}
