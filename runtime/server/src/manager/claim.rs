//! Which namespaces a node manager answers for, and the route from a node to its manager.

use std::sync::Arc;

use uaforge_codec::NodeIdRef;

use super::NodeManager;

/// A namespace that a node manager answers for, alone or together with others.
///
/// Text alone claims the whole namespace:
///
/// ```
/// use uaforge_server::Claim;
///
/// assert_eq!(Claim::from("urn:example:device"), Claim::whole("urn:example:device"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub(crate) uri: String,
    pub(crate) whole: bool,
}

impl Claim {
    /// Every node of the namespace is this manager's; nobody else has any. The route to it costs one
    /// look into a table. The namespaces of models, and that of the application, cannot be claimed so.
    pub fn whole(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), whole: true }
    }

    /// Those nodes of the namespace are this manager's that its [`NodeManager::owns`] picks; the others
    /// belong to further managers or to the address space.
    pub fn part(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), whole: false }
    }
}

impl From<&str> for Claim {
    fn from(uri: &str) -> Self {
        Self::whole(uri)
    }
}

impl From<String> for Claim {
    fn from(uri: String) -> Self {
        Self::whole(uri)
    }
}

/// Who answers for the nodes of one namespace. Managers are counted from 1; 0 is the address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The address space.
    #[default]
    Space,
    /// One manager.
    Whole(u16),
    /// The first of these that wants the node, else the address space.
    Parts(Vec<u16>),
}

/// The owner of each namespace index.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    owners: Vec<Owner>,
}

impl Routes {
    /// Notes the claim of a manager; `false` if it cannot be had beside the earlier ones.
    pub(crate) fn claim(&mut self, namespace: u16, manager: u16, whole: bool) -> bool {
        let index = usize::from(namespace);
        if self.owners.len() <= index {
            self.owners.resize(index + 1, Owner::Space);
        }
        let Some(owner) = self.owners.get_mut(index) else { return false };
        match owner {
            Owner::Space if whole => *owner = Owner::Whole(manager),
            Owner::Space => *owner = Owner::Parts(vec![manager]),
            Owner::Parts(parts) if !whole => parts.push(manager),
            Owner::Parts(_) | Owner::Whole(_) => return false,
        }
        true
    }

    /// Who answers for a node: 0 is the address space.
    #[inline]
    pub(crate) fn find(&self, managers: &[Arc<dyn NodeManager>], node: NodeIdRef<'_>) -> usize {
        match self.owners.get(usize::from(node.namespace())) {
            None | Some(Owner::Space) => 0,
            Some(Owner::Whole(manager)) => usize::from(*manager),
            Some(Owner::Parts(parts)) => {
                let owns = |part: &&u16| {
                    let manager = usize::from(**part).checked_sub(1).and_then(|at| managers.get(at));
                    manager.is_some_and(|manager| manager.owns(node))
                };
                parts.iter().find(owns).map_or(0, |part| usize::from(*part))
            }
        }
    }
}

/// The routes of the nodes of one request, found once; kept by the connection.
#[derive(Default)]
pub(crate) struct BatchRoutes {
    /// Route of each node; nothing if all are the address space's.
    routes: Vec<u16>,
    /// Whether a route occurs.
    occurs: Vec<bool>,
}

impl BatchRoutes {
    /// Finds the routes of a request's nodes.
    pub(crate) fn fill<'a>(
        &mut self,
        routes: &Routes,
        managers: &[Arc<dyn NodeManager>],
        nodes: impl Iterator<Item = NodeIdRef<'a>>,
    ) {
        self.routes.clear();
        self.occurs.clear();
        self.occurs.resize(managers.len() + 1, false);
        if managers.is_empty() {
            self.occurs.fill(true);
            return;
        }
        for node in nodes {
            let route = routes.find(managers, node);
            if let Some(occurs) = self.occurs.get_mut(route) {
                *occurs = true;
            }
            self.routes.push(u16::try_from(route).unwrap_or_default());
        }
    }

    /// Whether all nodes are the address space's.
    pub(crate) fn is_space(&self) -> bool {
        let (space, others) = self.occurs.split_first().unwrap_or((&true, &[]));
        *space && !others.contains(&true)
    }

    /// Whether some node has this route.
    pub(crate) fn occurs(&self, route: usize) -> bool {
        self.occurs.get(route).copied().unwrap_or_default()
    }

    /// The route of the node at this place of the request.
    #[inline]
    pub(crate) fn of(&self, index: usize) -> usize {
        self.routes.get(index).copied().map_or(0, usize::from)
    }

    /// Gives room above `keep` bytes back.
    pub(crate) fn trim(&mut self, keep: usize) {
        self.routes.clear();
        self.routes.shrink_to(keep / size_of::<u16>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_namespace_has_one_owner() {
        let mut routes = Routes::default();
        assert!(routes.claim(2, 1, true));
        assert!(!routes.claim(2, 2, true) && !routes.claim(2, 2, false));
        assert!(routes.claim(1, 2, false) && routes.claim(1, 3, false));
        assert!(!routes.claim(1, 4, true));
        assert_eq!(routes.owners, [Owner::Space, Owner::Parts(vec![2, 3]), Owner::Whole(1)]);
    }
}
