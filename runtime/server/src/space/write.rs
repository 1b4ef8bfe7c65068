//! Write of nodes of the address space (OPC 10000-4 §5.11.4).

use std::borrow::Cow;
use std::sync::Arc;

use uaforge_codec::{DecodeContext, NumericRange, StatusCode, Variant};
use uaforge_nodes::{AddressSpace, AttributeId, Edit, Node, NodeClass, ValueCell};
use uaforge_types::status;

use super::option_set::OptionSets;
use super::properties::{allows_null, check_lengths};
use super::write_attribute::Attribute;
use super::{SpaceManager, check};
use crate::binding::{Hooks, shown, take};
use crate::manager::{Malformed, WriteCx, WriteItem, check_level, written_value};
use crate::node_ids::unknown;

/// What an item does to the address space itself.
enum Change<'i> {
    /// A Variable whose value stands in the tables gets a cell. `None` keeps the value.
    Value(Option<Variant>),
    Attribute(Attribute<'i>),
}

impl SpaceManager {
    /// Values that live in cells are stored at once. Other attributes, and values that stand in the tables until
    /// now, change the address space: all of them in one edit after that. Every item is checked by what was
    /// before the request.
    pub(crate) fn write<'i>(
        &self,
        cx: &mut WriteCx<'_, '_>,
        space: &AddressSpace,
        decode: DecodeContext<'_>,
        items: impl Iterator<Item = Result<WriteItem<'i>, Malformed>>,
    ) {
        let mut changes = Vec::new();
        for item in items {
            match item {
                Ok(item) => match self.write_one(cx, decode, &item) {
                    Ok(None) => {}
                    Ok(Some(change)) => changes.push((item, change)),
                    Err(status) => cx.status(&item, status),
                },
                Err(Malformed { index, status }) => cx.results.status(index, status),
            }
        }
        if changes.is_empty() {
            return;
        }
        let Ok(()) = space.edit(|edit| {
            for (item, change) in changes {
                let changed = match change {
                    Change::Value(value) => self.store_in_new_cell(cx, edit, decode, &item, value),
                    Change::Attribute(attribute) => attribute.write(edit),
                };
                cx.status(&item, changed.err().unwrap_or(StatusCode::GOOD));
            }
            Ok::<(), core::convert::Infallible>(())
        });
    }

    /// Checks an item. `None`: it was answered; else this change is left to make.
    fn write_one<'i>(
        &self,
        cx: &mut WriteCx<'_, '_>,
        decode: DecodeContext<'_>,
        item: &WriteItem<'i>,
    ) -> Result<Option<Change<'i>>, StatusCode> {
        let node = cx.snapshot.node(item.node).ok_or_else(|| unknown(item.node))?;
        let attribute = AttributeId::from_u32(item.attribute).ok_or(status::BAD_ATTRIBUTE_ID_INVALID)?;
        if attribute != AttributeId::Value || node.class() != NodeClass::Variable {
            return self.check_attribute(cx, item, &node, attribute).map(Change::Attribute).map(Some);
        }
        let cell = node.cell();
        if let Some(cell) = cell
            && let Some(value) = item.value.value_alone()
            && self.is_plain(cx, item, &node, cell, value)?
            && cell.write_small(value, StatusCode::GOOD, Some(cx.now().utc), None)
        {
            cx.status(item, StatusCode::GOOD);
            return Ok(None);
        }
        let value = self.check_value(cx, item, &node)?;
        match cell {
            None => Ok(Some(Change::Value(value.map(Cow::into_owned)))),
            Some(cell) => {
                if let Some(hook) = Hooks::of(cell).and_then(Hooks::write)
                    && let Some(value) = value
                {
                    let value = match OptionSets::of(cx.snapshot, decode, &node, &value) {
                        None => value.into_owned(),
                        Some(sets) => merge(&sets, &shown(cell), item, value.into_owned())?,
                    };
                    return take(hook, cx, item, cell, value).map(|()| None);
                }
                let sets = value.as_ref().and_then(|value| OptionSets::of(cx.snapshot, decode, &node, value));
                store(cx, item, cell, value.map(Cow::into_owned), sets.as_ref())?;
                cx.status(item, StatusCode::GOOD);
                Ok(None)
            }
        }
    }

    /// Whether nothing but the access level and the type has to be checked of a value that comes alone, and nobody
    /// takes it but the cell: the shortest way for what is written most.
    ///
    /// # Errors
    /// The access level.
    #[inline]
    fn is_plain(
        &self,
        cx: &WriteCx<'_, '_>,
        item: &WriteItem<'_>,
        node: &Node<'_>,
        cell: &ValueCell,
        value: &Variant,
    ) -> Result<bool, StatusCode> {
        if !item.range.is_empty() || cell.attachment().is_some() {
            return Ok(false);
        }
        let Some(value_type) = node.value_type() else { return Ok(false) };
        let user = self.rights.access_level(cx.access(), item.node, value_type.access_level as u8);
        check_level(value_type.access_level, user)?;
        Ok(check::is_declared_scalar(value, value_type.data_type, value_type.value_rank))
    }

    /// The checks of a Value.
    fn check_value<'v>(
        &self,
        cx: &WriteCx<'_, '_>,
        item: &WriteItem<'v>,
        node: &Node<'_>,
    ) -> Result<Option<Cow<'v, Variant>>, StatusCode> {
        let value_type = node.value_type().ok_or(status::BAD_ATTRIBUTE_ID_INVALID)?;
        let user = self.rights.access_level(cx.access(), item.node, value_type.access_level as u8);
        let checked = cx.checked(item, &value_type, user);
        let is_null = written_value(item.value).is_some_and(Variant::is_null);
        match checked {
            Err(status::BAD_TYPE_MISMATCH) if is_null => {
                // A value that is not there has no type.
                let allowed =
                    allows_null(cx.snapshot, node) == Some(true) || item.value.status_or_good().is_bad();
                if allowed { Ok(Some(Cow::Owned(Variant::Null))) } else { Err(status::BAD_TYPE_MISMATCH) }
            }
            Ok(_) if is_null && allows_null(cx.snapshot, node) == Some(false) => {
                Err(status::BAD_TYPE_MISMATCH)
            }
            Ok(Some(value)) => check_lengths(cx.snapshot, node, &value).map(|()| Some(value)),
            other => other,
        }
    }

    /// Gives a Variable of the tables a cell, once it is sure that the value can be stored.
    fn store_in_new_cell(
        &self,
        cx: &mut WriteCx<'_, '_>,
        edit: &mut Edit,
        decode: DecodeContext<'_>,
        item: &WriteItem<'_>,
        value: Option<Variant>,
    ) -> Result<(), StatusCode> {
        let node = edit.snapshot().node(item.node).ok_or(status::BAD_NODE_ID_UNKNOWN)?;
        let sets = value.as_ref().and_then(|value| OptionSets::of(edit.snapshot(), decode, &node, value));
        if let Some(cell) = node.cell() {
            return store(cx, item, cell, value, sets.as_ref());
        }
        let cell = ValueCell::default();
        if value.is_none() || !item.range.is_empty() || sets.is_some() {
            let before = node.attribute(AttributeId::Value)?.to_variant(decode);
            let before = before.map_err(|_| status::BAD_INTERNAL_ERROR)?;
            cell.write(before, StatusCode::GOOD, Some(self.started), None);
        }
        store(cx, item, &cell, value, sets.as_ref())?;
        edit.attach_cell(&item.node.to_owned(), Arc::new(cell)).map(|_| ())
    }
}

/// What stands in place of the value of an item.
fn merge(
    sets: &OptionSets<'_>,
    current: &Variant,
    item: &WriteItem<'_>,
    value: Variant,
) -> Result<Variant, StatusCode> {
    if item.range.is_empty() {
        return sets.merge(current, value);
    }
    sets.merge_part(current, &NumericRange::from_wire(item.range)?, value)
}

/// Stores a checked value. `None` keeps the value and writes what stands beside it.
fn store(
    cx: &mut WriteCx<'_, '_>,
    item: &WriteItem<'_>,
    cell: &ValueCell,
    value: Option<Variant>,
    sets: Option<&OptionSets<'_>>,
) -> Result<(), StatusCode> {
    let written = item.value;
    let source = written.source_timestamp().or(Some(cx.now().utc));
    let server = written.server_timestamp();
    match value {
        Some(part) if !item.range.is_empty() => {
            let range = NumericRange::from_wire(item.range)?;
            cell.update(|state| {
                let cost = NumericRange::replace_cost(&state.value);
                cx.copy_left = cx.copy_left.checked_sub(cost).ok_or(status::BAD_RESOURCE_UNAVAILABLE)?;
                let part = match sets {
                    None => part,
                    Some(sets) => sets.merge_part(&state.value, &range, part)?,
                };
                range.replace(&mut state.value, &part)?;
                (state.status, state.source, state.server) = (written.status_or_good(), source, server);
                Ok(())
            })
        }
        Some(value) => match sets {
            None => {
                cell.write(value, written.status_or_good(), source, server);
                Ok(())
            }
            Some(sets) => cell.update(|state| {
                state.value = sets.merge(&state.value, value)?;
                (state.status, state.source, state.server) = (written.status_or_good(), source, server);
                Ok(())
            }),
        },
        None => cell.update(|state| {
            if let Some(status) = written.status() {
                state.status = status;
            }
            (state.source, state.server) = (source, server);
            Ok(())
        }),
    }
}
