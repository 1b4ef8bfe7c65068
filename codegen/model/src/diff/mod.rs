//! What changed between two versions of a model, and whom it breaks.
//!
//! Nodes are compared by id, ids by namespace URI. A node that kept its place and lost its id is one change, not
//! two. What is inside of something added or removed is not told again.

mod definitions;
mod nodes;
mod pairs;
mod references;
mod requirements;
mod side;

use crate::resolved::ModelSet;
use side::Side;

/// Whom a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Texts, constants or hints: programs that run go on to run.
    Behavioural,
    /// Something new that nobody has to know.
    Additive,
    /// A server of the old version is no server of the new one.
    BreakingServers,
    /// A client of the old version meets something that it does not expect.
    BreakingClients,
}

impl Class {
    /// The word of messages and JSON lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Behavioural => "behavioural",
            Class::Additive => "additive",
            Class::BreakingServers => "breaking-servers",
            Class::BreakingClients => "breaking-clients",
        }
    }
}

const BOTH: &[Class] = &[Class::BreakingServers, Class::BreakingClients];
const CLIENTS: &[Class] = &[Class::BreakingClients];
const SERVERS: &[Class] = &[Class::BreakingServers];
const ADDITIVE: &[Class] = &[Class::Additive];
const BEHAVIOURAL: &[Class] = &[Class::Behavioural];

/// The part of a semantic version that has to rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bump {
    /// Nothing changed.
    None,
    /// Behavioural changes only.
    Patch,
    /// Something was added.
    Minor,
    /// Something breaks clients or servers.
    Major,
}

impl Bump {
    /// The word of JSON lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Bump::None => "none",
            Bump::Patch => "patch",
            Bump::Minor => "minor",
            Bump::Major => "major",
        }
    }

    /// For a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Bump::None => "no new version",
            Bump::Patch => "a new patch version",
            Bump::Minor => "a new minor version",
            Bump::Major => "a new major version",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What kind of change, a stable word such as `field-removed`.
    pub kind: &'static str,
    /// Whom it concerns.
    pub classes: &'static [Class],
    /// The model's URI.
    pub model: String,
    /// The node, with the URI of its namespace; `None` for what concerns the whole model.
    pub node: Option<String>,
    /// The node's browse path inside the model, as the new version has it.
    pub name: Option<String>,
    /// One sentence.
    pub message: String,
}

/// All changes, in the order of models and nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The changes.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// The bump that the changes need together.
    pub fn bump(&self) -> Bump {
        let classes = self.changes.iter().flat_map(|change| change.classes);
        let bump = |class: &Class| match class {
            Class::Behavioural => Bump::Patch,
            Class::Additive => Bump::Minor,
            Class::BreakingServers | Class::BreakingClients => Bump::Major,
        };
        classes.map(bump).max().unwrap_or(Bump::None)
    }
}

/// Compares the models with these URIs. A value that an interface file leaves out is not compared.
pub fn compare(old: &ModelSet, old_uris: &[String], new: &ModelSet, new_uris: &[String]) -> Comparison {
    let mut report = Report::default();
    for uri in old_uris.iter().filter(|uri| !new_uris.contains(uri)) {
        uri.clone_into(&mut report.model);
        report.of_model("model-removed", BOTH, format!("the model {uri} is gone"));
    }
    for uri in new_uris {
        uri.clone_into(&mut report.model);
        let (Some(before), Some(after)) = (Side::new(old, uri), Side::new(new, uri)) else {
            report.of_model("model-added", ADDITIVE, format!("the model {uri} is new"));
            continue;
        };
        if !old_uris.contains(uri) {
            report.of_model("model-added", ADDITIVE, format!("the model {uri} is new"));
            continue;
        }
        requirements::compare(&mut report, &before, &after);
        let pairs = pairs::pair(&before, &after);
        nodes::compare(&mut report, &before, &after, &pairs);
        references::compare(&mut report, &before, &after, &pairs);
        requirements::version(&mut report, &before, &after);
    }
    Comparison { changes: report.changes }
}

/// Collects changes.
#[derive(Default)]
struct Report {
    model: String,
    changes: Vec<Change>,
}

impl Report {
    fn of_model(&mut self, kind: &'static str, classes: &'static [Class], message: String) {
        let model = self.model.clone();
        self.changes.push(Change { kind, classes, model, node: None, name: None, message });
    }

    /// `said` goes on after the node's path.
    fn of_node(&mut self, kind: &'static str, classes: &'static [Class], at: &At, said: &str) {
        let message = format!("{} ({}) {said}", at.path, at.id);
        let (node, name) = (Some(at.id.clone()), Some(at.path.clone()));
        self.changes.push(Change { kind, classes, model: self.model.clone(), node, name, message });
    }
}

/// A node in messages.
struct At {
    id: String,
    path: String,
}
