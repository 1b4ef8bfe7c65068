//! The library of everybody's build script: NodeSet2 files in, Rust in `$OUT_DIR` out.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uaforge_model::resolved::{ModelSet, Ns};
use uaforge_model::{Loaded, Loader, interface};

use crate::crates::{Files, Paths, object_files, type_files};
use crate::keep::keep_names;
use crate::names;
use crate::render::{self, RenderError};
use crate::report;
use crate::tables::{self, TableError, TableOptions};

/// Generates the models of one or more NodeSet2 files into `$OUT_DIR`.
///
/// Required models are found through the Cargo dependencies of the crate: a dependency on
/// `uaforge-di` is enough for a NodeSet that requires DI. `uaforge::include_model!(name)` brings the
/// result into the crate; `name` is the file's name up to its first dot, in snake_case. Where a file has several
/// models, each is named by the last segment of its URI.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is generated before `build`"]
pub struct Forge {
    nodesets: Vec<PathBuf>,
    names: BTreeMap<String, String>,
    paths: BTreeMap<String, String>,
    descriptions: Option<bool>,
    ledgers: BTreeMap<String, PathBuf>,
    repairs: Vec<PathBuf>,
    identifiers: BTreeMap<String, PathBuf>,
    allow_older_models: bool,
    out: Option<PathBuf>,
}

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The NodeSet has errors; all of them were printed.
    #[error("the NodeSet has {0} error(s), see above")]
    NodeSet(usize),
    /// Not run by Cargo as a build script.
    #[error("`{0}` is not set: call this from a build script")]
    NotABuildScript(&'static str),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Two models would be one module.
    #[error("{} and {} would both be `{name}`: give one another name with `Forge::name`", uris[0], uris[1])]
    SameName {
        /// The name.
        name: String,
        /// The URIs of the models.
        uris: [String; 2],
    },
    /// An interface file of an earlier generation is broken.
    #[error("{path}: {reason}")]
    Ledger {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The model does not fit into tables.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The generator has a defect that shows in this model.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl Forge {
    /// Nothing to generate yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A NodeSet2 file, relative to the crate's manifest.
    pub fn nodeset(mut self, path: impl Into<PathBuf>) -> Self {
        self.nodesets.push(path.into());
        self
    }

    /// A type dictionary (BSD), relative to the crate's manifest: it gives definitions to data types whose NodeSet has
    /// none. A dictionary without a NodeSet is a model of types alone, whose ids are their names or those of
    /// [`Forge::identifiers`].
    pub fn bsd(self, path: impl Into<PathBuf>) -> Self {
        self.nodeset(path)
    }

    /// The Rust name of the model with this URI, where the file's name does not serve.
    pub fn name(mut self, uri: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.insert(uri.into(), name.into());
        self
    }

    /// The Rust path of the crate that carries the model with this URI, for a renamed dependency.
    pub fn path(mut self, uri: impl Into<String>, rust_path: impl Into<String>) -> Self {
        self.paths.insert(uri.into(), rust_path.into());
        self
    }

    /// Whether Descriptions are kept (the default) or null.
    pub fn descriptions(mut self, keep: bool) -> Self {
        self.descriptions = Some(keep);
        self
    }

    /// A file with a documented repair of a published NodeSet: a patch with its reason and provenance, which
    /// `uaforge explain UAF0012` describes. It changes the NodeSet of the SHA-256 that it names, and nothing else.
    pub fn repair(mut self, path: impl Into<PathBuf>) -> Self {
        self.repairs.push(path.into());
        self
    }

    /// A table of identifiers (CSV with lines of name, identifier, node class), relative to the crate's manifest, that
    /// guards the model with this URI: the build fails where an id of the NodeSet is not the published one. Types of a
    /// dictionary without a NodeSet get their ids from it.
    pub fn identifiers(mut self, uri: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.identifiers.insert(uri.into(), path.into());
        self
    }

    /// Goes on with a warning where a required model was published earlier than asked for.
    pub fn allow_older_models(mut self, allow: bool) -> Self {
        self.allow_older_models = allow;
        self
    }

    /// The interface file that was generated for the model with this URI earlier (`interface.txt` in
    /// `$OUT_DIR`), kept beside the NodeSet: Rust names that it gave stay, whatever was added since.
    pub fn ledger(mut self, uri: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.ledgers.insert(uri.into(), path.into());
        self
    }

    /// Where the code goes, in place of `$OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Generates. Every diagnostic of the NodeSets is printed; errors end the build.
    ///
    /// # Errors
    /// A NodeSet is broken, a file cannot be read or written, or a limit of the tables is exceeded.
    pub fn build(self) -> Result<(), Error> {
        let out = self.out.clone().or_else(|| env::var_os("OUT_DIR").map(PathBuf::from));
        let out = out.ok_or(Error::NotABuildScript("OUT_DIR"))?;
        let mut loaded = self.load()?;
        report::print(&loaded);
        let errors = report::errors(&loaded);
        if errors > 0 {
            return Err(Error::NodeSet(errors));
        }
        let names = self.name_models(&mut loaded)?;
        self.rename_paths(&mut loaded.set);
        self.keep_names(&mut loaded.set)?;
        for (ns, name) in names {
            self.generate(&loaded, ns, &name, &out)?;
        }
        Ok(())
    }

    fn load(&self) -> Result<Loaded, Error> {
        let mut loader = Loader::new().allow_older_models(self.allow_older_models);
        for path in &self.nodesets {
            println!("cargo::rerun-if-changed={}", path.display());
            loader = loader.file(path);
        }
        for path in &self.repairs {
            println!("cargo::rerun-if-changed={}", path.display());
            loader = loader.repair_file(path);
        }
        for (uri, path) in &self.identifiers {
            println!("cargo::rerun-if-changed={}", path.display());
            loader = loader.identifiers_file(Some(uri), path);
        }
        for published in uaforge_publish::inherited() {
            println!("cargo::rerun-if-changed={}", published.path);
            let text = fs::read_to_string(&published.path)
                .map_err(|source| Error::Io { path: published.path.clone(), source })?;
            loader = loader.interface(text, Some(&published.rust_path));
        }
        Ok(loader.load())
    }

    /// The Rust names of the models that are generated. Each is a module of the crate's root.
    fn name_models(&self, loaded: &mut Loaded) -> Result<Vec<(Ns, String)>, Error> {
        let own = loaded.set.models.iter().filter(|model| !model.from_interface);
        let own: Vec<Ns> = own.map(|model| model.ns).collect();
        let mut names: Vec<(Ns, String)> = Vec::new();
        for ns in own {
            let name = self.model_name(loaded, ns);
            if let Some((other, _)) = names.iter().find(|(_, taken)| *taken == name) {
                let uris = [loaded.set.uri(*other).to_owned(), loaded.set.uri(ns).to_owned()];
                return Err(Error::SameName { name, uris });
            }
            names.push((ns, name));
        }
        for model in &mut loaded.set.models {
            if let Some((_, name)) = names.iter().find(|(ns, _)| *ns == model.ns) {
                model.rust_path = Some(format!("crate::{name}"));
            }
        }
        Ok(names)
    }

    fn keep_names(&self, set: &mut ModelSet) -> Result<(), Error> {
        for (uri, path) in &self.ledgers {
            println!("cargo::rerun-if-changed={}", path.display());
            let shown = || path.display().to_string();
            let text = fs::read_to_string(path).map_err(|source| Error::Io { path: shown(), source })?;
            if let Some(ns) = set.ns(uri) {
                keep_names(set, ns, &text)
                    .map_err(|reason| Error::Ledger { path: shown(), reason: reason.message })?;
            }
        }
        Ok(())
    }

    /// Renames the crate of a model, and with it the way to crates that are reached through it.
    fn rename_paths(&self, set: &mut ModelSet) {
        for (uri, rust_path) in &self.paths {
            let Some(ns) = set.ns(uri) else {
                continue;
            };
            let model = set.models.iter_mut().find(|model| model.ns == ns);
            let before = model.and_then(|model| model.rust_path.replace(rust_path.clone()));
            let Some(inside) = before.map(|before| before + "::") else {
                continue;
            };
            for path in set.models.iter_mut().filter_map(|model| model.rust_path.as_mut()) {
                if let Some(rest) = path.strip_prefix(&inside) {
                    *path = format!("{rust_path}::{rest}");
                }
            }
        }
    }

    fn generate(&self, loaded: &Loaded, ns: Ns, name: &str, out: &Path) -> Result<(), Error> {
        let folder = out.join(name);
        let mut files = model_files(&loaded.set, ns, &self.table_options())?;
        files.insert("interface.txt".into(), interface::write(&loaded.set, ns).into_bytes());
        for (file, bytes) in &files {
            write_if_changed(&folder.join(file), bytes)?;
        }
        write_if_changed(&out.join(format!("{name}.rs")), root_file(&folder).as_bytes())
    }

    fn table_options(&self) -> TableOptions {
        let paths = Paths::user();
        let descriptions = self.descriptions.unwrap_or(true);
        TableOptions { nodes_path: paths.nodes, descriptions, dictionaries: descriptions }
    }

    /// The given name, or that of the file in which the model stands, or where several stand in the file, that of the
    /// URI's last segment.
    fn model_name(&self, loaded: &Loaded, ns: Ns) -> String {
        let uri = loaded.set.uri(ns);
        if let Some(name) = self.names.get(uri) {
            return name.clone();
        }
        let document = loaded.documents.iter().find(|document| document.models.contains(&ns));
        let file = document.filter(|document| document.models.len() == 1);
        let file = file.and_then(|document| loaded.sources.get(document.file));
        let stem = match file {
            Some(source) => {
                let name =
                    Path::new(&source.name).file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.split('.').next().unwrap_or_default().to_owned()
            }
            None => uri.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_owned(),
        };
        names::Scope::default().snake("", &stem, "").to_string()
    }
}

/// Data types, ids and tables of a model in a user's crate.
fn model_files(set: &ModelSet, ns: Ns, options: &TableOptions) -> Result<Files, Error> {
    let mut files = type_files(set, ns, &Paths::user())?;
    files.extend(object_files(set, ns, &Paths::user())?);
    files.extend(tables::write(set, ns, options)?);
    Ok(files)
}

/// What `include_model!` includes. Paths are absolute: an included file's modules are looked for
/// beside the file that includes it.
fn root_file(folder: &Path) -> String {
    let paths = Paths::user();
    let mut text = render::head("A model, generated by a build script.").replace("//!", "//");
    let _ = writeln!(text, "use {} as codec;\n", paths.codec);
    let path = |module: &str| folder.join(format!("{module}.rs")).display().to_string();
    for (visibility, module) in [("pub ", "ids"), ("", "objects"), ("", "tables"), ("", "types")] {
        let _ = writeln!(text, "#[path = {:?}]\n{visibility}mod {module};", path(module));
    }
    // The façade knows which side its user wants.
    for module in ["client", "server"] {
        let _ = writeln!(
            text,
            "::uaforge::__if_{module}! {{\n    #[path = {:?}]\n    pub mod {module};\n}}",
            path(module)
        );
    }
    text.push_str("\npub use objects::*;\npub use tables::MODEL;\npub use types::*;\n");
    let _ = write!(
        text,
        "\n/// The model: every node, for a server.\n#[must_use]\npub fn model() -> &'static {}::table::StaticModel {{\n    &MODEL\n}}\n",
        paths.nodes
    );
    text
}

/// Leaves files alone that are as they should be, so that Cargo does not compile them again.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let io = |source| Error::Io { path: path.display().to_string(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    fs::write(path, bytes).map_err(io)
}
