//! Publish requests that wait, and what answers them (OPC 10000-4 §5.14.5).

use std::collections::VecDeque;
use std::sync::Arc;

use uaforge_codec::{Encode as _, Encoder, Now, StatusCode, Structure as _, Ticks};
use uaforge_types::PublishResponse;

use super::retransmission::Message;
use crate::proto::envelope::put_header;
use crate::proto::mailbox::Mailbox;

/// A Publish request that waits: an entry, no task.
pub(crate) struct Parked {
    /// Where the answer goes.
    pub(crate) mailbox: Arc<Mailbox>,
    /// Of the message.
    pub(crate) request_id: u32,
    /// Of the request header.
    pub(crate) handle: u32,
    /// Of the request header.
    pub(crate) diagnostics: u32,
    /// When the client does not wait any more (timeoutHint).
    pub(crate) deadline: Ticks,
    /// Bytes that a response may have.
    pub(crate) room: usize,
    /// Results of the acknowledgements.
    pub(crate) results: Vec<StatusCode>,
}

impl Parked {
    /// Answers with a ServiceFault.
    pub(crate) fn fail(self, status: StatusCode) {
        self.post(Body::Fault(status));
    }

    /// Answers with a message of a subscription.
    pub(crate) fn answer(mut self, subscription: u32, message: Message, more: bool, available: Vec<u32>) {
        let results = core::mem::take(&mut self.results);
        self.post(Body::Publish(Box::new(Published { subscription, available, more, message, results })));
    }

    fn post(self, body: Body) {
        let answer =
            Posted { request_id: self.request_id, handle: self.handle, diagnostics: self.diagnostics, body };
        self.mailbox.post(answer);
    }
}

/// The Publish requests of one session, and what it has to be told apart from notifications.
pub(crate) struct SessionQueue {
    pub(crate) parked: VecDeque<Parked>,
    /// Its subscriptions.
    pub(crate) subscriptions: Vec<u32>,
    /// Messages of subscriptions that it has lost.
    pub(crate) lost: VecDeque<(u32, Message)>,
    /// For when the timer of its requests is set.
    pub(crate) expires: Ticks,
}

impl Default for SessionQueue {
    fn default() -> Self {
        Self {
            parked: VecDeque::new(),
            subscriptions: Vec::new(),
            lost: VecDeque::new(),
            expires: Ticks::NEVER,
        }
    }
}

impl SessionQueue {
    /// The oldest request whose connection can take an answer now. Those of connections that are gone are dropped.
    pub(crate) fn take(&mut self) -> Option<Parked> {
        self.parked.retain(|parked| !parked.mailbox.is_gone());
        let at = self.parked.iter().position(|parked| parked.mailbox.has_room())?;
        self.parked.remove(at)
    }

    /// Whether nobody needs the queue any more.
    pub(crate) fn is_unused(&self) -> bool {
        self.parked.is_empty() && self.subscriptions.is_empty() && self.lost.is_empty()
    }
}

/// An answer on its way to the connection that writes it.
pub(crate) struct Posted {
    pub(crate) request_id: u32,
    pub(crate) handle: u32,
    pub(crate) diagnostics: u32,
    pub(crate) body: Body,
}

/// What a Publish request is answered with.
pub(crate) enum Body {
    Fault(StatusCode),
    Publish(Box<Published>),
}

/// The fields of a PublishResponse.
pub(crate) struct Published {
    subscription: u32,
    available: Vec<u32>,
    more: bool,
    message: Message,
    results: Vec<StatusCode>,
}

impl Posted {
    /// Bytes that wait with it.
    pub(crate) fn weight(&self) -> usize {
        let body = match &self.body {
            Body::Fault(_) => 0,
            Body::Publish(published) => published.message.len() + 4 * published.available.len(),
        };
        size_of::<Self>() + body
    }
}

impl Published {
    /// Writes the response but for its DiagnosticInfos.
    pub(crate) fn write(&self, e: &mut Encoder<'_>, now: Now, handle: u32) {
        put_header(e, PublishResponse::DESCRIPTOR.binary_id(), now, handle);
        e.put_u32(self.subscription);
        e.put_array_len(Some(self.available.len()));
        self.available.iter().for_each(|number| e.put_u32(*number));
        e.put_u8(u8::from(self.more));
        e.put(&self.message);
        e.put_array_len(Some(self.results.len()));
        self.results.iter().for_each(|result| result.encode(e));
    }
}
