//! The NodeSet reader and resolver against text of any kind.

use uaforge_model::{Loader, canonical, interface};

/// Reads `input` as a NodeSet2 document that may require what is built in, and walks what came out of it.
///
/// # Panics
/// A document without a model says nothing about why, or an interface cannot be read back.
pub fn read_as_nodeset(input: &[u8]) {
    let loaded = Loader::new().text("input.xml", input).load();
    let own: Vec<_> = loaded.set.models.iter().filter(|model| model.ns.0 != 0).collect();
    assert!(!own.is_empty() || !loaded.report(false).is_empty(), "no model, and nobody says why");
    for model in own {
        let _ = canonical::text(&loaded.set, model.ns);
        for node in model.nodes.values() {
            let _ = (loaded.set.declarations(&node.id), loaded.set.structure_type(&node.id));
        }
        let text = interface::write(&loaded.set, model.ns);
        interface::read(&text).expect("an interface can always be read back");
    }
}
