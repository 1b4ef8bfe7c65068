//! The verdicts of all checks on all peers, as they come and as a table at the end.

use std::collections::BTreeMap;

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// The peer does what its list of habits says.
    Habit,
    /// Could not be asked; why.
    Skipped(String),
    /// What differs.
    Failed(Vec<String>),
}

impl Verdict {
    fn mark(&self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Habit => "habit",
            Self::Skipped(_) => "skip",
            Self::Failed(_) => "FAILED",
        }
    }
}

/// Verdicts by check and column.
#[derive(Default)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<String>,
    cells: BTreeMap<(usize, usize), Verdict>,
}

impl Table {
    /// Notes a verdict and tells of one that is no pass.
    pub(super) fn note(&mut self, column: &str, row: &str, verdict: Verdict) {
        match &verdict {
            Verdict::Passed | Verdict::Habit => {}
            Verdict::Skipped(reason) => println!("  skip   {column}: {row}: {reason}"),
            Verdict::Failed(findings) => {
                println!("  FAILED {column}: {row}");
                findings.iter().for_each(|finding| println!("         {finding}"));
            }
        }
        let key = (position(&mut self.rows, row), position(&mut self.columns, column));
        self.cells.insert(key, verdict);
    }

    /// How many verdicts of a column are passes, habits, failures and skips.
    fn counts(&self, column: Option<usize>) -> [usize; 4] {
        let mut counts = [0; 4];
        for (_, verdict) in self.cells.iter().filter(|((_, c), _)| column.is_none_or(|wanted| wanted == *c)) {
            let [passed, habits, failed, skipped] = &mut counts;
            match verdict {
                Verdict::Passed => *passed += 1,
                Verdict::Habit => *habits += 1,
                Verdict::Failed(_) => *failed += 1,
                Verdict::Skipped(_) => *skipped += 1,
            }
        }
        counts
    }

    /// Prints the table and the totals; whether nothing failed.
    pub(super) fn print(&self) -> bool {
        let first = self.rows.iter().map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = self.columns.iter().map(|column| column.len().max(6)).collect();
        let mut head = format!("{:first$}", "check");
        for (column, width) in self.columns.iter().zip(&widths) {
            head += &format!("  {column:width$}");
        }
        println!("\n{head}");
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = format!("{row:first$}");
            for (column, width) in widths.iter().enumerate() {
                let mark = self.cells.get(&(number, column)).map_or("", Verdict::mark);
                line += &format!("  {mark:width$}");
            }
            println!("{}", line.trim_end());
        }
        println!();
        for (number, column) in self.columns.iter().enumerate() {
            let [passed, habits, failed, skipped] = self.counts(Some(number));
            println!(
                "{column}: {passed} as the specification says, {habits} by habit, {failed} failed, {skipped} skipped"
            );
        }
        let [passed, habits, failed, skipped] = self.counts(None);
        println!("{} passed, {failed} failed, {skipped} skipped", passed + habits);
        failed == 0
    }
}

fn position(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::{Table, Verdict};

    #[test]
    fn one_failure_is_a_failure_of_all() {
        let mut table = Table::default();
        table.note("a client", "x", Verdict::Passed);
        table.note("a client", "y", Verdict::Habit);
        table.note("b client", "x", Verdict::Skipped("no words".to_owned()));
        assert_eq!(table.counts(None), [1, 1, 0, 1]);
        assert!(table.print());
        table.note("b client", "y", Verdict::Failed(vec!["differs".to_owned()]));
        assert_eq!(table.counts(Some(1)), [0, 0, 1, 1]);
        assert!(!table.print());
    }
}
