//! Subscriptions over the loss of a connection: what is kept, asked again and numbered anew.

use uaforge_codec::{ExtensionObject, NamespaceMap, NodeId, QualifiedName, Ticks, Variant};
use uaforge_types::{EventFilter, LiteralOperand, SimpleAttributeOperand};

use super::Subscriptions;
use super::shard::Stage;
use super::wishes::{Refused, SubscriptionStatus};
use crate::Error;

impl Subscriptions {
    /// The connection is gone: requests on their way have no answers. Who waits for the first time gets the reason;
    /// everything else goes on when there is a new connection.
    pub(crate) fn suspend(&mut self, error: &Error) {
        self.publisher.restart();
        self.quiet_until = Ticks::NEVER;
        let waiting: Vec<u32> =
            self.groups.iter().filter(|(_, group)| group.reply.is_some()).map(|(key, _)| *key).collect();
        waiting.into_iter().for_each(|key| self.remove_group(key, error));
        let waiting: Vec<u32> =
            self.items.iter().filter(|(_, item)| item.reply.is_some()).map(|(handle, _)| *handle).collect();
        for handle in waiting {
            if let Some(shard) = self.items.get(&handle).and_then(|item| self.shards.get_mut(&item.shard)) {
                shard.pending.retain(|pending| *pending != handle);
                shard.creating.retain(|creating| *creating != handle);
            }
            self.refuse(handle, Refused::Call(error.clone()));
        }
        for group in self.groups.values_mut() {
            for reply in group.modified.drain(..) {
                // A caller that went away does not want to know.
                drop(reply.send(Err(error.clone())));
            }
        }
        let keys: Vec<u32> = self.shards.keys().copied().collect();
        for key in keys {
            self.suspend_shard(key);
        }
    }

    fn suspend_shard(&mut self, key: u32) {
        let Some(shard) = self.shards.get_mut(&key) else { return };
        self.busy.insert(key);
        shard.republishing = None;
        if shard.stage == Stage::Creating {
            shard.stage = Stage::Wanted(None);
        }
        let Some(id) = shard.id() else { return };
        shard.silent = true;
        shard.order.catch_up();
        if let Some(group) = self.groups.get(&shard.group) {
            group.status.send_replace(SubscriptionStatus::Silent);
        }
        // Whether the server has made items that it was asked for is not known: they are not made twice.
        if !shard.creating.is_empty() {
            let heard = shard.heard;
            self.lost_id(id, heard);
            self.deleted.push(id);
        }
    }

    /// There is a connection again, with the session: each subscription counts as silent until it is heard of.
    pub(crate) fn resumed(&mut self, now: Ticks) {
        for (key, shard) in &mut self.shards {
            shard.heard = now;
            self.busy.insert(*key);
        }
    }

    /// The SubscriptionIds that the server has, or had.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.by_id.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The server has this subscription no more: it is made anew.
    pub(crate) fn lost_id(&mut self, id: u32, now: Ticks) {
        if let Some(key) = self.by_id.get(&id).copied() {
            self.lost(key, now);
        }
    }

    /// The server has other namespace indexes than before: what items name gets the new ones by its URI
    /// (OPC 10000-4 §6.7). What is of a namespace that is gone cannot be found, and its item says so.
    pub(crate) fn renumber(&mut self, before: &NamespaceMap, now: &NamespaceMap) {
        let index = |old: u16| {
            let uri = before.uri(old);
            uri.and_then(|uri| now.index_of(uri)).unwrap_or(u16::MAX)
        };
        for item in self.items.values_mut() {
            let monitored = &mut item.request.item_to_monitor;
            renumber_id(&mut monitored.node_id, &index);
            renumber_name(&mut monitored.data_encoding, &index);
            let filter = &mut item.request.requested_parameters.filter;
            if let Some(mut events) = filter.downcast_ref::<EventFilter>().cloned() {
                renumber_filter(&mut events, &index);
                *filter = ExtensionObject::new(events);
            }
        }
    }
}

fn renumber_id(id: &mut NodeId, index: &impl Fn(u16) -> u16) {
    if id.namespace() != 0 {
        *id = id.with_namespace(index(id.namespace()));
    }
}

fn renumber_name(name: &mut QualifiedName, index: &impl Fn(u16) -> u16) {
    if name.namespace_index != 0 {
        name.namespace_index = index(name.namespace_index);
    }
}

fn renumber_operand(operand: &mut SimpleAttributeOperand, index: &impl Fn(u16) -> u16) {
    renumber_id(&mut operand.type_definition_id, index);
    operand.browse_path.make_mut().iter_mut().for_each(|name| renumber_name(name, index));
}

fn renumber_filter(filter: &mut EventFilter, index: &impl Fn(u16) -> u16) {
    filter.select_clauses.make_mut().iter_mut().for_each(|operand| renumber_operand(operand, index));
    for element in filter.where_clause.elements.make_mut() {
        for operand in element.filter_operands.make_mut() {
            if let Some(mut field) = operand.downcast_ref::<SimpleAttributeOperand>().cloned() {
                renumber_operand(&mut field, index);
                *operand = ExtensionObject::new(field);
            } else if let Some(literal) = operand.downcast_ref::<LiteralOperand>()
                && let Variant::NodeId(id) = &literal.value
            {
                let mut id = id.clone();
                renumber_id(&mut id, index);
                *operand = ExtensionObject::new(LiteralOperand { value: Variant::NodeId(id) });
            }
        }
    }
}
