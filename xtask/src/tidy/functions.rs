//! Finds functions that are too long.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One function and where it stands.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) length: usize,
}

/// The functions of `text` with more than `lines` lines from signature to closing brace.
pub(super) fn longer_than(text: &str, lines: usize) -> syn::Result<Vec<Function>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { lines, found: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder {
    lines: usize,
    found: Vec<Function>,
}

impl Finder {
    fn look_at(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.span().start().line;
        let length = block.span().end().line + 1 - line;
        if length > self.lines {
            self.found.push(Function { name: signature.ident.to_string(), line, length });
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.look_at(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.look_at(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.look_at(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::longer_than;

    #[test]
    fn counts_from_signature_to_brace() {
        let text = "fn short() {}\n/// Doc.\nfn long(\n    x: u8,\n) {\n    x;\n}\n";
        let found = longer_than(text, 4).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].line, found[0].length), ("long", 3, 5));
        assert!(longer_than(text, 5).unwrap().is_empty());
    }
}
