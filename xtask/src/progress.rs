//! Progress of long commands: a bar on a terminal, lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Steps of a known number, done by any thread.
pub(crate) struct Progress {
    what: &'static str,
    bar: ProgressBar,
    last_line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Shows that nothing of `steps` is done yet.
    pub(crate) fn new(what: &'static str, steps: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        let style = ProgressStyle::with_template("{prefix:<10} {bar:30} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what);
        Self { what, bar, last_line: (!terminal).then(|| Mutex::new(Instant::now())) }
    }

    /// One step more is done.
    pub(crate) fn step(&self, name: &str) {
        self.bar.inc(1);
        self.bar.set_message(name.to_owned());
        let Some(last) = self.last_line.as_ref().and_then(|last| last.lock().ok()) else {
            return;
        };
        let mut last = last;
        if last.elapsed() >= LINE_EVERY {
            *last = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            eprintln!("{:<10} {done}/{all} {name}", self.what);
        }
    }

    /// Leaves one line instead of the bar.
    pub(crate) fn finish(self, text: &str) {
        self.bar.finish_and_clear();
        eprintln!("{:<10} {text}", self.what);
    }
}
