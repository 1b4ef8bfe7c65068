//! A node manager in front of a slow device: all registers of a Read go into one request to the device,
//! what blocks runs on the pool of threads, and nobody waits longer than the device is given.

use std::sync::Arc;
use std::time::Duration;

use uaforge::nodes::{BrowseName, NodeClass, Text, ValueType};
use uaforge::server::{
    BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem, Server,
    WriteCx, WriteItem,
};
use uaforge::types::status;
use uaforge::{DataValue, NodeId, NodeIdRef, StatusCode, Variant};

use crate::device::{Device, DeviceError};

/// The namespace of the device.
pub(crate) const URI: &str = "urn:example:slow-device";
/// The object that stands for the device.
pub(crate) const ROOT: u32 = 1;
/// The version of its firmware.
pub(crate) const FIRMWARE: u32 = 2;
/// The first register; the others follow.
pub(crate) const REGISTERS: u32 = 1_000;

/// The attribute Value (OPC 10000-6 §A.1).
const VALUE: u32 = 13;
const HAS_COMPONENT: NodeIdRef<'static> = NodeIdRef::Numeric(0, 47);
const BASE_OBJECT_TYPE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 58);
const BASE_DATA_VARIABLE_TYPE: NodeIdRef<'static> = NodeIdRef::Numeric(0, 63);
const UINT16: NodeIdRef<'static> = NodeIdRef::Numeric(0, 5);
const STRING: NodeIdRef<'static> = NodeIdRef::Numeric(0, 12);
const CURRENT_READ: u32 = 1;
const CURRENT_WRITE: u32 = 2;

const REGISTER: ValueType<'static> = ValueType {
    data_type: UINT16,
    value_rank: -1,
    array_dimensions: &[],
    access_level: CURRENT_READ | CURRENT_WRITE,
};
const TEXT: ValueType<'static> =
    ValueType { data_type: STRING, value_rank: -1, array_dimensions: &[], access_level: CURRENT_READ };

/// The nodes of a device.
pub(crate) struct DeviceManager {
    device: Arc<Device>,
    patience: Duration,
}

/// What the number in an id stands for.
#[derive(Clone, Copy)]
enum Kind {
    Root,
    Firmware,
    Register(u16),
}

impl Kind {
    fn bounds(self) -> Option<&'static ValueType<'static>> {
        match self {
            Self::Root => None,
            Self::Firmware => Some(&TEXT),
            Self::Register(_) => Some(&REGISTER),
        }
    }
}

/// The status that tells a client what the device said.
fn status_of(error: DeviceError) -> StatusCode {
    match error {
        DeviceError::NoRegister => status::BAD_NODE_ID_UNKNOWN,
        DeviceError::Refused => status::BAD_OUT_OF_RANGE,
    }
}

impl DeviceManager {
    /// The nodes of a device, which is given so long for an answer.
    pub(crate) fn new(device: Arc<Device>, patience: Duration) -> Self {
        Self { device, patience }
    }

    /// The id of a node on a server.
    pub(crate) fn id(server: &Server, number: u32) -> Option<NodeId> {
        Some(NodeId::numeric(server.space().namespaces().index_of(URI)?, number))
    }

    fn kind(&self, node: NodeIdRef<'_>) -> Option<Kind> {
        match node.as_numeric()? {
            ROOT => Some(Kind::Root),
            FIRMWARE => Some(Kind::Firmware),
            number => {
                let register = u16::try_from(number.checked_sub(REGISTERS)?).ok()?;
                (register < self.device.len()).then_some(Kind::Register(register))
            }
        }
    }

    /// The numbers of the root's components.
    fn components(&self) -> impl Iterator<Item = u32> {
        core::iter::once(FIRMWARE)
            .chain((0..self.device.len()).map(|register| REGISTERS + u32::from(register)))
    }

    /// Reads all registers with one request. When the client goes, the future is dropped and with it the
    /// request.
    fn read_registers(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>], addresses: Vec<u16>) {
        let (device, patience, count) = (Arc::clone(&self.device), self.patience, items.len());
        cx.defer_batch(items, async move {
            let Ok(values) = tokio::time::timeout(patience, device.read(&addresses)).await else {
                return vec![DataValue::from_status(status::BAD_TIMEOUT); count];
            };
            let answer = |value: Result<u16, DeviceError>| match value {
                Ok(value) => DataValue::new(Variant::UInt16(value)),
                Err(error) => DataValue::from_status(status_of(error)),
            };
            values.into_iter().map(answer).collect()
        });
    }

    /// Checks a write as the server does for its own nodes, and forwards it. It runs to its end even if the
    /// client goes, but not beyond the time that the client gave.
    fn write_register(&self, cx: &mut WriteCx<'_, '_>, item: &WriteItem<'_>, register: u16) {
        let checked = cx.check(item, &REGISTER, REGISTER.access_level as u8);
        let value = match checked {
            Ok(Some(Variant::UInt16(value))) if item.range.is_empty() => value,
            Ok(_) => return cx.status(item, status::BAD_WRITE_NOT_SUPPORTED),
            Err(status) => return cx.status(item, status),
        };
        let (device, patience, token) = (Arc::clone(&self.device), self.patience, cx.cancellation());
        cx.defer(item, async move {
            tokio::select! {
                written = tokio::time::timeout(patience, device.write(register, value)) => match written {
                    Ok(Ok(())) => StatusCode::GOOD,
                    Ok(Err(error)) => status_of(error),
                    Err(_) => status::BAD_TIMEOUT,
                },
                reason = token.cancelled() => reason.status(),
            }
        });
    }
}

/// What a node is called and what it is; the text goes into `name`.
fn describe(kind: Kind, namespace: u16, name: &mut String) -> Description<'_> {
    *name = match kind {
        Kind::Root => "Device".to_owned(),
        Kind::Firmware => "Firmware".to_owned(),
        Kind::Register(register) => format!("Register{register}"),
    };
    let (class, type_definition) = match kind {
        Kind::Root => (NodeClass::Object, BASE_OBJECT_TYPE),
        _ => (NodeClass::Variable, BASE_DATA_VARIABLE_TYPE),
    };
    Description {
        class,
        browse_name: BrowseName { namespace, name },
        display_name: Text { locale: "", text: name },
        type_definition: Some(type_definition),
    }
}

impl NodeManager for DeviceManager {
    fn namespaces(&self) -> Vec<Claim> {
        vec![Claim::whole(URI)]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        let (mut batch, mut addresses) = (Vec::new(), Vec::new());
        for item in items {
            match self.kind(item.node) {
                None => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
                Some(Kind::Register(register)) if item.attribute == VALUE => {
                    batch.push(*item);
                    addresses.push(register);
                }
                Some(Kind::Firmware) if item.attribute == VALUE => {
                    let device = Arc::clone(&self.device);
                    cx.blocking(item, move || DataValue::new(Variant::from(device.firmware().as_str())));
                }
                Some(kind) => {
                    let mut name = String::new();
                    cx.attribute(item, &describe(kind, item.node.namespace(), &mut name), kind.bounds());
                }
            }
        }
        self.read_registers(cx, &batch, addresses);
    }

    fn write(&self, cx: &mut WriteCx<'_, '_>, items: &[WriteItem<'_>]) {
        for item in items {
            match self.kind(item.node) {
                None => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
                Some(Kind::Register(register)) if item.attribute == VALUE => {
                    self.write_register(cx, item, register);
                }
                Some(_) => cx.status(item, status::BAD_NOT_WRITABLE),
            }
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        for item in items {
            let namespace = item.node.namespace();
            let Some(kind) = self.kind(item.node) else {
                cx.status(item, status::BAD_NODE_ID_UNKNOWN);
                continue;
            };
            let mut browser = cx.begin(item);
            let is_root = matches!(kind, Kind::Root);
            if is_root && browser.wants(HAS_COMPONENT, true) {
                for number in self.components() {
                    let node = NodeIdRef::Numeric(namespace, number);
                    if browser.push_node(HAS_COMPONENT, true, node).is_break() {
                        break;
                    }
                }
            } else if !is_root && browser.wants(HAS_COMPONENT, false) {
                let root = NodeIdRef::Numeric(namespace, ROOT);
                let _ = browser.push_node(HAS_COMPONENT, false, root);
            }
            browser.finish();
        }
    }

    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        for item in items {
            let namespace = item.node.namespace();
            match self.kind(item.node) {
                Some(Kind::Root) if cx.wants(item, HAS_COMPONENT, true) => {
                    for number in self.components() {
                        if !cx.spend() {
                            return;
                        }
                        cx.target_if_named(item, NodeIdRef::Numeric(namespace, number));
                    }
                }
                Some(Kind::Firmware | Kind::Register(_)) if cx.wants(item, HAS_COMPONENT, false) => {
                    cx.target_if_named(item, NodeIdRef::Numeric(namespace, ROOT));
                }
                _ => {}
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
