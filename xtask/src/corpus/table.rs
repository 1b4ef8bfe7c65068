//! The dashboard: a row a document, and a total.

use super::pipeline::Outcome;

/// One document.
pub(crate) fn row(outcome: &Outcome, differences: &[String], same: bool, compiled: Option<f64>) {
    let codes: Vec<String> = outcome
        .diagnostics
        .iter()
        .map(|((code, severity), count)| format!("{count} {} {code}", severity.get(..1).unwrap_or_default()))
        .collect();
    let bytes: usize = outcome.files.values().map(Vec::len).sum();
    println!(
        "{:<34} {:<8} {:>6} {:>5} {:>5} {:>7} kB {:>5} ms {:>5} {} {}",
        outcome.name,
        outcome.version,
        outcome.nodes,
        outcome.data_types,
        outcome.object_types,
        bytes / 1000,
        outcome.time.as_millis(),
        compiled.map_or_else(String::new, |seconds| format!("{seconds:.1} s")),
        if differences.is_empty() { "ok " } else { "RED" },
        codes.join(", "),
    );
    for difference in differences {
        println!("    {difference}");
    }
    if !same {
        println!("    the second run gave other bytes");
    }
}

/// All of them.
pub(crate) fn total(outcomes: &[Outcome], red: usize) {
    let sum = |part: fn(&Outcome) -> usize| outcomes.iter().map(part).sum::<usize>();
    println!(
        "{} of {} documents are as expected: {} nodes, {} data types, {} object types, {} kB generated",
        outcomes.len() - red,
        outcomes.len(),
        sum(|outcome| outcome.nodes),
        sum(|outcome| outcome.data_types),
        sum(|outcome| outcome.object_types),
        sum(|outcome| outcome.files.values().map(Vec::len).sum()) / 1000,
    );
}
