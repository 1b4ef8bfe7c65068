//! A device that takes its time: registers behind a bus with one request at a time, and a firmware
//! interface that blocks its thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The device. Only this file knows that it is made of memory.
pub(crate) struct Device {
    registers: Mutex<Vec<u16>>,
    latency: Duration,
    bus: tokio::sync::Mutex<()>,
    requests: AtomicUsize,
    abandoned: AtomicUsize,
    hangs: AtomicBool,
}

/// Why the device did not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceError {
    /// There is no such register.
    NoRegister,
    /// The register does not take the value.
    Refused,
}

/// Notes a request that nobody waited for to its end.
struct Running<'d>(Option<&'d Device>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(device) = self.0 {
            device.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Device {
    /// A device with so many registers, which hold their number, and so long an answer.
    pub(crate) fn new(registers: u16, latency: Duration) -> Self {
        Self {
            registers: Mutex::new((0..registers).collect()),
            latency,
            bus: tokio::sync::Mutex::new(()),
            requests: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            hangs: AtomicBool::new(false),
        }
    }

    /// How many registers there are.
    pub(crate) fn len(&self) -> u16 {
        let registers = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        u16::try_from(registers.len()).unwrap_or(u16::MAX)
    }

    /// Requests so far on the bus.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Requests that were given up before they were answered.
    pub(crate) fn abandoned(&self) -> usize {
        self.abandoned.load(Ordering::SeqCst)
    }

    /// Lets the device answer no more, or again.
    pub(crate) fn set_hangs(&self, hangs: bool) {
        self.hangs.store(hangs, Ordering::SeqCst);
    }

    /// One turn on the bus.
    async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let turn = self.bus.lock().await;
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mut running = Running(Some(self));
        tokio::time::sleep(self.latency).await;
        while self.hangs.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        running.0 = None;
        turn
    }

    /// Reads registers, all with one request.
    pub(crate) async fn read(&self, addresses: &[u16]) -> Vec<Result<u16, DeviceError>> {
        let _turn = self.turn().await;
        let registers = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        let read =
            |address: &u16| registers.get(usize::from(*address)).copied().ok_or(DeviceError::NoRegister);
        addresses.iter().map(read).collect()
    }

    /// Writes a register; it takes at most 9,999.
    pub(crate) async fn write(&self, address: u16, value: u16) -> Result<(), DeviceError> {
        let _turn = self.turn().await;
        if value > 9_999 {
            return Err(DeviceError::Refused);
        }
        let mut registers = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        let register = registers.get_mut(usize::from(address)).ok_or(DeviceError::NoRegister)?;
        *register = value;
        Ok(())
    }

    /// The version of its firmware, asked by a library that blocks.
    pub(crate) fn firmware(&self) -> String {
        std::thread::sleep(self.latency);
        "1.4.2".to_owned()
    }
}
