//! Models that come as interface files.

use std::collections::BTreeSet;

use super::{Document, Resolver};
use crate::NS0_URI;
use crate::diagnostic::{Diagnostic, codes};
use crate::interface::{self, Head};
use crate::resolved::{NodeClass, Ns, Span};

/// An interface file of which the head is read.
pub(crate) struct Interface<'t> {
    pub(super) file: u32,
    pub(super) text: &'t str,
    pub(super) head: Head,
}

impl<'t> Interface<'t> {
    /// Reads the head; `rust_path` replaces the file's.
    pub(crate) fn read(file: u32, text: &'t str, rust_path: Option<String>) -> Result<Self, Box<Diagnostic>> {
        let mut head = interface::read_head(file, text)?;
        head.rust_path = rust_path.or(head.rust_path);
        Ok(Self { file, text, head })
    }

    /// The model's URI.
    pub(crate) fn uri(&self) -> &str {
        &self.head.uri
    }
}

/// Drops interfaces of models that a document gives, and repeated ones; adds the base model if nothing else does.
pub(super) fn choose(
    interfaces: &mut Vec<Interface<'_>>,
    documents: &[Document<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut seen: BTreeSet<_> =
        documents.iter().flat_map(|document| document.model_uris.iter().cloned()).collect();
    let mut kept: Vec<Interface<'_>> = Vec::new();
    for interface in interfaces.drain(..) {
        if seen.insert(interface.head.uri.clone()) {
            kept.push(interface);
            continue;
        }
        let twin = kept.iter().find(|kept| kept.head.uri == interface.head.uri);
        let differs = |twin: &&Interface<'_>| {
            twin.head.version != interface.head.version
                || twin.head.publication_date != interface.head.publication_date
        };
        if let Some(twin) = twin.filter(differs) {
            let version = |head: &Head| head.version.clone().unwrap_or_default();
            let message = format!(
                "two crates carry {} in different versions: {} and {}",
                interface.head.uri,
                version(&twin.head),
                version(&interface.head)
            );
            let span = Span { file: interface.file, start: 0, end: 0 };
            let help = "one model has one version in a program; depend on one crate that carries it";
            diagnostics.push(Diagnostic::error(codes::SEVERAL_DOCUMENTS, message).at(span).help(help));
        }
    }
    if !seen.contains(NS0_URI) {
        match Interface::read(Span::NONE.file, interface::NS0, None) {
            Ok(base) => kept.push(base),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    *interfaces = kept;
}

impl Resolver<'_, '_> {
    pub(super) fn read_interfaces(&mut self, interfaces: Vec<Interface<'_>>) {
        for Interface { file, text, head } in interfaces {
            let namespaces: Vec<Ns> = head.uris.iter().map(|uri| self.names.intern(uri)).collect();
            match interface::read_body(file, text, &head, &namespaces) {
                Ok(model) => {
                    self.models.insert(model.ns, model);
                }
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
        let base = self.models.get(&Ns::UA).into_iter().flat_map(|model| model.nodes.values());
        let types = base.filter(|node| matches!(node.class, NodeClass::DataType | NodeClass::ReferenceType));
        for node in types {
            self.names.standard.entry(node.browse_name.name.clone()).or_insert_with(|| node.id.clone());
        }
    }
}
