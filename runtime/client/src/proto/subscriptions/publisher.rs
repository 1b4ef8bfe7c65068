//! How many Publish requests wait at the server, and what they acknowledge (OPC 10000-4 §5.14.5).

use core::time::Duration;
use std::collections::HashMap;

use uaforge_codec::Ticks;
use uaforge_types::{SubscriptionAcknowledgement, status};

use crate::Error;

/// Wait after a Publish that failed, so that a server in trouble is not asked at full speed.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps a number of Publish requests at the server.
#[derive(Debug)]
pub(crate) struct Publisher {
    /// What the requests on their way acknowledge, by their tokens.
    outstanding: HashMap<u32, Vec<SubscriptionAcknowledgement>>,
    last_token: u32,
    acknowledgements: Vec<SubscriptionAcknowledgement>,
    /// Most requests at once: what was configured, or fewer if the server has said so.
    limit: usize,
    paused_until: Option<Ticks>,
}

impl Publisher {
    pub(crate) fn new(limit: usize) -> Self {
        let (outstanding, acknowledgements) = Default::default();
        Self { outstanding, last_token: 0, acknowledgements, limit: limit.max(1), paused_until: None }
    }

    /// A message has come.
    pub(crate) fn acknowledge(&mut self, subscription_id: u32, sequence_number: u32) {
        self.acknowledgements.push(SubscriptionAcknowledgement { subscription_id, sequence_number });
    }

    /// The next request to send with its token, with so many subscriptions. One more than there are
    /// subscriptions, so that each has one while an answer is on its way.
    pub(crate) fn next(
        &mut self,
        subscriptions: usize,
        now: Ticks,
    ) -> Option<(u32, Vec<SubscriptionAcknowledgement>)> {
        if subscriptions == 0 || self.outstanding.len() >= (subscriptions + 1).min(self.limit) {
            return None;
        }
        if self.paused_until.is_some_and(|until| now < until) {
            return None;
        }
        self.paused_until = None;
        self.last_token = self.last_token.wrapping_add(1);
        let acknowledgements = core::mem::take(&mut self.acknowledgements);
        self.outstanding.insert(self.last_token, acknowledgements.clone());
        Some((self.last_token, acknowledgements))
    }

    /// Requests on their way.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    pub(crate) fn answered(&mut self, token: u32) {
        self.outstanding.remove(&token);
    }

    /// A request failed. What it acknowledged is acknowledged again: to do so twice does no harm.
    pub(crate) fn failed(&mut self, token: u32, error: &Error, now: Ticks) {
        self.acknowledgements.extend(self.outstanding.remove(&token).unwrap_or_default());
        if error.status() == status::BAD_TOO_MANY_PUBLISH_REQUESTS && !self.outstanding.is_empty() {
            self.limit = self.outstanding.len();
        } else if !matches!(error, Error::Timeout { .. }) {
            self.paused_until = Some(now + PAUSE);
        }
    }

    /// The server answers none of the requests: they count no more.
    pub(crate) fn restart(&mut self) {
        for (_, acknowledgements) in self.outstanding.drain() {
            self.acknowledgements.extend(acknowledgements);
        }
    }

    /// The subscription is no more.
    pub(crate) fn forget(&mut self, subscription_id: u32) {
        self.acknowledgements.retain(|ack| ack.subscription_id != subscription_id);
    }

    /// When a pause is over.
    pub(crate) fn deadline(&self) -> Option<Ticks> {
        self.paused_until
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use uaforge_codec::Ticks;
    use uaforge_types::status;

    use super::{PAUSE, Publisher};
    use crate::Error;

    fn fault(status: uaforge_codec::StatusCode) -> Error {
        Error::Service { service: "PublishRequest", status }
    }

    #[test]
    fn one_more_than_subscriptions_up_to_the_limit() {
        let now = Ticks::default();
        let mut publisher = Publisher::new(3);
        assert_eq!(publisher.next(0, now), None);
        assert!(publisher.next(1, now).is_some());
        assert!(publisher.next(1, now).is_some());
        assert_eq!(publisher.next(1, now), None);
        assert!(publisher.next(9, now).is_some());
        assert_eq!(publisher.next(9, now), None);
    }

    /// Fewer from then on, and what was acknowledged is acknowledged again (case 036).
    #[test]
    fn too_many_publish_requests() {
        let now = Ticks::default();
        let mut publisher = Publisher::new(10);
        publisher.acknowledge(7, 1);
        let (first, acknowledged) = publisher.next(3, now).unwrap();
        assert_eq!(acknowledged.len(), 1);
        for _ in 0..3 {
            publisher.next(3, now).unwrap();
        }
        publisher.failed(first, &fault(status::BAD_TOO_MANY_PUBLISH_REQUESTS), now);
        assert_eq!((publisher.outstanding(), publisher.next(3, now)), (3, None));
        publisher.answered(2);
        let (_, again) = publisher.next(3, now).unwrap();
        assert_eq!(again, acknowledged);
        assert_eq!(publisher.next(3, now), None);
    }

    #[test]
    fn other_errors_make_a_pause() {
        let now = Ticks::default();
        let mut publisher = Publisher::new(10);
        let (token, _) = publisher.next(1, now).unwrap();
        publisher.failed(token, &fault(status::BAD_SERVER_HALTED), now);
        assert_eq!((publisher.next(1, now), publisher.deadline()), (None, Some(now + PAUSE)));
        let (token, _) = publisher.next(1, now + PAUSE).unwrap();
        publisher.failed(token, &Error::Timeout { service: "PublishRequest" }, now + PAUSE);
        assert!(publisher.next(1, now + PAUSE + Duration::from_millis(1)).is_some());
    }

    #[test]
    fn a_subscription_that_is_gone_is_acknowledged_no_more() {
        let mut publisher = Publisher::new(10);
        publisher.acknowledge(7, 1);
        publisher.acknowledge(8, 1);
        publisher.forget(7);
        let (_, acknowledgements) = publisher.next(1, Ticks::default()).unwrap();
        assert_eq!(acknowledgements.iter().map(|ack| ack.subscription_id).collect::<Vec<_>>(), [8]);
    }
}
