//! Diagnostics as text with file, line, column and excerpt, and as JSON lines.

use std::fmt::Write;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::resolved::Span;
use crate::source::{Source, Sources};

/// Longest line of an excerpt, in bytes; NodeSets with everything in one line exist.
const MAX_LINE: usize = 400;

/// One diagnostic as a compiler shows it, without a line feed at the end.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code.0));
    let primary = diagnostic.span.and_then(|span| Excerpt::new(sources, span));
    if let Some(excerpt) = &primary {
        let range = excerpt.range.clone();
        group = group.element(excerpt.snippet(AnnotationKind::Primary.span(range)));
    }
    let labels: Vec<(Excerpt<'_>, &str)> = diagnostic
        .labels
        .iter()
        .filter_map(|label| Some((Excerpt::new(sources, label.span)?, label.text.as_str())))
        .collect();
    for (excerpt, text) in &labels {
        let range = excerpt.range.clone();
        group = group.element(excerpt.snippet(AnnotationKind::Context.span(range).label(*text)));
    }
    if let Some(node) = &diagnostic.node {
        group = group.element(Level::NOTE.message(format!("in node {node}")));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// One line of a file and a range in it.
struct Excerpt<'a> {
    path: &'a str,
    text: &'a str,
    line: usize,
    range: std::ops::Range<usize>,
}

impl<'a> Excerpt<'a> {
    fn new(sources: &'a Sources, span: Span) -> Option<Self> {
        let source: &Source = sources.get(span.file)?;
        let start = boundary(&source.text, span.start as usize);
        let (line, _) = source.position(span.start);
        let begin = source.text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let rest = source.text.get(begin..)?;
        let text = rest.split(['\r', '\n']).next().unwrap_or(rest);
        let text = shorten(text, start - begin);
        let from = (start - begin).min(text.len());
        let mut to = ((span.end as usize).saturating_sub(begin)).clamp(from, text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        Some(Self { path: &source.name, text, line, range: from..to })
    }

    fn snippet(&self, annotation: Annotation<'a>) -> Snippet<'a, Annotation<'a>> {
        Snippet::source(self.text).line_start(self.line).path(self.path).annotation(annotation)
    }
}

/// Cuts a line some way behind the place that matters.
fn shorten(text: &str, place: usize) -> &str {
    text.get(..boundary(text, place + MAX_LINE)).unwrap_or(text)
}

/// The last character boundary that is not behind `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One diagnostic as a line of JSON: code, severity, message, file, line, column, node, help, labels.
pub fn json(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let mut line = String::from("{");
    member(&mut line, "code", Some(diagnostic.code.0));
    member(&mut line, "severity", Some(diagnostic.severity.as_str()));
    member(&mut line, "message", Some(&diagnostic.message));
    place(&mut line, diagnostic.span, sources);
    member(&mut line, "node", diagnostic.node.as_deref());
    member(&mut line, "help", diagnostic.help.as_deref());
    line.push_str("\"labels\":[");
    for (at, label) in diagnostic.labels.iter().enumerate() {
        line.push_str(if at > 0 { ",{" } else { "{" });
        member(&mut line, "message", Some(&label.text));
        place(&mut line, Some(label.span), sources);
        line.pop();
        line.push('}');
    }
    line.push_str("]}");
    line
}

fn place(line: &mut String, span: Option<Span>, sources: &Sources) {
    let position = span.and_then(|span| sources.position(span));
    member(line, "file", position.map(|(file, _, _)| file));
    for (name, number) in
        [("line", position.map(|(_, line, _)| line)), ("column", position.map(|(_, _, column)| column))]
    {
        let number = number.map_or_else(|| "null".to_owned(), |number| number.to_string());
        let _ = write!(line, "\"{name}\":{number},");
    }
}

fn member(line: &mut String, name: &str, value: Option<&str>) {
    let _ = write!(line, "\"{name}\":");
    match value {
        Some(text) => quote(line, text),
        None => line.push_str("null"),
    }
    line.push(',');
}

fn quote(line: &mut String, text: &str) {
    line.push('"');
    for c in text.chars() {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(line, "\\u{:04x}", u32::from(c));
            }
            c => line.push(c),
        }
    }
    line.push('"');
}
