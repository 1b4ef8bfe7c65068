//! The front door: files in any order in, one resolved set and all diagnostics out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Severity};
use crate::resolve::{self, Interface, Options};
use crate::resolved::ModelSet;
use crate::schema;
use crate::source::{self, Sources};

/// Collects inputs and resolves them together. The order of the inputs does not matter.
#[derive(Clone, Debug, Default)]
pub struct Loader {
    inputs: Vec<Input>,
    options: Options,
}

#[derive(Clone, Debug)]
enum Input {
    File(PathBuf),
    Interface {
        text: String,
        rust_path: Option<String>,
    },
    Text {
        name: String,
        bytes: Vec<u8>,
    },
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What could be resolved.
    pub set: ModelSet,
    /// The input files, for positions.
    pub sources: Sources,
    /// Everything found, in the order of files and positions.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// True if some diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl Loader {
    /// A loader without inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a NodeSet2 file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(Input::File(path.into()));
        self
    }

    /// Adds a NodeSet2 text; `name` stands for the path in messages.
    #[must_use]
    pub fn text(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.inputs.push(Input::Text {
            name: name.into(),
            bytes: bytes.into(),
        });
        self
    }

    /// Adds the interface of a model that another crate carries. `rust_path` replaces the path that the file
    /// names. A document of the same model takes precedence.
    #[must_use]
    pub fn interface(mut self, text: impl Into<String>, rust_path: Option<&str>) -> Self {
        self.inputs.push(Input::Interface {
            text: text.into(),
            rust_path: rust_path.map(str::to_owned),
        });
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

    /// Reads and resolves everything. Without a document or interface of the OPC UA namespace itself, the
    /// interface that this crate carries is taken.
    pub fn load(self) -> Loaded {
        let mut sources = Sources::default();
        let mut diagnostics = Vec::new();
        let mut rust_paths = BTreeMap::new();
        for input in self.inputs {
            match read(input, &mut sources) {
                Ok((file, Some(Kind::Interface(path)))) => {
                    rust_paths.insert(file, path);
                }
                Ok(_) => {}
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        let mut documents = Vec::new();
        let mut interfaces = Vec::new();
        for (file, source) in (0u32..).zip(sources.iter()) {
            if let Some(path) = rust_paths.remove(&file) {
                match Interface::read(file, &source.text, path) {
                    Ok(interface) => interfaces.push(interface),
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                }
                continue;
            }
            match schema::parse(file, source) {
                Ok(document) => documents.push((file, document)),
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        let set = resolve::resolve(&documents, interfaces, &self.options, &mut diagnostics);
        drop(documents);
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.file, span.start)));
        Loaded {
            set,
            sources,
            diagnostics,
        }
    }
}

/// What an input is, beyond a document.
enum Kind {
    Interface(Option<String>),
}

fn read(input: Input, sources: &mut Sources) -> Result<(u32, Option<Kind>), Box<Diagnostic>> {
    let (name, bytes) = match input {
        Input::File(path) => (path.display().to_string(), source::read_file(&path)?),
        Input::Text { name, bytes } => (name, bytes),
        Input::Interface { text, rust_path } => {
            let model = text
                .lines()
                .find_map(|line| line.strip_prefix("model\t"))
                .unwrap_or("a model");
            let name = format!("interface of {model}");
            let file = sources.push(name, text);
            return Ok((file, Some(Kind::Interface(rust_path))));
        }
    };
    let text = source::decode(&name, bytes)?;
    Ok((sources.push(name, text), None))
}
