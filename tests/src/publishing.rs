//! A server's subscriptions in the hands of a test: it parks Publish requests and says when and how each is
//! answered.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use uaforge_client::{ClientBuilder, Session};
use uaforge_codec::{DataValue, ExtensionObject, StatusCode, Structure, Variant};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateMonitoredItemsResponse, CreateSubscriptionRequest,
    CreateSubscriptionResponse, DataChangeNotification, DeleteMonitoredItemsRequest,
    DeleteMonitoredItemsResponse, DeleteSubscriptionsRequest, DeleteSubscriptionsResponse,
    ModifySubscriptionRequest, ModifySubscriptionResponse, MonitoredItemCreateRequest,
    MonitoredItemCreateResult, MonitoredItemNotification, NotificationMessage, PublishRequest,
    PublishResponse, RepublishRequest, RepublishResponse, SetPublishingModeRequest,
    SetPublishingModeResponse, status,
};

use crate::rogue::{Asked, Pair, Wire, number};

/// What the server does and remembers.
pub struct State {
    /// Publish requests that wait.
    pub parked: VecDeque<Asked>,
    /// Items by their ids, which count from 1, with their subscription.
    pub items: Vec<(u32, MonitoredItemCreateRequest)>,
    /// Ids of items that were deleted.
    pub deleted: Vec<u32>,
    /// The last SubscriptionId; they count from 101.
    pub last_subscription: u32,
    /// Subscriptions that were deleted by the client.
    pub ended: Vec<u32>,
    /// Acknowledged numbers with their subscription.
    pub acknowledged: Vec<(u32, u32)>,
    /// Numbers that were asked for again, in order.
    pub republished: Vec<u32>,
    /// Messages that Republish has.
    pub retained: Vec<NotificationMessage>,
    /// What Republish says of a subscription.
    pub subscription_is_gone: bool,
    /// Most Publish requests at once.
    pub max_parked: usize,
    /// Most items of one call and of one subscription.
    pub max_items: (usize, usize),
    /// Nodes that do not exist, by their number.
    pub unknown: Vec<u32>,
}

/// A client with a session on a server whose subscriptions are the test's.
pub struct Publishing {
    /// Both ends.
    pub pair: Pair,
    /// The session.
    pub session: Session,
    state: Rc<RefCell<State>>,
}

impl Publishing {
    /// A ready session.
    pub fn new(builder: ClientBuilder) -> Self {
        let (mut pair, session) = Pair::with_session(builder);
        let state = Rc::new(RefCell::new(State {
            parked: VecDeque::new(),
            items: Vec::new(),
            deleted: Vec::new(),
            last_subscription: 100,
            ended: Vec::new(),
            acknowledged: Vec::new(),
            republished: Vec::new(),
            retained: Vec::new(),
            subscription_is_gone: false,
            max_parked: usize::MAX,
            max_items: (usize::MAX, usize::MAX),
            unknown: Vec::new(),
        }));
        let script = Rc::clone(&state);
        pair.script(move |asked, wire| script.borrow_mut().handle(asked, wire));
        Self { pair, session, state }
    }

    /// The server's state.
    pub fn state(&self) -> std::cell::RefMut<'_, State> {
        self.state.borrow_mut()
    }

    /// Lets everything happen that happens at once.
    pub fn settle(&mut self) {
        self.pair.pass(Duration::ZERO);
    }

    /// Answers the oldest Publish with a message.
    pub fn publish(&mut self, subscription: u32, message: NotificationMessage) {
        let asked = self.state().parked.pop_front().expect("a Publish waits");
        self.answer(&asked, subscription, message);
    }

    /// Answers a Publish with a message.
    pub fn answer(&mut self, asked: &Asked, subscription: u32, notification_message: NotificationMessage) {
        let response =
            PublishResponse { subscription_id: subscription, notification_message, ..Default::default() };
        self.pair.wire.respond(asked, &response);
        self.settle();
    }

    /// Answers the oldest Publish with a fault.
    pub fn fault(&mut self, status: StatusCode) {
        let asked = self.state().parked.pop_front().expect("a Publish waits");
        self.pair.wire.fault(&asked, status);
        self.settle();
    }
}

/// A message with one change: of the item with this client handle to the value.
pub fn change(sequence_number: u32, client_handle: u32, value: u32) -> NotificationMessage {
    notification(
        sequence_number,
        DataChangeNotification {
            monitored_items: vec![MonitoredItemNotification {
                client_handle,
                value: DataValue::new(Variant::UInt32(value)),
            }]
            .into(),
            ..Default::default()
        },
    )
}

/// A message with one notification.
pub fn notification<T: Structure>(sequence_number: u32, notification: T) -> NotificationMessage {
    NotificationMessage {
        sequence_number,
        notification_data: vec![ExtensionObject::new(notification)].into(),
        ..Default::default()
    }
}

/// A keep-alive: the number that the next message will have, and no notification.
pub fn keep_alive(next: u32) -> NotificationMessage {
    NotificationMessage { sequence_number: next, ..Default::default() }
}

impl State {
    /// The client handle of an item by its place, from 0.
    pub fn handle_of(&self, item: usize) -> u32 {
        self.items[item].1.requested_parameters.client_handle
    }

    fn handle(&mut self, asked: &Asked, wire: &mut Wire) -> bool {
        if let Some(request) = asked.get::<PublishRequest>() {
            let acknowledged = request.subscription_acknowledgements.iter();
            self.acknowledged.extend(acknowledged.map(|ack| (ack.subscription_id, ack.sequence_number)));
            self.parked.push_back(asked.clone());
            if self.parked.len() > self.max_parked
                && let Some(oldest) = self.parked.pop_front()
            {
                wire.fault(&oldest, status::BAD_TOO_MANY_PUBLISH_REQUESTS);
            }
        } else if let Some(request) = asked.get::<RepublishRequest>() {
            self.republish(asked, &request, wire);
        } else if let Some(request) = asked.get::<CreateSubscriptionRequest>() {
            self.last_subscription += 1;
            let response = CreateSubscriptionResponse {
                subscription_id: self.last_subscription,
                revised_publishing_interval: request.requested_publishing_interval,
                revised_lifetime_count: request.requested_lifetime_count,
                revised_max_keep_alive_count: request.requested_max_keep_alive_count,
                ..Default::default()
            };
            wire.respond(asked, &response);
        } else if let Some(request) = asked.get::<CreateMonitoredItemsRequest>() {
            self.create_items(asked, &request, wire);
        } else if let Some(request) = asked.get::<ModifySubscriptionRequest>() {
            let response = ModifySubscriptionResponse {
                revised_publishing_interval: request.requested_publishing_interval,
                revised_lifetime_count: request.requested_lifetime_count,
                revised_max_keep_alive_count: request.requested_max_keep_alive_count,
                ..Default::default()
            };
            wire.respond(asked, &response);
        } else if asked.get::<SetPublishingModeRequest>().is_some() {
            wire.respond(asked, &SetPublishingModeResponse::default());
        } else if let Some(request) = asked.get::<DeleteMonitoredItemsRequest>() {
            self.deleted.extend(request.monitored_item_ids.iter());
            let results = vec![StatusCode::GOOD; request.monitored_item_ids.len()].into();
            wire.respond(asked, &DeleteMonitoredItemsResponse { results, ..Default::default() });
        } else if let Some(request) = asked.get::<DeleteSubscriptionsRequest>() {
            self.ended.extend(request.subscription_ids.iter());
            let results = vec![StatusCode::GOOD; request.subscription_ids.len()].into();
            wire.respond(asked, &DeleteSubscriptionsResponse { results, ..Default::default() });
        } else {
            return false;
        }
        true
    }

    fn republish(&mut self, asked: &Asked, request: &RepublishRequest, wire: &mut Wire) {
        let number = request.retransmit_sequence_number;
        self.republished.push(number);
        if self.subscription_is_gone {
            wire.fault(asked, status::BAD_SUBSCRIPTION_ID_INVALID);
            return;
        }
        match self.retained.iter().find(|message| message.sequence_number == number) {
            Some(message) => {
                let notification_message = message.clone();
                wire.respond(asked, &RepublishResponse { notification_message, ..Default::default() });
            }
            None => wire.fault(asked, status::BAD_MESSAGE_NOT_AVAILABLE),
        }
    }

    fn create_items(&mut self, asked: &Asked, request: &CreateMonitoredItemsRequest, wire: &mut Wire) {
        let (per_call, per_subscription) = self.max_items;
        if request.items_to_create.len() > per_call {
            wire.fault(asked, status::BAD_TOO_MANY_OPERATIONS);
            return;
        }
        let mut results = Vec::new();
        for item in request.items_to_create.iter() {
            let id = request.subscription_id;
            let taken = self.items.iter().filter(|(subscription, _)| *subscription == id).count();
            let status_code = if self.unknown.contains(&number(&item.item_to_monitor.node_id)) {
                status::BAD_NODE_ID_UNKNOWN
            } else if taken >= per_subscription {
                status::BAD_TOO_MANY_MONITORED_ITEMS
            } else {
                self.items.push((id, item.clone()));
                StatusCode::GOOD
            };
            results.push(MonitoredItemCreateResult {
                status_code,
                monitored_item_id: u32::try_from(self.items.len()).expect("few items"),
                revised_sampling_interval: item.requested_parameters.sampling_interval,
                revised_queue_size: item.requested_parameters.queue_size.max(1),
                ..Default::default()
            });
        }
        wire.respond(asked, &CreateMonitoredItemsResponse { results: results.into(), ..Default::default() });
    }
}
