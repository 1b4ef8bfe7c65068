//! Which nodes an instance consists of, worked out before anything is changed.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use uaforge_codec::{NodeId, QualifiedName};

use super::sources::{self, Rule};
use super::{
    BrowsePath, Instantiate, InstantiateError, MAX_DEPTH, MAX_MEMBERS, Methods, Placeholder, path_text,
};
use crate::class::{AttributeId, NodeClass};
use crate::ids;
use crate::space::{AttributeValue, BrowseName, Direction, Node, ReferenceFilter, Snapshot};

/// A node to be made, or a node of the type to be shared.
pub(super) struct Planned<'a> {
    pub(super) path: BrowsePath,
    /// Where the attributes come from: the declaration, or the type for the instance itself.
    pub(super) declaration: Node<'a>,
    pub(super) type_definition: Option<Node<'a>>,
    /// A method of the type that is referred to.
    pub(super) is_shared: bool,
    /// An instance of a placeholder.
    pub(super) is_placeholder: bool,
    /// Declarations of its members; later ones override earlier ones.
    sources: Vec<Source<'a>>,
}

/// A node whose children are declarations. Children with one declaration in one context are one node,
/// though several paths lead to it.
#[derive(Clone, Copy)]
struct Source<'a> {
    node: Node<'a>,
    context: usize,
}

/// A reference between planned nodes.
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) reference_type: NodeId,
    pub(super) to: usize,
}

/// All of an instance; the first node is the instance itself.
pub(super) struct Plan<'a> {
    pub(super) nodes: Vec<Planned<'a>>,
    pub(super) links: Vec<Link>,
}

/// What several sources say about one browse name.
struct Declared<'a> {
    name: BrowseName<'a>,
    sources: Vec<Source<'a>>,
    /// Types of the references to the last source.
    reference_types: Vec<NodeId>,
    rule: Rule,
}

struct Planner<'a, 'r> {
    snapshot: &'a Snapshot,
    request: &'r Instantiate,
    hierarchical: ReferenceFilter,
    plan: Plan<'a>,
    /// Made from which declaration in which context.
    made: BTreeMap<(usize, NodeId), usize>,
    queue: VecDeque<usize>,
    wanted_found: Vec<bool>,
    placeholders_found: Vec<bool>,
}

pub(super) fn plan<'a>(request: &Instantiate, snapshot: &'a Snapshot) -> Result<Plan<'a>, InstantiateError> {
    let unknown = || InstantiateError::UnknownType(request.type_definition.clone());
    let root = snapshot.node(request.type_definition.as_ref()).ok_or_else(unknown)?;
    if !matches!(root.class(), NodeClass::ObjectType | NodeClass::VariableType) {
        return Err(unknown());
    }
    let filter = |id, subtypes| snapshot.reference_filter(ids::ns0(id), subtypes);
    let mut planner = Planner {
        snapshot,
        request,
        hierarchical: filter(ids::HIERARCHICAL_REFERENCES, true).ok_or_else(unknown)?,
        plan: Plan { nodes: Vec::new(), links: Vec::new() },
        made: BTreeMap::new(),
        queue: VecDeque::new(),
        wanted_found: vec![false; request.optional.len()],
        placeholders_found: vec![false; request.placeholders.len()],
    };
    planner.add(Vec::new(), root, Some(root), Vec::new())?;
    while let Some(index) = planner.queue.pop_front() {
        planner.expand(index)?;
    }
    planner.check_wanted()?;
    Ok(planner.plan)
}

impl<'a> Planner<'a, '_> {
    fn too_large(&self) -> InstantiateError {
        InstantiateError::TooLarge(self.request.type_definition.clone())
    }

    /// Plans a node whose members are those of its type and, overriding them, of its declarations.
    fn add(
        &mut self,
        path: BrowsePath,
        declaration: Node<'a>,
        type_definition: Option<Node<'a>>,
        declarations: Vec<Source<'a>>,
    ) -> Result<usize, InstantiateError> {
        let index = self.plan.nodes.len();
        if index > MAX_MEMBERS || path.len() > MAX_DEPTH {
            return Err(self.too_large());
        }
        // Members of abstract types do occur in models; the caller's own choice is held to the rule.
        let is_chosen = path.is_empty() && self.request.instance.is_none();
        if let Some(type_definition) = type_definition.filter(|node| is_chosen && is_abstract(*node)) {
            return Err(InstantiateError::AbstractType(type_definition.id().to_owned()));
        }
        let of_type = type_definition.map(|node| sources::of_type(self.snapshot, node));
        let of_type = of_type.unwrap_or_default().into_iter();
        let mut sources: Vec<Source<'a>> = of_type.map(|node| Source { node, context: index }).collect();
        for source in declarations {
            let mut with_interfaces = Vec::new();
            sources::add_with_interfaces(self.snapshot, source.node, &mut with_interfaces);
            sources.extend(with_interfaces.into_iter().map(|node| Source { node, context: source.context }));
        }
        let is_method = declaration.class() == NodeClass::Method;
        let is_shared = is_method && self.request.methods == Methods::Shared;
        let is_placeholder = false;
        self.plan.nodes.push(Planned {
            path,
            declaration,
            type_definition,
            is_shared,
            is_placeholder,
            sources,
        });
        if !is_shared {
            self.queue.push_back(index);
        }
        Ok(index)
    }

    fn expand(&mut self, index: usize) -> Result<(), InstantiateError> {
        let Some(node) = self.plan.nodes.get(index) else {
            return Ok(());
        };
        let (path, declared) = (node.path.clone(), self.declared(&node.sources));
        for member in declared {
            let name = QualifiedName::new(member.name.namespace, member.name.name);
            let mut member_path = path.clone();
            member_path.push(name);
            let is_made = match member.rule {
                Rule::Mandatory => {
                    self.note_wanted(&member_path);
                    true
                }
                Rule::Optional => self.note_wanted(&member_path),
                Rule::Placeholder => {
                    self.fill_placeholder(index, &path, &member_path, &member)?;
                    false
                }
                Rule::Other => false,
            };
            if is_made {
                self.make(index, member_path, &member)?;
            }
        }
        Ok(())
    }

    /// The declared members of all sources, by browse name in the order of first appearance.
    fn declared(&self, sources: &[Source<'a>]) -> Vec<Declared<'a>> {
        let mut list: Vec<Declared<'a>> = Vec::new();
        let mut by_name: BTreeMap<BrowseName<'a>, usize> = BTreeMap::new();
        for source in sources {
            for reference in source.node.references(Direction::Forward, self.hierarchical) {
                let Some(target) = reference.target().filter(|node| is_instance(*node)) else {
                    continue;
                };
                let is_subtype = self.snapshot.is_subtype(reference.type_id(), ids::ns0(ids::HAS_SUBTYPE));
                let Some(rule) = sources::rule(target).filter(|_| !is_subtype) else {
                    continue;
                };
                let reference_type = reference.type_id().to_owned();
                let next = Source { node: target, context: source.context };
                let name = target.browse_name();
                let at = *by_name.entry(name).or_insert(list.len());
                match list.get_mut(at) {
                    None => list.push(Declared {
                        name,
                        sources: vec![next],
                        reference_types: vec![reference_type],
                        rule,
                    }),
                    Some(known) => known.merge(next, reference_type, rule),
                }
            }
        }
        list
    }

    /// Makes one member, or a further reference to the node that this declaration has become already.
    fn make(
        &mut self,
        parent: usize,
        path: BrowsePath,
        member: &Declared<'a>,
    ) -> Result<(), InstantiateError> {
        let Some(last) = member.sources.last().copied() else {
            return Ok(());
        };
        let key = (last.context, last.node.id().to_owned());
        let child = match self.made.get(&key) {
            Some(child) => *child,
            None => {
                let definition = last.node.type_definition();
                let definition = definition.and_then(|id| self.snapshot.node(id));
                let child = self.add(path, last.node, definition, member.sources.clone())?;
                self.made.insert(key, child);
                child
            }
        };
        self.link(parent, child, &member.reference_types);
        Ok(())
    }

    fn fill_placeholder(
        &mut self,
        parent: usize,
        path: &[QualifiedName],
        placeholder_path: &[QualifiedName],
        member: &Declared<'a>,
    ) -> Result<(), InstantiateError> {
        let Some(last) = member.sources.last().copied() else {
            return Ok(());
        };
        let request = self.request;
        for (at, wanted) in request.placeholders.iter().enumerate() {
            if wanted.path != placeholder_path {
                continue;
            }
            if let Some(found) = self.placeholders_found.get_mut(at) {
                *found = true;
            }
            let definition = self.type_of_placeholder(wanted, last.node)?;
            let mut child_path = path.to_vec();
            child_path.push(wanted.name.clone());
            let child = self.add(child_path, last.node, definition, member.sources.clone())?;
            if let Some(made) = self.plan.nodes.get_mut(child) {
                made.is_placeholder = true;
            }
            self.link(parent, child, &member.reference_types);
        }
        Ok(())
    }

    fn type_of_placeholder(
        &self,
        wanted: &Placeholder,
        declaration: Node<'a>,
    ) -> Result<Option<Node<'a>>, InstantiateError> {
        let declared = declaration.type_definition();
        let Some(given) = &wanted.type_definition else {
            return Ok(declared.and_then(|id| self.snapshot.node(id)));
        };
        let fits = declared.is_some_and(|declared| self.snapshot.is_subtype(given.as_ref(), declared));
        match self.snapshot.node(given.as_ref()).filter(|_| fits) {
            Some(node) => Ok(Some(node)),
            None => Err(InstantiateError::UnknownType(given.clone())),
        }
    }

    fn link(&mut self, from: usize, to: usize, reference_types: &[NodeId]) {
        for reference_type in reference_types {
            self.plan.links.push(Link { from, reference_type: reference_type.clone(), to });
        }
    }

    /// True if this member or one below it was asked for.
    fn note_wanted(&mut self, path: &[QualifiedName]) -> bool {
        let mut is_wanted =
            self.request.placeholders.iter().any(|p| p.path.len() > path.len() && p.path.starts_with(path));
        for (wanted, found) in self.request.optional.iter().zip(&mut self.wanted_found) {
            if wanted.starts_with(path) {
                is_wanted = true;
                *found |= wanted.len() == path.len();
            }
        }
        is_wanted
    }

    fn check_wanted(&self) -> Result<(), InstantiateError> {
        let optional = self.request.optional.iter().zip(&self.wanted_found);
        let placeholders = self.request.placeholders.iter().map(|p| &p.path);
        let missing = optional.chain(placeholders.zip(&self.placeholders_found)).find(|(_, found)| !**found);
        match missing {
            None => Ok(()),
            Some((path, _)) => Err(InstantiateError::NoSuchMember {
                type_definition: self.request.type_definition.clone(),
                path: path_text(path),
            }),
        }
    }
}

impl<'a> Declared<'a> {
    /// A further declaration: a later source overrides, a further reference of the same one adds.
    fn merge(&mut self, next: Source<'a>, reference_type: NodeId, rule: Rule) {
        let same = self.sources.last().is_some_and(|last| last.node.id() == next.node.id());
        if same {
            if !self.reference_types.contains(&reference_type) {
                self.reference_types.push(reference_type);
            }
            return;
        }
        self.sources.push(next);
        self.reference_types = vec![reference_type];
        self.rule = rule;
    }
}

fn is_instance(node: Node<'_>) -> bool {
    matches!(node.class(), NodeClass::Object | NodeClass::Variable | NodeClass::Method)
}

fn is_abstract(node: Node<'_>) -> bool {
    matches!(node.attribute(AttributeId::IsAbstract), Ok(AttributeValue::Boolean(true)))
}
