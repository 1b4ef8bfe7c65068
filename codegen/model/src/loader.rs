//! The front door: files in any order in, one resolved set and all diagnostics out.

mod repairs;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::diagnostic::{Code, Diagnostic, Severity, render};
use crate::identifiers::{self, is_table};
use crate::interface;
use crate::repair::fingerprint;
use crate::resolve::{self, Interface, Options};
use crate::resolved::{ModelSet, Ns};
use crate::schema;
use crate::source::{self, Sources};
use repairs::{RepairInput, Repairs};

/// How many of one code in one file a folded report shows.
const SHOWN: usize = 10;

/// Collects inputs and resolves them together. The order of the inputs does not matter.
#[derive(Clone, Debug)]
pub struct Loader {
    inputs: Vec<Input>,
    repairs: Vec<RepairInput>,
    options: Options,
    max_bytes: usize,
}

impl Default for Loader {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            repairs: Vec::new(),
            options: Options::default(),
            max_bytes: source::MAX_BYTES,
        }
    }
}

#[derive(Clone, Debug)]
enum Input {
    File(PathBuf, Role),
    Interface { text: String, rust_path: Option<String> },
    Text { name: String, bytes: Vec<u8>, role: Role },
}

/// What a caller says of an input.
#[derive(Clone, Debug)]
enum Role {
    /// Nothing: its content says it.
    Sniffed,
    /// It is a table of identifiers, of the model with this URI.
    Identifiers(Option<String>),
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What could be resolved.
    pub set: ModelSet,
    /// The documents and interface files among the input files that could be read, with their models.
    pub documents: Vec<LoadedDocument>,
    /// The input files, for positions.
    pub sources: Sources,
    /// Everything found, in the order of files and positions.
    pub diagnostics: Vec<Diagnostic>,
}

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedDocument {
    /// Index of the file in [`Loaded::sources`].
    pub file: u32,
    /// Its models, in the order of the file.
    pub models: Vec<Ns>,
}

impl Loaded {
    /// True if some diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All diagnostics as text, each ended by an empty line.
    pub fn report(&self, color: bool) -> String {
        let texts = self.diagnostics.iter().map(|diagnostic| render(diagnostic, &self.sources, color));
        texts.map(|text| text + "\n\n").collect()
    }

    /// The same, but of each code in each file the first ten only, and then how many more there are.
    pub fn folded_report(&self, color: bool) -> String {
        let mut seen: BTreeMap<(Code, Option<u32>), usize> = BTreeMap::new();
        let mut text = String::new();
        for diagnostic in &self.diagnostics {
            let count = seen.entry((diagnostic.code, diagnostic.span.map(|span| span.file))).or_default();
            *count += 1;
            if *count <= SHOWN {
                text.push_str(&render(diagnostic, &self.sources, color));
                text.push_str("\n\n");
            }
        }
        for ((code, file), count) in seen.into_iter().filter(|(_, count)| *count > SHOWN) {
            let file = file.and_then(|file| self.sources.get(file)).map_or("no file", |source| &source.name);
            let _ = writeln!(text, "{} more of {} in {file}\n", count - SHOWN, code.0);
        }
        text
    }
}

impl Loader {
    /// A loader without inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a NodeSet2 file, a type dictionary (BSD), a table of identifiers (CSV) or a model interface file; its content
    /// says which. A dictionary gives definitions to data types whose NodeSet has none.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(Input::File(path.into(), Role::Sniffed));
        self
    }

    /// Adds a NodeSet2 text; `name` stands for the path in messages.
    #[must_use]
    pub fn text(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.inputs.push(Input::Text { name: name.into(), bytes: bytes.into(), role: Role::Sniffed });
        self
    }

    /// Adds the interface of a model that another crate carries. `rust_path` replaces the path that the file
    /// names. A document of the same model takes precedence.
    #[must_use]
    pub fn interface(mut self, text: impl Into<String>, rust_path: Option<&str>) -> Self {
        self.inputs.push(Input::Interface { text: text.into(), rust_path: rust_path.map(str::to_owned) });
        self
    }

    /// Adds a documented repair: a patch of one published file with its reason and provenance. It changes the file of
    /// its SHA-256 alone, and a note says so. `name` stands for the path in messages.
    #[must_use]
    pub fn repair(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.repairs.push(RepairInput::Text { name: name.into(), text: text.into() });
        self
    }

    /// Adds a file with a documented repair; see [`Loader::repair`].
    #[must_use]
    pub fn repair_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.repairs.push(RepairInput::File(path.into()));
        self
    }

    /// Adds a table of identifiers (CSV with lines of name, identifier, node class) as a guard of the model with this
    /// URI, or without one, of the document that it fits best: codes UAF061x tell where ids, names and node classes are
    /// not those of the table. Types of a dictionary without a NodeSet get their ids from it. `name` stands for the path
    /// in messages.
    #[must_use]
    pub fn identifiers(
        mut self,
        uri: Option<&str>,
        name: impl Into<String>,
        text: impl Into<Vec<u8>>,
    ) -> Self {
        let role = Role::Identifiers(uri.map(str::to_owned));
        self.inputs.push(Input::Text { name: name.into(), bytes: text.into(), role });
        self
    }

    /// Adds a file with a table of identifiers; see [`Loader::identifiers`].
    #[must_use]
    pub fn identifiers_file(mut self, uri: Option<&str>, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(Input::File(path.into(), Role::Identifiers(uri.map(str::to_owned))));
        self
    }

    /// Largest file that is read; at most 4 GiB.
    #[must_use]
    pub fn max_bytes(mut self, limit: usize) -> Self {
        self.max_bytes = limit.min(u32::MAX as usize - 1);
        self
    }

    /// Makes a required model that is older than asked for a warning.
    #[must_use]
    pub fn allow_older_models(mut self, allow: bool) -> Self {
        self.options.allow_older_models = allow;
        self
    }

    /// Drops references of an unknown type with a warning instead of an error.
    #[must_use]
    pub fn drop_unknown_references(mut self, drop: bool) -> Self {
        self.options.drop_unknown_references = drop;
        self
    }

    /// Adds advice to what is wrong: legal things that surprise people and tools, codes UAF05xx.
    #[must_use]
    pub fn lints(mut self, lints: bool) -> Self {
        self.options.lints = lints;
        self
    }

    /// Reads and resolves everything. Without a document or interface of the OPC UA namespace itself, the
    /// interface that this crate carries is taken.
    pub fn load(self) -> Loaded {
        let mut sources = Sources::default();
        let mut diagnostics = Vec::new();
        let mut rust_paths = BTreeMap::new();
        let mut repairs = Repairs::read(&self.repairs, self.max_bytes, &mut diagnostics);
        let mut listed = Vec::new();
        let mut guards = BTreeMap::new();
        for input in self.inputs {
            match read(input, &mut sources, self.max_bytes, &mut repairs) {
                Ok((file, Kind::Interface(path))) => {
                    rust_paths.insert(file, path);
                }
                Ok((file, Kind::InterfaceFile)) => {
                    listed.push(file);
                    rust_paths.insert(file, None);
                }
                Ok((file, Kind::Identifiers(uri))) => {
                    guards.insert(file, uri);
                }
                Ok((_, Kind::Document)) => {}
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        diagnostics.append(&mut repairs.finish());
        let mut documents = Vec::new();
        let mut interfaces = Vec::new();
        let mut carried = Vec::new();
        let mut tables = Vec::new();
        for (file, source) in (0u32..).zip(sources.iter()) {
            if let Some(path) = rust_paths.remove(&file) {
                match Interface::read(file, &source.text, path) {
                    Ok(interface) => {
                        if listed.contains(&file) {
                            carried.push((file, interface.uri().to_owned()));
                        }
                        interfaces.push(interface);
                    }
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                }
                continue;
            }
            if let Some(uri) = guards.get(&file) {
                tables.push(identifiers::read(file, &source.text, uri.as_deref(), &mut diagnostics));
                continue;
            }
            match schema::parse(file, source) {
                Ok(document) => documents.push((file, document)),
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        let (set, models) =
            resolve::resolve(&documents, interfaces, &tables, &self.options, &mut diagnostics);
        drop(documents);
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.file, span.start)));
        let carried = carried.into_iter().map(|(file, uri)| (file, set.ns(&uri).into_iter().collect()));
        let documents = models.into_iter().chain(carried);
        let documents = documents.map(|(file, models)| LoadedDocument { file, models }).collect();
        Loaded { set, documents, sources, diagnostics }
    }
}

/// What an input is.
enum Kind {
    Document,
    /// The interface that another crate carries, with the crate's path.
    Interface(Option<String>),
    /// An interface file among the documents.
    InterfaceFile,
    /// A table of identifiers, of the model with this URI.
    Identifiers(Option<String>),
}

fn read(
    input: Input,
    sources: &mut Sources,
    limit: usize,
    repairs: &mut Repairs,
) -> Result<(u32, Kind), Box<Diagnostic>> {
    let (name, bytes, role) = match input {
        Input::File(path, role) => (path.display().to_string(), source::read_file(&path, limit)?, role),
        Input::Text { name, bytes, role } => (name, bytes, role),
        Input::Interface { text, rust_path } => {
            let model = text.lines().find_map(|line| line.strip_prefix("model\t")).unwrap_or("a model");
            let name = format!("interface of {model}");
            let file = sources.push(name, text);
            return Ok((file, Kind::Interface(rust_path)));
        }
    };
    let fingerprint = if repairs.known.is_empty() { String::new() } else { fingerprint(&bytes) };
    let mut text = source::decode(&name, bytes, limit)?;
    let file = sources.iter().count() as u32;
    repairs.apply(&fingerprint, file, &mut text);
    let kind = match role {
        Role::Identifiers(uri) => Kind::Identifiers(uri),
        Role::Sniffed if interface::is_interface(&text) => Kind::InterfaceFile,
        Role::Sniffed if is_table(&text) => Kind::Identifiers(None),
        Role::Sniffed => Kind::Document,
    };
    Ok((sources.push(name, text), kind))
}
