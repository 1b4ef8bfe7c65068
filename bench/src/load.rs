//! The load: closed loops on non-blocking sockets, one thread, every response compared.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::meter::own_thread;
use crate::template::{Request, Template};
use crate::wire::{Connection, REQUEST_ID_AT, SEQUENCE_AT};

/// What a load asks for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The request.
    pub request: Request,
    /// Connections, each with a session.
    pub clients: usize,
    /// Requests of each client that wait for their response at once.
    pub outstanding: usize,
}

/// What a load saw in one round.
#[derive(Debug)]
pub struct Tally {
    /// Responses that were as expected.
    pub requests: u64,
    /// Time from the first request to the last response.
    pub time: Duration,
    /// CPU time of the load itself.
    pub own_cpu: Duration,
    /// Nanoseconds from the write of a request to the read of its response.
    pub latency: Histogram<u64>,
    /// The longest time without any response.
    pub stall: Duration,
}

/// Bytes that are read at once.
const READ: usize = 1 << 18;
/// Silence that ends a round as failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections that are kept over rounds.
pub struct Load {
    poll: Poll,
    clients: Vec<Client>,
    handshake: Vec<Connection>,
}

struct Client {
    stream: TcpStream,
    template: Template,
    /// When the request of each slot was sent; `None` for a free slot. Slot and request id are one.
    slots: Vec<Option<Instant>>,
    /// Slots whose request can be sent.
    free: Vec<u32>,
    sequence: u32,
    /// Sequence number of the last response; `None` before the first.
    answered: Option<u32>,
    out: Vec<u8>,
    sent: usize,
    input: Vec<u8>,
    filled: usize,
    /// A peer that echoes has no sequence numbers of its own and no handles.
    echo: bool,
}

impl Load {
    /// Opens all connections with their sessions, and learns the expected response on each.
    ///
    /// # Errors
    /// The server refuses, or a first response is not as it has to be.
    pub fn open(address: SocketAddr, shape: Shape) -> Result<Self> {
        let poll = Poll::new()?;
        let mut this = Self { poll, clients: Vec::new(), handshake: Vec::new() };
        for _ in 0..shape.clients {
            let mut connection = Connection::open(address)?;
            let template = Template::prepare(&mut connection, shape.request)?;
            let stream = connection.stream.try_clone()?;
            this.add(stream, template, connection.sequence, shape.outstanding, false)?;
            this.handshake.push(connection);
        }
        Ok(this)
    }

    /// Connections to a peer that answers each frame with one of the expected length, and knows no session.
    ///
    /// # Errors
    /// The peer cannot be reached.
    pub fn open_echo(address: SocketAddr, shape: Shape, template: &Template) -> Result<Self> {
        let poll = Poll::new()?;
        let mut this = Self { poll, clients: Vec::new(), handshake: Vec::new() };
        for _ in 0..shape.clients {
            let stream = std::net::TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            this.add(stream, template.clone(), 0, shape.outstanding, true)?;
        }
        Ok(this)
    }

    fn add(
        &mut self,
        stream: std::net::TcpStream,
        template: Template,
        sequence: u32,
        outstanding: usize,
        echo: bool,
    ) -> Result<()> {
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let token = Token(self.clients.len());
        self.poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        self.clients.push(Client {
            stream,
            template,
            slots: vec![None; outstanding],
            free: (0..u32::try_from(outstanding)?).collect(),
            sequence,
            answered: None,
            out: Vec::new(),
            sent: 0,
            input: vec![0; READ],
            filled: 0,
            echo,
        });
        Ok(())
    }

    /// The template of the first client.
    #[must_use]
    pub fn template(&self) -> Option<&Template> {
        self.clients.first().map(|client| &client.template)
    }

    /// Keeps every client's requests outstanding for `time`, then waits for the last responses.
    ///
    /// # Errors
    /// A response was wrong, or none came for ten seconds.
    pub fn run(&mut self, time: Duration) -> Result<Tally> {
        let mut events = Events::with_capacity(256);
        let mut tally = Tally {
            requests: 0,
            time: Duration::ZERO,
            own_cpu: Duration::ZERO,
            latency: Histogram::new_with_bounds(1, 60_000_000_000, 3)?,
            stall: Duration::ZERO,
        };
        let cpu = own_thread()?;
        let begun = Instant::now();
        let until = begun + time;
        let mut last = begun;
        for client in &mut self.clients {
            client.fill(begun);
            client.write()?;
        }
        while self.clients.iter().any(Client::is_waiting) {
            self.poll.poll(&mut events, Some(PATIENCE)).or_else(|error| match error.kind() {
                ErrorKind::Interrupted => Ok(()),
                _ => Err(error),
            })?;
            let now = Instant::now();
            ensure!(now - last < PATIENCE, "no response for {PATIENCE:?}");
            for event in &events {
                let client = self.clients.get_mut(event.token().0).context("an unknown socket")?;
                let before = tally.requests;
                client.read(&mut tally)?;
                if tally.requests > before {
                    tally.stall = tally.stall.max(now - last);
                    last = now;
                }
                if now < until {
                    client.fill(now);
                }
                client.write()?;
            }
        }
        tally.time = begun.elapsed();
        tally.own_cpu = own_thread()?.saturating_sub(cpu);
        Ok(tally)
    }

    /// Sends all requests of every client with one write, waits for all responses, and does it again.
    ///
    /// # Errors
    /// A response was wrong, or none came for ten seconds.
    pub fn lockstep(&mut self, batches: usize) -> Result<()> {
        for _ in 0..batches {
            self.run(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Ends the connections without a word, as a broken network would.
    pub fn abandon(self) {
        drop(self);
    }

    /// Closes the sessions.
    ///
    /// # Errors
    /// The server did not answer.
    pub fn close(self) -> Result<()> {
        let sequences: Vec<u32> = self.clients.iter().map(|client| client.sequence).collect();
        for (mut connection, sequence) in self.handshake.into_iter().zip(sequences) {
            connection.stream.set_nonblocking(false)?;
            connection.sequence = sequence;
            connection.close()?;
        }
        Ok(())
    }
}

impl Client {
    fn is_waiting(&self) -> bool {
        self.free.len() < self.slots.len()
    }

    /// Puts the requests of all free slots behind what is still to be written.
    fn fill(&mut self, now: Instant) {
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
        let frame = &self.template.frame;
        self.out.reserve(frame.len() * self.free.len());
        for slot in self.free.drain(..) {
            let at = self.out.len();
            self.sequence = self.sequence.wrapping_add(1);
            self.out.extend_from_slice(frame);
            let id = slot + 1;
            for (offset, field) in
                [(SEQUENCE_AT, self.sequence), (REQUEST_ID_AT, id), (self.template.handle_at, id)]
            {
                if let Some(place) = self.out.get_mut(at + offset..at + offset + 4) {
                    place.copy_from_slice(&field.to_le_bytes());
                }
            }
            if let Some(entry) = self.slots.get_mut(slot as usize) {
                *entry = Some(now);
            }
        }
    }

    fn write(&mut self) -> Result<()> {
        while self.sent < self.out.len() {
            match self.stream.write(self.out.get(self.sent..).unwrap_or_default()) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("cannot write to the server"),
            }
        }
        Ok(())
    }

    fn read(&mut self, tally: &mut Tally) -> Result<()> {
        loop {
            match self.stream.read(self.input.get_mut(self.filled..).unwrap_or_default()) {
                Ok(0) => bail!("the server closed the connection"),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).context("cannot read from the server"),
            }
            let full = self.filled == self.input.len();
            self.take(tally)?;
            if !full {
                return Ok(());
            }
        }
    }

    /// Takes every whole response that was read.
    fn take(&mut self, tally: &mut Tally) -> Result<()> {
        let now = Instant::now();
        let length = self.template.expected.len();
        let mut at = 0;
        while let Some(frame) = self.input.get(at..self.filled).and_then(|input| input.get(..length)) {
            let size = field(frame, 4);
            if size as usize != length {
                break;
            }
            let id = field(frame, REQUEST_ID_AT);
            let sequence = field(frame, SEQUENCE_AT);
            let expected = &self.template.expected;
            ensure!(self.echo || expected.accepts(frame, id), "a wrong response: {frame:02x?}");
            let in_order = self.answered.is_none_or(|before| sequence == before.wrapping_add(1));
            ensure!(self.echo || in_order, "sequence number {sequence} after {:?}", self.answered);
            self.answered = Some(sequence);
            let slot = self.slots.get_mut((id as usize).wrapping_sub(1));
            let sent = slot.and_then(Option::take).context("a response to nothing")?;
            self.free.push(id - 1);
            tally.requests += 1;
            tally.latency.saturating_record(u64::try_from((now - sent).as_nanos()).unwrap_or(u64::MAX));
            at += length;
        }
        let rest = self.filled - at;
        if rest >= 8 {
            let size = field(self.input.get(at..).unwrap_or_default(), 4) as usize;
            ensure!(size == length, "a response of {size} bytes instead of {length}");
        }
        self.input.copy_within(at..self.filled, 0);
        self.filled = rest;
        Ok(())
    }
}

/// The little-endian number at an offset.
fn field(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}
