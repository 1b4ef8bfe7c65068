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

pub(super) fn apply(
    request: &Instantiate,
    plan: &Plan<'_>,
    edit: &mut Edit,
) -> Result<Instance, InstantiateError> {
    let mut made: Vec<(NodeId, Option<Arc<ValueCell>>)> = Vec::with_capacity(plan.nodes.len());
    for (index, node) in plan.nodes.iter().enumerate() {
        if node.is_shared {
            made.push((node.declaration.id().to_owned(), None));
            continue;
        }
        let parent = parent_of(plan, index).and_then(|at| made.get(at)).map(|(id, _)| id);
        let parent = parent.unwrap_or(&request.parent);
        let id = free_id(request, edit, node, parent)?;
        made.push(make(request, edit, node, id)?);
    }
    let id_of = |index: usize| made.get(index).map_or(NodeId::NULL, |(id, _)| id.clone());
    let root = id_of(0);
    add_reference(edit, &request.parent, &request.reference_type, &root)?;
    for link in &plan.links {
        add_reference(edit, &id_of(link.from), &link.reference_type, &id_of(link.to))?;
    }
    let mut made = made.into_iter();
    let cell = made.next().and_then(|(_, cell)| cell);
    let members = (plan.nodes.iter().skip(1).zip(made))
        .map(|(node, (id, cell))| Member {
            path: node.path.clone(),
            id,
            cell,
            declaration: node.declaration.id().to_owned(),
        })
        .collect();
    Ok(Instance { id: root, cell, members })
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
) -> Result<(NodeId, Option<Arc<ValueCell>>), InstantiateError> {
    let declaration = node.declaration;
    let attributes = attributes(declaration);
    let is_variable = matches!(attributes, ClassAttributes::Variable(_));
    let mut new = NewNode::new(id.clone(), browse_name(request, node), attributes);
    let is_placeholder = declaration.browse_name().name != new.browse_name.name.as_str().unwrap_or("");
    if !node.path.is_empty() && !is_placeholder {
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
        return Ok((id, None));
    }
    let cell = Arc::new(ValueCell::new(initial_value(edit.snapshot(), declaration)));
    edit.attach_cell(&id, Arc::clone(&cell)).map_err(reject)?;
    Ok((id, Some(cell)))
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
