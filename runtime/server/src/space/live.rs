//! Values that are made when they are read: the server's status and clock (OPC 10000-5 §8.3.2).

use std::sync::{Mutex, MutexGuard, PoisonError};

use uaforge_codec::{DateTime, Encode as _, Encoder, NamespaceMap, NodeIdRef, Structure as _, Variant};
use uaforge_types::{ServerState, ServerStatusDataType, ids};

/// The status of the server; CurrentTime is filled in on each read.
pub(crate) struct Live {
    status: Mutex<ServerStatusDataType>,
    status_id: NodeIdRef<'static>,
    time_id: NodeIdRef<'static>,
}

/// A value that was just made.
pub(crate) enum LiveValue {
    Time(DateTime),
    Status(ServerStatusDataType),
}

/// TypeId of a Variant that holds an ExtensionObject (OPC 10000-6 §5.1.2).
const EXTENSION_OBJECT: u8 = 22;
/// ExtensionObject with a binary body (OPC 10000-6 §5.2.2.15).
const BINARY_BODY: u8 = 1;

impl Live {
    pub(crate) fn new(status: ServerStatusDataType) -> Self {
        let ns0 = NamespaceMap::ns0_only();
        let id = |id: Result<NodeIdRef<'static>, _>| id.unwrap_or(NodeIdRef::NULL);
        Self {
            status: Mutex::new(status),
            status_id: id(ids::variable::SERVER_SERVER_STATUS.resolve_ref(ns0)),
            time_id: id(ids::variable::SERVER_SERVER_STATUS_CURRENT_TIME.resolve_ref(ns0)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ServerStatusDataType> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the value of a node is made when it is read.
    #[inline]
    pub(crate) fn is_live(&self, node: NodeIdRef<'_>) -> bool {
        node.namespace() == 0 && (node == self.time_id || node == self.status_id)
    }

    /// The value of a live node; `None` for every other node.
    #[inline]
    pub(crate) fn value(&self, node: NodeIdRef<'_>, now: DateTime) -> Option<LiveValue> {
        if node == self.time_id {
            return Some(LiveValue::Time(now));
        }
        if node != self.status_id {
            return None;
        }
        let mut status = self.lock().clone();
        status.current_time = now;
        Some(LiveValue::Status(status))
    }

    /// Changes the state that ServerStatus shows.
    pub(crate) fn set_state(&self, state: ServerState, seconds_till_shutdown: u32) {
        let mut status = self.lock();
        status.state = state;
        status.seconds_till_shutdown = seconds_till_shutdown;
    }
}

impl LiveValue {
    pub(crate) fn to_variant(&self) -> Variant {
        match self {
            Self::Time(time) => Variant::from(*time),
            Self::Status(status) => Variant::from(uaforge_codec::ExtensionObject::new(status.clone())),
        }
    }

    /// As a Variant, without building it.
    pub(crate) fn encode(&self, e: &mut Encoder<'_>) {
        match self {
            Self::Time(time) => Variant::DateTime(*time).encode(e),
            Self::Status(status) => {
                e.put_u8(EXTENSION_OBJECT);
                let key = ServerStatusDataType::DESCRIPTOR.binary_encoding;
                let id = key.map_or(NodeIdRef::NULL, |key| key.id.in_namespace(0));
                id.encode(e);
                e.put_u8(BINARY_BODY);
                e.put_sized(|e| status.encode(e));
            }
        }
    }
}
