//! By which id a server takes calls of a Method, by object and Method.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uaforge_codec::NodeId;
use uaforge_nodes::typed::MemberName;

/// Most objects that are remembered; more are forgotten together.
const MAX_OBJECTS: usize = 65_536;

type Methods = Vec<(MemberName, NodeId)>;

/// What a session has learnt.
#[derive(Debug, Default)]
pub(crate) struct MethodIds {
    known: Mutex<HashMap<NodeId, Methods>>,
}

impl MethodIds {
    fn lock(&self) -> MutexGuard<'_, HashMap<NodeId, Methods>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id that the server took before.
    pub(crate) fn get(&self, object: &NodeId, name: MemberName) -> Option<NodeId> {
        let known = self.lock();
        known.get(object)?.iter().find(|(of, _)| *of == name).map(|(_, id)| id.clone())
    }

    pub(crate) fn keep(&self, object: &NodeId, name: MemberName, id: NodeId) {
        let mut known = self.lock();
        if known.len() >= MAX_OBJECTS && !known.contains_key(object) {
            known.clear();
        }
        let methods = known.entry(object.clone()).or_default();
        methods.retain(|(of, _)| *of != name);
        methods.push((name, id));
    }
}
