//! Instances of placeholders, found by Browse (OPC 10000-3 §6.4.4.4).

use core::ops::Deref;
use std::collections::HashSet;
use std::sync::Arc;

use uaforge_codec::{NodeId, QualifiedName};
use uaforge_nodes::NodeClass;
use uaforge_nodes::typed::{MemberName, PlaceholderMember, resolve_key};
use uaforge_types::{BrowseDescription, BrowseDirection, BrowseResultMask, ReferenceDescription, ids};

use super::object::{ObjectProxy, ProxyType};
use super::place::Place;
use super::var::Var;
use crate::{Error, Session};

/// Something found by Browse, with what Browse says of it. Dereferences to what was found.
#[derive(Clone, Debug)]
pub struct Named<P> {
    /// Its browse name.
    pub browse_name: QualifiedName,
    /// Its TypeDefinition, which may be a subtype of the declared one.
    pub type_definition: NodeId,
    found: P,
}

impl<P> Named<P> {
    /// The text of its browse name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.browse_name.name.text()
    }

    /// What was found.
    #[must_use]
    pub fn into_inner(self) -> P {
        self.found
    }
}

impl<P> Deref for Named<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.found
    }
}

pub(super) async fn objects<Of, T: ProxyType>(
    place: &Arc<Place>,
    member: PlaceholderMember<Of>,
) -> Result<Vec<Named<T::Proxy>>, Error> {
    let found = instances(place, member, NodeClass::Object).await?;
    let proxies = found.into_iter().map(|reference| {
        let session = place.session.clone();
        let (node_id, name) = (reference.node_id.node_id.clone(), path_name(place, &reference));
        let proxy = ObjectProxy::named(session, node_id, name, T::MEMBERS);
        named(reference, proxy.into())
    });
    Ok(proxies.collect())
}

pub(super) async fn variables<Of, T>(
    place: &Arc<Place>,
    member: PlaceholderMember<Of>,
) -> Result<Vec<Named<Var<T>>>, Error> {
    let found = instances(place, member, NodeClass::Variable).await?;
    let variables = found.into_iter().map(|reference| {
        let (node_id, name) = (reference.node_id.node_id.clone(), path_name(place, &reference));
        let variable = Var::named(place.session.clone(), node_id, name);
        named(reference, variable)
    });
    Ok(variables.collect())
}

fn named<P>(reference: ReferenceDescription, found: P) -> Named<P> {
    let ReferenceDescription { browse_name, type_definition, .. } = reference;
    Named { browse_name, type_definition: type_definition.node_id, found }
}

fn path_name(place: &Place, reference: &ReferenceDescription) -> Arc<str> {
    format!("{place}/{}", reference.browse_name.name).into()
}

async fn instances<Of>(
    place: &Place,
    member: PlaceholderMember<Of>,
    class: NodeClass,
) -> Result<Vec<ReferenceDescription>, Error> {
    let session = &place.session;
    let namespaces = session.namespaces();
    let reference_type = resolve_key(member.reference_type(), &namespaces)?;
    let type_definition = resolve_key(member.type_definition(), &namespaces)?;
    let declared: Vec<QualifiedName> =
        place.members().all().filter_map(|name: MemberName| name.resolve(&namespaces).ok()).collect();
    let node_id = place.node_id().await?;
    let mut found = children(session, &node_id, reference_type, class).await?;
    found.retain(|reference| !declared.contains(&reference.browse_name));
    let mut of_type = Vec::with_capacity(found.len());
    for reference in found {
        if session.is_subtype_of(&reference.type_definition.node_id, &type_definition).await? {
            of_type.push(reference);
        }
    }
    Ok(of_type)
}

/// Children of one class, each node once.
pub(super) async fn children(
    session: &Session,
    node_id: &NodeId,
    reference_type_id: NodeId,
    class: NodeClass,
) -> Result<Vec<ReferenceDescription>, Error> {
    let description = BrowseDescription {
        node_id: node_id.clone(),
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id,
        include_subtypes: true,
        node_class_mask: class.value(),
        result_mask: BrowseResultMask::ALL.0.cast_unsigned(),
    };
    let mut pages = session.browse_all(vec![description]).await?;
    let mut found = pages.pop().unwrap_or_else(|| Ok(Vec::new()))?;
    found.retain(|reference| reference.node_id.server_index == 0);
    let mut seen = HashSet::new();
    found.retain(|reference| seen.insert(reference.node_id.node_id.clone()));
    Ok(found)
}

/// The TypeDefinition of an object.
pub(super) async fn type_definition(session: &Session, node_id: &NodeId) -> Result<NodeId, Error> {
    let reference_type = ids::reference_type::HAS_TYPE_DEFINITION.identifier().in_namespace(0).to_owned();
    let found = children(session, node_id, reference_type, NodeClass::ObjectType).await?;
    Ok(found.into_iter().next().map_or(NodeId::NULL, |reference| reference.node_id.node_id))
}
