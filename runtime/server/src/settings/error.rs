//! What is wrong with a settings file, where, and what was perhaps meant.

use core::fmt;
use std::path::PathBuf;

/// Why settings cannot be taken from a file: place, reason, help.
#[derive(Debug)]
pub struct SettingsError {
    file: Option<PathBuf>,
    /// Line and column, from 1.
    place: Option<(usize, usize)>,
    message: String,
    help: Option<String>,
}

/// Names that differ more than this are not guessed.
const SIMILAR: f64 = 0.75;

impl SettingsError {
    /// The line, from 1, if the file could be read.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }

    /// The key that was perhaps meant, or another advice.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    pub(super) fn in_file(mut self, file: PathBuf) -> Self {
        self.file = Some(file);
        self
    }

    pub(super) fn unreadable(file: PathBuf, reason: &std::io::Error) -> Self {
        Self { file: Some(file), place: None, message: format!("cannot be read: {reason}"), help: None }
    }

    pub(super) fn parse(text: &str, error: &toml::de::Error) -> Self {
        let place = error.span().map(|span| place(text, span.start));
        let message = error.message().trim();
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let Some((unknown, known)) = names.split_first().filter(|_| message.starts_with("unknown field"))
        else {
            return Self { file: None, place, message: message.to_owned(), help: None };
        };
        let likeness = |name: &&&str| strsim::jaro_winkler(unknown, name);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let help = match nearest.filter(|name| likeness(name) >= SIMILAR) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known keys here: {}", known.join(", ")),
        };
        Self { file: None, place, message: format!("unknown key `{unknown}`"), help: Some(help) }
    }
}

/// Line and column of an offset, from 1; columns count characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => f.write_str("settings")?,
        }
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for SettingsError {}
