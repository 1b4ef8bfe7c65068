//! Limits of a server: what it announces and what it enforces.

use core::time::Duration;

/// How many operations one service call may hold (OperationLimitsType, OPC 10000-5 §6.3.11).
///
/// The same numbers stand in the address space; a request above them is answered with Bad_TooManyOperations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationLimits {
    /// MaxNodesPerRead.
    pub max_nodes_per_read: u32,
    /// MaxNodesPerWrite.
    pub max_nodes_per_write: u32,
    /// MaxNodesPerBrowse; holds for BrowseNext too.
    pub max_nodes_per_browse: u32,
    /// MaxNodesPerMethodCall.
    pub max_nodes_per_method_call: u32,
    /// MaxNodesPerRegisterNodes; holds for UnregisterNodes too.
    pub max_nodes_per_register_nodes: u32,
    /// MaxNodesPerTranslateBrowsePathsToNodeIds.
    pub max_nodes_per_translate: u32,
    /// MaxMonitoredItemsPerCall; holds for every service of monitored items, and for the subscriptions of one
    /// request too.
    pub max_monitored_items_per_call: u32,
    /// Elements of one browse path; more are answered with Bad_TooManyOperations for that path.
    pub max_path_elements: u32,
}

impl Default for OperationLimits {
    fn default() -> Self {
        Self {
            max_nodes_per_read: 10_000,
            max_nodes_per_write: 10_000,
            max_nodes_per_browse: 2_000,
            max_nodes_per_method_call: 1_000,
            max_nodes_per_register_nodes: 10_000,
            max_nodes_per_translate: 2_000,
            max_monitored_items_per_call: 10_000,
            max_path_elements: 256,
        }
    }
}

/// What subscriptions and monitored items may ask for; what is beyond is revised (OPC 10000-4 §5.13.2, §5.14.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionLimits {
    /// Subscriptions of the server; more are answered with Bad_TooManySubscriptions (MaxSubscriptions).
    pub max_subscriptions: u32,
    /// Subscriptions of one session (MaxSubscriptionsPerSession).
    pub max_subscriptions_per_session: u32,
    /// Monitored items of the server; more are answered with Bad_TooManyMonitoredItems (MaxMonitoredItems).
    pub max_monitored_items: u32,
    /// Monitored items of one subscription (MaxMonitoredItemsPerSubscription).
    pub max_monitored_items_per_subscription: u32,
    /// Shortest publishing interval that is granted.
    pub min_publishing_interval: Duration,
    /// Longest publishing interval that is granted.
    pub max_publishing_interval: Duration,
    /// How long a subscription lives at most without a sign of its client. The keep-alive count is revised so that
    /// three of its periods fit into this time.
    pub max_lifetime: Duration,
    /// Notifications of one Publish response, also when the client names no number.
    pub max_notifications_per_publish: u32,
    /// Publish requests that wait in one session; the oldest above it is answered with
    /// Bad_TooManyPublishRequests (OPC 10000-4 §5.14.5).
    pub max_publish_requests: u32,
    /// Shortest sampling interval that is granted, but for 0, which reports every change of a Variable that its
    /// application sets (MinSupportedSampleRate).
    pub min_sampling_interval: Duration,
    /// Longest sampling interval that is granted.
    pub max_sampling_interval: Duration,
    /// Longest queue of a monitored item (MaxMonitoredItemsQueueSize).
    pub max_queue_size: u32,
    /// Links of one triggering item (OPC 10000-4 §5.13.5).
    pub max_triggering_links: u32,
    /// Fields that an event filter selects (MaxSelectClauseParameters, OPC 10000-5 §6.3.2).
    pub max_select_clauses: u32,
    /// Elements of the where clause of an event filter (MaxWhereClauseParameters, OPC 10000-5 §6.3.2).
    pub max_where_elements: u32,
    /// Messages of one subscription that are kept for Republish; the oldest one goes.
    pub max_retransmission_messages: u32,
    /// Bytes that queued notifications and messages kept for Republish may hold in the whole server. Above it, queues
    /// do not grow and no message but the last of a subscription is kept.
    pub notification_memory: usize,
}

impl Default for SubscriptionLimits {
    fn default() -> Self {
        Self {
            max_subscriptions: 10_000,
            max_subscriptions_per_session: 100,
            max_monitored_items: 1_000_000,
            max_monitored_items_per_subscription: 100_000,
            min_publishing_interval: Duration::from_millis(10),
            max_publishing_interval: Duration::from_secs(3_600),
            max_lifetime: Duration::from_secs(3_600),
            max_notifications_per_publish: 10_000,
            max_publish_requests: 20,
            min_sampling_interval: Duration::from_millis(10),
            max_sampling_interval: Duration::from_secs(3_600),
            max_queue_size: 10_000,
            max_triggering_links: 1_000,
            max_select_clauses: 1_000,
            max_where_elements: 1_000,
            max_retransmission_messages: 100,
            notification_memory: 256 * 1024 * 1024,
        }
    }
}

/// Limits of sessions, connections and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations of one call.
    pub operations: OperationLimits,
    /// Subscriptions and monitored items.
    pub subscriptions: SubscriptionLimits,
    /// Open connections. One more takes the place of the oldest without an active session, which is closed with
    /// Bad_TcpNotEnoughResources (OPC 10000-4 §5.6.2.1); if all have one, the new one
    /// is closed so.
    pub max_connections: usize,
    /// Open connections of one address; 0 is no limit but `max_connections`. One more takes a place as above,
    /// but only of the same address.
    pub max_connections_per_address: usize,
    /// Sessions; more are answered with Bad_TooManySessions (ServerCapabilities MaxSessions).
    pub max_sessions: u32,
    /// Sessions of one connection; more are answered with Bad_TooManySessions.
    pub max_sessions_per_connection: u32,
    /// Browse continuation points of one session (MaxBrowseContinuationPoints).
    pub max_continuation_points: u16,
    /// References of one page when the client names no number or a larger one.
    pub max_references_per_node: u32,
    /// Shortest session timeout that is granted.
    pub min_session_timeout: Duration,
    /// Longest session timeout that is granted.
    pub max_session_timeout: Duration,
    /// How long a session that was created may wait for its first ActivateSession.
    pub activation_timeout: Duration,
    /// Requests of one connection that wait for a deferred answer; above it, reading pauses.
    pub max_pending_requests: usize,
    /// How long a request may wait for late answers, whatever its timeoutHint (OPC 10000-4 §7.32); then what
    /// is missing is answered with Bad_Timeout.
    pub max_request_timeout: Duration,
    /// How long a handler of Write or Call may go on when its request is over, before it is dropped.
    pub handler_grace: Duration,
    /// Handlers of Write and Call that go on though their request is over; at this number further requests of
    /// these services are answered with Bad_ServerTooBusy.
    pub max_handlers_beyond_requests: usize,
    /// Operations of one connection that wait for a late answer; above it, reading pauses.
    pub max_pending_operations: usize,
    /// Operations, and references that a browse looks at, after which a turn yields to other connections.
    pub operations_per_turn: u32,
    /// Threads for `blocking` work.
    pub blocking_threads: usize,
    /// Threads beside them while as many hang in jobs whose request is over.
    pub hanging_threads: usize,
    /// Blocking jobs that may wait for a thread; more are answered with Bad_ResourceUnavailable.
    pub blocking_queue: usize,
    /// Shortest lifetime of a security token that is granted.
    pub min_token_lifetime: Duration,
    /// Longest lifetime of a security token that is granted.
    pub max_token_lifetime: Duration,
    /// How long Hello and OpenSecureChannel may take together.
    pub handshake_timeout: Duration,
    /// How long the chunks of one message may take.
    pub message_timeout: Duration,
    /// A client that takes nothing of its responses for this long is given up.
    pub write_timeout: Duration,
    /// How long the last bytes of a closed connection may take.
    pub flush_timeout: Duration,
    /// How long a closed connection waits for the client to close too, so that it sees the last message.
    pub linger_timeout: Duration,
    /// A connection without traffic for this long gives its buffers back.
    pub idle_timeout: Duration,
    /// Longest message in bytes, both ways.
    pub max_message_size: u32,
    /// Longest message of a client without an active session, if that is shorter. What is announced is
    /// `max_message_size`; a longer message ends the connection with Bad_TcpMessageTooLarge.
    pub max_early_message_size: u32,
    /// Bytes that messages may hold together before their last chunk has come; one that finds no room ends its
    /// connection with Bad_TcpNotEnoughResources.
    pub message_memory: usize,
    /// The same for clients without an active session.
    pub early_message_memory: usize,
    /// Bytes that may wait for all clients together, beside the first 64 KiB of each. When there are more,
    /// connections are closed that have taken nothing for the longest time. Less than `max_message_size`
    /// ends every client that asks for more.
    pub output_memory: usize,
    /// Chunks of one message.
    pub max_chunk_count: u32,
    /// Longest array that is decoded (ServerCapabilities MaxArrayLength).
    pub max_array_length: u32,
    /// Longest string in bytes that is decoded (MaxStringLength, MaxByteStringLength).
    pub max_string_length: u32,
    /// How long clients are told of a stop before their connections are closed: ServerState is Shutdown and
    /// SecondsTillShutdown counts down (OPC 10000-5 §12.10). Sessions go on meanwhile, new ones are answered with
    /// Bad_Shutdown. It ends early when there is no session.
    pub shutdown_delay: Duration,
    /// How long a stop then waits for answers, for connections to flush and close, and for handlers to end.
    /// Requests that wait after four fifths of it are answered with Bad_Shutdown.
    pub stop_deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            operations: OperationLimits::default(),
            subscriptions: SubscriptionLimits::default(),
            max_connections: 1_000,
            max_connections_per_address: 0,
            max_sessions: 1_000,
            max_sessions_per_connection: 100,
            max_continuation_points: 16,
            max_references_per_node: 10_000,
            min_session_timeout: Duration::from_secs(10),
            max_session_timeout: Duration::from_secs(3_600),
            activation_timeout: Duration::from_secs(10),
            max_pending_requests: 100,
            max_request_timeout: Duration::from_secs(120),
            handler_grace: Duration::from_secs(30),
            max_handlers_beyond_requests: 1_000,
            max_pending_operations: 20_000,
            operations_per_turn: 20_000,
            blocking_threads: 4,
            hanging_threads: 32,
            blocking_queue: 1_024,
            min_token_lifetime: Duration::from_secs(1),
            max_token_lifetime: Duration::from_secs(3_600),
            handshake_timeout: Duration::from_secs(10),
            message_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            flush_timeout: Duration::from_secs(5),
            linger_timeout: Duration::from_millis(500),
            idle_timeout: Duration::from_secs(5),
            max_message_size: 16 * 1024 * 1024,
            max_early_message_size: 2 * 1024 * 1024,
            message_memory: 1024 * 1024 * 1024,
            early_message_memory: 256 * 1024 * 1024,
            output_memory: 512 * 1024 * 1024,
            max_chunk_count: 4_096,
            max_array_length: 1_000_000,
            max_string_length: 4 * 1024 * 1024,
            shutdown_delay: Duration::ZERO,
            stop_deadline: Duration::from_secs(5),
        }
    }
}
