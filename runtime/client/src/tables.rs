//! What decoding and encoding need of a session: its namespace table and the known structures.

use std::sync::{Arc, PoisonError, RwLock};

use uaforge_codec::{DecodeContext, DecodeLimits, EncodeContext, NamespaceMap, RuntimeTypes, TypeRegistry};
use uaforge_nodes::typed::RegisterTypes;

/// The tables at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) namespaces: Arc<NamespaceMap>,
    pub(crate) types: Arc<TypeRegistry>,
}

impl Snapshot {
    pub(crate) fn encode_context(&self) -> EncodeContext<'_> {
        EncodeContext { namespaces: &self.namespaces }
    }

    pub(crate) fn decode_context<'a>(&'a self, limits: &'a DecodeLimits) -> DecodeContext<'a> {
        DecodeContext { limits, namespaces: &self.namespaces, types: &self.types }
    }
}

/// The tables, replaced as a whole when one of them changes.
#[derive(Debug)]
pub(crate) struct Tables {
    current: RwLock<Snapshot>,
    /// Registrations that were done.
    registered: RwLock<Vec<RegisterTypes>>,
}

impl Tables {
    pub(crate) fn new() -> Self {
        let types = Arc::new(uaforge_types::registry());
        let current = Snapshot { namespaces: Arc::new(NamespaceMap::new()), types };
        Self { current: RwLock::new(current), registered: RwLock::new(Vec::new()) }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_namespaces(&self, namespaces: NamespaceMap) {
        self.current.write().unwrap_or_else(PoisonError::into_inner).namespaces = Arc::new(namespaces);
    }

    /// Makes structures known that have no Rust type.
    pub(crate) fn set_runtime_types(&self, types: Arc<RuntimeTypes>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut current.types).set_runtime_types(types);
    }

    /// Makes the structures of a model known, once.
    pub(crate) fn register(&self, register: RegisterTypes) {
        let known = |list: &[RegisterTypes]| list.iter().any(|done| core::ptr::fn_addr_eq(*done, register));
        if known(&self.registered.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        if known(&registered) {
            return;
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        register(Arc::make_mut(&mut current.types));
        registered.push(register);
    }
}
