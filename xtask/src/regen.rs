//! `regen-models`: the committed models, generated anew.

mod files;

use crate::nodesets::Catalogue;
use crate::{nodesets, workspace};
use anyhow::{Context, Result, anyhow, bail};
use files::Wanted;
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
    let catalogue = nodesets::Catalogue::read(&root)?;
    let mut wanted = Wanted::default();
    for (name, model) in &catalogue.models {
        let Some(folder) = model.folder(name) else {
            continue;
        };
        generate(&root, &catalogue, name, &folder, &mut wanted)
            .with_context(|| format!("cannot generate {name}"))?;
    }
    if check { wanted.check(&root) } else { wanted.write(&root) }
}

/// Everything that is generated from one model.
fn generate(
    root: &Path,
    catalogue: &Catalogue,
    name: &str,
    folder: &Path,
    wanted: &mut Wanted,
) -> Result<()> {
    let model = catalogue.locked(name)?;
    let mut loaded = load(root, name, &model.uri)?;
    let ns = namespace(&loaded, &model.uri)?;
    let base = model.uri == NS0_URI;
    let interface_file = if base { PathBuf::from(BASE_INTERFACE) } else { folder.join("interface.txt") };
    if let Ok(previous) = std::fs::read_to_string(root.join(&interface_file)) {
        keep_names(&mut loaded.set, ns, &previous)
            .map_err(|broken| anyhow!("{}: {}", interface_file.display(), broken.message))?;
    }
    wanted.file(interface_file, interface::write(&loaded.set, ns).into_bytes());
    let nodes = match &catalogue.model(name).nodes {
        Some(other) => &load(root, other, &model.uri)?,
        None => &loaded,
    };
    let generated = folder.join("src/generated");
    let ns0 = if base { "crate" } else { "::uaforge_ns0" };
    let options = TableOptions { descriptions: false, dictionaries: false, ..Default::default() };
    for (file, bytes) in tables::write(&nodes.set, namespace(nodes, &model.uri)?, &options)? {
        wanted.file(generated.join(file), bytes);
    }
    let paths = if base { Paths::base_types() } else { Paths::model_crate() };
    let types = if base { PathBuf::from(BASE_TYPES) } else { generated.clone() };
    for (file, bytes) in type_files(&loaded.set, ns, &paths)? {
        wanted.file(types.join(file), bytes);
    }
    if base {
        let rows = status_codes(root)?;
        wanted.file(types.join("status.rs"), status_file(&rows).into_bytes());
        wanted.folder(types);
    }
    for (file, bytes) in object_files(&loaded.set, ns, &Paths { ns0: ns0.into(), ..Paths::model_crate() })? {
        wanted.file(generated.join(file), bytes);
    }
    wanted.folder(generated);
    Ok(())
}

fn namespace(loaded: &Loaded, uri: &str) -> Result<Ns> {
    loaded.set.ns(uri).with_context(|| format!("the file does not define {uri}"))
}

/// Reads a fetched NodeSet, and ns0 for those that build on it.
fn load(root: &Path, name: &str, uri: &str) -> Result<Loaded> {
    let mut loader = Loader::new().file(nodeset(root, name)?);
    if uri != NS0_URI {
        loader = loader.file(nodeset(root, "ns0")?);
    }
    let loaded = loader.load();
    if loaded.has_errors() {
        eprint!("{}", loaded.report(false));
        bail!("the NodeSet has errors");
    }
    Ok(loaded)
}

fn nodeset(root: &Path, name: &str) -> Result<PathBuf> {
    let path = nodesets::folder(root).join(format!("{name}.xml"));
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
