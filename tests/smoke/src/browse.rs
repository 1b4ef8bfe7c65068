//! All nodes of a server, by browsing in both directions.

use std::collections::BTreeSet;
use std::error::Error;

use uaforge_client::Session;
use uaforge_codec::NodeId;
use uaforge_types::{BrowseDescription, BrowseDirection};

use super::{Names, Seen};

const AT_ONCE: usize = 200;
const ROOT: NodeId = NodeId::numeric(0, 84);
const HAS_TYPE_DEFINITION: NodeId = NodeId::numeric(0, 40);

/// A node of the model, and its type definition as text.
pub(super) struct Found {
    pub(super) id: NodeId,
    pub(super) definition: Option<String>,
}

/// Browses from Root, and from the nodes that nothing leads to; gives the nodes of the namespace.
pub(super) async fn everything(
    session: &Session,
    names: &Names,
    lonely: Vec<NodeId>,
    namespace: u16,
    seen: &mut Seen,
) -> Result<Vec<Found>, Box<dyn Error>> {
    let mut open: Vec<NodeId> = [ROOT].into_iter().chain(lonely).collect();
    let mut known: BTreeSet<String> = open.iter().map(|id| names.id(id)).collect();
    let mut found = Vec::new();
    let mut done = 0;
    while done < open.len() {
        let batch: Vec<NodeId> = open.iter().skip(done).take(AT_ONCE).cloned().collect();
        done += batch.len();
        let pages = session.browse_all(batch.iter().map(description).collect()).await?;
        for (here, page) in batch.iter().zip(pages) {
            let mut definition = None;
            for reference in page? {
                let there = names.local(&reference.node_id);
                if here.namespace() == namespace || there.namespace() == namespace {
                    let (from, to) = if reference.is_forward { (here, &there) } else { (&there, here) };
                    let reference_type = names.id(&reference.reference_type_id);
                    seen.references.insert(format!(
                        "R\t{}\t{reference_type}\t{}",
                        names.id(from),
                        names.id(to)
                    ));
                }
                if reference.is_forward && reference.reference_type_id == HAS_TYPE_DEFINITION {
                    definition = Some(names.id(&there));
                }
                if known.insert(names.id(&there)) {
                    open.push(there);
                }
            }
            if here.namespace() == namespace {
                found.push(Found { id: here.clone(), definition });
            }
        }
    }
    Ok(found)
}

fn description(node: &NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id: node.clone(),
        browse_direction: BrowseDirection::BOTH,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    }
}
