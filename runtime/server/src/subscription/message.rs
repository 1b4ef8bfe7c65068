//! Notification messages (OPC 10000-4 §7.25) as bytes.

use uaforge_codec::{DateTime, Encode as _, EncodeContext, Encoder, NodeIdRef, StatusCode, Structure as _};
use uaforge_types::{DataChangeNotification, EventNotificationList, StatusChangeNotification};

use super::item::Item;
use super::retransmission::Message;
use super::sample::Sample;

/// ExtensionObject with a binary body (OPC 10000-6 §5.2.2.15).
const BINARY_BODY: u8 = 1;
/// The length of a null array.
const NULL_ARRAY: [u8; 4] = [0xFF; 4];

/// Bytes of room that are kept from message to message.
const KEEP: usize = 64 * 1024;

/// Notifications of data changes and events on their way into a message.
#[derive(Default)]
pub(crate) struct Notifications {
    /// MonitoredItemNotifications, one behind the other.
    pub(crate) changes: Vec<u8>,
    pub(crate) change_count: u32,
    /// EventFieldLists, one behind the other.
    pub(crate) events: Vec<u8>,
    pub(crate) event_count: u32,
}

impl Notifications {
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.change_count = 0;
        self.events.clear();
        self.event_count = 0;
    }

    /// Notifications there are so far.
    pub(crate) const fn count(&self) -> u32 {
        self.change_count + self.event_count
    }

    /// Their bytes.
    pub(crate) const fn len(&self) -> usize {
        self.changes.len() + self.events.len()
    }

    /// Adds what an item reports. What takes more than `most` bytes is left out, and its status says so.
    pub(crate) fn add(&mut self, item: &Item, sample: &Sample, most: usize) {
        let handle = item.client_handle.to_le_bytes();
        match item.filter.as_event() {
            None => {
                self.changes.extend_from_slice(&handle);
                sample.put(&mut self.changes, item.timestamps, most);
                self.change_count += 1;
            }
            Some(filter) => {
                self.events.extend_from_slice(&handle);
                if sample.value().len() > most {
                    self.events.extend_from_slice(&filter.unencodable());
                } else {
                    self.events.extend_from_slice(sample.value());
                }
                self.event_count += 1;
            }
        }
    }

    /// Gives room back that an unusual message took.
    pub(crate) fn trim(&mut self) {
        for room in [&mut self.changes, &mut self.events] {
            room.clear();
            room.shrink_to(KEEP);
        }
    }

    /// The message.
    pub(crate) fn message(&self, sequence_number: u32, now: DateTime) -> Message {
        let mut out = Vec::with_capacity(self.len() + 80);
        let kinds = usize::from(self.change_count > 0) + usize::from(self.event_count > 0);
        put_head(&mut out, sequence_number, now, kinds);
        if self.change_count > 0 {
            put_type(&mut out, DataChangeNotification::DESCRIPTOR.binary_id());
            put_len(&mut out, self.changes.len() + 8);
            put_len(&mut out, self.change_count as usize);
            out.extend_from_slice(&self.changes);
            out.extend_from_slice(&NULL_ARRAY);
        }
        if self.event_count > 0 {
            put_type(&mut out, EventNotificationList::DESCRIPTOR.binary_id());
            put_len(&mut out, self.events.len() + 4);
            put_len(&mut out, self.event_count as usize);
            out.extend_from_slice(&self.events);
        }
        out.into()
    }
}

/// A message without notifications; its number is that of the next message.
pub(crate) fn keep_alive(sequence_number: u32, now: DateTime) -> Message {
    let mut out = Vec::with_capacity(16);
    put_head(&mut out, sequence_number, now, 0);
    out.into()
}

/// A message that tells of the end of a subscription, or of its transfer (OPC 10000-4 §7.25.4).
pub(crate) fn status_change(sequence_number: u32, now: DateTime, status: StatusCode) -> Message {
    let mut out = Vec::with_capacity(64);
    put_head(&mut out, sequence_number, now, 1);
    put_type(&mut out, StatusChangeNotification::DESCRIPTOR.binary_id());
    // The status, and a DiagnosticInfo that says nothing.
    put_len(&mut out, 5);
    out.extend_from_slice(&status.0.to_le_bytes());
    out.push(0);
    out.into()
}

fn put_head(out: &mut Vec<u8>, sequence_number: u32, now: DateTime, notifications: usize) {
    out.extend_from_slice(&sequence_number.to_le_bytes());
    out.extend_from_slice(&now.0.to_le_bytes());
    put_len(out, notifications);
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&i32::try_from(len).unwrap_or(i32::MAX).to_le_bytes());
}

fn put_type(out: &mut Vec<u8>, id: u32) {
    NodeIdRef::Numeric(0, id).encode(&mut Encoder::new(out, EncodeContext::default()));
    out.push(BINARY_BODY);
}

#[cfg(test)]
mod tests {
    use uaforge_codec::{Decode as _, DecodeContext, Decoder, TypeRegistry};
    use uaforge_types::{NotificationMessage, status};

    use super::*;

    fn decoded(message: &Message) -> NotificationMessage {
        let mut types = TypeRegistry::new();
        uaforge_types::register_types(&mut types);
        let mut d = Decoder::new(message, DecodeContext { types: &types, ..DecodeContext::default() });
        let message = NotificationMessage::decode(&mut d).expect("a message");
        d.finish().expect("nothing behind it");
        message
    }

    #[test]
    fn messages_are_what_they_say() {
        let message = decoded(&keep_alive(7, DateTime(9)));
        assert_eq!((message.sequence_number, message.publish_time), (7, DateTime(9)));
        assert!(message.notification_data.is_empty());
        let message = decoded(&status_change(1, DateTime(9), status::BAD_TIMEOUT));
        let change = message.notification_data[0].downcast_ref::<StatusChangeNotification>();
        assert_eq!(change.map(|change| change.status), Some(status::BAD_TIMEOUT));
        let mut notifications = Notifications::default();
        for handle in [5u32, 6] {
            notifications.changes.extend(handle.to_le_bytes());
            notifications.changes.extend([1, 3, handle as u8]);
            notifications.change_count += 1;
        }
        let message = decoded(&notifications.message(2, DateTime(9)));
        let change = message.notification_data[0].downcast_ref::<DataChangeNotification>().expect("changes");
        let handles: Vec<u32> = change.monitored_items.iter().map(|item| item.client_handle).collect();
        assert_eq!(handles, [5, 6]);
        notifications.clear();
        assert!(decoded(&notifications.message(3, DateTime(9))).notification_data.is_empty());
    }
}
