//! Properties that say what a value means: when they change, the next notification says so (OPC 10000-8 §5.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use uaforge_nodes::{Listener, Snapshot, ValueCell};

use super::arena::Key;
use super::filter::property;
use super::source::{Dirty, Target};
use crate::attribute;

/// Properties of DataItems and of their subtypes whose change is one of meaning (OPC 10000-8 §5.3).
const PROPERTIES: [&str; 7] = [
    "EURange",
    "EngineeringUnits",
    "InstrumentRange",
    "EnumStrings",
    "EnumValues",
    "TrueState",
    "FalseState",
];

/// The properties of one monitored Variable.
pub(crate) struct Semantics {
    cells: Vec<(Arc<ValueCell>, usize)>,
    watch: Arc<Watch>,
}

/// Is told of their changes.
struct Watch {
    source: Key,
    dirty: Arc<Dirty>,
    changed: AtomicBool,
}

impl Listener for Watch {
    fn changed(&self, _: &ValueCell) {
        self.changed.store(true, Ordering::Release);
        self.dirty.push(self.source);
    }
}

impl Semantics {
    /// Watches the properties of a Variable; nothing if it has none that can change. `changed`: a change is to be
    /// told already.
    pub(crate) fn of(
        snapshot: &Snapshot,
        target: &Target,
        source: Key,
        dirty: &Arc<Dirty>,
        changed: bool,
    ) -> Option<Box<Self>> {
        if target.attribute != attribute::VALUE {
            return None;
        }
        let node = snapshot.node(target.node.as_ref())?;
        let found = PROPERTIES.iter().filter_map(|name| property(snapshot, &node, name));
        let cells: Vec<_> = found.filter_map(|id| snapshot.node(id)?.cell().cloned()).collect();
        if cells.is_empty() {
            return None;
        }
        let watch = Arc::new(Watch { source, dirty: Arc::clone(dirty), changed: AtomicBool::new(changed) });
        let listen = |cell: Arc<ValueCell>| {
            let listener = cell.listen(Arc::clone(&watch) as Arc<dyn Listener>);
            (cell, listener)
        };
        let cells = cells.into_iter().map(listen).collect();
        Some(Box::new(Self { cells, watch }))
    }

    /// Whether there was a change that was not told yet.
    pub(crate) fn has_changed(&self) -> bool {
        self.watch.changed.load(Ordering::Acquire)
    }

    /// As [`Self::has_changed`]; it is told now.
    pub(crate) fn take(&self) -> bool {
        self.has_changed() && self.watch.changed.swap(false, Ordering::AcqRel)
    }
}

impl Drop for Semantics {
    fn drop(&mut self) {
        for (cell, listener) in &self.cells {
            cell.unlisten(*listener);
        }
    }
}
