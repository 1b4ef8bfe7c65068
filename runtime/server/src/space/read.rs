//! Read of nodes of the address space (OPC 10000-4 §5.11.2).

use uaforge_codec::{DecodeContext, Encode as _, NodeIdRef, StatusCode};
use uaforge_nodes::{AttributeId, AttributeValue, Node, Snapshot};
use uaforge_types::{ids, status};

use super::SpaceManager;
use super::live::LiveValue;
use crate::access::Access;
use crate::binding::Hooks;
use crate::encode::{put_data_status, put_data_value};
use crate::manager::{ReadCx, ReadItem, level};
use crate::node_ids::unknown;

impl SpaceManager {
    pub(crate) fn read(
        &self,
        cx: &mut ReadCx<'_, '_>,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        items: &[ReadItem<'_>],
    ) {
        for item in items {
            if let Err(status) = self.read_one(cx, snapshot, decode, item) {
                cx.status(item, status);
            }
        }
    }

    fn read_one(
        &self,
        cx: &mut ReadCx<'_, '_>,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        item: &ReadItem<'_>,
    ) -> Result<(), StatusCode> {
        item.check()?;
        let node = snapshot.node(item.node).ok_or_else(|| unknown(item.node))?;
        let attribute = AttributeId::from_u32(item.attribute).ok_or(status::BAD_ATTRIBUTE_ID_INVALID)?;
        let stated = node.attribute(attribute)?;
        if attribute == AttributeId::Value {
            self.check_readable(cx.access(), item.node, &node)?;
            // What is read most goes the shortest way.
            if let AttributeValue::Cell(cell) = stated
                && item.is_plain()
                && cell.attachment().is_none()
                && !self.live.is_live(item.node)
            {
                cx.cell(item, cell);
                return Ok(());
            }
        }
        self.read_value(cx, snapshot, decode, item, (&node, attribute, stated))
    }

    /// Answers with an attribute that may be read.
    fn read_value(
        &self,
        cx: &mut ReadCx<'_, '_>,
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        item: &ReadItem<'_>,
        (node, attribute, stated): (&Node<'_>, AttributeId, AttributeValue<'_>),
    ) -> Result<(), StatusCode> {
        let value = self.of_user(cx.access(), item.node, attribute, stated);
        let in_locale = if cx.locales.is_empty() { None } else { node.localized(attribute, cx.locales) };
        let value = in_locale.map_or(value, AttributeValue::LocalizedText);
        if !item.encoding.name.is_empty() {
            self.check_encoding(item, node, snapshot, attribute)?;
        }
        if attribute == AttributeId::Value
            && let Some(live) = self.live.value(item.node, cx.now().utc)
        {
            return self.read_live(cx, item, &live);
        }
        if let AttributeValue::Cell(cell) = value
            && let Some(hook) = Hooks::of(cell).and_then(Hooks::read)
        {
            hook.run(cx, item);
            return Ok(());
        }
        if !item.range.is_empty() {
            let source = self.source(&value, attribute);
            match &value {
                AttributeValue::Encoded(value) => return cx.cut_encoded(item, value, source),
                AttributeValue::Cell(cell) => {
                    cx.answer(item, &cell.read());
                    return Ok(());
                }
                _ => {}
            }
            let whole = value.to_variant(decode).map_err(|_| status::BAD_INTERNAL_ERROR)?;
            return cx.cut_value(item, &whole, source);
        }
        if let AttributeValue::Cell(cell) = value {
            cx.cell(item, cell);
            return Ok(());
        }
        let parts = cx.settings.parts(item.attribute, self.source(&value, attribute));
        match value {
            AttributeValue::Null => cx.results.put(item.index, |e| put_data_status(e, &parts)),
            _ => cx.results.put(item.index, |e| put_data_value(e, &parts, |e| value.encode(e))),
        }
        Ok(())
    }

    /// Whether an attribute can be had in the data encoding that was asked for.
    #[cold]
    pub(crate) fn check_encoding(
        &self,
        item: &ReadItem<'_>,
        node: &Node<'_>,
        snapshot: &Snapshot,
        attribute: AttributeId,
    ) -> Result<(), StatusCode> {
        item.wanted().of_structure(is_structure(node, snapshot, attribute))
    }

    /// Whether a Variable offers its Value, and this user may have it.
    fn check_readable(&self, access: Access, id: NodeIdRef<'_>, node: &Node<'_>) -> Result<(), StatusCode> {
        let Some(stated) = node.access_level() else { return Ok(()) };
        if stated & level::CURRENT_READ == 0 {
            return Err(status::BAD_NOT_READABLE);
        }
        let user = self.rights.access_level(access, id, stated as u8);
        if u32::from(user) & level::CURRENT_READ == 0 {
            return Err(status::BAD_USER_ACCESS_DENIED);
        }
        Ok(())
    }

    /// An attribute of the user: what the node states, as far as this user has it.
    fn of_user<'a>(
        &self,
        access: Access,
        node: NodeIdRef<'_>,
        attribute: AttributeId,
        stated: AttributeValue<'a>,
    ) -> AttributeValue<'a> {
        match (attribute, stated) {
            (AttributeId::UserAccessLevel, AttributeValue::Byte(level)) => {
                AttributeValue::Byte(self.rights.access_level(access, node, level))
            }
            (AttributeId::UserWriteMask, AttributeValue::UInt32(mask)) => {
                AttributeValue::UInt32(self.rights.write_mask(access, node, mask))
            }
            (AttributeId::UserExecutable, AttributeValue::Boolean(executable)) => {
                AttributeValue::Boolean(self.rights.executable(access, node, executable))
            }
            (_, stated) => stated,
        }
    }

    /// The source timestamp of a value: its own, or the start of the server for one of the tables.
    fn source(&self, value: &AttributeValue<'_>, attribute: AttributeId) -> Option<uaforge_codec::DateTime> {
        match value {
            _ if attribute != AttributeId::Value => None,
            AttributeValue::Cell(cell) => cell.state().source,
            _ => Some(self.started),
        }
    }

    fn read_live(
        &self,
        cx: &mut ReadCx<'_, '_>,
        item: &ReadItem<'_>,
        live: &LiveValue,
    ) -> Result<(), StatusCode> {
        let now = cx.now().utc;
        if !item.range.is_empty() {
            return cx.cut_value(item, &live.to_variant(), Some(now));
        }
        let parts = cx.settings.parts(item.attribute, Some(now));
        cx.results.put(item.index, |e| put_data_value(e, &parts, |e| live.encode(e)));
        Ok(())
    }
}

/// Whether an attribute is the Value of a structure.
#[cold]
fn is_structure(node: &Node<'_>, snapshot: &Snapshot, attribute: AttributeId) -> bool {
    let structure = ids::data_type::STRUCTURE.resolve_ref(snapshot.namespaces()).unwrap_or(NodeIdRef::NULL);
    let data_type = node.value_type().map(|value_type| value_type.data_type);
    attribute == AttributeId::Value
        && data_type.is_some_and(|data_type| snapshot.is_subtype(data_type, structure))
}
