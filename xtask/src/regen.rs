//! `regen-models`: the committed models, generated anew.

mod files;

use crate::{nodesets, workspace};
use anyhow::{Result, bail};
use files::Wanted;

/// Writes the files that changed, or with `check` fails if there are any.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = workspace::root();
    let catalogue = nodesets::Catalogue::read(&root)?;
    let mut wanted = Wanted::default();
    for (name, model) in &catalogue.models {
        let Some(folder) = &model.folder else {
            continue;
        };
        bail!("{name}: nothing generates {folder} yet");
    }
    if check {
        wanted.check(&root)
    } else {
        wanted.write(&root)
    }
}
