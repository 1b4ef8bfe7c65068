//! `regen-models`: the committed models, generated anew.

mod crates;
mod files;
mod new_model;
mod workspace_of_models;

pub(crate) use new_model::{NewModel, run as new_model};

use crate::nodesets::{Catalogue, LockedModel};
use crate::{nodesets, workspace};
use anyhow::{Context, Result, anyhow, bail};
use crates::ModelCrate;
use files::Wanted;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use uaforge_codegen::tables::{self, TableOptions};
use uaforge_codegen::{Paths, keep_names, object_files, status_file, type_files};
use uaforge_model::resolved::Ns;
use uaforge_model::{Loaded, Loader, NS0_URI, interface};

/// Where the generator itself keeps the interface of the base model.
const BASE_INTERFACE: &str = "codegen/model/interface/ns0.txt";

/// Where the base model's data types go: the runtime needs them, and nodes are another crate.
const BASE_TYPES: &str = "runtime/types/src/generated";

/// Status codes are in no NodeSet (OPC 10000-6 Annex A).
const STATUS_CODES: &str = "runtime/types/status_codes.csv";

/// Writes the files that changed, or with `check` fails if there are any.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = workspace::root();
    let catalogue = Catalogue::read(&root)?;
    let crates = crates::plan(&catalogue)?;
    let mut regen =
        Regen { root: &root, catalogue: &catalogue, interfaces: BTreeMap::new(), wanted: Wanted::default() };
    regen.base().context("cannot generate the base model")?;
    for model in &crates {
        regen.model(model).with_context(|| format!("cannot generate {}", model.name()))?;
    }
    workspace_of_models::files(&root, &crates, &mut regen.wanted)?;
    if check { regen.wanted.check(&root) } else { regen.wanted.write(&root) }
}

struct Regen<'a> {
    root: &'a Path,
    catalogue: &'a Catalogue,
    /// Interfaces by URI.
    interfaces: BTreeMap<String, String>,
    wanted: Wanted,
}

impl Regen<'_> {
    /// The base model: its types are the runtime's, its nodes and ObjectTypes a crate.
    fn base(&mut self) -> Result<()> {
        let base = self.catalogue.locked("ns0")?;
        let mut loaded = load(Loader::new().file(nodeset(self.root, base)?))?;
        let text = self.interface(&mut loaded, Ns::UA, Path::new(BASE_INTERFACE))?;
        self.interfaces.insert(NS0_URI.to_owned(), text);
        let nodes = match &self.catalogue.model("ns0").nodes {
            Some(other) => load(Loader::new().file(nodeset(self.root, self.catalogue.locked(other)?)?))?,
            None => loaded.clone(),
        };
        for (file, bytes) in type_files(&loaded.set, Ns::UA, &Paths::base_types())? {
            self.wanted.file(Path::new(BASE_TYPES).join(file), bytes);
        }
        let rows = status_codes(self.root)?;
        self.wanted.file(Path::new(BASE_TYPES).join("status.rs"), status_file(&rows).into_bytes());
        self.wanted.folder(BASE_TYPES.into());
        let paths = Paths { ns0: "crate".into(), ..Paths::model_crate() };
        self.objects_and_tables(&loaded, &nodes, Ns::UA, Path::new("models/ns0"), &paths)
    }

    /// A model that has a crate of its own, with all that the crate consists of.
    fn model(&mut self, model: &ModelCrate<'_>) -> Result<()> {
        let mut loader = Loader::new().file(nodeset(self.root, model.locked)?);
        if let Some(repair) = nodesets::repair(self.root, model.name()) {
            loader = loader.repair_file(repair);
        }
        for below in &model.below {
            let text = self
                .interfaces
                .get(&below.uri)
                .with_context(|| format!("{} is not generated", below.name))?;
            loader = loader.interface(text.clone(), Some(&crates::rust_path(&below.name)));
        }
        let base = self.interfaces.get(NS0_URI).cloned().unwrap_or_default();
        let mut loaded = load(loader.interface(base, None))?;
        let ns = loaded.set.ns(&model.locked.uri);
        let ns = ns.with_context(|| format!("the file does not define {}", model.locked.uri))?;
        let folder = model.folder();
        let text = self.interface(&mut loaded, ns, &folder.join("interface.txt"))?;
        self.interfaces.insert(model.locked.uri.clone(), text);
        let paths = Paths::model_crate();
        for (file, bytes) in type_files(&loaded.set, ns, &paths)? {
            self.wanted.file(folder.join("src/generated").join(file), bytes);
        }
        self.objects_and_tables(&loaded, &loaded, ns, &folder, &paths)?;
        for (file, text) in model.files(&loaded.set, ns) {
            self.wanted.file(folder.join(file), text.into_bytes());
        }
        Ok(())
    }

    /// The model's interface, with the names that its committed one gave.
    fn interface(&mut self, loaded: &mut Loaded, ns: Ns, file: &Path) -> Result<String> {
        if let Ok(previous) = std::fs::read_to_string(self.root.join(file)) {
            keep_names(&mut loaded.set, ns, &previous)
                .map_err(|broken| anyhow!("{}: {}", file.display(), broken.message))?;
        }
        let text = interface::write(&loaded.set, ns);
        self.wanted.file(file.to_path_buf(), text.clone().into_bytes());
        Ok(text)
    }

    fn objects_and_tables(
        &mut self,
        loaded: &Loaded,
        nodes: &Loaded,
        ns: Ns,
        folder: &Path,
        paths: &Paths,
    ) -> Result<()> {
        let generated = folder.join("src/generated");
        let options = TableOptions { descriptions: false, dictionaries: false, ..TableOptions::default() };
        for (file, bytes) in tables::write(&nodes.set, ns, &options)? {
            self.wanted.file(generated.join(file), bytes);
        }
        for (file, bytes) in object_files(&loaded.set, ns, paths)? {
            self.wanted.file(generated.join(file), bytes);
        }
        self.wanted.folder(generated);
        Ok(())
    }
}

fn load(loader: Loader) -> Result<Loaded> {
    let loaded = loader.load();
    if loaded.has_errors() {
        eprint!("{}", loaded.report(false));
        bail!("the NodeSet has errors");
    }
    Ok(loaded)
}

/// The file of a fetched NodeSet.
fn nodeset(root: &Path, model: &LockedModel) -> Result<PathBuf> {
    let path = nodesets::folder(root).join(format!("{}.xml", model.name));
    if !path.is_file() {
        bail!("{} is not there; run `cargo xtask fetch-nodesets` first", path.display());
    }
    Ok(path)
}

/// The committed table of status codes: symbolic name and number.
fn status_codes(root: &Path) -> Result<Vec<(String, u32)>> {
    let text = std::fs::read_to_string(root.join(STATUS_CODES)).context(STATUS_CODES)?;
    text.lines()
        .skip(1)
        .map(|line| {
            let (name, number) = line.split_once(',').with_context(|| format!("not a row: {line}"))?;
            let digits = number.strip_prefix("0x").with_context(|| format!("not a number: {number}"))?;
            Ok((name.to_owned(), u32::from_str_radix(digits, 16)?))
        })
        .collect()
}
