//! The driver over a scripted stream, in virtual time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uaforge_codec::Now;

use super::*;
use crate::{Listener, OutputBuffer};

/// What a stream will do, and what was done to it.
#[derive(Default)]
struct Script {
    /// What each read gives.
    reads: VecDeque<Vec<u8>>,
    /// The peer has sent its last.
    eof: bool,
    /// Bytes that may still be written; then writes wait.
    room: usize,
    /// Most bytes that one write takes.
    at_once: usize,
    writes: Vec<Vec<u8>>,
    shut: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone)]
struct Wire(Arc<Mutex<Script>>);

impl Wire {
    fn new(reads: &[&[u8]]) -> Self {
        let reads = reads.iter().map(|bytes| bytes.to_vec()).collect();
        Self(Arc::new(Mutex::new(Script {
            reads,
            room: usize::MAX,
            at_once: usize::MAX,
            ..Script::default()
        })))
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut Script)) {
        let mut script = self.script();
        change(&mut script);
        let wakers = [script.reader.take(), script.writer.take()];
        drop(script);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn written(&self) -> Vec<u8> {
        self.script().writes.concat()
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut script = self.script();
        if let Some(mut bytes) = script.reads.pop_front() {
            let rest = bytes.split_off(bytes.len().min(buf.remaining()));
            buf.put_slice(&bytes);
            if !rest.is_empty() {
                script.reads.push_front(rest);
            }
        } else if !script.eof {
            script.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut script = self.script();
        let count = bytes.len().min(script.room).min(script.at_once);
        if count == 0 {
            script.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        script.room -= count;
        script.writes.push(bytes[..count].to_vec());
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.script().shut = true;
        Poll::Ready(Ok(()))
    }
}

impl Socket for Wire {
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut script = self.script();
        if script.reads.is_empty() && !script.eof {
            script.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

/// What a machine noted.
#[derive(Default)]
struct Log {
    turns: usize,
    polls: usize,
    idle: usize,
    deadlines: Vec<Ticks>,
}

/// Answers each three bytes with three bytes; `end` closes.
struct Echo {
    output: OutputBuffer,
    /// Most triples of one turn.
    bound: usize,
    /// Unsent bytes at which reading pauses.
    full: usize,
    more: bool,
    closed: bool,
    deadline: Option<Ticks>,
    log: Arc<Mutex<Log>>,
}

impl Echo {
    fn new() -> (Self, Arc<Mutex<Log>>) {
        let log = Arc::new(Mutex::new(Log::default()));
        let echo = Self {
            output: OutputBuffer::new(),
            bound: usize::MAX,
            full: usize::MAX,
            more: false,
            closed: false,
            deadline: None,
            log: Arc::clone(&log),
        };
        (echo, log)
    }
}

impl Machine for Echo {
    fn receive(&mut self, input: &[u8], _: Now) -> usize {
        self.log.lock().unwrap().turns += 1;
        let mut taken = 0;
        self.more = false;
        for triple in input.chunks_exact(3) {
            if self.output.len() >= self.full {
                break;
            }
            if taken >= self.bound.saturating_mul(3) {
                self.more = true;
                break;
            }
            self.output.vec().extend_from_slice(triple);
            taken += 3;
            self.closed |= triple == b"end";
        }
        taken
    }

    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    fn wants_read(&self) -> bool {
        self.output.len() < self.full
    }

    fn has_more(&self) -> bool {
        self.more && self.wants_read()
    }

    fn deadline(&self) -> Option<Ticks> {
        self.deadline
    }

    fn on_deadline(&mut self, now: Now) {
        self.log.lock().unwrap().deadlines.push(now.ticks);
        self.deadline = None;
    }

    fn poll_work(&mut self, _: &mut Context<'_>, _: &dyn Fn() -> Now) -> Poll<()> {
        self.log.lock().unwrap().polls += 1;
        Poll::Pending
    }

    fn on_eof(&mut self, _: Now) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn on_idle(&mut self) {
        self.log.lock().unwrap().idle += 1;
    }
}

/// Lets everything run that can without time passing.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_read_is_answered_with_one_write() {
    let wire = Wire::new(&[b"abcdefgh", b"ijk", b"l"]);
    let task = tokio::spawn(run(wire.clone(), Echo::new().0));
    settle().await;
    assert_eq!(wire.script().writes, [&b"abcdef"[..], b"ghi", b"jkl"]);
    wire.change(|script| script.eof = true);
    task.await.unwrap().unwrap();
    assert!(wire.script().shut);
}

#[tokio::test(start_paused = true)]
async fn partial_writes_are_continued() {
    let wire = Wire::new(&[b"abcdefghi"]);
    wire.change(|script| {
        script.at_once = 2;
        script.room = 5;
    });
    let _task = tokio::spawn(run(wire.clone(), Echo::new().0));
    settle().await;
    assert_eq!(wire.written(), b"abcde");
    wire.change(|script| script.room = 100);
    settle().await;
    assert_eq!(wire.written(), b"abcdefghi");
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_bounded_and_others_run_between() {
    let wire = Wire::new(&[b"aaabbbcccddd"]);
    let (mut echo, log) = Echo::new();
    echo.bound = 1;
    // Another task looks on whenever it gets a turn.
    let (onlooker, mut seen) = (wire.clone(), Vec::new());
    let onlooker = tokio::spawn(poll_fn(move |cx| {
        seen.push(onlooker.written().len());
        if seen.last() == Some(&12) {
            return Poll::Ready(core::mem::take(&mut seen));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    let _task = tokio::spawn(run(wire.clone(), echo));
    let mut seen = onlooker.await.unwrap();
    seen.dedup();
    assert!(seen.ends_with(&[3, 6, 9, 12]), "{seen:?}");
    assert_eq!(wire.written(), b"aaabbbcccddd");
    assert!(log.lock().unwrap().polls < 10);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_is_not_read() {
    let wire = Wire::new(&[b"aaabbb", b"cccddd", b"eeefff"]);
    wire.change(|script| script.room = 0);
    let (mut echo, log) = Echo::new();
    (echo.full, echo.bound) = (6, 1);
    let _task = tokio::spawn(run(wire.clone(), echo));
    settle().await;
    assert_eq!(wire.script().reads.len(), 2);
    // The task waits; it does not spin.
    let polls = log.lock().unwrap().polls;
    settle().await;
    assert_eq!(log.lock().unwrap().polls, polls);
    wire.change(|script| script.room = 100);
    settle().await;
    assert_eq!(wire.written(), b"aaabbbcccdddeeefff");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_is_given_up_and_a_slow_one_is_not() {
    let wire = Wire::new(&[b"aaabbb"]);
    wire.change(|script| script.room = 0);
    let task = tokio::spawn(run(wire.clone(), Echo::new().0));
    let nearly = Timeouts::default().write * 9 / 10;
    for _ in 0..5 {
        tokio::time::sleep(nearly).await;
        wire.change(|script| script.room = 1);
    }
    settle().await;
    assert!(!task.is_finished());
    assert_eq!(wire.written(), b"aaabb");
    tokio::time::sleep(nearly).await;
    assert!(!task.is_finished());
    tokio::time::sleep(Timeouts::default().write - nearly).await;
    settle().await;
    assert_eq!(task.await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn deadlines_come_when_they_are_due() {
    let (mut echo, log) = Echo::new();
    let due = clock().ticks + Duration::from_millis(1500);
    echo.deadline = Some(due);
    let _task = tokio::spawn(run(Wire::new(&[]), echo));
    tokio::time::sleep(Duration::from_millis(1400)).await;
    assert!(log.lock().unwrap().deadlines.is_empty());
    tokio::time::sleep(Duration::from_millis(200)).await;
    let [came] = log.lock().unwrap().deadlines[..] else { panic!() };
    assert!(came >= due && came.since(due) < Duration::from_millis(5));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_gives_its_buffers_back() {
    let wire = Wire::new(&[b"abc"]);
    let (echo, log) = Echo::new();
    let _task = tokio::spawn(run(wire.clone(), echo));
    tokio::time::sleep(Timeouts::default().idle / 2).await;
    assert_eq!(log.lock().unwrap().idle, 0);
    tokio::time::sleep(Timeouts::default().idle).await;
    assert_eq!(log.lock().unwrap().idle, 1);
    wire.change(|script| script.reads.push_back(b"def".to_vec()));
    settle().await;
    assert_eq!(wire.written(), b"abcdef");
}

#[tokio::test(start_paused = true)]
async fn closing_flushes_and_waits_for_the_peer_but_not_for_ever() {
    let wire = Wire::new(&[b"end", b"more that nobody wants"]);
    wire.change(|script| script.room = 1);
    let task = tokio::spawn(run(wire.clone(), Echo::new().0));
    settle().await;
    assert!(!wire.script().shut);
    wire.change(|script| script.room = 100);
    settle().await;
    assert_eq!(wire.written(), b"end");
    assert!(wire.script().shut && !task.is_finished());
    tokio::time::sleep(Timeouts::default().linger + Duration::from_millis(10)).await;
    task.await.unwrap().unwrap();

    // A peer that never reads does not hold the connection.
    let wire = Wire::new(&[b"end"]);
    wire.change(|script| script.room = 0);
    let task = tokio::spawn(run(wire.clone(), Echo::new().0));
    tokio::time::sleep(Timeouts::default().flush + Duration::from_millis(10)).await;
    assert!(task.is_finished() && !wire.script().shut);
}

#[tokio::test]
async fn the_last_message_arrives_though_input_is_left_unread() {
    let mut listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        drive(stream, Echo::new().0).await
    });
    let mut client = TcpStream::connect(address).await.unwrap();
    let mut bytes = b"end".to_vec();
    bytes.resize(300_000, b'x');
    client.write_all(&bytes).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"end"));
    drop(client);
    server.await.unwrap().unwrap();
}
