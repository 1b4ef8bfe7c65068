//! The scenarios. Each runs all subjects in turn, round by round, and gives rows of figures.

mod connect;
mod idle;
mod requests;
mod slow_reader;
mod start;

use anyhow::Result;

use crate::load::Shape;
use crate::report::Row;
use crate::subject::Subject;
use crate::template::Request;

/// What every scenario is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds; each has every subject once.
    pub rounds: usize,
    /// Seconds of load of one subject in one round.
    pub seconds: f64,
}

/// A scenario by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scenario {
    /// Read of one value: outstanding requests times clients.
    Read,
    /// Read of a hundred values.
    Read100,
    /// Write of a hundred values.
    Write100,
    /// Browse of the Server object.
    Browse,
    /// Open a channel and a session, activate, close.
    Connect,
    /// From exec to the first value.
    Start,
    /// Memory of sessions that do nothing.
    Idle,
    /// One client that does not read, and others beside it.
    SlowReader,
}

impl Scenario {
    /// All of them, in the order of the table.
    pub const ALL: &'static [Self] = &[
        Self::Read,
        Self::Read100,
        Self::Write100,
        Self::Browse,
        Self::Connect,
        Self::Start,
        Self::Idle,
        Self::SlowReader,
    ];

    /// Runs it.
    ///
    /// # Errors
    /// The first subject, which is the project's own server, failed. A peer that fails has a row that says so.
    pub fn run(self, subjects: &[Subject], options: &Options) -> Result<Vec<Row>> {
        let shapes = |request, shapes: &[(usize, usize)]| -> Vec<Shape> {
            shapes.iter().map(|&(clients, outstanding)| Shape { request, clients, outstanding }).collect()
        };
        match self {
            Self::Read => {
                let all = shapes(Request::Read(1), &[(10, 1), (10, 10), (10, 100), (10, 1000), (1, 1000)]);
                requests::run("Read 1", &all, subjects, options)
            }
            Self::Read100 => {
                let all = shapes(Request::Read(100), &[(10, 1), (10, 10)]);
                requests::run("Read 100", &all, subjects, options)
            }
            Self::Write100 => {
                let all = shapes(Request::Write(100), &[(10, 1), (10, 10)]);
                requests::run("Write 100", &all, subjects, options)
            }
            Self::Browse => {
                let all = shapes(Request::Browse, &[(10, 1), (10, 10)]);
                requests::run("Browse Server", &all, subjects, options)
            }
            Self::Connect => connect::run(subjects, options),
            Self::Start => start::run(subjects, options),
            Self::Idle => idle::run(subjects),
            Self::SlowReader => slow_reader::run(subjects),
        }
    }
}
