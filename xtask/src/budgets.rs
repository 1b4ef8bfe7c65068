//! `budgets`: start time and idle memory of the demo server, built for release.

use crate::process::run_bounded;
use crate::{demo, workspace};
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// Builds what is measured and what measures, then measures.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let server = demo::build(&root, "server", demo::Profile::Release)?;
    let probe = demo::build_package(&root, "uaforge-tests", "first_read", demo::Profile::Release)?;
    run_bounded(Command::new(probe).arg(server), PATIENCE)
}
