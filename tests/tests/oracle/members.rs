//! Object types and variable types with all their members.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use uaforge_model::canonical::{class_name, hash};
use uaforge_model::query::well_known::GENERATES_EVENT;
use uaforge_model::query::{Declaration, MandatoryInstances, ModellingRule};
use uaforge_model::resolved::{Id, Node, NodeClass, QName, Value as UaValue};

use crate::facts::Facts;

const FROM_STATE: Id = Id::ns0(51);
const TO_STATE: Id = Id::ns0(52);
const STATE_TYPE: Id = Id::ns0(2307);
const TRANSITION_TYPE: Id = Id::ns0(2310);

fn rule(rule: ModellingRule) -> &'static str {
    match rule {
        ModellingRule::Mandatory => "M",
        ModellingRule::Optional => "O",
        ModellingRule::MandatoryPlaceholder => "MP",
        ModellingRule::OptionalPlaceholder => "OP",
        ModellingRule::ExposesItsArray => "E",
        ModellingRule::Other => "?",
    }
}

impl Facts<'_> {
    pub(crate) fn instance_types(&self, class: NodeClass) -> Value {
        let mut instances = MandatoryInstances::new();
        self.nodes(class).map(|node| self.instance_type(node, &mut instances)).collect::<Vec<_>>().into()
    }

    fn instance_type(&self, node: &Node, instances: &mut MandatoryInstances) -> Value {
        let id = &node.id;
        let mut entry = Map::new();
        entry.insert("name".into(), self.name(&node.browse_name).into());
        entry.insert("id".into(), self.id(id).into());
        if let Some(name) = &node.symbolic_name {
            entry.insert("symbolic".into(), name.as_str().into());
        }
        if node.is_abstract {
            entry.insert("abstract".into(), true.into());
        }
        let chain: Vec<String> = self.set.supertypes(id).into_iter().map(|base| self.name_of(base)).collect();
        entry.insert("chain".into(), chain.into());
        if node.class == NodeClass::VariableType {
            entry.insert("data_type".into(), self.name_of(&node.data_type).into());
            entry.insert("rank".into(), node.value_rank.into());
        }
        self.names(&mut entry, "interfaces", self.set.interfaces(id));
        let events = self.set.forward(id).iter();
        let events = events.filter(|link| self.set.is_subtype_of(&link.reference_type, &GENERATES_EVENT));
        self.names(&mut entry, "generates_events", events.map(|link| &link.target));
        let declarations = self.set.declarations(id);
        let mut rows: Vec<(String, Value)> = declarations.iter().map(|row| self.row(row)).collect();
        rows.sort_by(|first, second| first.0.cmp(&second.0));
        entry.insert("declarations".into(), rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>().into());
        let mut paths: Vec<String> =
            instances.paths(self.set, id).iter().map(|path| self.path(path)).collect();
        paths.sort();
        entry.insert("mandatory_instance".into(), json!([paths.len(), hash(&paths)]));
        self.not_repeated(id, &declarations, &mut entry);
        self.without_rule(id, &mut entry);
        entry.into()
    }

    fn names<'i>(&self, entry: &mut Map<String, Value>, key: &str, ids: impl Iterator<Item = &'i Id>) {
        let names: BTreeSet<String> = ids.map(|id| self.name_of(id)).collect();
        if !names.is_empty() {
            entry.insert(key.into(), names.into_iter().collect::<Vec<_>>().into());
        }
    }

    fn path(&self, path: &[QName]) -> String {
        let names = path.iter().map(|name| self.name(name).replace('&', "&&").replace('/', "&/"));
        names.collect::<Vec<_>>().join("/")
    }

    fn row(&self, row: &Declaration<'_>) -> (String, Value) {
        let node = row.node;
        let variable = node.class == NodeClass::Variable;
        let definition =
            (node.class != NodeClass::Method).then(|| self.set.type_definition(&node.id)).flatten();
        let references: Vec<String> = row.reference_types.iter().map(|id| self.name_of(id)).collect();
        let path = self.path(&row.path);
        let value = json!([
            path,
            class_name(node.class),
            rule(row.rule),
            self.id(&node.id),
            definition.map(|id| self.name_of(id)),
            variable.then(|| self.name_of(&node.data_type)),
            variable.then_some(node.value_rank),
            references.join(","),
            row.depth,
        ]);
        (path, value)
    }

    fn not_repeated(&self, id: &Id, own: &[Declaration<'_>], entry: &mut Map<String, Value>) {
        let known: BTreeSet<&[QName]> = own.iter().map(|row| row.path.as_slice()).collect();
        let mut lines = BTreeSet::new();
        let chain = std::iter::once(id).chain(self.set.supertypes(id));
        for interface in chain.flat_map(|id| self.set.interfaces(id)) {
            for row in self.set.declarations(interface) {
                // What stands below such a member goes without saying.
                let parent = row.path.split_last().map_or(&[][..], |(_, parent)| parent);
                let reached = parent.is_empty() || known.contains(parent);
                if reached && !known.contains(row.path.as_slice()) {
                    let name = self.name_of(interface);
                    lines.insert(format!("{name} {} {}", rule(row.rule), self.path(&row.path)));
                }
            }
        }
        if !lines.is_empty() {
            entry.insert(
                "interface_members_not_repeated".into(),
                lines.into_iter().collect::<Vec<_>>().into(),
            );
        }
    }

    /// States, transitions and other components without a modelling rule.
    fn without_rule(&self, id: &Id, entry: &mut Map<String, Value>) {
        let (mut states, mut transitions, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (_, node) in self.set.children(id).filter(|(_, node)| self.set.modelling_rule(&node.id).is_none())
        {
            let (name, node_id) = (self.name(&node.browse_name), self.id(&node.id));
            let definition = self.set.type_definition(&node.id);
            let below = |base: &Id| definition.is_some_and(|id| self.set.is_subtype_of(id, base));
            let type_name = definition.map(|id| self.name_of(id));
            if below(&STATE_TYPE) {
                states.push((
                    name.clone(),
                    json!([name, node_id, type_name, self.number(node, "StateNumber")]),
                ));
            } else if below(&TRANSITION_TYPE) {
                let (from, to) = (self.ends(node, &FROM_STATE), self.ends(node, &TO_STATE));
                let number = self.number(node, "TransitionNumber");
                transitions.push((name.clone(), json!([name, node_id, from, to, number])));
            } else {
                others.push((name.clone(), json!([name, node_id, class_name(node.class), type_name])));
            }
        }
        for (key, mut rows) in
            [("states", states), ("transitions", transitions), ("undeclared_children", others)]
        {
            rows.sort_by(|first, second| first.0.cmp(&second.0));
            if !rows.is_empty() {
                entry.insert(key.into(), rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>().into());
            }
        }
    }

    fn ends(&self, node: &Node, reference_type: &Id) -> Vec<String> {
        let links = self.set.forward(&node.id).iter().filter(|link| link.reference_type == *reference_type);
        let mut names: Vec<String> = links.map(|link| self.name_of(&link.target)).collect();
        names.sort();
        names
    }

    fn number(&self, node: &Node, name: &str) -> Option<String> {
        match self.set.property(&node.id, name)?.value {
            Some(UaValue::UInt32(number)) => Some(number.to_string()),
            _ => None,
        }
    }
}
