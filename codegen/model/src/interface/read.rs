//! Reads an interface file: first its head, then, when all URIs are known, its nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::read_node::{Body, Ids};
use super::text::unescape;
use super::{FORMAT, MAGIC};
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Model, ModelSet, Ns, Requirement, Span};

/// What stands before the nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) uri: Arc<str>,
    pub(crate) version: Option<String>,
    pub(crate) publication_date: Option<String>,
    pub(crate) model_version: Option<String>,
    pub(crate) xml_schema_uri: Option<String>,
    pub(crate) rust_path: Option<String>,
    pub(crate) required: Vec<Requirement>,
    /// URIs by the file's index.
    pub(crate) uris: Vec<Arc<str>>,
    pub(crate) ledger: BTreeMap<(String, String), String>,
    /// Byte offset of the first node.
    body: usize,
}

/// The names that an earlier generation gave: (scope, original) to Rust name.
///
/// # Errors
/// When the text is no interface file of a known format.
pub fn ledger(text: &str) -> Result<BTreeMap<(String, String), String>, Box<Diagnostic>> {
    read_head(0, text).map(|head| head.ledger)
}

/// One interface file as a set of its own; `uris` are those of the file.
///
/// # Errors
/// When the text is no interface file of a known format.
pub fn read(text: &str) -> Result<ModelSet, Box<Diagnostic>> {
    let head = read_head(0, text)?;
    let namespaces: Vec<Ns> = (0u16..).zip(&head.uris).map(|(index, _)| Ns(index)).collect();
    let model = read_body(0, text, &head, &namespaces)?;
    Ok(ModelSet::new(head.uris, vec![model]))
}

fn broken(file: u32, start: usize, line: &str, message: String) -> Box<Diagnostic> {
    let span = Span { file, start: start as u32, end: (start + line.len()) as u32 };
    let help = "write the file anew with the generator that belongs to this version";
    Box::new(Diagnostic::error(codes::MALFORMED_INTERFACE, message).at(span).help(help))
}

/// Lines with their offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

/// Reads up to the first node.
pub(crate) fn read_head(file: u32, text: &str) -> Result<Head, Box<Diagnostic>> {
    let first = text.lines().next().unwrap_or_default();
    let version = first.strip_prefix(MAGIC).map(str::trim).and_then(|version| version.parse::<u32>().ok());
    match version {
        Some(FORMAT) => {}
        Some(other) => {
            let message = format!("interface format {other}, but this version reads {FORMAT}");
            let span = Span { file, start: 0, end: first.len() as u32 };
            let help = "use crates of one uaforge version for all models";
            return Err(Box::new(Diagnostic::error(codes::INTERFACE_FORMAT, message).at(span).help(help)));
        }
        None => {
            return Err(broken(file, 0, first, format!("no interface file: the first line is not {MAGIC}")));
        }
    }
    let mut head = Head { body: text.len(), ..Head::default() };
    for (start, line) in lines(text).skip(1).filter(|(_, line)| !line.is_empty()) {
        if matches!(line.as_bytes().first(), Some(b'N' | b'R')) {
            head.body = start;
            break;
        }
        let known = head_line(&mut head, line);
        if known.is_none() {
            return Err(broken(file, start, line, format!("unknown line in an interface file: {line}")));
        }
    }
    if head.uri.is_empty() || head.uris.first().is_none_or(|uri| **uri != *crate::NS0_URI) {
        return Err(broken(file, 0, first, "an interface file without model or namespaces".to_owned()));
    }
    Ok(head)
}

fn head_line(head: &mut Head, line: &str) -> Option<()> {
    let mut fields = line.split('\t').map(|field| unescape(field).into_owned());
    let key = fields.next()?;
    let value = fields.next()?;
    match key.as_str() {
        "model" => head.uri = value.into(),
        "version" => head.version = Some(value),
        "date" => head.publication_date = Some(value),
        "model-version" => head.model_version = Some(value),
        "xml-schema" => head.xml_schema_uri = Some(value),
        "rust" => head.rust_path = Some(value),
        "require" => {
            let mut text = || fields.next().filter(|text| !text.is_empty());
            head.required.push(Requirement {
                uri: value.into(),
                version: text(),
                publication_date: text(),
                model_version: text(),
            });
        }
        "ns" => {
            let index: usize = value.parse().ok()?;
            if index != head.uris.len() || index >= usize::from(u16::MAX) {
                return None;
            }
            head.uris.push(fields.next()?.into());
        }
        "name" => {
            let (original, name) = (fields.next()?, fields.next()?);
            head.ledger.insert((value, original), name);
        }
        _ => return None,
    }
    Some(())
}

/// Reads the nodes; `namespaces` are those of the set by the file's index.
pub(crate) fn read_body(
    file: u32,
    text: &str,
    head: &Head,
    namespaces: &[Ns],
) -> Result<Model, Box<Diagnostic>> {
    let own = head.uris.iter().position(|uri| *uri == head.uri).and_then(|index| namespaces.get(index));
    let Some(own) = own.copied() else {
        return Err(broken(file, 0, "", format!("{} is not among its own namespaces", head.uri)));
    };
    let ids = Ids { namespaces };
    let mut body = Body::new(&ids);
    let rest = text.get(head.body..).unwrap_or_default();
    for (start, line) in lines(rest).filter(|(_, line)| !line.is_empty()) {
        if body.line(line).is_none() {
            let message = format!("this line of an interface file cannot be read: {line}");
            return Err(broken(file, head.body + start, line, message));
        }
    }
    let (nodes, mut references) = body.finish();
    references.sort_unstable();
    references.dedup();
    Ok(Model {
        ns: own,
        version: head.version.clone(),
        publication_date: head.publication_date.clone(),
        model_version: head.model_version.clone(),
        xml_schema_uri: head.xml_schema_uri.clone(),
        required: head.required.clone(),
        nodes,
        references,
        from_interface: true,
        rust_path: head.rust_path.clone(),
        ledger: head.ledger.clone(),
    })
}
