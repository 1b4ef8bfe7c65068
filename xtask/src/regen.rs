//! `regen-models`: the committed models, generated anew.

use anyhow::Result;

/// Writes the files that changed, or with `check` fails if there are any.
pub(crate) fn run(_check: bool) -> Result<()> {
    anyhow::bail!("there is no generator yet")
}
