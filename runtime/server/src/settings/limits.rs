//! Tables `[limits]`, `[limits.operations]` and `[limits.subscriptions]`: each key is the field of that name.

use core::time::Duration;

use serde::Deserialize;

use super::seconds::Seconds;
use crate::config::{Limits, OperationLimits, SubscriptionLimits};

/// A table with the fields of a structure, none of which has to be there. A field that the structure has and
/// the table lacks does not compile.
macro_rules! table {
    ($table:ident of $target:ident { $($field:ident: $kind:ty,)* } and { $($rest:ident: $of:ty),* }) => {
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct $table {
            $($field: Option<$kind>,)*
            $(pub(super) $rest: $of,)*
        }

        impl $table {
            pub(super) fn apply(&self, target: &mut $target) {
                let $target { $($rest: _,)* $($field,)* } = target;
                $(if let Some(value) = self.$field {
                    *$field = value.into();
                })*
            }
        }
    };
}

table! {
    LimitsTable of Limits {
        max_connections: usize,
        max_connections_per_address: usize,
        max_sessions: u32,
        max_sessions_per_connection: u32,
        max_continuation_points: u16,
        max_references_per_node: u32,
        min_session_timeout: Seconds,
        max_session_timeout: Seconds,
        activation_timeout: Seconds,
        max_pending_requests: usize,
        max_request_timeout: Seconds,
        handler_grace: Seconds,
        max_handlers_beyond_requests: usize,
        max_pending_operations: usize,
        operations_per_turn: u32,
        blocking_threads: usize,
        hanging_threads: usize,
        blocking_queue: usize,
        min_token_lifetime: Seconds,
        max_token_lifetime: Seconds,
        handshake_timeout: Seconds,
        message_timeout: Seconds,
        write_timeout: Seconds,
        flush_timeout: Seconds,
        linger_timeout: Seconds,
        idle_timeout: Seconds,
        max_message_size: u32,
        max_early_message_size: u32,
        message_memory: usize,
        early_message_memory: usize,
        output_memory: usize,
        max_chunk_count: u32,
        max_array_length: u32,
        max_string_length: u32,
        shutdown_delay: Seconds,
        stop_deadline: Seconds,
    } and { operations: OperationsTable, subscriptions: SubscriptionsTable }
}

table! {
    OperationsTable of OperationLimits {
        max_nodes_per_read: u32,
        max_nodes_per_write: u32,
        max_nodes_per_browse: u32,
        max_nodes_per_method_call: u32,
        max_nodes_per_register_nodes: u32,
        max_nodes_per_translate: u32,
        max_monitored_items_per_call: u32,
        max_path_elements: u32,
    } and {}
}

table! {
    SubscriptionsTable of SubscriptionLimits {
        max_subscriptions: u32,
        max_subscriptions_per_session: u32,
        max_monitored_items: u32,
        max_monitored_items_per_subscription: u32,
        min_publishing_interval: Seconds,
        max_publishing_interval: Seconds,
        max_lifetime: Seconds,
        max_notifications_per_publish: u32,
        max_publish_requests: u32,
        min_sampling_interval: Seconds,
        max_sampling_interval: Seconds,
        max_queue_size: u32,
        max_triggering_links: u32,
        max_select_clauses: u32,
        max_where_elements: u32,
        max_retransmission_messages: u32,
        notification_memory: usize,
    } and {}
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}
