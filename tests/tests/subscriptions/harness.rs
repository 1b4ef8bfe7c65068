//! A server, a client of it, and the time.

use std::time::Duration;

use uaforge_codec::{
    Array, DataValue, ExtensionObject, NodeId, Now, SeededEntropy, StatusCode, Ticks, Variant,
};
use uaforge_server::{Connection, Limits, Server, ServerBuilder};
use uaforge_tests::nodes::item;
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateSubscriptionRequest, DataChangeNotification,
    MonitoredItemCreateRequest, MonitoredItemCreateResult, MonitoringMode, MonitoringParameters,
    PublishRequest, PublishResponse, StatusChangeNotification, SubscriptionAcknowledgement,
    TimestampsToReturn,
};

pub(crate) type Client = Peer<InProcess<Connection>>;

/// What a Publish request was answered with.
pub(crate) type Told = Result<PublishResponse, StatusCode>;

/// A server in virtual time and one client.
pub(crate) struct Plant {
    pub(crate) server: Server,
    pub(crate) client: Client,
    /// Publish requests that are not answered.
    pub(crate) waiting: Vec<u32>,
}

pub(crate) fn builder() -> ServerBuilder {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(3))
}

/// A client with a session.
pub(crate) fn client(server: &Server, now: Now) -> Client {
    Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now)
}

/// A time to begin with: that of the server, on a whole second.
pub(crate) fn start(server: &Server) -> Now {
    Now { ticks: server.start_time().ticks + Duration::from_secs(1), ..start_time() }
}

impl Plant {
    pub(crate) fn new() -> Self {
        Self::with(builder())
    }

    pub(crate) fn limited(limits: Limits) -> Self {
        Self::with(builder().limits(limits))
    }

    pub(crate) fn with(builder: ServerBuilder) -> Self {
        let server = builder.build().expect("a server");
        let mut client = client(&server, start(&server));
        // Publish requests wait for what there is to tell.
        client.timeout_hint = 0;
        Self { server, client, waiting: Vec::new() }
    }

    /// Lets time pass: whatever is due happens at its time.
    pub(crate) fn pass(&mut self, milliseconds: u64) {
        let end = self.client.now.ticks + Duration::from_millis(milliseconds);
        loop {
            let next = self.server.publish_due(self.client.now);
            if next > end {
                break;
            }
            self.set_time(next);
        }
        self.set_time(end);
        self.server.publish_due(self.client.now);
    }

    pub(crate) fn set_time(&mut self, ticks: Ticks) {
        let now = &mut self.client.now;
        let passed = ticks.since(now.ticks).as_nanos() / 100;
        now.utc.0 += i64::try_from(passed).expect("a short time");
        now.ticks = now.ticks.max(ticks);
    }

    /// A subscription with 100 ms, a keep-alive count of 10 and a lifetime of 30.
    pub(crate) fn subscribe(&mut self) -> u32 {
        self.subscribe_with(100.0, 10, 30, 0)
    }

    pub(crate) fn subscribe_with(
        &mut self,
        interval: f64,
        keep_alive: u32,
        lifetime: u32,
        max_notifications: u32,
    ) -> u32 {
        let request = CreateSubscriptionRequest {
            requested_publishing_interval: interval,
            requested_lifetime_count: lifetime,
            requested_max_keep_alive_count: keep_alive,
            max_notifications_per_publish: max_notifications,
            publishing_enabled: true,
            ..Default::default()
        };
        self.client.call(request).expect("a subscription").subscription_id
    }

    /// Monitors things.
    pub(crate) fn monitor(
        &mut self,
        subscription: u32,
        items: Vec<MonitoredItemCreateRequest>,
    ) -> Vec<MonitoredItemCreateResult> {
        let request = CreateMonitoredItemsRequest {
            subscription_id: subscription,
            timestamps_to_return: TimestampsToReturn::BOTH,
            items_to_create: Array::from(items),
            ..Default::default()
        };
        self.client.call(request).expect("results").results.into_vec()
    }

    /// Monitors one thing; the id of its item.
    pub(crate) fn monitor_one(&mut self, subscription: u32, item: MonitoredItemCreateRequest) -> u32 {
        let created = self.monitor(subscription, vec![item]).remove(0);
        assert_eq!(created.status_code, StatusCode::GOOD);
        created.monitored_item_id
    }

    /// Sends Publish requests without waiting for their answers.
    pub(crate) fn publish(&mut self, count: usize) {
        for _ in 0..count {
            self.publish_with(&[]);
        }
    }

    /// Sends a Publish request that acknowledges (subscription, number).
    pub(crate) fn publish_with(&mut self, acknowledged: &[(u32, u32)]) {
        let known = |&(subscription_id, sequence_number): &(u32, u32)| SubscriptionAcknowledgement {
            subscription_id,
            sequence_number,
        };
        let acknowledged: Vec<_> = acknowledged.iter().map(known).collect();
        let request =
            PublishRequest { subscription_acknowledgements: Array::from(acknowledged), ..Default::default() };
        let id = self.client.queue(request);
        self.waiting.push(id);
        self.client.exchange();
    }

    /// The answers that have come, in the order of their requests.
    pub(crate) fn told(&mut self) -> Vec<Told> {
        self.client.exchange();
        let waiting = std::mem::take(&mut self.waiting);
        let mut told = Vec::new();
        for id in waiting {
            match self.client.take_early(id) {
                Some(body) => told.push(self.client.decode(&body)),
                None => self.waiting.push(id),
            }
        }
        told
    }

    /// The only answer that has come.
    #[track_caller]
    pub(crate) fn told_one(&mut self) -> PublishResponse {
        let mut told = self.told();
        assert_eq!(told.len(), 1, "{told:?}");
        told.remove(0).expect("a response")
    }

    /// Lets one Publish request take what the time brings.
    #[track_caller]
    pub(crate) fn next(&mut self, milliseconds: u64) -> Vec<(u32, DataValue)> {
        self.publish(1);
        self.pass(milliseconds);
        changes(&self.told_one())
    }

    /// The values that the time brings, as numbers.
    #[track_caller]
    pub(crate) fn numbers(&mut self, milliseconds: u64) -> Vec<f64> {
        self.next(milliseconds).iter().map(|(_, value)| number(value)).collect()
    }
}

/// The value as a number; NaN for what is none.
pub(crate) fn number(value: &DataValue) -> f64 {
    match value.value() {
        Some(Variant::Double(number)) => *number,
        Some(Variant::Int32(number)) => f64::from(*number),
        _ => f64::NAN,
    }
}

/// The data changes of a response: client handle and value.
pub(crate) fn changes(response: &PublishResponse) -> Vec<(u32, DataValue)> {
    let data = response.notification_message.notification_data.iter();
    let changes = data.filter_map(|data| data.downcast_ref::<DataChangeNotification>());
    changes
        .flat_map(|changes| changes.monitored_items.iter())
        .map(|item| (item.client_handle, item.value.clone()))
        .collect()
}

/// The status that a response tells of its subscription.
pub(crate) fn status_change(response: &PublishResponse) -> Option<StatusCode> {
    let data = response.notification_message.notification_data.iter();
    data.filter_map(|data| data.downcast_ref::<StatusChangeNotification>()).map(|change| change.status).next()
}

/// An item that reports every change of a Value; its handle is `handle`.
pub(crate) fn reporting(node: &NodeId, handle: u32, queue_size: u32) -> MonitoredItemCreateRequest {
    MonitoredItemCreateRequest {
        item_to_monitor: item(node, 13),
        monitoring_mode: MonitoringMode::REPORTING,
        requested_parameters: MonitoringParameters {
            client_handle: handle,
            sampling_interval: 0.0,
            filter: ExtensionObject::NULL,
            queue_size,
            discard_oldest: true,
        },
    }
}
