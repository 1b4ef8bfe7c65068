//! Supertypes of the server's types, browsed once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use uaforge_codec::NodeId;
use uaforge_types::{BrowseDescription, BrowseDirection, ids};

use crate::{Error, Session};

/// Longest chain of supertypes that is followed; a longer one is a loop of the server's.
const MAX_DEPTH: usize = 64;

/// Supertypes by type.
#[derive(Debug, Default)]
pub(crate) struct TypeHierarchy {
    supertypes: Mutex<HashMap<NodeId, Option<NodeId>>>,
}

impl TypeHierarchy {
    fn known(&self, of: &NodeId) -> Option<Option<NodeId>> {
        self.supertypes.lock().unwrap_or_else(PoisonError::into_inner).get(of).cloned()
    }

    fn learn(&self, of: NodeId, supertype: Option<NodeId>) {
        self.supertypes.lock().unwrap_or_else(PoisonError::into_inner).insert(of, supertype);
    }
}

impl Session {
    /// The supertype of a type; `None` for a root (OPC 10000-3 §7.10).
    ///
    /// # Errors
    /// The service failed.
    pub async fn supertype(&self, of: &NodeId) -> Result<Option<NodeId>, Error> {
        if let Some(known) = self.hierarchy().known(of) {
            return Ok(known);
        }
        let description = BrowseDescription {
            node_id: of.clone(),
            browse_direction: BrowseDirection::INVERSE,
            reference_type_id: ids::reference_type::HAS_SUBTYPE.identifier().in_namespace(0).to_owned(),
            ..Default::default()
        };
        let references = self.browse_all(vec![description]).await?.pop().unwrap_or_else(|| Ok(Vec::new()))?;
        let supertype = references.into_iter().next().map(|reference| reference.node_id.node_id);
        self.hierarchy().learn(of.clone(), supertype.clone());
        Ok(supertype)
    }

    /// Whether a type is `base` or one of its subtypes.
    ///
    /// # Errors
    /// The service failed.
    pub async fn is_subtype_of(&self, of: &NodeId, base: &NodeId) -> Result<bool, Error> {
        let mut current = of.clone();
        for _ in 0..MAX_DEPTH {
            if current == *base {
                return Ok(true);
            }
            match self.supertype(&current).await? {
                Some(supertype) => current = supertype,
                None => return Ok(false),
            }
        }
        Ok(false)
    }
}
