//! The documented repairs of a run: read, applied to their files, told.

use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::repair::Repair;
use crate::source;

#[derive(Clone, Debug)]
pub(super) enum RepairInput {
    File(PathBuf),
    Text { name: String, text: String },
}

/// The repairs of a run, which of them were used, and what there is to say.
pub(super) struct Repairs {
    pub(super) known: Vec<(Repair, bool)>,
    said: Vec<Diagnostic>,
}

impl Repairs {
    pub(super) fn read(inputs: &[RepairInput], limit: usize, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut known = Vec::new();
        for input in inputs {
            let repair = match input {
                RepairInput::Text { name, text } => Repair::parse(name, text),
                RepairInput::File(path) => {
                    let name = path.display().to_string();
                    let text =
                        source::read_file(path, limit).and_then(|bytes| source::decode(&name, bytes, limit));
                    text.and_then(|text| Repair::parse(&name, &text))
                }
            };
            match repair {
                Ok(repair) => known.push((repair, false)),
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        Self { known, said: Vec::new() }
    }

    /// Applies what there is for the file with these bytes.
    pub(super) fn apply(&mut self, fingerprint: &str, file: u32, text: &mut String) {
        for (repair, used) in self.known.iter_mut().filter(|(repair, _)| repair.is_for(fingerprint)) {
            *used = true;
            self.said.push(*repair.apply(file, text));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.said.extend(self.known.iter().filter(|(_, used)| !used).map(|(repair, _)| repair.unused()));
        self.said
    }
}
