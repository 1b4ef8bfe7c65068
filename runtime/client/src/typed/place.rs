//! Where a proxy's node is, and following browse names from there.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Mutex;
use uaforge_codec::{NodeId, QualifiedName};
use uaforge_nodes::typed::{InstanceName, Members};
use uaforge_types::{BrowsePath, BrowsePathResult, RelativePath, RelativePathElement, ids, status};

use crate::{Error, Session};

/// An object and what is known of its members.
pub(super) struct Place {
    pub(super) session: Session,
    pub(super) origin: Origin,
    members: &'static Members,
    known: Mutex<Known>,
}

/// How the object is reached.
pub(super) enum Origin {
    /// By its id, with a name for messages.
    Node(NodeId, Arc<str>),
    /// As a member of another one.
    Member(Arc<Place>, InstanceName),
}

#[derive(Default)]
struct Known {
    node_id: Option<NodeId>,
    children: HashMap<QualifiedName, NodeId>,
    /// The mandatory members were asked for.
    asked: bool,
}

/// A future that may contain itself.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Place {
    pub(super) fn new(session: Session, origin: Origin, members: &'static Members) -> Arc<Self> {
        Arc::new(Self { session, origin, members, known: Mutex::default() })
    }

    pub(super) fn members(&self) -> &'static Members {
        self.members
    }

    /// The object's NodeId.
    pub(super) fn node_id(&self) -> Boxed<'_, Result<NodeId, Error>> {
        Box::pin(async move {
            match &self.origin {
                Origin::Node(node_id, _) => Ok(node_id.clone()),
                Origin::Member(parent, name) => {
                    if let Some(node_id) = self.known.lock().await.node_id.clone() {
                        return Ok(node_id);
                    }
                    let found = parent.child(name).await?;
                    let node_id = found.ok_or_else(|| Error::operation(self, status::BAD_NO_MATCH))?;
                    self.known.lock().await.node_id = Some(node_id.clone());
                    Ok(node_id)
                }
            }
        })
    }

    /// The NodeId of a member; `None` if the object has none of that name.
    pub(super) fn child<'a>(&'a self, name: &'a InstanceName) -> Boxed<'a, Result<Option<NodeId>, Error>> {
        Box::pin(async move {
            let namespaces = self.session.namespaces();
            let wanted = name.resolve(&namespaces)?;
            let node_id = self.node_id().await?;
            let mut known = self.known.lock().await;
            if let Some(child) = known.children.get(&wanted) {
                return Ok(Some(child.clone()));
            }
            let mut names = vec![wanted.clone()];
            if !known.asked {
                let mandatory = self.members.all_mandatory();
                // A member of a model that the server lacks is an error where it is asked for itself.
                names.extend(mandatory.filter_map(|name| name.resolve(&namespaces).ok()));
                names.sort_unstable();
                names.dedup();
            }
            let paths = names.iter().map(|name| path(&node_id, name)).collect();
            let results = self.session.translate(paths).await?;
            known.asked = true;
            for (name, result) in names.into_iter().zip(results) {
                let found = target(result).map_err(|problem| problem.at(self, &name));
                match found {
                    Ok(Some(child)) => drop(known.children.insert(name, child)),
                    Ok(None) => {}
                    Err(error) if name == wanted => return Err(error),
                    Err(_) => {}
                }
            }
            Ok(known.children.get(&wanted).cloned())
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Node(_, name) => f.write_str(name),
            Origin::Member(parent, name) => write!(f, "{parent}/{name}"),
        }
    }
}

/// One step down any hierarchical reference.
pub(super) fn path(from: &NodeId, name: &QualifiedName) -> BrowsePath {
    let element = RelativePathElement {
        reference_type_id: hierarchical(),
        is_inverse: false,
        include_subtypes: true,
        target_name: name.clone(),
    };
    BrowsePath { starting_node: from.clone(), relative_path: RelativePath { elements: vec![element].into() } }
}

/// HierarchicalReferences.
pub(super) fn hierarchical() -> NodeId {
    ids::reference_type::HIERARCHICAL_REFERENCES.identifier().in_namespace(0).to_owned()
}

/// Why a path leads to no node.
pub(super) enum Problem {
    Status(uaforge_codec::StatusCode),
    Ambiguous(usize),
}

impl Problem {
    pub(super) fn at(self, from: &dyn fmt::Display, name: &QualifiedName) -> Error {
        let what = format!("{from}/{}", name.name);
        match self {
            Self::Status(status) => Error::operation(what, status),
            Self::Ambiguous(count) => Error::Ambiguous { what: what.into(), count },
        }
    }
}

/// The one node that a path leads to; `None` if there is none.
pub(super) fn target(result: BrowsePathResult) -> Result<Option<NodeId>, Problem> {
    if result.status_code == status::BAD_NO_MATCH {
        return Ok(None);
    }
    if result.status_code.is_bad() {
        return Err(Problem::Status(result.status_code));
    }
    // Nodes of other servers have a remaining path or a server index (OPC 10000-4 §5.9.4.2).
    let here = result
        .targets
        .into_iter()
        .filter(|target| target.remaining_path_index == u32::MAX && target.target_id.server_index == 0);
    let mut targets: Vec<NodeId> = here.map(|target| target.target_id.node_id).collect();
    targets.sort_unstable();
    targets.dedup();
    match targets.len() {
        0 | 1 => Ok(targets.pop()),
        count => Err(Problem::Ambiguous(count)),
    }
}
