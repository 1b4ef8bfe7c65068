//! The session over its channel: the whole connection as one machine.

use std::sync::Arc;

use uaforge_channel::{ClientChannel, ClientEvent, OutputBuffer};
use uaforge_codec::{Entropy, Now, Ticks};

use super::call::{Body, Call};
use super::core::{Core, Queued};
use super::setup::Report;
use crate::Error;
use crate::config::Config;
use crate::tables::Tables;

/// Bytes that wait for the socket above which no further call is taken.
const HIGH_WATER: usize = 256 * 1024;

/// A connection from Hello to CloseSecureChannel.
pub(crate) struct SessionMachine {
    channel: ClientChannel,
    output: OutputBuffer,
    core: Core,
    /// CLO was sent, or there is no channel to say it on.
    finished: bool,
}

impl SessionMachine {
    pub(crate) fn new(
        url: Arc<str>,
        config: Arc<Config>,
        tables: Arc<Tables>,
        mut entropy: Box<dyn Entropy + Send>,
        now: Now,
        report: Report,
    ) -> Self {
        let mut output = OutputBuffer::new();
        let channel = crate::channel::open(&url, &config, &mut *entropy, &mut output, now);
        let core = Core::new(url, config, tables, entropy, now, report);
        Self { channel, output, core, finished: false }
    }

    pub(crate) fn submit(&mut self, call: Box<dyn Call>, now: Now) {
        self.core.submit(call);
        self.flush(now);
    }

    pub(crate) fn has_room(&self) -> bool {
        self.core.has_room() && self.output.len() < HIGH_WATER
    }
}
