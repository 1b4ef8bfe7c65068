//! The publishing state machine of one subscription: the state table of OPC 10000-4 §5.14.1.2, whose rows the
//! comments name.

/// States of a subscription that exists; a closed one is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It works in cycles.
    Normal,
    /// The timer expired and there was no Publish request to answer.
    Late,
    /// There is nothing to report; the counter of keep-alives runs.
    KeepAlive,
}

/// How a subscription answers a Publish request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With notifications.
    Notifications,
    /// With a keep-alive message.
    KeepAlive,
}

/// What an expired publishing timer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The next cycle begins.
    Nothing,
    /// A queued Publish request is answered.
    Answer(Answer),
    /// The lifetime is over: the subscription is closed.
    Closed,
}

/// Counters and flags of the state table.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    state: State,
    publishing_enabled: bool,
    /// There were too many notifications for one message.
    more: bool,
    /// A message was sent, be it a keep-alive.
    message_sent: bool,
    max_keep_alive: u32,
    keep_alive: u32,
    max_lifetime: u32,
    lifetime: u32,
}

impl Machine {
    /// A subscription that was created (rows 1 to 3). The counters are revised ones, at least 1.
    pub(crate) fn new(publishing_enabled: bool, max_keep_alive: u32, max_lifetime: u32) -> Self {
        Self {
            state: State::Normal,
            publishing_enabled,
            more: false,
            message_sent: false,
            max_keep_alive,
            keep_alive: max_keep_alive,
            max_lifetime,
            lifetime: max_lifetime,
        }
    }

    #[cfg(test)]
    fn state(&self) -> State {
        self.state
    }

    /// A service used the subscription (rows 4, 5, 10, 11, 13 and 18 to 23).
    pub(crate) fn reset_lifetime(&mut self) {
        self.lifetime = self.max_lifetime;
    }

    /// ModifySubscription (row 18).
    pub(crate) fn modify(&mut self, max_keep_alive: u32, max_lifetime: u32) {
        self.max_keep_alive = max_keep_alive;
        self.max_lifetime = max_lifetime;
        self.keep_alive = self.keep_alive.min(max_keep_alive);
        self.reset_lifetime();
    }

    /// SetPublishingMode (row 19).
    pub(crate) fn set_publishing(&mut self, enabled: bool) {
        self.reset_lifetime();
        self.publishing_enabled = enabled;
        self.more = false;
    }

    /// Whether a Publish request that arrives now is answered at once, and how (rows 5, 10 and 11); else it is
    /// queued (rows 4 and 13). `available`: notifications wait.
    pub(crate) fn waits_for_publish(&self, available: bool) -> Option<Answer> {
        let has_notifications = self.publishing_enabled && (self.more || available);
        match self.state {
            State::Normal if self.publishing_enabled && self.more => Some(Answer::Notifications),
            State::Late if has_notifications => Some(Answer::Notifications),
            State::Late => Some(Answer::KeepAlive),
            State::Normal | State::KeepAlive => None,
        }
    }

    /// The answer that [`Self::waits_for_publish`] gave is sent.
    pub(crate) fn answered(&mut self, answer: Answer) {
        self.message_sent = true;
        self.reset_lifetime();
        match answer {
            Answer::Notifications => self.state = State::Normal,
            Answer::KeepAlive => {
                self.state = State::KeepAlive;
                self.keep_alive = self.max_keep_alive;
            }
        }
    }

    /// Whether the message that was sent last left notifications over.
    pub(crate) fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// The publishing timer expired; it is started again unless the subscription is closed. `queued`: there is a
    /// Publish request; `available`: notifications wait.
    pub(crate) fn on_timer(&mut self, queued: bool, available: bool) -> Expiry {
        // Row 27.
        if self.lifetime <= 1 {
            return Expiry::Closed;
        }
        // StartPublishingTimer() counts the lifetime down.
        self.lifetime -= 1;
        let notify = self.publishing_enabled && available;
        let answer = match self.state {
            State::Normal => self.expired_normal(queued, notify),
            // Row 12.
            State::Late => None,
            State::KeepAlive => self.expired_keep_alive(queued, notify),
        };
        answer.map_or(Expiry::Nothing, Expiry::Answer)
    }

    fn expired_normal(&mut self, queued: bool, notify: bool) -> Option<Answer> {
        // Row 6.
        if queued && notify {
            self.answered(Answer::Notifications);
            return Some(Answer::Notifications);
        }
        // Row 7; the keep-alive leaves the state as it is.
        if queued && !self.message_sent {
            self.message_sent = true;
            self.reset_lifetime();
            return Some(Answer::KeepAlive);
        }
        if !queued && (!self.message_sent || notify) {
            // Row 8.
            self.state = State::Late;
        } else {
            // Row 9.
            self.state = State::KeepAlive;
            self.keep_alive = self.max_keep_alive;
        }
        None
    }

    fn expired_keep_alive(&mut self, queued: bool, notify: bool) -> Option<Answer> {
        // Row 14.
        if queued && notify {
            self.answered(Answer::Notifications);
            return Some(Answer::Notifications);
        }
        // Row 15.
        if queued && self.keep_alive <= 1 {
            self.reset_lifetime();
            self.keep_alive = self.max_keep_alive;
            return Some(Answer::KeepAlive);
        }
        if self.keep_alive > 1 && !notify {
            // Row 16.
            self.keep_alive -= 1;
        } else {
            // Row 17.
            self.state = State::Late;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP_ALIVE: u32 = 3;
    const LIFETIME: u32 = 10;

    fn machine() -> Machine {
        Machine::new(true, KEEP_ALIVE, LIFETIME)
    }

    /// In the state KEEPALIVE, with the counter at its start.
    fn quiet() -> Machine {
        let mut machine = machine();
        assert_eq!(machine.on_timer(true, false), Expiry::Answer(Answer::KeepAlive));
        assert_eq!(machine.on_timer(true, false), Expiry::Nothing);
        assert_eq!(machine.state(), State::KeepAlive);
        machine
    }

    #[test]
    fn the_first_cycle_sends_a_keep_alive() {
        let mut machine = machine();
        assert_eq!(machine.waits_for_publish(true), None, "row 4");
        assert_eq!(machine.on_timer(true, false), Expiry::Answer(Answer::KeepAlive), "row 7");
        assert_eq!(machine.state(), State::Normal);
        assert_eq!(machine.on_timer(true, false), Expiry::Nothing, "row 9");
        assert_eq!(machine.state(), State::KeepAlive);
    }

    #[test]
    fn the_first_cycle_sends_notifications() {
        let mut machine = machine();
        assert_eq!(machine.on_timer(true, true), Expiry::Answer(Answer::Notifications), "row 6");
        assert_eq!(machine.state(), State::Normal);
    }

    #[test]
    fn keep_alives_come_after_their_count() {
        let mut machine = quiet();
        for _ in 0..3 {
            for _ in 1..KEEP_ALIVE {
                assert_eq!(machine.on_timer(true, false), Expiry::Nothing, "row 16");
            }
            assert_eq!(machine.on_timer(true, false), Expiry::Answer(Answer::KeepAlive), "row 15");
            assert_eq!(machine.state(), State::KeepAlive);
        }
    }

    #[test]
    fn notifications_end_the_silence() {
        let mut machine = quiet();
        assert_eq!(machine.waits_for_publish(true), None, "row 13");
        assert_eq!(machine.on_timer(true, true), Expiry::Answer(Answer::Notifications), "row 14");
        assert_eq!(machine.state(), State::Normal);
    }

    #[test]
    fn without_a_request_the_subscription_is_late() {
        let mut machine = machine();
        assert_eq!(machine.on_timer(false, false), Expiry::Nothing, "row 8");
        assert_eq!(machine.state(), State::Late);
        assert_eq!(machine.on_timer(false, true), Expiry::Nothing, "row 12");
        assert_eq!(machine.waits_for_publish(true), Some(Answer::Notifications), "row 10");
        assert_eq!(machine.waits_for_publish(false), Some(Answer::KeepAlive), "row 11");
        machine.answered(Answer::KeepAlive);
        assert_eq!(machine.state(), State::KeepAlive);
    }

    #[test]
    fn a_silent_one_is_late_when_the_count_is_over_or_there_is_news() {
        let mut news = quiet();
        assert_eq!(news.on_timer(false, true), Expiry::Nothing, "row 17");
        assert_eq!(news.state(), State::Late);
        let mut over = quiet();
        for _ in 1..KEEP_ALIVE {
            over.on_timer(false, false);
            assert_eq!(over.state(), State::KeepAlive);
        }
        over.on_timer(false, false);
        assert_eq!(over.state(), State::Late);
    }

    #[test]
    fn more_notifications_are_sent_at_once() {
        let mut machine = machine();
        machine.on_timer(true, true);
        machine.set_more(true);
        assert_eq!(machine.waits_for_publish(true), Some(Answer::Notifications), "row 5");
        machine.set_publishing(false);
        assert_eq!(machine.waits_for_publish(true), None, "row 4");
        machine.set_publishing(true);
        assert_eq!(machine.waits_for_publish(true), None, "row 19 forgets that there was more");
    }

    #[test]
    fn what_is_disabled_sends_keep_alives_only() {
        let mut machine = Machine::new(false, KEEP_ALIVE, LIFETIME);
        assert_eq!(machine.on_timer(true, true), Expiry::Answer(Answer::KeepAlive));
        assert_eq!(machine.on_timer(true, true), Expiry::Nothing);
        assert_eq!(machine.state(), State::KeepAlive);
        machine.on_timer(false, true);
        machine.on_timer(false, true);
        machine.on_timer(false, true);
        assert_eq!(machine.state(), State::Late);
        assert_eq!(machine.waits_for_publish(true), Some(Answer::KeepAlive));
    }

    #[test]
    fn the_lifetime_ends_at_its_count() {
        let mut machine = machine();
        for _ in 1..LIFETIME {
            assert_eq!(machine.on_timer(false, false), Expiry::Nothing);
        }
        assert_eq!(machine.on_timer(false, false), Expiry::Closed, "row 27");
        let mut used = quiet();
        for _ in 0..5 * LIFETIME {
            used.reset_lifetime();
            assert_ne!(used.on_timer(false, false), Expiry::Closed);
        }
        used.modify(KEEP_ALIVE, 2);
        assert_eq!(used.on_timer(false, false), Expiry::Nothing);
        assert_eq!(used.on_timer(false, false), Expiry::Closed);
    }
}
