//! Finding typed objects by name.

use core::future::IntoFuture;
use core::marker::PhantomData;
use std::pin::Pin;

use uaforge_codec::{NodeId, UnknownNamespace};
use uaforge_nodes::typed::{InstanceName, NodeRef};
use uaforge_types::{ids, status};

use super::object::{ObjectProxy, ProxyType};
use super::place::{path, target};
use super::placeholder::type_definition;
use crate::{Error, Session};

impl Session {
    /// An object of type `T` by name: await it. Text is a name in the server's own namespace; it is
    /// looked for below Objects, or [`FindObject::under`] another node. That the object is of the type
    /// is checked.
    pub fn object<T: ProxyType>(&self, name: impl Into<InstanceName>) -> FindObject<T> {
        let objects = ids::object::OBJECTS_FOLDER.identifier().in_namespace(0).to_owned();
        FindObject { session: self.clone(), parent: Ok(objects), name: name.into(), of: PhantomData }
    }

    /// An object of type `T` by its id or a model's constant. That it is of the type is checked.
    ///
    /// # Errors
    /// It is not there, is of another type, or the server lacks the model.
    pub async fn object_at<T: ProxyType>(&self, node: impl NodeRef) -> Result<T::Proxy, Error> {
        let node_id = node.node_id(&self.namespaces())?;
        let name = node_id.to_string();
        bind::<T>(self, node_id, &name).await
    }
}

/// The search for an object; await it.
#[derive(Debug)]
#[must_use = "awaiting it makes the search"]
pub struct FindObject<T> {
    session: Session,
    parent: Result<NodeId, UnknownNamespace>,
    name: InstanceName,
    of: PhantomData<fn() -> T>,
}

impl<T: ProxyType> FindObject<T> {
    /// Looks below this node.
    pub fn under(mut self, parent: impl NodeRef) -> Self {
        self.parent = parent.node_id(&self.session.namespaces());
        self
    }

    async fn find(self) -> Result<T::Proxy, Error> {
        let Self { session, parent, name, .. } = self;
        // A server without the model is told from one without the object.
        session.resolve(T::ID)?;
        let parent = parent?;
        let name = name.resolve(&session.namespaces())?;
        let mut results = session.translate(vec![path(&parent, &name)]).await?;
        let result = results.pop().unwrap_or_default();
        let found = target(result).map_err(|problem| problem.at(&parent, &name))?;
        let node_id = found.ok_or_else(|| Error::operation(&name, status::BAD_NO_MATCH))?;
        bind::<T>(&session, node_id, name.name.text()).await
    }
}

impl<T: ProxyType> IntoFuture for FindObject<T> {
    type Output = Result<T::Proxy, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.find())
    }
}

async fn bind<T: ProxyType>(session: &Session, node_id: NodeId, name: &str) -> Result<T::Proxy, Error> {
    let wanted = session.resolve(T::ID)?;
    session.register_model::<T>();
    let found = type_definition(session, &node_id).await?;
    if !session.is_subtype_of(&found, &wanted).await? {
        return Err(Error::ObjectType { what: name.into(), expected: T::NAME, found });
    }
    Ok(ObjectProxy::named(session.clone(), node_id, name.into(), T::MEMBERS).into())
}
