//! A node manager whose nodes exist only while they are talked about: everything is computed from the
//! number in a node's id.

use std::fmt::Write as _;
use std::ops::{ControlFlow, Range};

use uaforge::nodes::{BrowseName, NodeClass, Text, ValueType};
use uaforge::server::{
    BrowseCx, BrowseItem, Browser, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem,
    Reference, Server,
};
use uaforge::types::status;
use uaforge::{DataValue, ExpandedNodeIdRef, NodeId, NodeIdRef, Variant};

/// The namespace of the meters.
pub(crate) const URI: &str = "urn:example:meters";
/// The object that holds the groups.
pub(crate) const ROOT: u32 = 0x8000_0000;
/// The object that organizes every single meter, page by page.
pub(crate) const ALL: u32 = 0x8000_0001;
/// The first group; the others follow.
pub(crate) const GROUPS: u32 = 0xC000_0000;
/// Meters of one group.
pub(crate) const GROUP_SIZE: u32 = 1_000;

const ORGANIZES: NodeIdRef<'static> = NodeIdRef::Numeric(0, 35);
const FOLDER_TYPE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 61);
const BASE_DATA_VARIABLE_TYPE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 63);
const DOUBLE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 11);
const CURRENT_READ: u32 = 1;

/// The bounds of every meter's value.
const READING: ValueType<'static> =
    ValueType { data_type: DOUBLE, value_rank: -1, array_dimensions: &[], access_level: CURRENT_READ };

/// Meters, in groups of a thousand. It holds nothing but their number.
pub(crate) struct VirtualMeters {
    count: u32,
}

/// What the number in an id stands for.
#[derive(Clone, Copy)]
enum Kind {
    Root,
    All,
    Group(u32),
    Meter(u32),
}

impl VirtualMeters {
    /// So many meters, at most two thousand million.
    pub(crate) fn new(count: u32) -> Self {
        Self { count: count.min(2_000_000_000) }
    }

    /// The id of a node on a server.
    pub(crate) fn id(server: &Server, number: u32) -> Option<NodeId> {
        Some(NodeId::numeric(server.space().namespaces().index_of(URI)?, number))
    }

    /// What a meter shows.
    pub(crate) fn reading(number: u32) -> f64 {
        f64::from(number) * 0.25
    }

    fn kind(&self, node: NodeIdRef<'_>) -> Option<Kind> {
        match node.as_numeric()? {
            ROOT => Some(Kind::Root),
            ALL => Some(Kind::All),
            meter if meter < self.count => Some(Kind::Meter(meter)),
            group => {
                let group = group.checked_sub(GROUPS)?;
                (group < self.groups()).then_some(Kind::Group(group))
            }
        }
    }

    fn groups(&self) -> u32 {
        self.count.div_ceil(GROUP_SIZE)
    }

    /// The numbers of a node's children, as ranges.
    fn children(&self, kind: Kind) -> [Range<u32>; 2] {
        match kind {
            Kind::Root => [ALL..ALL + 1, GROUPS..GROUPS + self.groups()],
            Kind::All => [0..self.count, 0..0],
            Kind::Group(group) => {
                let first = group * GROUP_SIZE;
                [first..self.count.min(first + GROUP_SIZE), 0..0]
            }
            Kind::Meter(_) => [0..0, 0..0],
        }
    }

    /// The numbers of the nodes that organize a node.
    fn parents(kind: Kind) -> [Range<u32>; 2] {
        match kind {
            Kind::Root => [0..0, 0..0],
            Kind::All | Kind::Group(_) => [ROOT..ROOT + 1, 0..0],
            Kind::Meter(meter) => {
                let group = GROUPS + meter / GROUP_SIZE;
                [ALL..ALL + 1, group..group + 1]
            }
        }
    }

    /// Gives the references of a node from where the page begins; `Some` where the next one has to begin.
    fn push(&self, browser: &mut Browser<'_, '_, '_, '_>, namespace: u16, kind: Kind) -> Option<u64> {
        let mut name = String::new();
        let start = browser.start();
        let mut place = 0;
        for (forward, ranges) in [(true, self.children(kind)), (false, Self::parents(kind))] {
            for range in ranges {
                let length = u64::from(range.end - range.start);
                let skipped = start.saturating_sub(place).min(length);
                place += skipped;
                if !browser.wants(ORGANIZES, forward) {
                    place += length - skipped;
                    continue;
                }
                for number in range.skip(usize::try_from(skipped).unwrap_or(usize::MAX)) {
                    let node_id = NodeIdRef::Numeric(namespace, number);
                    let Some(kind) = self.kind(node_id) else { continue };
                    let target = ExpandedNodeIdRef { node_id, ..Default::default() };
                    let reference = Reference { reference_type: ORGANIZES, forward, target };
                    let flow = browser.push(&reference, Some(&describe(kind, namespace, &mut name)));
                    if let ControlFlow::Break(()) = flow {
                        return Some(place);
                    }
                    place += 1;
                }
            }
        }
        None
    }
}

/// What a node is called and what it is; the text goes into `name`.
fn describe(kind: Kind, namespace: u16, name: &mut String) -> Description<'_> {
    name.clear();
    // Writing to a String does not fail.
    let _ = match kind {
        Kind::Root => write!(name, "Meters"),
        Kind::All => write!(name, "All"),
        Kind::Group(group) => write!(name, "Group{group:04}"),
        Kind::Meter(meter) => write!(name, "Meter{meter:07}"),
    };
    let (class, type_definition) = match kind {
        Kind::Meter(_) => (NodeClass::Variable, BASE_DATA_VARIABLE_TYPE),
        _ => (NodeClass::Object, FOLDER_TYPE),
    };
    Description {
        class,
        browse_name: BrowseName { namespace, name },
        display_name: Text { locale: "", text: name },
        type_definition: Some(type_definition),
    }
}

impl NodeManager for VirtualMeters {
    fn namespaces(&self) -> Vec<Claim> {
        vec![Claim::whole(URI)]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        let mut name = String::new();
        for item in items {
            match self.kind(item.node) {
                None => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
                Some(Kind::Meter(meter)) if item.attribute == 13 => {
                    let value = DataValue::new(Variant::Double(Self::reading(meter)));
                    cx.answer(item, &value.with_source_timestamp(Some(cx.now().utc)));
                }
                Some(kind) => {
                    let bounds = matches!(kind, Kind::Meter(_)).then_some(&READING);
                    cx.attribute(item, &describe(kind, item.node.namespace(), &mut name), bounds);
                }
            }
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        for item in items {
            let Some(kind) = self.kind(item.node) else {
                cx.status(item, status::BAD_NODE_ID_UNKNOWN);
                continue;
            };
            let mut browser = cx.begin(item);
            match self.push(&mut browser, item.node.namespace(), kind) {
                Some(next) => browser.finish_from(next),
                None => browser.finish(),
            }
        }
    }

    /// Looks at no node: the number stands in the name.
    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        for item in items {
            let namespace = item.node.namespace();
            let Some(kind) = self.kind(item.node).filter(|_| item.name.namespace_index == namespace) else {
                continue;
            };
            let wanted = item.name.to_owned();
            let number = |prefix: &str| wanted.name.text().strip_prefix(prefix)?.parse::<u32>().ok();
            let named = match wanted.name.text() {
                "Meters" => Some(ROOT),
                "All" => Some(ALL),
                _ => number("Meter").or_else(|| GROUPS.checked_add(number("Group")?)),
            };
            let Some(target) = named.map(|number| NodeIdRef::Numeric(namespace, number)) else { continue };
            // The name has to be written as it is shown.
            let mut name = String::new();
            let is_name = self
                .kind(target)
                .is_some_and(|kind| item.has_name(describe(kind, namespace, &mut name).browse_name));
            for (forward, ranges) in [(true, self.children(kind)), (false, Self::parents(kind))] {
                let is_end =
                    target.as_numeric().is_some_and(|n| ranges.iter().any(|range| range.contains(&n)));
                if cx.spend() && is_name && is_end && cx.wants(item, ORGANIZES, forward) {
                    cx.target(target.to_owned().into());
                }
            }
        }
    }

    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
        let kind = self.kind(node);
        if let Some(kind) = kind {
            found(&describe(kind, node.namespace(), &mut String::new()));
        }
        kind.is_some()
    }
}
