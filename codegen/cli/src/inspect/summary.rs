//! Version, requirements, counts and hash of a model.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use serde_json::{Value, json};
use uaforge_model::canonical::{canonical, class_name};
use uaforge_model::resolved::{Model, ModelSet};

pub(super) fn human(out: &mut impl Write, set: &ModelSet, model: &Model) -> Result<()> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    writeln!(out, "model       {}", set.uri(model.ns))?;
    writeln!(out, "version     {} of {}", text(&model.version), text(&model.publication_date))?;
    for required in &model.required {
        writeln!(out, "requires    {} of {}", required.uri, text(&required.publication_date))?;
    }
    let classes: Vec<String> =
        classes(model).into_iter().map(|(class, count)| format!("{count} {class}")).collect();
    writeln!(out, "nodes       {} ({})", model.nodes.len(), classes.join(", "))?;
    writeln!(out, "references  {}", model.references.len())?;
    writeln!(out, "hash        {}", canonical(set, model.ns).hashes().model)
}

pub(super) fn json(out: &mut impl Write, set: &ModelSet, model: &Model) -> Result<()> {
    let required: Vec<Value> = model
        .required
        .iter()
        .map(|required| {
            json!({
                "uri": &*required.uri,
                "version": required.version,
                "publicationDate": required.publication_date,
            })
        })
        .collect();
    let line = json!({
        "type": "model",
        "uri": set.uri(model.ns),
        "version": model.version,
        "publicationDate": model.publication_date,
        "requires": required,
        "nodes": model.nodes.len(),
        "classes": classes(model),
        "references": model.references.len(),
        "hash": canonical(set, model.ns).hashes().model,
    });
    writeln!(out, "{line}")
}

fn classes(model: &Model) -> BTreeMap<&'static str, usize> {
    let mut classes = BTreeMap::new();
    for node in model.nodes.values() {
        *classes.entry(class_name(node.class)).or_default() += 1;
    }
    classes
}
