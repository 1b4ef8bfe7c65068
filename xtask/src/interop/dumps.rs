//! Compares what two clients got from one server.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Values that change between two reads: ServerStatus and its CurrentTime.
const LIVE: &[&str] = &["V\ti=2256\t13\t", "V\ti=2258\t13\t"];

const SHOWN: usize = 10;

/// Fails, with the first differences, unless both files hold the same lines.
pub(super) fn compare(theirs: &Path, ours: &Path) -> Result<()> {
    let (their_text, our_text) = (read(theirs)?, read(ours)?);
    let (their_lines, our_lines) = (lines(&their_text), lines(&our_text));
    let missing: Vec<&&str> = their_lines.difference(&our_lines).collect();
    let extra: Vec<&&str> = our_lines.difference(&their_lines).collect();
    for (sign, some) in [("asyncua only", &missing), ("uaforge only", &extra)] {
        for line in some.iter().take(SHOWN) {
            let shown: String = line.chars().take(160).collect();
            println!("  {sign}: {shown}");
        }
    }
    if !missing.is_empty() || !extra.is_empty() {
        bail!("{} lines only asyncua got, {} only uaforge", missing.len(), extra.len());
    }
    println!("both clients got the same {} lines from asyncua's server", their_lines.len());
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !LIVE.iter().any(|live| line.starts_with(live))).collect()
}
