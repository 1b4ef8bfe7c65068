//! Figures of rounds, rows of a Markdown table, and JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use crate::load::Tally;
use crate::meter::Memory;

/// A figure over rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    /// What it is, with its unit.
    pub what: String,
    /// The smallest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Value {
    /// Minimum, median and maximum of at least one figure.
    #[must_use]
    pub fn of(what: &str, figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        Self {
            what: what.into(),
            min: at(0),
            median: at(sorted.len() / 2),
            max: at(sorted.len().saturating_sub(1)),
        }
    }
}

/// A row of the table: a scenario and a subject.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The server.
    pub subject: String,
    /// The figures; the first is the one that is compared.
    pub values: Vec<Value>,
    /// Why there are none.
    pub failure: Option<String>,
}

impl Row {
    /// A row with figures.
    #[must_use]
    pub fn new(scenario: &str, subject: &str, values: Vec<Value>) -> Self {
        Self { scenario: scenario.into(), subject: subject.into(), values, failure: None }
    }

    /// A row of a subject that failed.
    #[must_use]
    pub fn failed(scenario: &str, subject: &str, error: &anyhow::Error) -> Self {
        let failure = Some(format!("{error:#}").chars().take(120).collect());
        Self { scenario: scenario.into(), subject: subject.into(), values: Vec::new(), failure }
    }
}

/// The figures of one round of requests.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    cpu: f64,
    own: f64,
    rate: f64,
    quantiles: [f64; 3],
    stall: f64,
    peak: f64,
}

impl Figures {
    /// From what the load saw and what the server cost.
    #[must_use]
    pub fn of(tally: &Tally, cpu: Duration, memory: Memory) -> Self {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / tally.requests.max(1) as f64;
        let quantile = |quantile| tally.latency.value_at_quantile(quantile) as f64 / 1e3;
        Self {
            cpu: each(cpu),
            own: each(tally.own_cpu),
            rate: tally.requests as f64 / tally.time.as_secs_f64() / 1e3,
            quantiles: [0.5, 0.99, 0.999].map(quantile),
            stall: tally.stall.as_secs_f64() * 1e3,
            peak: memory.peak as f64 / f64::from(1 << 20),
        }
    }
}

/// The rounds of one subject in one scenario.
#[derive(Clone, Debug)]
pub struct Series {
    scenario: String,
    subject: String,
    rounds: Vec<Figures>,
}

impl Series {
    /// No round yet.
    #[must_use]
    pub fn new(scenario: &str, subject: &str) -> Self {
        Self { scenario: scenario.into(), subject: subject.into(), rounds: Vec::new() }
    }

    /// Adds a round.
    pub fn push(&mut self, figures: Figures) {
        self.rounds.push(figures);
    }

    /// The row of all rounds.
    #[must_use]
    pub fn row(&self) -> Row {
        let value = |what, figure: fn(&Figures) -> f64| {
            Value::of(what, &self.rounds.iter().map(figure).collect::<Vec<_>>())
        };
        let values = vec![
            value("cpu µs", |f| f.cpu),
            value("load's µs", |f| f.own),
            value("1000/s", |f| f.rate),
            value("p50 µs", |f| f.quantiles[0]),
            value("p99 µs", |f| f.quantiles[1]),
            value("p99.9 µs", |f| f.quantiles[2]),
            value("stall ms", |f| f.stall),
            value("peak MiB", |f| f.peak),
        ];
        Row::new(&self.scenario, &self.subject, values)
    }
}

/// A Markdown table for each scenario. The ratio is that of the medians of the first figure to the subject's.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut scenario = "";
    for row in rows {
        if row.scenario != scenario {
            scenario = &row.scenario;
            // The project's own row comes first and names the columns.
            let columns: Vec<&str> = row.values.iter().map(|value| value.what.as_str()).collect();
            let _ = write!(text, "\n### {scenario}\n\n| server | {} | ours is |\n|---|", columns.join(" | "));
            text.push_str(&"---:|".repeat(columns.len() + 1));
            text.push('\n');
        }
        if let Some(failure) = &row.failure {
            let _ = writeln!(text, "| {} | failed: {failure} |", row.subject);
            continue;
        }
        let cells: Vec<String> = row.values.iter().map(cell).collect();
        let ratio = ratio(rows, row).map_or(String::new(), |ratio| format!("{ratio:.2} of it"));
        let _ = writeln!(text, "| {} | {} | {ratio} |", row.subject, cells.join(" | "));
    }
    text
}

fn cell(value: &Value) -> String {
    if value.min == value.max {
        return number(value.median);
    }
    format!("{} ({} to {})", number(value.median), number(value.min), number(value.max))
}

fn number(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 1000.0 => format!("{value:.0}"),
        magnitude if magnitude >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// The first figure of the project's own row over that of `row`; `None` for the own row.
fn ratio(rows: &[Row], row: &Row) -> Option<f64> {
    let own = rows.iter().find(|own| own.scenario == row.scenario)?;
    let first = |row: &Row| row.values.first().map(|value| value.median);
    (own.subject != row.subject).then(|| Some(first(own)? / first(row)?))?
}
