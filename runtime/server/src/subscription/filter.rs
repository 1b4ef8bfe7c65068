//! DataChangeFilter (OPC 10000-4 §7.22.2): what it may say, and what it lets through.

use std::sync::Arc;

use uaforge_codec::{DecodeContext, ExtensionObject, NodeIdRef, StatusCode};
use uaforge_nodes::{AttributeId, BrowseName, Direction, Node, Snapshot, ValueCell};
use uaforge_types::{AggregateFilter, DataChangeFilter, DataChangeTrigger, EventFilter, Range, ids, status};

use super::deadband;
use super::sample::{Change, Sample};
use super::source::Target;
use crate::attribute;
use crate::event::filter::EventItemFilter;

/// deadbandType (OPC 10000-4 §7.22.2).
mod kind {
    pub(super) const NONE: u32 = 0;
    pub(super) const ABSOLUTE: u32 = 1;
    pub(super) const PERCENT: u32 = 2;
}

/// The filter of an item, which also says what the item monitors.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Data(DataFilter),
    Event(Arc<EventItemFilter>),
}

impl Filter {
    /// Whether a sample of a value is to be queued; it then counts as reported.
    pub(crate) fn lets_through(&mut self, sample: &Sample, change: Change) -> bool {
        match self {
            Self::Data(filter) => filter.lets_through(sample, change),
            Self::Event(_) => false,
        }
    }

    /// Forgets what was reported: the next sample goes through.
    pub(crate) fn reset(&mut self) {
        if let Self::Data(filter) = self {
            filter.reset();
        }
    }

    /// The filter of events, if it is one.
    pub(crate) fn as_event(&self) -> Option<&Arc<EventItemFilter>> {
        match self {
            Self::Data(_) => None,
            Self::Event(filter) => Some(filter),
        }
    }
}

/// A filter of data changes as an item uses it.
#[derive(Clone, Debug)]
pub(crate) struct DataFilter {
    pub(crate) trigger: DataChangeTrigger,
    deadband: Option<Box<Deadband>>,
}

impl Default for DataFilter {
    fn default() -> Self {
        Self { trigger: DataChangeTrigger::STATUS_VALUE, deadband: None }
    }
}

#[derive(Clone, Debug)]
struct Deadband {
    band: Band,
    /// What was reported last.
    reported: Option<Sample>,
}

#[derive(Clone, Debug)]
enum Band {
    Absolute(f64),
    /// A part of the EURange, 0 to 1.
    Percent {
        part: f64,
        range: EuRange,
    },
}

/// EURange of an analog Variable (OPC 10000-8 §5.3.2.3).
#[derive(Clone, Debug)]
enum EuRange {
    Fixed(f64),
    Cell { cell: Arc<ValueCell>, seen: u64, span: f64 },
}

impl EuRange {
    /// The range of a Variable; `None` if it has none.
    fn of(snapshot: &Snapshot, node: &Node<'_>, decode: DecodeContext<'_>) -> Option<Self> {
        let id = property(snapshot, node, "EURange")?;
        let property = snapshot.node(id)?;
        if let Some(cell) = property.cell() {
            let seen = cell.changes();
            return Some(Self::Cell { span: span_of(cell)?, seen, cell: Arc::clone(cell) });
        }
        let value = property.attribute(AttributeId::Value).ok()?.to_variant(decode).ok()?;
        span(&value).map(Self::Fixed)
    }

    fn span(&mut self) -> f64 {
        match self {
            Self::Fixed(span) => *span,
            Self::Cell { cell, seen, span } => {
                let changes = cell.changes();
                if *seen != changes {
                    *seen = changes;
                    *span = span_of(cell).unwrap_or(*span);
                }
                *span
            }
        }
    }
}

fn span_of(cell: &ValueCell) -> Option<f64> {
    span(&cell.value())
}

fn span(value: &uaforge_codec::Variant) -> Option<f64> {
    let uaforge_codec::Variant::ExtensionObject(object) = value else { return None };
    let range = object.downcast_ref::<Range>()?;
    let span = range.high - range.low;
    (span.is_finite() && span >= 0.0).then_some(span)
}

/// The property of a node with a name of the base namespace.
pub(crate) fn property<'s>(snapshot: &'s Snapshot, node: &Node<'s>, name: &str) -> Option<NodeIdRef<'s>> {
    let has_property = ids::reference_type::HAS_PROPERTY.resolve_ref(snapshot.namespaces()).ok()?;
    let filter = snapshot.reference_filter(has_property, true)?;
    let wanted = BrowseName { namespace: 0, name };
    let mut references = node.references(Direction::Forward, filter);
    references
        .find(|reference| reference.target().is_some_and(|target| target.browse_name() == wanted))
        .map(|reference| reference.target_id())
}

impl DataFilter {
    /// Checks the filter of an item (MonitoringFilter, OPC 10000-4 §7.22). A null filter is the default one.
    ///
    /// # Errors
    /// Bad_FilterNotAllowed, Bad_MonitoredItemFilterUnsupported, Bad_MonitoredItemFilterInvalid,
    /// Bad_DeadbandFilterInvalid.
    pub(crate) fn check(
        filter: &ExtensionObject,
        target: &Target,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
    ) -> Result<Self, StatusCode> {
        if filter.is_null() {
            return Ok(Self::default());
        }
        if filter.downcast_ref::<EventFilter>().is_some() {
            return Err(status::BAD_FILTER_NOT_ALLOWED);
        }
        if filter.downcast_ref::<AggregateFilter>().is_some() {
            return Err(status::BAD_MONITORED_ITEM_FILTER_UNSUPPORTED);
        }
        let Some(filter) = filter.downcast_ref::<DataChangeFilter>() else {
            return Err(status::BAD_MONITORED_ITEM_FILTER_INVALID);
        };
        if target.attribute != attribute::VALUE {
            return Err(status::BAD_FILTER_NOT_ALLOWED);
        }
        if !(DataChangeTrigger::STATUS.0..=DataChangeTrigger::STATUS_VALUE_TIMESTAMP.0)
            .contains(&filter.trigger.0)
        {
            return Err(status::BAD_MONITORED_ITEM_FILTER_INVALID);
        }
        let deadband = check_deadband(filter, target, snapshot, decode)?;
        // With a deadband, a new timestamp alone is no reason to report.
        let trigger = match filter.trigger {
            DataChangeTrigger::STATUS_VALUE_TIMESTAMP if deadband.is_some() => {
                DataChangeTrigger::STATUS_VALUE
            }
            trigger => trigger,
        };
        let deadband = deadband.map(|band| Box::new(Deadband { band, reported: None }));
        Ok(Self { trigger, deadband })
    }

    /// Whether a sample is to be queued; it then counts as reported.
    pub(crate) fn lets_through(&mut self, sample: &Sample, change: Change) -> bool {
        let trigger = self.trigger;
        let Some(deadband) = &mut self.deadband else { return change.triggers(trigger) };
        if let Some(reported) = &deadband.reported {
            // The value is compared with what was reported, not with the last sample.
            let mut change = sample.change_since(reported);
            if change.value && !change.status {
                let band = deadband.band.width();
                change.value = deadband::is_beyond(reported.value(), sample.value(), band);
            }
            if !change.triggers(trigger) {
                return false;
            }
        }
        deadband.reported = Some(sample.clone());
        true
    }

    /// Forgets what was reported: the next sample goes through.
    pub(crate) fn reset(&mut self) {
        if let Some(deadband) = &mut self.deadband {
            deadband.reported = None;
        }
    }
}

impl Band {
    fn width(&mut self) -> f64 {
        match self {
            Self::Absolute(band) => *band,
            Self::Percent { part, range } => *part * range.span(),
        }
    }
}

fn check_deadband(
    filter: &DataChangeFilter,
    target: &Target,
    snapshot: &Snapshot,
    decode: DecodeContext<'_>,
) -> Result<Option<Band>, StatusCode> {
    let value = filter.deadband_value;
    match filter.deadband_type {
        kind::NONE => return Ok(None),
        kind::ABSOLUTE if value >= 0.0 => {}
        kind::PERCENT if (0.0..=100.0).contains(&value) => {}
        _ => return Err(status::BAD_DEADBAND_FILTER_INVALID),
    }
    // Of nodes of managers nothing is known here; their values are compared as they come.
    let Some(node) = snapshot.node(target.node.as_ref()) else {
        return if filter.deadband_type == kind::ABSOLUTE {
            Ok(Some(Band::Absolute(value)))
        } else {
            Err(status::BAD_MONITORED_ITEM_FILTER_UNSUPPORTED)
        };
    };
    if !is_numeric(snapshot, &node) {
        return Err(status::BAD_FILTER_NOT_ALLOWED);
    }
    if filter.deadband_type == kind::ABSOLUTE {
        return Ok(Some(Band::Absolute(value)));
    }
    let range = EuRange::of(snapshot, &node, decode).ok_or(status::BAD_FILTER_NOT_ALLOWED)?;
    Ok(Some(Band::Percent { part: value / 100.0, range }))
}

/// BaseDataType and Number (OPC 10000-6 Annex A).
const BASE_DATA_TYPE: u32 = 24;
const NUMBER: u32 = 26;

/// Whether a Variable may have numbers.
fn is_numeric(snapshot: &Snapshot, node: &Node<'_>) -> bool {
    let Some(value_type) = node.value_type() else { return false };
    let base = NodeIdRef::Numeric(0, BASE_DATA_TYPE);
    value_type.data_type == base || snapshot.is_subtype(value_type.data_type, NodeIdRef::Numeric(0, NUMBER))
}
