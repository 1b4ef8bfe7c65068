//! Objects: the base of every generated proxy.

use core::fmt;
use std::sync::Arc;

use uaforge_codec::NodeId;
use uaforge_nodes::typed::{
    BaseObjectType, InstanceName, MemberName, Members, ObjectType, PlaceholderMember,
};

use super::Var;
use super::place::{Origin, Place};
use super::placeholder::{self, Named};
use crate::{Error, Session};

/// An ObjectType with a proxy. Generated.
pub trait ProxyType: ObjectType {
    /// What clients hold of its instances.
    type Proxy: From<ObjectProxy> + Clone + fmt::Debug + Send + Sync;
}

impl ProxyType for BaseObjectType {
    type Proxy = ObjectProxy;
}

/// The proxy of an ObjectType.
pub type ProxyOf<T> = <T as ProxyType>::Proxy;

/// A member that may be missing.
pub type Maybe<T> = Result<Option<T>, Error>;

/// What stands for a placeholder.
pub type Found<T> = Result<Vec<Named<T>>, Error>;

/// An object of any type. Generated proxies dereference to it over those of their supertypes.
#[derive(Clone)]
pub struct ObjectProxy {
    place: Arc<Place>,
}

impl ObjectProxy {
    /// An object by its id. Whether it is of the type is not asked.
    #[must_use]
    pub fn at<T: ProxyType>(session: &Session, node_id: NodeId) -> T::Proxy {
        session.register_model::<T>();
        let name = node_id.to_string().into();
        Self::named(session.clone(), node_id, name, T::MEMBERS).into()
    }

    pub(super) fn named(
        session: Session,
        node_id: NodeId,
        name: Arc<str>,
        members: &'static Members,
    ) -> Self {
        Self { place: Place::new(session, Origin::Node(node_id, name), members) }
    }

    /// The object's NodeId, looked up at the first time.
    ///
    /// # Errors
    /// The object is not there, or the server lacks the model.
    pub async fn node_id(&self) -> Result<NodeId, Error> {
        self.place.node_id().await
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.place.session
    }

    pub(super) fn place(&self) -> &Arc<Place> {
        &self.place
    }

    /// A member that is a variable. Nothing is asked of the server yet.
    #[must_use]
    pub fn variable<T>(&self, name: impl Into<InstanceName>) -> Var<T> {
        Var::member(Arc::clone(&self.place), name.into())
    }

    /// A variable that may be missing.
    ///
    /// # Errors
    /// The service failed.
    pub async fn optional_variable<T>(&self, name: MemberName) -> Maybe<Var<T>> {
        let name = InstanceName::from(name);
        Ok(self.place.child(&name).await?.map(|_| Var::member(Arc::clone(&self.place), name)))
    }

    /// A member that is an object. Nothing is asked of the server yet.
    #[must_use]
    pub fn object<T: ProxyType>(&self, name: impl Into<InstanceName>) -> T::Proxy {
        self.session().register_model::<T>();
        let origin = Origin::Member(Arc::clone(&self.place), name.into());
        Self { place: Place::new(self.session().clone(), origin, T::MEMBERS) }.into()
    }

    /// An object that may be missing.
    ///
    /// # Errors
    /// The service failed.
    pub async fn optional_object<T: ProxyType>(&self, name: MemberName) -> Maybe<T::Proxy> {
        let known = self.place.child(&name.into()).await?;
        Ok(known.map(|_| self.object::<T>(name)))
    }

    /// The objects that stand for a placeholder: browsed, of its type, and not declared by name.
    ///
    /// # Errors
    /// The service failed.
    pub async fn placeholder_objects<Of, T: ProxyType>(
        &self,
        member: PlaceholderMember<Of>,
    ) -> Found<T::Proxy> {
        self.session().register_model::<T>();
        placeholder::objects::<Of, T>(&self.place, member).await
    }

    /// The variables that stand for a placeholder: browsed, of its type, and not declared by name.
    ///
    /// # Errors
    /// The service failed.
    pub async fn placeholder_variables<Of, T>(&self, member: PlaceholderMember<Of>) -> Found<Var<T>> {
        placeholder::variables(&self.place, member).await
    }
}

impl fmt::Display for ObjectProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl fmt::Debug for ObjectProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectProxy({self})")
    }
}
