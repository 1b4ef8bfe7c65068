//! Methods of ObjectTypes: their arguments, and which of them a type's handlers have to handle.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use uaforge_emit::objects::{Argument, Signature};
use uaforge_model::resolved::{Id, ModelSet, Node, NodeClass, Value};

use super::members::{self, Declaration, ModellingRule};
use crate::data_types::{Cx, value_type};
use crate::names::Scope;

/// HasOptionalInputArgumentDescription (OPC 10000-3 §7.23).
const HAS_OPTIONAL_INPUT: Id = Id::ns0(131);

/// The properties that state arguments (OPC 10000-3 §5.7).
const PROPERTIES: [&str; 2] = ["InputArguments", "OutputArguments"];

/// An argument as the model states it (Argument, OPC 10000-3 §8.6).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stated {
    name: String,
    data_type: Id,
    value_rank: i32,
    is_optional: bool,
}

/// The arguments of a Method; `None` where the model has the property without a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arguments {
    inputs: Option<Vec<Stated>>,
    outputs: Option<Vec<Stated>>,
}

/// The Methods of all models.
pub(super) struct Methods<'a> {
    set: &'a ModelSet,
    /// Methods by the one that they name as their declaration.
    declared_after: BTreeMap<&'a Id, Vec<&'a Node>>,
}

impl<'a> Methods<'a> {
    pub(super) fn new(set: &'a ModelSet) -> Self {
        let mut declared_after: BTreeMap<&Id, Vec<&Node>> = BTreeMap::new();
        for node in set.models.iter().flat_map(|model| model.nodes.values()) {
            // What other models declare says nothing of this one.
            let declaration = node.method_declaration.as_ref().filter(|id| id.ns == node.id.ns);
            if let Some(declaration) = declaration {
                declared_after.entry(declaration).or_default().push(node);
            }
        }
        Self { set, declared_after }
    }

    /// Arguments of a Method of a type. What the Method leaves out is taken from its declaration, then
    /// from Methods of its name in the supertypes and their interfaces. Where all of them say nothing, it is
    /// taken from Methods of the same model that have one of them as their declaration.
    pub(super) fn arguments(&self, owner: &Id, method: &Node) -> Arguments {
        let set = self.set;
        let mut methods = vec![method];
        methods.extend(method.method_declaration.as_ref().and_then(|id| set.node(id)));
        for supertype in set.supertypes(owner) {
            let same = members::own(set, supertype).into_iter().map(|member| member.node);
            methods.extend(same.filter(|node| is_same(node, method)));
        }
        let is_stated =
            |method: &&Node| PROPERTIES.iter().any(|name| set.property(&method.id, name).is_some());
        if !methods.iter().any(is_stated) {
            let declared = methods.iter().filter_map(|method| self.declared_after.get(&method.id)).flatten();
            methods.extend(declared.copied().collect::<Vec<_>>());
        }
        let optional: Vec<&str> =
            methods.iter().flat_map(|method| optional_inputs(set, &method.id)).collect();
        let [inputs, outputs] = PROPERTIES;
        Arguments {
            inputs: stated(set, &methods, inputs, &optional),
            outputs: stated(set, &methods, outputs, &[]),
        }
    }

    /// Whether a type's own handlers handle a member: a mandatory Method that no supertype has as such,
    /// or with other arguments.
    pub(super) fn is_required(&self, owner: &Id, member: &Declaration<'_>) -> bool {
        if member.node.class != NodeClass::Method || member.rule != ModellingRule::Mandatory {
            return false;
        }
        let arguments = self.arguments(owner, member.node);
        !self.set.supertypes(owner).into_iter().any(|supertype| {
            members::own(self.set, supertype).iter().any(|inherited| {
                inherited.rule == ModellingRule::Mandatory
                    && is_same(inherited.node, member.node)
                    && self.arguments(supertype, inherited.node) == arguments
            })
        })
    }

    /// Whether a type has handlers of its own.
    pub(super) fn has_handlers(&self, owner: &Id) -> bool {
        members::own(self.set, owner).iter().any(|member| self.is_required(owner, member))
    }
}

impl Arguments {
    /// Rust names and types. `structure` is the name of a structure of several outputs.
    pub(super) fn lower(self, cx: &Cx<'_>, structure: Ident) -> Signature {
        match (self.inputs, self.outputs) {
            (Some(inputs), Some(outputs)) => Signature::Declared {
                inputs: arguments(cx, inputs, RESERVED),
                outputs: arguments(cx, outputs, &[]),
                structure,
            },
            _ => Signature::Open,
        }
    }
}

/// Names that generated code around the parameters uses itself.
const RESERVED: &[&str] = &["call", "inputs", "logic", "handler", "outputs"];

fn is_same(a: &Node, b: &Node) -> bool {
    a.class == NodeClass::Method && a.browse_name == b.browse_name
}

/// Names of the inputs that a call may leave out.
fn optional_inputs<'a>(set: &'a ModelSet, method: &Id) -> Vec<&'a str> {
    let links = set.forward(method).iter().filter(|link| link.reference_type == HAS_OPTIONAL_INPUT);
    links.filter_map(|link| set.node(&link.target)).map(|node| &*node.browse_name.name).collect()
}

/// The arguments that the first of the Methods with this property states; none if no one has it.
fn stated(set: &ModelSet, methods: &[&Node], property: &str, optional: &[&str]) -> Option<Vec<Stated>> {
    let mut properties = methods.iter().filter_map(|method| set.property(&method.id, property)).peekable();
    if properties.peek().is_none() {
        return Some(Vec::new());
    }
    properties.find_map(|node| match node.value.as_ref()? {
        Value::Array { items, .. } => items.iter().map(|item| argument(item, optional)).collect(),
        _ => None,
    })
}

fn argument(value: &Value, optional: &[&str]) -> Option<Stated> {
    let Value::Structure { fields, .. } = value else {
        return None;
    };
    let field = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).and_then(|(_, v)| v.as_ref());
    let name = match field("Name") {
        Some(Value::String(Some(name))) => name.to_string(),
        _ => String::new(),
    };
    let data_type = match field("DataType") {
        Some(Value::NodeId(id)) => id.clone(),
        _ => Id::ns0(24),
    };
    let value_rank = match field("ValueRank") {
        Some(Value::Int32(rank)) => *rank,
        _ => -1,
    };
    let is_optional = optional.contains(&name.as_str());
    Some(Stated { name, data_type, value_rank, is_optional })
}

fn arguments(cx: &Cx<'_>, stated: Vec<Stated>, reserved: &[&str]) -> Vec<Argument> {
    let mut scope = Scope::with_reserved(reserved);
    let named = stated.into_iter().enumerate();
    named
        .map(|(index, argument)| Argument {
            ident: scope.snake(&argument.name, &argument.name, &(index + 1).to_string()),
            ty: value_type(cx, &argument.data_type, argument.value_rank),
            name: argument.name,
            is_optional: argument.is_optional,
        })
        .collect()
}
