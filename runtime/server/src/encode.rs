//! Parts of responses that are written without building their structures first.

use uaforge_codec::{DateTime, Encode as _, EncodeContext, Encoder, ExpandedNodeIdRef, StatusCode};
use uaforge_nodes::NodeClass;
use uaforge_types::ReferenceDescription;

use crate::manager::{Description, Reference};

const HAS_VALUE: u8 = 0x01;
const HAS_STATUS: u8 = 0x02;
const HAS_SOURCE: u8 = 0x04;
const HAS_SERVER: u8 = 0x08;

/// The fields of a DataValue beside its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueParts {
    pub(crate) status: StatusCode,
    pub(crate) source: Option<DateTime>,
    pub(crate) server: Option<DateTime>,
}

impl ValueParts {
    fn mask(&self) -> u8 {
        let mut mask = 0;
        if self.status != StatusCode::GOOD {
            mask |= HAS_STATUS;
        }
        if self.source.is_some() {
            mask |= HAS_SOURCE;
        }
        if self.server.is_some() {
            mask |= HAS_SERVER;
        }
        mask
    }

    fn put_rest(&self, e: &mut Encoder<'_>) {
        if self.status != StatusCode::GOOD {
            e.put_u32(self.status.0);
        }
        if let Some(source) = self.source {
            e.put_i64(source.0);
        }
        if let Some(server) = self.server {
            e.put_i64(server.0);
        }
    }
}

/// Writes a DataValue (OPC 10000-6 §5.2.2.17) whose value `variant` writes.
pub(crate) fn put_data_value(
    e: &mut Encoder<'_>,
    parts: &ValueParts,
    variant: impl FnOnce(&mut Encoder<'_>),
) {
    e.put_u8(HAS_VALUE | parts.mask());
    variant(e);
    parts.put_rest(e);
}

/// Writes a DataValue without a value.
pub(crate) fn put_data_status(e: &mut Encoder<'_>, parts: &ValueParts) {
    e.put_u8(parts.mask());
    parts.put_rest(e);
}

/// Bits of BrowseResultMask (OPC 10000-4 §5.9.2.2).
mod result_mask {
    pub(super) const REFERENCE_TYPE: u32 = 1;
    pub(super) const IS_FORWARD: u32 = 2;
    pub(super) const NODE_CLASS: u32 = 4;
    pub(super) const BROWSE_NAME: u32 = 8;
    pub(super) const DISPLAY_NAME: u32 = 16;
    pub(super) const TYPE_DEFINITION: u32 = 32;
    /// All that the target of a reference says of itself.
    pub(super) const TARGET: u32 = NODE_CLASS | BROWSE_NAME | DISPLAY_NAME | TYPE_DEFINITION;
}

/// What a ReferenceDescription says of the node at the other end.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// Nothing is known of it.
    Unknown,
    Described(&'a Description<'a>),
    /// Its class, and what [`put_target`] writes of it if all is asked for.
    Encoded(NodeClass, &'a [u8]),
}

impl Target<'_> {
    pub(crate) fn class(&self) -> Option<NodeClass> {
        match self {
            Self::Unknown => None,
            Self::Described(target) => Some(target.class),
            Self::Encoded(class, _) => Some(*class),
        }
    }

    /// Whether encoded targets will do for a mask.
    pub(crate) fn is_whole(mask: u32) -> bool {
        mask & result_mask::TARGET == result_mask::TARGET
    }
}

/// Writes a ReferenceDescription (OPC 10000-4 §7.30); fields outside the mask are null.
pub(crate) fn put_reference(e: &mut Encoder<'_>, mask: u32, reference: &Reference<'_>, target: Target<'_>) {
    if mask & result_mask::REFERENCE_TYPE == 0 {
        put_null_id(e);
    } else {
        reference.reference_type.encode(e);
    }
    e.put_u8(u8::from(mask & result_mask::IS_FORWARD != 0 && reference.forward));
    put_expanded(e, reference.target);
    match target {
        Target::Unknown => put_target(e, mask, None),
        Target::Described(target) => put_target(e, mask, Some(target)),
        Target::Encoded(_, bytes) => e.put(bytes),
    }
}

/// The fields of the target, encoded for [`Target::Encoded`].
pub(crate) fn encoded_target(target: &Description<'_>, context: EncodeContext<'_>) -> Box<[u8]> {
    let mut bytes = Vec::new();
    put_target(&mut Encoder::new(&mut bytes, context), result_mask::TARGET, Some(target));
    bytes.into_boxed_slice()
}

fn put_target(e: &mut Encoder<'_>, mask: u32, target: Option<&Description<'_>>) {
    match target.filter(|_| mask & result_mask::BROWSE_NAME != 0) {
        Some(target) => target.browse_name.encode(e),
        None => put_null_name(e),
    }
    match target.filter(|_| mask & result_mask::DISPLAY_NAME != 0) {
        Some(target) => target.display_name.encode(e),
        None => e.put_u8(0),
    }
    let class = target.filter(|_| mask & result_mask::NODE_CLASS != 0);
    e.put_u32(class.map_or(0, |target| target.class.value()));
    let target = target.filter(|_| mask & result_mask::TYPE_DEFINITION != 0);
    match target.and_then(|target| target.type_definition) {
        Some(type_definition) => type_definition.encode(e),
        None => put_null_id(e),
    }
}

/// Writes a ReferenceDescription that is held as a structure; fields outside the mask are null.
pub(crate) fn put_description(e: &mut Encoder<'_>, mask: u32, reference: &ReferenceDescription) {
    if mask & result_mask::REFERENCE_TYPE == 0 {
        put_null_id(e);
    } else {
        reference.reference_type_id.encode(e);
    }
    e.put_u8(u8::from(mask & result_mask::IS_FORWARD != 0 && reference.is_forward));
    reference.node_id.encode(e);
    if mask & result_mask::BROWSE_NAME == 0 {
        put_null_name(e);
    } else {
        reference.browse_name.encode(e);
    }
    if mask & result_mask::DISPLAY_NAME == 0 {
        e.put_u8(0);
    } else {
        reference.display_name.encode(e);
    }
    e.put_i32(if mask & result_mask::NODE_CLASS == 0 { 0 } else { reference.node_class.0 });
    if mask & result_mask::TYPE_DEFINITION == 0 {
        put_null_id(e);
    } else {
        reference.type_definition.encode(e);
    }
}

fn put_expanded(e: &mut Encoder<'_>, id: ExpandedNodeIdRef<'_>) {
    if id.namespace_uri.is_null() && id.server_index == 0 {
        id.node_id.encode(e);
    } else {
        id.to_owned().encode(e);
    }
}

/// The null NodeId or ExpandedNodeId in its two-byte form.
fn put_null_id(e: &mut Encoder<'_>) {
    e.put_u16(0);
}

/// The null QualifiedName.
fn put_null_name(e: &mut Encoder<'_>) {
    e.put_u16(0);
    e.put_str(None);
}
