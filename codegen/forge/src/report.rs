//! Diagnostics of a build script, printed where Cargo shows them.

use uaforge_model::diagnostic::render;
use uaforge_model::{Loaded, Severity};

/// Prints every diagnostic; Cargo shows what goes to stderr when the build script fails.
pub(crate) fn print(loaded: &Loaded) {
    for diagnostic in &loaded.diagnostics {
        let text = render(diagnostic, &loaded.sources, false);
        match diagnostic.severity {
            Severity::Error => eprintln!("{text}"),
            // A warning of a build script is one line.
            _ => println!("cargo::warning={}", text.lines().map(str::trim).collect::<Vec<_>>().join(" ")),
        }
    }
}

/// How many errors there are.
pub(crate) fn errors(loaded: &Loaded) -> usize {
    loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
}
