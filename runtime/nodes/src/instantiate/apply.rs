//! From the plan to nodes and references.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use uaforge_codec::{DecodeContext, LocalizedText, NodeId, QualifiedName, StatusCode, Variant};

use super::plan::{Plan, Planned};
use super::{IdRequest, Instance, Instantiate, InstantiateError, Member, RejectedStatus, path_text};
use crate::cell::ValueCell;
use crate::class::{AttributeId, NodeClass};
use crate::ids;
use crate::overlay::{ClassAttributes, Edit, NewNode, VariableAttributes};
use crate::space::{AttributeValue, Node, Snapshot};
use crate::status;

/// Attempts to find a free id for one node.
const MAX_ATTEMPTS: u32 = 1000;

fn rejected(what: impl ToString, status: StatusCode) -> InstantiateError {
    InstantiateError::Rejected { what: what.to_string(), status: RejectedStatus(status) }
}

/// A planned node in the address space.
struct Made {
    id: NodeId,
    cell: Option<Arc<ValueCell>>,
    /// It was there before.
    existed: bool,
}

pub(super) fn apply(
    request: &Instantiate,
    plan: &Plan<'_>,
    edit: &mut Edit,
) -> Result<Instance, InstantiateError> {
    let mut made: Vec<Made> = Vec::with_capacity(plan.nodes.len());
    for (index, node) in plan.nodes.iter().enumerate() {
        let parent = parent_of(plan, index).and_then(|at| made.get(at));
        let next = match existing(request, edit, node, parent)? {
            Some(existing) => existing,
            None => {
                let parent = parent.map_or(&request.parent, |made| &made.id);
                let id = free_id(request, edit, node, parent)?;
                make(request, edit, node, id)?
            }
        };
        made.push(next);
    }
    let nothing = Made { id: NodeId::NULL, cell: None, existed: false };
    let at = |index: usize| made.get(index).unwrap_or(&nothing);
    let root = at(0);
    if !root.existed {
        add_reference(edit, &request.parent, &request.reference_type, &root.id)?;
    }
    for link in &plan.links {
        let (from, to) = (at(link.from), at(link.to));
        let from_node = edit.snapshot().node(from.id.as_ref()).filter(|_| from.existed);
        let stands = from_node.is_some_and(|node| {
            edit.snapshot().has_reference(node, link.reference_type.as_ref(), to.id.as_ref())
        });
        if !stands {
            add_reference(edit, &from.id, &link.reference_type, &to.id)?;
        }
    }
    let (id, cell) = (root.id.clone(), root.cell.clone());
    let members = (plan.nodes.iter().zip(made).skip(1))
        .map(|(node, made)| Member {
            path: node.path.clone(),
            id: made.id,
            cell: made.cell,
            declaration: node.declaration.id().to_owned(),
        })
        .collect();
    Ok(Instance { id, cell, members })
}

/// The node that is there already: the instance that is extended, a member that it has, a method of
/// the type.
fn existing(
    request: &Instantiate,
    edit: &Edit,
    node: &Planned<'_>,
    parent: Option<&Made>,
) -> Result<Option<Made>, InstantiateError> {
    let made = |node: Node<'_>| Made { id: node.id().to_owned(), cell: node.cell().cloned(), existed: true };
    if node.is_shared {
        let id = node.declaration.id().to_owned();
        return Ok(Some(Made { id, cell: None, existed: false }));
    }
    if let Some(id) = request.instance.as_ref().filter(|_| node.path.is_empty()) {
        let found = edit.snapshot().node(id.as_ref());
        return match found {
            Some(node) => Ok(Some(made(node))),
            None => Err(rejected(id, status::BAD_NODE_ID_UNKNOWN)),
        };
    }
    let found = parent.filter(|parent| parent.existed).and_then(|parent| {
        let snapshot = edit.snapshot();
        let hierarchical = snapshot.reference_filter(ids::ns0(ids::HIERARCHICAL_REFERENCES), true)?;
        let name = node.path.last()?;
        let name_text = name.name.as_str().unwrap_or_default();
        let parent = snapshot.node(parent.id.as_ref())?;
        parent.follow(hierarchical, false, name.namespace_index, name_text).next()
    });
    match found {
        Some(_) if node.is_placeholder => {
            Err(rejected(path_text(&node.path), status::BAD_BROWSE_NAME_DUPLICATED))
        }
        found => Ok(found.map(made)),
    }
}

/// The node that the first reference to this one comes from.
fn parent_of(plan: &Plan<'_>, index: usize) -> Option<usize> {
    plan.links.iter().find(|link| link.to == index).map(|link| link.from)
}

fn add_reference(
    edit: &mut Edit,
    source: &NodeId,
    reference_type: &NodeId,
    target: &NodeId,
) -> Result<(), InstantiateError> {
    let what = || -> String { format!("reference {reference_type} from {source} to {target}") };
    edit.add_reference(source, reference_type, target).map_err(|status| rejected(what(), status))
}

fn browse_name(request: &Instantiate, node: &Planned<'_>) -> QualifiedName {
    node.path.last().unwrap_or(&request.browse_name).clone()
}

fn free_id(
    request: &Instantiate,
    edit: &Edit,
    node: &Planned<'_>,
    parent: &NodeId,
) -> Result<NodeId, InstantiateError> {
    let is_root = node.path.is_empty();
    if let Some(id) = request.node_id.as_ref().filter(|_| is_root) {
        return Ok(id.clone());
    }
    let browse_name = &browse_name(request, node);
    for attempt in 0..MAX_ATTEMPTS {
        let id = request.assign.assign(IdRequest { parent, is_root, browse_name, attempt });
        if edit.snapshot().node(id.as_ref()).is_none() {
            return Ok(id);
        }
        // Two instances of one name would be a mistake of the caller, not something to number.
        if is_root {
            return Err(rejected(id, status::BAD_NODE_ID_EXISTS));
        }
    }
    Err(rejected(path_text(&node.path), status::BAD_NODE_ID_EXISTS))
}

fn make(
    request: &Instantiate,
    edit: &mut Edit,
    node: &Planned<'_>,
    id: NodeId,
) -> Result<Made, InstantiateError> {
    let declaration = node.declaration;
    let attributes = attributes(declaration);
    let is_variable = matches!(attributes, ClassAttributes::Variable(_));
    let mut new = NewNode::new(id.clone(), browse_name(request, node), attributes);
    if !node.path.is_empty() && !node.is_placeholder {
        let text = declaration.display_name();
        new.display_name = LocalizedText {
            locale: Some(text.locale).filter(|locale| !locale.is_empty()).into(),
            text: text.text.into(),
        };
    }
    let reject = |status| rejected(&id, status);
    edit.add_node(new).map_err(reject)?;
    if let Some(definition) = node.type_definition {
        let has_type_definition = ids::ns0(ids::HAS_TYPE_DEFINITION).to_owned();
        add_reference(edit, &id, &has_type_definition, &definition.id().to_owned())?;
    }
    if !is_variable {
        return Ok(Made { id, cell: None, existed: false });
    }
    let cell = Arc::new(ValueCell::new(initial_value(edit.snapshot(), declaration)));
    edit.attach_cell(&id, Arc::clone(&cell)).map_err(reject)?;
    Ok(Made { id, cell: Some(cell), existed: false })
}

/// The value that the declaration has, else Null.
fn initial_value(snapshot: &Snapshot, declaration: Node<'_>) -> Variant {
    let cx = DecodeContext { namespaces: snapshot.namespaces(), ..DecodeContext::default() };
    let value = declaration.attribute(AttributeId::Value);
    value.ok().and_then(|value| value.to_variant(cx).ok()).unwrap_or_default()
}

/// The attributes of an instance of a declaration or type.
fn attributes(declaration: Node<'_>) -> ClassAttributes {
    match declaration.class() {
        NodeClass::Variable | NodeClass::VariableType => {
            ClassAttributes::Variable(variable_attributes(declaration))
        }
        NodeClass::Method => ClassAttributes::Method { executable: true },
        _ => ClassAttributes::Object { event_notifier: byte(declaration, AttributeId::EventNotifier) },
    }
}

fn byte(node: Node<'_>, id: AttributeId) -> u8 {
    match node.attribute(id) {
        Ok(AttributeValue::Byte(value)) => value,
        _ => 0,
    }
}

fn variable_attributes(node: Node<'_>) -> VariableAttributes {
    let mut out = VariableAttributes::default();
    if let Ok(AttributeValue::NodeId(id)) = node.attribute(AttributeId::DataType) {
        out.data_type = id.to_owned();
    }
    if let Ok(AttributeValue::Int32(rank)) = node.attribute(AttributeId::ValueRank) {
        out.value_rank = rank;
    }
    if let Ok(AttributeValue::Dimensions(dimensions)) = node.attribute(AttributeId::ArrayDimensions) {
        out.array_dimensions = dimensions.to_vec();
    }
    if let Ok(AttributeValue::UInt32(access)) = node.attribute(AttributeId::AccessLevelEx) {
        out.access_level = access;
    }
    if let Ok(AttributeValue::Double(interval)) = node.attribute(AttributeId::MinimumSamplingInterval) {
        out.minimum_sampling_interval = interval;
    }
    if let Ok(AttributeValue::Boolean(historizing)) = node.attribute(AttributeId::Historizing) {
        out.historizing = historizing;
    }
    out
}
