//! The page `docs/habits.md` says truly which code or test covers each habit, and leaves no advice out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use uaforge_model::diagnostic::{REGISTRY, explain};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of all tables: habit, and code or test.
fn rows() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join("docs/habits.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| habit"));
    let cells = rows.map(|line| line.trim_matches('|').rsplit_once(" | ").expect("two cells"));
    cells.map(|(habit, cover)| (habit.trim().to_owned(), cover.trim().to_owned())).collect()
}

#[test]
fn every_habit_has_a_code_or_a_test() {
    let rows = rows();
    assert!(rows.len() > 50, "the tables are there");
    let mut codes = BTreeSet::new();
    for (habit, cover) in &rows {
        for part in cover.split(", ") {
            if part.starts_with("UAF") {
                let entry = explain(part).unwrap_or_else(|| panic!("{habit}: there is no {part}"));
                codes.insert(entry.code.0);
                continue;
            }
            let mut quoted = part.split('`').skip(1).step_by(2);
            let (Some(file), Some(test)) = (quoted.next(), quoted.next()) else {
                panic!("{habit}: `{part}` is neither a code nor a test")
            };
            let text =
                std::fs::read_to_string(root().join(file)).unwrap_or_else(|_| panic!("{habit}: no {file}"));
            let head = format!("#[test]\nfn {test}(");
            assert!(text.contains(&head), "{habit}: {file} has no test {test}");
        }
    }
    // Advice and guards are about habits, all of them.
    let advice = REGISTRY
        .iter()
        .map(|entry| entry.code.0)
        .filter(|code| code.starts_with("UAF05") || code.starts_with("UAF06"));
    let missing: Vec<&str> = advice.filter(|code| !codes.contains(code)).collect();
    assert!(missing.is_empty(), "the page lacks {missing:?}");
}
