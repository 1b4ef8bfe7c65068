//! Diagnostics of a build script, printed where Cargo shows them.

use uaforge_model::{Loaded, Severity};

/// Prints every diagnostic; Cargo shows the text of errors when the build script fails.
pub(crate) fn print(loaded: &Loaded) {
    for diagnostic in &loaded.diagnostics {
        let place = diagnostic.span.and_then(|span| loaded.sources.position(span));
        let place = place.map(|(file, line, column)| format!("{file}:{line}:{column}: ")).unwrap_or_default();
        let line =
            format!("{place}{}[{}]: {}", diagnostic.severity.as_str(), diagnostic.code.0, diagnostic.message);
        match diagnostic.severity {
            Severity::Error => eprintln!("{line}"),
            _ => println!("cargo::warning={line}"),
        }
    }
}

/// How many errors there are.
pub(crate) fn errors(loaded: &Loaded) -> usize {
    loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
}
