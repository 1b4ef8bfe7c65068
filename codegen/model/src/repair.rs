//! Documented repairs: patches of published files that contradict themselves, each with its reason and provenance.
//!
//! A repair is a text. Its first line is `uaforge-repair 1`; then come `file` with the SHA-256 of the file as it was
//! published, `why` and `source`, each with a tab before its text; then hunks as of a unified diff, without line
//! numbers: `@@`, and lines that begin with a blank (kept), `-` (taken away) or `+` (added).

use sha2::{Digest, Sha256};

use crate::canonical::hexadecimal;
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::Span;

/// The first line.
const MAGIC: &str = "uaforge-repair 1";

/// A repair of one published file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    name: String,
    /// SHA-256 of the file, in hexadecimal digits.
    file: String,
    why: String,
    source: String,
    hunks: Vec<Hunk>,
}

/// A place and what stands there afterwards.
#[derive(Clone, Debug, Default)]
struct Hunk {
    before: String,
    after: String,
}

/// SHA-256 of a file's bytes.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

impl Repair {
    /// Reads a repair; `name` stands for its path in messages.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        let broken = |number: usize, what: &str| {
            let message = format!("{name}:{number}: {what}");
            let help = "a repair has the lines `uaforge-repair 1`, `file`, `why` and `source`, then hunks after `@@`";
            Box::new(Diagnostic::error(codes::BROKEN_REPAIR, message).help(help))
        };
        let mut repair = Self { name: name.to_owned(), ..Self::default() };
        for (number, line) in (1..).zip(text.lines()) {
            let field = line.split_once('\t');
            match (field, repair.hunks.last_mut()) {
                _ if number == 1 => {
                    if line != MAGIC {
                        return Err(broken(number, "this is no repair"));
                    }
                }
                _ if line == "@@" => repair.hunks.push(Hunk::default()),
                (_, Some(hunk)) => hunk.line(line).map_err(|what| broken(number, what))?,
                (Some(("file", text)), None) => text.clone_into(&mut repair.file),
                (Some(("why", text)), None) => text.clone_into(&mut repair.why),
                (Some(("source", text)), None) => text.clone_into(&mut repair.source),
                _ => return Err(broken(number, "a line that is neither file, why, source nor @@")),
            }
        }
        let is_whole = [&repair.file, &repair.why, &repair.source].iter().all(|text| !text.is_empty());
        let fits = repair.hunks.iter().all(|hunk| !hunk.before.is_empty());
        if is_whole && fits && !repair.hunks.is_empty() {
            Ok(repair)
        } else {
            Err(broken(text.lines().count(), "file, why, source or a hunk with a place is missing"))
        }
    }

    /// True for the file with this fingerprint.
    pub(crate) fn is_for(&self, fingerprint: &str) -> bool {
        self.file == fingerprint
    }

    /// Repairs the text of the file; gives what to say of it.
    pub(crate) fn apply(&self, file: u32, text: &mut String) -> Box<Diagnostic> {
        let mut places = Vec::with_capacity(self.hunks.len());
        for (number, hunk) in (1..).zip(&self.hunks) {
            let Some(place) = hunk.apply(text) else {
                let message = format!(
                    "{}: the place of hunk {number} is not in the file, or more than once",
                    self.name
                );
                let help = "the file is the one that the repair names; write the hunk anew, with more lines around it";
                return Box::new(Diagnostic::error(codes::BROKEN_REPAIR, message).help(help));
            };
            places.push(Span { file, start: place as u32, end: place as u32 + 1 });
        }
        let message = format!("repaired by {}: {}", self.name, self.why);
        let mut note = Diagnostic::note(codes::REPAIRED, message).help(format!("see {}", self.source));
        let mut places = places.into_iter();
        if let Some(first) = places.next() {
            note = note.at(first);
        }
        Box::new(places.fold(note, |note, place| note.label(place, "and here")))
    }

    /// What to say of a repair whose file is not among the inputs.
    pub(crate) fn unused(&self) -> Diagnostic {
        let message = format!("{}: no file of this run has the SHA-256 {}", self.name, self.file);
        Diagnostic::warning(codes::BROKEN_REPAIR, message)
            .help("a repair is for one published file; another version needs another, or none")
    }
}

impl Hunk {
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        let mut letters = line.chars();
        let kind = letters.next();
        let parts: &mut [&mut String] = match kind {
            Some(' ') => &mut [&mut self.before, &mut self.after],
            Some('-') => &mut [&mut self.before],
            Some('+') => &mut [&mut self.after],
            _ => return Err("a line of a hunk begins with a blank, - or +"),
        };
        for part in parts {
            part.push_str(letters.as_str());
            part.push('\n');
        }
        Ok(())
    }

    /// Replaces the only place where it fits, with the line ends of the file; gives the place.
    fn apply(&self, text: &mut String) -> Option<usize> {
        let windows = text.contains("\r\n");
        let lines = |part: &str| if windows { part.replace('\n', "\r\n") } else { part.to_owned() };
        let (before, after) = (lines(&self.before), lines(&self.after));
        let place = text.find(&before)?;
        let again = text.get(place + 1..).is_some_and(|rest| rest.contains(&before));
        if again {
            return None;
        }
        text.replace_range(place..place + before.len(), &after);
        Some(place)
    }
}
