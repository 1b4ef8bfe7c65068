//! The crates of models: what each consists of beside its generated code.

use crate::nodesets::{Catalogue, LockedModel};
use crate::scaffold;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use uaforge_model::canonical;
use uaforge_model::resolved::{ModelSet, NodeClass, Ns};

/// Lines of Rust are no longer (rustfmt.toml).
const MAX_WIDTH: usize = 110;

/// A model that has a crate, and those below it, dependencies first.
pub(super) struct ModelCrate<'a> {
    pub(super) locked: &'a LockedModel,
    title: String,
    /// All models that it requires, directly or not, but the base model.
    pub(super) below: Vec<&'a LockedModel>,
}

/// The crate of a model.
pub(super) fn package(name: &str) -> String {
    format!("uaforge-{}", name.replace('_', "-"))
}

/// How generated code of others names the crate of a model.
pub(super) fn rust_path(name: &str) -> String {
    format!("::uaforge_{}", name.replace('-', "_"))
}

/// All models with crates but the base model, dependencies first.
pub(super) fn plan(catalogue: &Catalogue) -> Result<Vec<ModelCrate<'_>>> {
    let mut crates: Vec<ModelCrate<'_>> = Vec::new();
    for (name, model) in &catalogue.models {
        if model.title.is_some() && name != "ns0" {
            add(catalogue, catalogue.locked(name)?, &mut crates, &mut BTreeSet::new())?;
        }
    }
    Ok(crates)
}

fn add<'a>(
    catalogue: &'a Catalogue,
    locked: &'a LockedModel,
    crates: &mut Vec<ModelCrate<'a>>,
    open: &mut BTreeSet<&'a str>,
) -> Result<()> {
    if crates.iter().any(|known| known.locked.name == locked.name) {
        return Ok(());
    }
    if !open.insert(&locked.name) {
        bail!("{} requires itself", locked.name);
    }
    let title = catalogue.model(&locked.name).title;
    let title = title.with_context(|| {
        format!(
            "{} is required, but has no crate: run `cargo xtask new-model {}` first",
            locked.uri, locked.name
        )
    })?;
    let mut below: Vec<&LockedModel> = Vec::new();
    for uri in &locked.requires {
        let required = catalogue.newest(uri).with_context(|| format!("models.lock pins no {uri}"))?;
        add(catalogue, required, crates, open)?;
        let its = crates.iter().find(|known| known.locked.name == required.name);
        for model in its.iter().flat_map(|its| &its.below).copied().chain([required]) {
            if !below.iter().any(|known| known.name == model.name) {
                below.push(model);
            }
        }
    }
    below.sort_by_key(|model| &model.name);
    crates.push(ModelCrate { locked, title, below });
    Ok(())
}

/// How many nodes of a class a model has.
fn count(set: &ModelSet, ns: Ns, class: NodeClass) -> usize {
    let nodes = set.model(ns).into_iter().flat_map(|model| model.nodes.values());
    nodes.filter(|node| node.class == class).count()
}

impl ModelCrate<'_> {
    pub(super) fn name(&self) -> &str {
        &self.locked.name
    }

    pub(super) fn folder(&self) -> PathBuf {
        Path::new("models").join(self.name())
    }

    /// Manifest, build script, library, page and test.
    pub(super) fn files(&self, set: &ModelSet, ns: Ns) -> Vec<(&'static str, String)> {
        vec![
            ("Cargo.toml", self.manifest()),
            ("build.rs", self.build_script()),
            ("src/lib.rs", self.library(count(set, ns, NodeClass::ObjectType) > 0)),
            ("README.md", self.page(set, ns)),
            ("tests/served.rs", self.test(set, ns)),
        ]
    }

    fn packages(&self) -> impl Iterator<Item = String> {
        self.below.iter().map(|model| package(&model.name))
    }

    fn manifest(&self) -> String {
        let name = package(self.name());
        let mut text = format!(
            "[package]\nname = \"{name}\"\ndescription = \"{} as typed Rust.\"\nreadme = \"README.md\"\n",
            self.title
        );
        for key in ["version", "edition", "rust-version", "license", "repository"] {
            let _ = writeln!(text, "{key}.workspace = true");
        }
        let _ = writeln!(text, "links = \"uaforge-model-{}\"\n", self.name());
        text.push_str("# Nothing to test inside: tests/served.rs sees it from outside.\n[lib]\ntest = false\ndoctest = false\n\n");
        text.push_str("[lints]\nworkspace = true\n\n[features]\ndefault = [\"client\", \"server\"]\n");
        for (feature, what) in [("client", "Typed proxies."), ("server", "Typed handles.")] {
            let below = self.packages().chain(["uaforge-ns0".to_owned()]);
            let below: String = below.map(|package| format!(", \"{package}/{feature}\"")).collect();
            let _ = writeln!(text, "# {what}\n{feature} = [\"dep:uaforge-{feature}\"{below}]");
        }
        text.push_str("\n[dependencies]\n");
        for name in ["uaforge-types", "uaforge-nodes", "uaforge-ns0"]
            .map(str::to_owned)
            .into_iter()
            .chain(self.packages())
        {
            let _ = writeln!(text, "{name}.workspace = true");
        }
        for side in ["client", "server"] {
            let _ = writeln!(text, "uaforge-{side} = {{ workspace = true, optional = true }}");
        }
        text.push_str("\n[build-dependencies]\nuaforge-publish.workspace = true\n");
        text.push_str("\n[dev-dependencies]\nuaforge-smoke.workspace = true\n");
        text
    }

    fn build_script(&self) -> String {
        format!(
            "//! Hands the interface of the model to dependents.\n\nfn main() {{\n    \
             uaforge_publish::publish(\"interface.txt\", \"{}\");\n}}\n",
            rust_path(self.name())
        )
    }

    fn library(&self, has_object_types: bool) -> String {
        let name = format!("`{}`", self.locked.uri);
        let mut text = scaffold::root_module(&self.title, &name, true, has_object_types);
        if !self.below.is_empty() {
            text.push_str(
                "\n/// The crates of the models that this one requires, for code generated by dependents.\n",
            );
            text.push_str("#[doc(hidden)]\npub mod __models {\n");
            for model in &self.below {
                let _ = writeln!(text, "    pub use {};", rust_path(&model.name));
            }
            text.push_str("}\n");
        }
        text
    }

    fn page(&self, set: &ModelSet, ns: Ns) -> String {
        let locked = self.locked;
        let name = package(self.name());
        let nodes = set.model(ns).map_or(0, |model| model.nodes.len());
        let requires: Vec<String> = self.packages().map(|package| format!("`{package}`")).collect();
        let date = locked.publication_date.split('T').next().unwrap_or_default();
        let mut text = format!(
            "# {name}\n\n{} as typed Rust, for [uaforge](../../README.md): data types, ids, ObjectTypes with \
             handles for servers and proxies for clients, and every node as a static table.\n\n| | |\n|---|---|\n",
            self.title
        );
        let _ = writeln!(text, "| Model | `{}` |", locked.uri);
        let _ = writeln!(text, "| Version | {} of {date} |", locked.version);
        let _ = writeln!(
            text,
            "| Source | `{}` of the package {}, pinned in [models.lock](../models.lock) |",
            locked.path, locked.package
        );
        let _ = writeln!(
            text,
            "| Requires | {} |",
            if requires.is_empty() { "the base model only".to_owned() } else { requires.join(", ") }
        );
        let _ = writeln!(
            text,
            "| Content | {} nodes, {} data types, {} ObjectTypes, {} VariableTypes, {} Methods |\n",
            nodes,
            count(set, ns, NodeClass::DataType),
            count(set, ns, NodeClass::ObjectType),
            count(set, ns, NodeClass::VariableType),
            count(set, ns, NodeClass::Method),
        );
        text.push_str(
            "A server shows the model when it is given it, with those that it requires:\n\n```rust,ignore\n",
        );
        text.push_str("let server = uaforge::server::Server::builder()\n    .model(uaforge::ns0())\n");
        for model in self.below.iter().copied().chain([locked]) {
            let _ =
                writeln!(text, "    .model({}::model())", rust_path(&model.name).trim_start_matches("::"));
        }
        text.push_str(
            "    .endpoint(\"opc.tcp://127.0.0.1:4840\")\n    .insecure()\n    .build()?;\n```\n\n",
        );
        text.push_str(
            "A NodeSet of yours that requires the model builds with this crate as a dependency; no XML but your own is \
             needed. Features `client` and `server`, both on by default, add the proxies and the handles.\n\n\
             Everything here but the names of things is written by `cargo xtask regen-models`. Names, ids and structure are \
             those of the OPC Foundation's NodeSet, which is under its MIT licence; descriptions are left out.\n",
        );
        text
    }

    fn test(&self, set: &ModelSet, ns: Ns) -> String {
        let hash = canonical::served(set, ns).hashes().model;
        let shown = self.below.iter().copied().chain([self.locked]).map(|model| rust_path(&model.name));
        let models: Vec<String> = ["::uaforge_ns0".to_owned()]
            .into_iter()
            .chain(shown)
            .map(|path| format!("{}::model()", path.trim_start_matches("::")))
            .collect();
        // As rustfmt has it.
        let list = format!("[{}];", models.join(", "));
        let fits = |indent: &str| indent.len() + list.len() <= MAX_WIDTH;
        let (same_line, next_line) = ("    let models = ", "        ");
        let list = if fits(same_line) {
            format!("{same_line}{list}")
        } else if fits(next_line) {
            format!("    let models =\n{next_line}{list}")
        } else {
            let lines: String = models.iter().map(|model| format!("        {model},\n")).collect();
            format!("{same_line}[\n{lines}    ];")
        };
        format!(
            "//! A server of {} shows all of it.\n\n#[test]\nfn is_served_whole() {{\n{list}\n    let hash = \"{hash}\";\n    \
             uaforge_smoke::assert_served({:?}, &models, hash);\n}}\n",
            self.title, self.locked.uri
        )
    }
}
