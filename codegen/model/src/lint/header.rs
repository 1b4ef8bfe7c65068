//! What the head of a file says.

use std::collections::BTreeSet;

use super::Linter;
use crate::NS0_URI;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Model, Ns, Span};

/// Last segments of URIs that several public models share.
const COMMON: [&str; 6] = ["General", "GeneralTypes", "Types", "UA", "Base", "Common"];

pub(super) fn check(linter: &mut Linter<'_>, model: &Model, span: Option<Span>) {
    let Some(span) = span else {
        return;
    };
    own_index(linter, model, span);
    let uri = linter.set.uri(model.ns);
    let missing: Vec<&str> = [("Version", &model.version), ("PublicationDate", &model.publication_date)]
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| name)
        .collect();
    if !missing.is_empty() {
        let message = format!("the model {uri} states no {}", missing.join(" and no "));
        linter.add(
            Diagnostic::note(codes::NO_VERSION, message)
                .at(span)
                .help("state both: who requires the model cannot tell whether this one is new enough"),
        );
    }
    let segment = uri.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let digits = segment.strip_prefix(['v', 'V']).unwrap_or(segment);
    let numbered = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if uri != NS0_URI && (numbered || COMMON.contains(&segment)) {
        let message = format!("the URI {uri} ends in {segment}, which names no model");
        let help = "where a name is taken from the URI, give another: `Forge::name` in a build script";
        linter.add(Diagnostic::note(codes::URI_WITHOUT_NAME, message).at(span).help(help));
    }
    spelling(linter, model, span);
    unused(linter, model, span);
}

/// URIs are compared as they are, so that what looks alike is another namespace (OPC 10000-3 §8.2.2).
fn spelling(linter: &mut Linter<'_>, model: &Model, span: Span) {
    let set = linter.set;
    let uri = set.uri(model.ns);
    let plain = |uri: &str| uri.trim_end_matches('/').to_lowercase();
    let named = std::iter::once(uri).chain(model.required.iter().map(|required| &*required.uri));
    let twins = named.filter_map(|uri| {
        let twin = set.uris.iter().find(|other| ***other != *uri && plain(other) == plain(uri))?;
        Some(format!("{uri} and {twin} differ in a slash or in case only"))
    });
    let blanks = uri.contains(char::is_whitespace).then(|| format!("the URI \"{uri}\" has blanks"));
    for message in blanks.into_iter().chain(twins) {
        let help = "URIs are taken literally: write the same one everywhere, as the model's publisher does";
        linter.add(Diagnostic::warning(codes::URI_SPELLING, message).at(span).help(help));
    }
}

fn own_index(linter: &mut Linter<'_>, model: &Model, span: Span) {
    let index = linter.tables.index(span.file, model.ns);
    if let Some(index) = index.filter(|index| *index > 1) {
        let uri = linter.set.uri(model.ns);
        let message = format!("the model {uri} has index {index} in its own file");
        let help =
            "indexes mean nothing outside of the file; tools that take 1 for the model's own read it wrong";
        linter.add(Diagnostic::note(codes::OWN_INDEX, message).at(span).help(help));
    }
}

/// Namespaces that a model's nodes name in any way.
fn used(model: &Model) -> BTreeSet<Ns> {
    let mut used = BTreeSet::new();
    for triple in &model.references {
        used.extend([triple.source.ns, triple.reference_type.ns, triple.target.ns]);
    }
    for node in model.nodes.values() {
        used.extend([node.browse_name.ns, node.data_type.ns]);
        let fields = node.definition.iter().flat_map(|definition| &definition.fields);
        used.extend(fields.map(|field| field.data_type.ns));
    }
    used
}

fn unused(linter: &mut Linter<'_>, model: &Model, span: Span) {
    let used = used(model);
    for required in model.required.iter().filter(|required| *required.uri != *NS0_URI) {
        if linter.set.ns(&required.uri).is_some_and(|ns| used.contains(&ns)) {
            continue;
        }
        let message = format!("{} is required, but neither an id nor a name of it is used", required.uri);
        let help = "remove the RequiredModel element, unless values or text need the model";
        linter.add(Diagnostic::note(codes::UNUSED_REQUIREMENT, message).at(span).help(help));
    }
}
