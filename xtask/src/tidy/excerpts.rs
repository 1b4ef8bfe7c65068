//! Code in documents that is taken from a file of the repository is still in that file.
//!
//! A fenced block below a line `<!-- from PATH -->` must stand in PATH as it is. So the code of
//! the tutorial is compiled, where the templates are.

use super::Findings;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) {
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let Ok(text) = fs::read_to_string(root.join(path)) else {
            continue;
        };
        for excerpt in excerpts(&text) {
            let source = fs::read_to_string(root.join(excerpt.source)).unwrap_or_default();
            if !contains(&source, &excerpt.lines) {
                let message = format!("this block does not stand in {}", excerpt.source);
                findings.at(path, excerpt.line, message);
            }
        }
    }
}

struct Excerpt<'a> {
    source: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

fn excerpts(text: &str) -> Vec<Excerpt<'_>> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let source = line.trim().strip_prefix("<!-- from ").and_then(|l| l.strip_suffix(" -->"));
        let Some(source) = source else { continue };
        let fenced = lines
            .by_ref()
            .skip_while(|(_, line)| !line.starts_with("```"))
            .skip(1)
            .map(|(_, line)| line)
            .take_while(|line| !line.starts_with("```"));
        found.push(Excerpt { source, line: number + 1, lines: fenced.collect() });
    }
    found
}

/// Whether `lines` stand together in `source`, all indented alike by any amount.
fn contains(source: &str, lines: &[&str]) -> bool {
    let source: Vec<&str> = source.lines().collect();
    !lines.is_empty()
        && source.windows(lines.len()).any(|window| {
            let indents = window[0].len() - window[0].trim_start().len();
            let (indent, _) = window[0].split_at(indents);
            window.iter().zip(lines).all(|(there, here)| {
                there.strip_prefix(indent).unwrap_or(there).trim_end() == here.trim_end()
            })
        })
}

#[cfg(test)]
mod tests {
    use super::{contains, excerpts};

    #[test]
    fn finds_blocks_and_their_source() {
        let text = "x\n<!-- from a.rs -->\n```rust\nfn a() {\n    b();\n}\n```\n```\nother\n```\n";
        let found = excerpts(text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].source, found[0].line), ("a.rs", 2));
        assert!(contains("mod m {\n    fn a() {\n        b();\n    }\n}\n", &found[0].lines));
        assert!(!contains("fn a() {\n    c();\n}\n", &found[0].lines));
        assert!(!contains("anything", &[]));
    }
}
