//! What is checked: the steps that every client carries out, and what must come of them.

use super::matching;
use super::statuses::Statuses;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const FOLDER: &str = "tests/interop";

/// One named check: requests of one session with their expected outcomes.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    pub(super) name: String,
    /// What of the specification it holds a server to.
    pub(super) clause: String,
    /// `open`: in a session that is there; `alone`: on a connection of its own without a session.
    session: String,
    pub(super) steps: Vec<Value>,
}

/// What a peer does otherwise than the check asks. Each stands in `tests/peers.md` too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Habit {
    pub(super) peer: String,
    pub(super) role: Role,
    pub(super) check: String,
    /// Why the peer may be left as it is.
    pub(super) why: String,
    /// The outcomes that are expected instead, by step; null where the check's own holds.
    #[serde(default)]
    pub(super) expect: Vec<Value>,
    /// Part of the error that the peer's client gives up with.
    #[serde(default)]
    pub(super) error: Option<String>,
    /// The check is left out, since the peer would not live through it.
    #[serde(default)]
    pub(super) spared: bool,
}

/// The side that a peer takes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Client,
    Server,
}

/// All checks, with the habits of peers.
pub(super) struct Plan {
    uri: String,
    pub(super) checks: Vec<Check>,
    pub(super) habits: Vec<Habit>,
    statuses: Statuses,
}

#[derive(Deserialize)]
struct Space {
    uri: String,
    variables: Vec<Variable>,
    values: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    value: String,
}

impl Plan {
    /// Reads the checks whose name begins with `prefix`.
    pub(super) fn read(root: &Path, prefix: &str) -> Result<Self> {
        let folder = root.join(FOLDER);
        let space: Space = parse(&folder.join("space.json"))?;
        let statuses = Statuses::read(root)?;
        let mut values = space.values;
        values.extend(space.variables.into_iter().map(|variable| (variable.name, variable.value)));
        let mut files: Vec<_> = fs::read_dir(folder.join("checks"))
            .context("there are no checks")?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        files.sort();
        let mut checks = Vec::new();
        for file in files {
            for mut check in parse::<Vec<Check>>(&file)? {
                for step in &mut check.steps {
                    expand(step, &values).with_context(|| check.name.clone())?;
                }
                checks.push(check);
            }
        }
        let mut habits: Vec<Habit> = parse(&folder.join("habits.json"))?;
        for habit in &mut habits {
            for step in &mut habit.expect {
                expand(step, &values).with_context(|| habit.check.clone())?;
            }
        }
        let plan = Self { uri: space.uri, checks, habits, statuses };
        plan.check_names()?;
        Ok(plan.only(prefix))
    }

    fn check_names(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for check in &self.checks {
            if !names.insert(&check.name) {
                bail!("two checks are called {}", check.name);
            }
            if check.steps.iter().all(|step| step.get("expect").is_none()) {
                bail!("{} expects nothing", check.name);
            }
        }
        match self.habits.iter().find(|habit| !names.contains(&habit.check)) {
            Some(habit) => bail!("{} has a habit in {}, which is no check", habit.peer, habit.check),
            None => Ok(()),
        }
    }

    fn only(mut self, prefix: &str) -> Self {
        self.checks.retain(|check| check.name.starts_with(prefix));
        self
    }

    /// The steps for a client, without what is expected and what the peer is spared.
    pub(super) fn for_clients(&self, peer: &str, role: Role) -> Result<Value> {
        let spared = |check: &&Check| self.habit(peer, role, &check.name).is_some_and(|habit| habit.spared);
        let checks = self.checks.iter().filter(|check| !spared(check)).map(|check| {
            let steps = check.steps.iter().map(|step| self.for_client(step)).collect::<Result<Vec<_>>>()?;
            Ok(json!({ "name": check.name, "session": check.session, "steps": steps }))
        });
        Ok(json!({ "uri": self.uri, "checks": checks.collect::<Result<Vec<_>>>()? }))
    }

    fn for_client(&self, step: &Value) -> Result<Value> {
        let mut step = step.as_object().cloned().unwrap_or_default();
        step.remove("expect");
        for item in step.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(status) = item.get_mut("status") {
                *status = self.statuses.number(status.as_str().unwrap_or_default())?.into();
            }
        }
        Ok(Value::Object(step))
    }

    /// The habit of a peer in a check.
    pub(super) fn habit(&self, peer: &str, role: Role, check: &str) -> Option<&Habit> {
        self.habits.iter().find(|habit| habit.peer == peer && habit.role == role && habit.check == check)
    }

    /// What of the outcomes is not as expected. `instead` replaces the expectations of steps.
    pub(super) fn differences(&self, check: &Check, outcomes: &[Value], instead: &[Value]) -> Vec<String> {
        let mut found = Vec::new();
        for (number, step) in check.steps.iter().enumerate() {
            let other = instead.get(number).filter(|value| !value.is_null());
            let Some(expected) = other.or_else(|| step.get("expect")) else { continue };
            let Some(outcome) = outcomes.get(number) else {
                found.push(format!("step {number} was not reached"));
                break;
            };
            let mut outcome = outcome.clone();
            self.statuses.name_all(&mut outcome);
            let before = found.len();
            matching::compare(expected, &outcome, &format!("step {number}"), &mut found);
            if found.len() > before {
                break;
            }
        }
        found
    }
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Replaces texts `@name` by the value of that name.
fn expand(value: &mut Value, values: &BTreeMap<String, String>) -> Result<()> {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix('@') {
                *text = values.get(name).with_context(|| format!("there is no value @{name}"))?.clone();
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| expand(item, values)),
        Value::Object(fields) => Map::values_mut(fields).try_for_each(|field| expand(field, values)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;
    use crate::workspace;
    use std::fs;

    #[test]
    fn every_habit_stands_in_the_list_of_habits() {
        let root = workspace::root();
        let plan = Plan::read(&root, "").unwrap();
        let list = fs::read_to_string(root.join("tests/peers.md")).unwrap();
        for habit in &plan.habits {
            let section = list.split("\n## ").find(|section| section.starts_with(&habit.peer));
            let named = section.is_some_and(|section| section.contains(&format!("`{}`", habit.check)));
            assert!(named, "{} of {} is not in tests/peers.md", habit.check, habit.peer);
            assert!(!habit.why.is_empty());
            assert!(habit.spared || habit.error.is_some() || !habit.expect.is_empty(), "{}", habit.check);
        }
    }
}
