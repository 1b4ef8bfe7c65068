//! Instances of ObjectTypes and VariableTypes (OPC 10000-3 §6.2, §6.3, §6.4).
//!
//! An instance gets every mandatory member that its type declares, inherits or takes over from an
//! interface, and those of its members' types in turn; optional members and instances of placeholders
//! that were asked for; each with the reference type, browse name, type definition, data type, rank and
//! access of its declaration.

mod apply;
mod plan;
mod sources;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use uaforge_codec::{IdentifierRef, NodeId, QualifiedName, StatusCode};

use crate::cell::ValueCell;
use crate::ids;
use crate::overlay::Edit;
use crate::status;

/// A path of browse names from the instance to a member.
pub type BrowsePath = Vec<QualifiedName>;

/// Most members of one instance.
pub const MAX_MEMBERS: usize = 65_536;
/// Longest path to a member.
pub const MAX_DEPTH: usize = 64;

/// What is to be made. Start with [`new`](Self::new).
#[derive(Clone)]
pub struct Instantiate {
    /// The ObjectType or VariableType.
    pub type_definition: NodeId,
    /// BrowseName of the instance; also its DisplayName.
    pub browse_name: QualifiedName,
    /// What it is put under; default Objects.
    pub parent: NodeId,
    /// By which reference; default Organizes.
    pub reference_type: NodeId,
    /// Optional members wanted, by path; the parents of a wanted member are wanted too.
    pub optional: Vec<BrowsePath>,
    /// Instances of placeholders.
    pub placeholders: Vec<Placeholder>,
    /// What becomes of methods.
    pub methods: Methods,
    /// The id of the instance, if it is not to be assigned.
    pub node_id: Option<NodeId>,
    /// An instance that exists already and gets the members that it lacks.
    pub instance: Option<NodeId>,
    /// Assigns ids; default: the path as a string in namespace 1.
    pub assign: IdAssignment,
}

/// An instance of a placeholder (OPC 10000-3 §6.4.4.4.5, §6.4.4.4.6).
#[derive(Clone, Debug, PartialEq)]
pub struct Placeholder {
    /// Path of the placeholder itself, such as `<Sensor>`; before it, names of the instance.
    pub path: BrowsePath,
    /// BrowseName of the instance.
    pub name: QualifiedName,
    /// A subtype of the placeholder's type, if it is not to be that one.
    pub type_definition: Option<NodeId>,
}

/// What an instance does with the methods of its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Methods {
    /// It refers to the Method node of the type.
    #[default]
    Shared,
    /// It has Method nodes of its own, with properties of their own.
    Copied,
}

/// What an id is to be made from.
#[derive(Clone, Copy, Debug)]
pub struct IdRequest<'a> {
    /// Id of the node's parent.
    pub parent: &'a NodeId,
    /// True for the instance itself.
    pub is_root: bool,
    /// BrowseName of the node.
    pub browse_name: &'a QualifiedName,
    /// How many earlier answers to this very request were taken already.
    pub attempt: u32,
}

/// Assigns ids to new nodes.
#[derive(Clone, Default)]
pub enum IdAssignment {
    /// `s=Kettle1/Temperature` in the application's namespace, index 1.
    #[default]
    PathInApplication,
    /// A function of the node's place.
    By(Arc<dyn Fn(IdRequest<'_>) -> NodeId + Send + Sync>),
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The id of the instance.
    pub id: NodeId,
    /// The cell of the instance itself, if it is a Variable.
    pub cell: Option<Arc<ValueCell>>,
    /// All members, parents first.
    pub members: Vec<Member>,
}

/// A member of an instance.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its path.
    pub path: BrowsePath,
    /// Its id.
    pub id: NodeId,
    /// The cell of a Variable that was made.
    pub cell: Option<Arc<ValueCell>>,
    /// The declaration it was made from.
    pub declaration: NodeId,
}

/// Why an instance was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantiateError {
    /// The type does not exist or is neither an ObjectType nor a VariableType.
    #[error("{0} is no ObjectType or VariableType of this address space")]
    UnknownType(NodeId),
    /// The type, or the type of a mandatory member, is abstract.
    #[error("{0} is abstract; name a concrete subtype")]
    AbstractType(NodeId),
    /// A wanted member that the type does not have.
    #[error("{type_definition} has no member {path}")]
    NoSuchMember {
        /// The type.
        type_definition: NodeId,
        /// The path that was asked for.
        path: String,
    },
    /// The type contains itself, or is beyond [`MAX_MEMBERS`] or [`MAX_DEPTH`].
    #[error("an instance of {0} would have too many members")]
    TooLarge(NodeId),
    /// A parent, reference or id that does not fit the address space.
    #[error("{what}: {status}")]
    Rejected {
        /// The node or reference.
        what: String,
        /// Why.
        status: RejectedStatus,
    },
}

/// The status of a rejection; displays as hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedStatus(pub StatusCode);

impl fmt::Display for RejectedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status 0x{:08X}", self.0.0)
    }
}

impl InstantiateError {
    /// The status that fits it best.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::UnknownType(_) | Self::AbstractType(_) => status::BAD_TYPE_DEFINITION_INVALID,
            Self::NoSuchMember { .. } => status::BAD_NOT_FOUND,
            Self::TooLarge(_) => status::BAD_OUT_OF_RANGE,
            Self::Rejected { status, .. } => status.0,
        }
    }
}

impl fmt::Debug for Instantiate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instantiate")
            .field("type_definition", &self.type_definition)
            .field("browse_name", &self.browse_name)
            .field("parent", &self.parent)
            .field("optional", &self.optional)
            .field("placeholders", &self.placeholders)
            .finish_non_exhaustive()
    }
}

impl Instantiate {
    /// An instance below Objects with its mandatory members.
    pub fn new(type_definition: NodeId, browse_name: QualifiedName) -> Self {
        Self {
            type_definition,
            browse_name,
            parent: ids::ns0(ids::OBJECTS_FOLDER).to_owned(),
            reference_type: ids::ns0(ids::ORGANIZES).to_owned(),
            optional: Vec::new(),
            placeholders: Vec::new(),
            methods: Methods::default(),
            node_id: None,
            instance: None,
            assign: IdAssignment::default(),
        }
    }

    /// Further members of an instance that exists: optional ones and instances of placeholders, as
    /// asked for. What it has already stays as it is and is among the members of the result.
    pub fn extend(instance: NodeId, type_definition: NodeId) -> Self {
        Self { instance: Some(instance), ..Self::new(type_definition, QualifiedName::NULL) }
    }

    /// Makes the instance, all of it or nothing.
    ///
    /// # Errors
    /// See [`InstantiateError`].
    pub fn run(&self, edit: &mut Edit) -> Result<Instance, InstantiateError> {
        let before = edit.snapshot().clone();
        let result = plan::plan(self, &before).and_then(|plan| apply::apply(self, &plan, edit));
        if result.is_err() {
            edit.restore(before);
        }
        result
    }
}

impl Instance {
    /// The member with this path of names, whatever their namespaces: the first one.
    pub fn member(&self, path: &[&str]) -> Option<&Member> {
        self.members.iter().find(|member| {
            member.path.len() == path.len()
                && member.path.iter().zip(path).all(|(name, wanted)| name.name == **wanted)
        })
    }

    /// The member with exactly this path.
    pub fn member_at(&self, path: &[QualifiedName]) -> Option<&Member> {
        self.members.iter().find(|member| member.path == path)
    }
}

impl IdAssignment {
    fn assign(&self, request: IdRequest<'_>) -> NodeId {
        match self {
            Self::By(function) => function(request),
            Self::PathInApplication => path_in_application(request),
        }
    }
}

/// Index 1 is the application's own namespace (OPC 10000-3 §8.2.2).
const APPLICATION: u16 = 1;

fn path_in_application(request: IdRequest<'_>) -> NodeId {
    let name = request.browse_name.name.as_str().unwrap_or_default();
    let mut text = match request.parent.identifier() {
        IdentifierRef::String(parent) if request.parent.namespace() == APPLICATION => {
            format!("{parent}/{name}")
        }
        _ => name.to_string(),
    };
    // Two members may differ by the namespace of their names only.
    if request.attempt > 0 {
        text = format!("{text}#{}", request.attempt + 1);
    }
    NodeId::string(APPLICATION, text)
}

/// A path for messages: browse names joined by `/`.
fn path_text(path: &[QualifiedName]) -> String {
    let names: Box<[String]> = path.iter().map(ToString::to_string).collect();
    names.join("/")
}
