//! Ids that managers handed out to a session (RegisterNodes, OPC 10000-4 §5.9.5).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uaforge_codec::{NodeId, NodeIdRef};

use crate::access::Access;
use crate::manager::{NodeManager, contain};

/// Ids that one session may have; beyond them, nodes keep their own.
const MAX_ALIASES: usize = 100_000;

/// The ids of one session, and whom to give them back to.
#[derive(Default)]
pub(crate) struct Registered {
    ids: Mutex<BTreeMap<NodeId, Owner>>,
}

struct Owner {
    manager: Arc<dyn NodeManager>,
    access: Access,
}

impl Registered {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Owner>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an id; `false` if there are too many.
    pub(crate) fn add(&self, id: &NodeId, manager: &Arc<dyn NodeManager>, access: Access) -> bool {
        let mut ids = self.lock();
        let has_room = ids.len() < MAX_ALIASES || ids.contains_key(id);
        if has_room {
            ids.insert(id.clone(), Owner { manager: Arc::clone(manager), access });
        }
        has_room
    }

    /// Gives ids back; those that the session does not have are left out.
    pub(crate) fn remove<'a>(&self, ids: impl Iterator<Item = NodeIdRef<'a>>) {
        let mut own = self.lock();
        if own.is_empty() {
            return;
        }
        let removed: Vec<_> = ids.filter_map(|id| own.remove_entry(&id.to_owned())).collect();
        drop(own);
        give_back(removed);
    }

    /// Gives all ids back.
    pub(crate) fn clear(&self) {
        let all = core::mem::take(&mut *self.lock());
        give_back(all.into_iter().collect());
    }
}

/// Tells each manager of its ids, with no lock held.
fn give_back(mut ids: Vec<(NodeId, Owner)>) {
    while let Some((first, owner)) = ids.pop() {
        let mut batch = vec![first];
        ids.retain(|(id, other)| {
            let same = Arc::ptr_eq(&other.manager, &owner.manager);
            if same {
                batch.push(id.clone());
            }
            !same
        });
        if let Some(first) = batch.first() {
            contain("UnregisterNodes", first.as_ref(), || owner.manager.unregister(owner.access, &batch));
        }
    }
}
