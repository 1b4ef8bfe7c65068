//! Value cells: the live value of a Variable, read without waiting and watched without scanning.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use uaforge_codec::{
    DataValue, DateTime, Encode, Encoder, FromVariant, IntoVariant, StatusCode, Variant, VariantTypeError,
};

use crate::lock::{Once, RwLock};
use crate::space::Timestamps;

/// Is told that a cell has changed. Called by whoever changed it, with no lock held: note the change
/// and return.
pub trait Listener: Send + Sync {
    /// The cell has a new value, status or timestamp.
    fn changed(&self, cell: &ValueCell);
}

/// Listeners and the keys that end them.
type Listeners = Vec<(usize, Arc<dyn Listener>)>;

/// Value, status and timestamps of one Variable (OPC 10000-4 §7.11).
///
/// A number of at most 64 bits, a Boolean, a DateTime or a StatusCode is held in atomic words and read
/// without a lock; any other value is behind a pointer, and is copied under one.
pub struct ValueCell {
    /// Odd while a writer is at work.
    sequence: AtomicU32,
    /// Kind of the value in `bits`, or [`tag::SHARED`].
    tag: AtomicU32,
    bits: AtomicU64,
    status: AtomicU32,
    source: AtomicI64,
    server: AtomicI64,
    changes: AtomicU64,
    shared: RwLock<Variant>,
    listeners: RwLock<Arc<Listeners>>,
    /// Number of listeners, so that a cell without any needs no lock to know it.
    listening: AtomicUsize,
    next_listener: AtomicUsize,
    attachment: Once<Attachment>,
}

/// What a server has attached to a cell.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// What a cell holds at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct CellState {
    /// The value.
    pub value: Variant,
    /// The status.
    pub status: StatusCode,
    /// SourceTimestamp, if one was given.
    pub source: Option<DateTime>,
    /// ServerTimestamp, if one was given.
    pub server: Option<DateTime>,
}

/// The kinds of value that fit into a word.
mod tag {
    pub(super) const NULL: u32 = 0;
    pub(super) const SHARED: u32 = u32::MAX;
}

/// The words of a small value.
#[inline]
fn to_words(value: &Variant) -> Option<(u32, u64)> {
    Some(match *value {
        Variant::Null => (tag::NULL, 0),
        Variant::Boolean(v) => (1, v.into()),
        Variant::SByte(v) => (2, v as u64),
        Variant::Byte(v) => (3, v.into()),
        Variant::Int16(v) => (4, v as u64),
        Variant::UInt16(v) => (5, v.into()),
        Variant::Int32(v) => (6, v as u64),
        Variant::UInt32(v) => (7, v.into()),
        Variant::Int64(v) => (8, v as u64),
        Variant::UInt64(v) => (9, v),
        Variant::Float(v) => (10, v.to_bits().into()),
        Variant::Double(v) => (11, v.to_bits()),
        Variant::DateTime(v) => (13, v.0 as u64),
        Variant::StatusCode(v) => (19, v.0.into()),
        _ => return None,
    })
}

/// Bytes of an encoded value by its tag.
const WIDTHS: [u8; 20] = [0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 8, 0, 0, 0, 0, 0, 4];

/// Bits of an encoded DataValue.
mod mask {
    pub(super) const VALUE: u8 = 0x01;
    pub(super) const STATUS: u8 = 0x02;
    pub(super) const SOURCE: u8 = 0x04;
    pub(super) const SERVER: u8 = 0x08;
}

/// The atomic words of a cell at one moment.
#[derive(Clone, Copy)]
struct Words {
    tag: u32,
    bits: u64,
    status: u32,
    source: i64,
    server: i64,
}

impl Words {
    #[inline]
    fn new(
        (tag, bits): (u32, u64),
        status: StatusCode,
        source: Option<DateTime>,
        server: Option<DateTime>,
    ) -> Self {
        let raw = |time: Option<DateTime>| time.map_or(NO_TIME, |time| time.0);
        Self { tag, bits, status: status.0, source: raw(source), server: raw(server) }
    }

    fn state(self, value: Variant) -> CellState {
        CellState {
            value,
            status: StatusCode(self.status),
            source: time(self.source),
            server: time(self.server),
        }
    }
}

/// A few bytes, put together before they are appended at once.
#[derive(Default)]
struct Tail {
    bytes: [u8; 32],
    len: usize,
}

impl Tail {
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N], width: usize) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + N) {
            room.copy_from_slice(&bytes);
            self.len += width;
        }
    }

    /// Status and timestamps; the mask of those that are there.
    #[inline]
    fn put_all(&mut self, words: Words, timestamps: Timestamps) -> u8 {
        let mut mask = 0;
        if words.status != 0 {
            mask |= mask::STATUS;
            self.put(words.status.to_le_bytes(), 4);
        }
        if timestamps.source && words.source != NO_TIME {
            mask |= mask::SOURCE;
            self.put(words.source.to_le_bytes(), 8);
        }
        if let Some(now) = timestamps.server {
            mask |= mask::SERVER;
            let server = if words.server == NO_TIME { now.0 } else { words.server };
            self.put(server.to_le_bytes(), 8);
        }
        mask
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Every NaN is written as the specified one (OPC 10000-6 §5.2.2.3).
#[inline]
fn canonical(tag: u32, bits: u64) -> u64 {
    match tag {
        10 if f32::from_bits(bits as u32).is_nan() => 0xFFC0_0000,
        11 if f64::from_bits(bits).is_nan() => 0xFFF8_0000_0000_0000,
        _ => bits,
    }
}

/// A DataValue with a value that fits into a word: at most 30 bytes.
#[inline]
fn encode_words(words: Words, e: &mut Encoder<'_>, timestamps: Timestamps) {
    if words.status == 0
        && words.source != NO_TIME
        && timestamps.source
        && let Some(now) = timestamps.server
    {
        let server = if words.server == NO_TIME { now.0 } else { words.server };
        match WIDTHS.get(words.tag as usize) {
            Some(8) => return encode_usual::<8>(words, server, e),
            Some(4) => return encode_usual::<4>(words, server, e),
            _ => {}
        }
    }
    encode_parts(words, e, timestamps);
}

/// A Good value of `WIDTH` bytes with both timestamps, as most are: all places are known.
#[inline]
fn encode_usual<const WIDTH: usize>(words: Words, server: i64, e: &mut Encoder<'_>) {
    let mut bytes = [0; 26];
    let [mask, tag, rest @ ..] = &mut bytes;
    (*mask, *tag) = (mask::VALUE | mask::SOURCE | mask::SERVER, words.tag as u8);
    let parts = [canonical(words.tag, words.bits), words.source as u64, server as u64];
    for (part, at) in parts.into_iter().zip([0, WIDTH, WIDTH + 8]) {
        if let Some(place) = rest.get_mut(at..at + 8) {
            place.copy_from_slice(&part.to_le_bytes());
        }
    }
    e.put(bytes.get(..18 + WIDTH).unwrap_or_default());
}

fn encode_parts(words: Words, e: &mut Encoder<'_>, timestamps: Timestamps) {
    let mut tail = Tail { bytes: [0; 32], len: 1 };
    let mut mask = 0;
    if words.tag != tag::NULL {
        mask = mask::VALUE;
        let width = WIDTHS.get(words.tag as usize).copied().unwrap_or(0);
        tail.put([words.tag as u8], 1);
        tail.put(canonical(words.tag, words.bits).to_le_bytes(), width.into());
    }
    mask |= tail.put_all(words, timestamps);
    if let Some(first) = tail.bytes.first_mut() {
        *first = mask;
    }
    e.put(tail.bytes());
}

fn from_words(tag: u32, bits: u64) -> Variant {
    match tag {
        1 => Variant::Boolean(bits != 0),
        2 => Variant::SByte(bits as i8),
        3 => Variant::Byte(bits as u8),
        4 => Variant::Int16(bits as i16),
        5 => Variant::UInt16(bits as u16),
        6 => Variant::Int32(bits as i32),
        7 => Variant::UInt32(bits as u32),
        8 => Variant::Int64(bits as i64),
        9 => Variant::UInt64(bits),
        10 => Variant::Float(f32::from_bits(bits as u32)),
        11 => Variant::Double(f64::from_bits(bits)),
        13 => Variant::DateTime(DateTime(bits as i64)),
        19 => Variant::StatusCode(StatusCode(bits as u32)),
        _ => Variant::Null,
    }
}

/// No timestamp: no tick has this value (OPC 10000-6 §5.2.2.5 begins at 0).
const NO_TIME: i64 = i64::MIN;

fn time(ticks: i64) -> Option<DateTime> {
    (ticks != NO_TIME).then_some(DateTime(ticks))
}

impl Default for ValueCell {
    fn default() -> Self {
        Self::new(Variant::Null)
    }
}

impl fmt::Debug for ValueCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ValueCell").field(&self.state()).finish()
    }
}

impl ValueCell {
    /// A cell with a Good value and no timestamps.
    pub fn new(value: impl Into<Variant>) -> Self {
        let cell = Self {
            sequence: AtomicU32::new(0),
            tag: AtomicU32::new(tag::NULL),
            bits: AtomicU64::new(0),
            status: AtomicU32::new(0),
            source: AtomicI64::new(NO_TIME),
            server: AtomicI64::new(NO_TIME),
            changes: AtomicU64::new(0),
            shared: RwLock::new(Variant::Null),
            listeners: RwLock::new(Arc::new(Vec::new())),
            listening: AtomicUsize::new(0),
            next_listener: AtomicUsize::new(0),
            attachment: Once::new(),
        };
        cell.store(CellState { value: value.into(), status: StatusCode::GOOD, source: None, server: None });
        cell
    }

    /// Writes all parts. The lock keeps writers apart; the sequence tells readers to look again.
    fn store(&self, state: CellState) {
        let before = {
            let mut guard = self.shared.write();
            self.store_locked(&mut guard, state)
        };
        drop(before);
    }

    /// Writes all parts under the lock; the value that was behind it.
    fn store_locked(&self, guard: &mut Variant, state: CellState) -> Variant {
        let CellState { value, status, source, server } = state;
        let words = to_words(&value);
        let shared = if words.is_none() { value } else { Variant::Null };
        self.store_words(Words::new(words.unwrap_or((tag::SHARED, 0)), status, source, server));
        core::mem::replace(guard, shared)
    }

    /// Writes the words; the caller holds the lock.
    #[inline]
    fn store_words(&self, words: Words) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.tag.store(words.tag, Ordering::Relaxed);
        self.bits.store(words.bits, Ordering::Relaxed);
        self.status.store(words.status, Ordering::Relaxed);
        self.source.store(words.source, Ordering::Relaxed);
        self.server.store(words.server, Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
        // Nobody else counts while the lock is held.
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// The parts other than the value; the value too if it is a small one.
    #[inline]
    fn load(&self) -> Words {
        Words {
            tag: self.tag.load(Ordering::Relaxed),
            bits: self.bits.load(Ordering::Relaxed),
            status: self.status.load(Ordering::Relaxed),
            source: self.source.load(Ordering::Relaxed),
            server: self.server.load(Ordering::Relaxed),
        }
    }

    /// All parts of one and the same write, unless a writer is at work or the value is not a small one.
    #[inline]
    fn words(&self) -> Option<Words> {
        let before = self.sequence.load(Ordering::Acquire);
        let words = self.load();
        fence(Ordering::Acquire);
        let undisturbed = before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before;
        (undisturbed && words.tag != tag::SHARED).then_some(words)
    }

    /// What the cell holds: all parts of one and the same write.
    pub fn state(&self) -> CellState {
        match self.words() {
            Some(words) => words.state(from_words(words.tag, words.bits)),
            None => self.state_locked(),
        }
    }

    #[cold]
    fn state_locked(&self) -> CellState {
        let guard = self.shared.read();
        let words = self.load();
        let is_shared = words.tag == tag::SHARED;
        let value = if is_shared { guard.clone() } else { from_words(words.tag, words.bits) };
        words.state(value)
    }

    /// The value.
    pub fn value(&self) -> Variant {
        self.state().value
    }

    /// The value as a Rust type.
    ///
    /// # Errors
    /// If the cell holds a value of another type.
    pub fn get<T: FromVariant>(&self) -> Result<T, VariantTypeError> {
        T::from_variant(&self.state().value)
    }

    /// Sets the value, Good, with the given SourceTimestamp.
    pub fn set(&self, value: impl IntoVariant, source: Option<DateTime>) {
        self.write(value.into_variant(), StatusCode::GOOD, source, None);
    }

    /// Sets the status and keeps the value.
    pub fn set_status(&self, status: StatusCode, source: Option<DateTime>) {
        let Ok(()) = self.update(|state| {
            (state.status, state.source, state.server) = (status, source, None);
            Ok::<(), core::convert::Infallible>(())
        });
    }

    /// Sets everything.
    pub fn write(
        &self,
        value: Variant,
        status: StatusCode,
        source: Option<DateTime>,
        server: Option<DateTime>,
    ) {
        self.store(CellState { value, status, source, server });
        self.notify();
    }

    /// As [`write`](Self::write), for a value that is held in atomic words; `false` if it is none of these, and
    /// nothing is written.
    #[inline]
    pub fn write_small(
        &self,
        value: &Variant,
        status: StatusCode,
        source: Option<DateTime>,
        server: Option<DateTime>,
    ) -> bool {
        let Some(small) = to_words(value) else { return false };
        let mut guard = self.shared.write();
        self.store_words(Words::new(small, status, source, server));
        let before = match *guard {
            Variant::Null => None,
            _ => Some(core::mem::take(&mut *guard)),
        };
        drop(guard);
        drop(before);
        self.notify();
        true
    }

    /// Changes what the cell holds, in one step for readers and other writers alike. `change` runs under
    /// the cell's lock: it may not look at the cell itself, and changes the value only once it cannot fail.
    ///
    /// # Errors
    /// What `change` returns; then nobody is told.
    pub fn update<E>(&self, change: impl FnOnce(&mut CellState) -> Result<(), E>) -> Result<(), E> {
        let mut guard = self.shared.write();
        let words = self.load();
        // Out of the lock's place, so that a value that nobody else holds is changed without a copy.
        let is_shared = words.tag == tag::SHARED;
        let value = if is_shared { core::mem::take(&mut *guard) } else { from_words(words.tag, words.bits) };
        let mut state = words.state(value);
        let result = change(&mut state);
        if result.is_ok() {
            self.store_locked(&mut guard, state);
        } else if is_shared {
            *guard = state.value;
        }
        drop(guard);
        if result.is_ok() {
            self.notify();
        }
        result
    }

    /// Takes over a DataValue as a client writes it (OPC 10000-4 §5.11.4); picoseconds are dropped.
    pub fn write_data_value(&self, value: &DataValue) {
        self.write(
            value.value().cloned().unwrap_or_default(),
            value.status_or_good(),
            value.source_timestamp(),
            value.server_timestamp(),
        );
    }

    /// What the cell holds as a DataValue.
    pub fn read(&self) -> DataValue {
        let CellState { value, status, source, server } = self.state();
        DataValue::new(value)
            .with_status((status != StatusCode::GOOD).then_some(status))
            .with_source_timestamp(source)
            .with_server_timestamp(server)
    }

    /// Encodes a DataValue (OPC 10000-6 §5.2.2.17). A Null value, a Good status and timestamps that are
    /// unknown or not asked for are left out.
    #[inline]
    pub fn encode_data_value(&self, e: &mut Encoder<'_>, timestamps: Timestamps) {
        match self.words() {
            Some(words) => encode_words(words, e, timestamps),
            None => self.encode_shared(e, timestamps),
        }
    }

    #[cold]
    fn encode_shared(&self, e: &mut Encoder<'_>, timestamps: Timestamps) {
        let state = self.state_locked();
        let words = Words::new((tag::NULL, 0), state.status, state.source, state.server);
        let mut tail = Tail::default();
        let has_value = !matches!(state.value, Variant::Null);
        let mask = tail.put_all(words, timestamps) | if has_value { mask::VALUE } else { 0 };
        e.put_u8(mask);
        if has_value {
            state.value.encode(e);
        }
        e.put(tail.bytes());
    }

    /// How often the cell was written.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// What is attached to the cell, such as handlers that answer in its place.
    #[inline]
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.get()
    }

    /// Attaches what `make` makes, unless something is attached already; what is attached now.
    pub fn attach(&self, make: impl FnOnce() -> Attachment) -> &Attachment {
        self.attachment.get_or_init(make)
    }

    /// Has `listener` told of each change; the key ends it.
    pub fn listen(&self, listener: Arc<dyn Listener>) -> usize {
        let key = self.next_listener.fetch_add(1, Ordering::Relaxed);
        let mut guard = self.listeners.write();
        Arc::make_mut(&mut *guard).push((key, listener));
        self.listening.store(guard.len(), Ordering::Release);
        key
    }

    /// Ends what [`listen`](Self::listen) began.
    pub fn unlisten(&self, key: usize) {
        let mut guard = self.listeners.write();
        let gone: Vec<_> = Arc::make_mut(&mut *guard).extract_if(.., |(k, _)| *k == key).collect();
        self.listening.store(guard.len(), Ordering::Release);
        drop(guard);
        drop(gone);
    }

    fn notify(&self) {
        if self.listening.load(Ordering::Acquire) == 0 {
            return;
        }
        let listeners = Arc::clone(&*self.listeners.read());
        for (_, listener) in listeners.iter() {
            listener.changed(self);
        }
    }
}
