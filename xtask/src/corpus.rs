//! `corpus`: every public NodeSet through parse, lint and generate, then a check of what was generated.

mod compile;
mod documents;
mod expected;
mod pipeline;
mod serve;
mod table;

use crate::nodesets::Catalogue;
use crate::progress::Progress;
use crate::workspace;
use anyhow::{Result, bail};
use compile::Depth;
use documents::Document;
use expected::Expected;
use pipeline::Outcome;
use std::collections::BTreeMap;
use std::time::Instant;

/// What of the corpus is done.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// These documents only, by the names of models.lock, and what they require.
    names: Vec<String>,
    /// Show every diagnostic.
    #[arg(long)]
    show: bool,
    /// Compile clients and servers too, serve each document, browse it over the wire and compare the hashes.
    #[arg(long)]
    full: bool,
}

/// Takes the documents through everything; fails unless each succeeds or has exactly the expected diagnostics.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = workspace::root();
    let catalogue = Catalogue::read(&root)?;
    let documents = documents::plan(&root, &catalogue, &options.names)?;
    let expected = Expected::read(&root)?;
    let outcomes = generate(&documents)?;
    let again = generate(&documents)?;
    let depth = if options.full { Depth::All } else { Depth::Data };
    let crates = compile::write(&root, &documents, &outcomes, depth)?;
    let compiled = compile::run(&root, depth, crates)?;
    let differences = match depth {
        Depth::Data => BTreeMap::new(),
        Depth::All => serve::run(&root, &outcomes, |name| compiled.failure(name).is_none())?,
    };
    let mut red = 0;
    for (outcome, second) in outcomes.iter().zip(&again) {
        let mut judged = expected.judge(outcome);
        if outcome.failure.is_none() {
            judged.extend(compiled.failure(&outcome.name));
            judged.extend(differences.get(&outcome.name).cloned());
        }
        if options.show {
            print!("{}", outcome.report);
        }
        let same = outcome.hash == second.hash;
        table::row(outcome, &judged, same, compiled.seconds(&outcome.name));
        red += usize::from(!judged.is_empty() || !same);
    }
    table::total(&outcomes, red);
    if red > 0 {
        bail!("{red} of {} documents are not as expected", outcomes.len());
    }
    Ok(())
}

fn generate(documents: &[Document]) -> Result<Vec<Outcome>> {
    let begun = Instant::now();
    let progress = Progress::new("generate", documents.len());
    let outcomes = pipeline::run(documents, &progress)?;
    progress.finish(&format!("{} documents in {:.1} s", documents.len(), begun.elapsed().as_secs_f64()));
    Ok(outcomes)
}
