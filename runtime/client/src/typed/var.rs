//! Variables with a known type of value.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use uaforge_codec::{DataValue, FromVariant, NodeId, Variant};
use uaforge_nodes::typed::InstanceName;
use uaforge_types::status;

use super::place::Place;
use crate::{Error, Session};

/// A variable whose values are of type `T`; `Var<Variant>` where the model says only an abstract type.
pub struct Var<T> {
    at: At,
    value: PhantomData<fn() -> T>,
}

#[derive(Clone)]
enum At {
    Node(Session, NodeId, Arc<str>),
    Member(Arc<Place>, InstanceName),
}

impl<T> Var<T> {
    /// A variable by its id.
    #[must_use]
    pub fn at(session: &Session, node_id: NodeId) -> Self {
        let name = node_id.to_string().into();
        Self::named(session.clone(), node_id, name)
    }

    pub(super) fn named(session: Session, node_id: NodeId, name: Arc<str>) -> Self {
        Self { at: At::Node(session, node_id, name), value: PhantomData }
    }

    pub(super) fn member(place: Arc<Place>, name: InstanceName) -> Self {
        Self { at: At::Member(place, name), value: PhantomData }
    }

    fn session(&self) -> &Session {
        match &self.at {
            At::Node(session, ..) => session,
            At::Member(place, _) => &place.session,
        }
    }

    /// The variable's NodeId, looked up at the first time.
    ///
    /// # Errors
    /// The object has no such variable, or the server lacks the model.
    pub async fn node_id(&self) -> Result<NodeId, Error> {
        match &self.at {
            At::Node(_, node_id, _) => Ok(node_id.clone()),
            At::Member(place, name) => {
                place.child(name).await?.ok_or_else(|| Error::operation(self, status::BAD_NO_MATCH))
            }
        }
    }

    /// Reads value, status and timestamps, whatever they are.
    ///
    /// # Errors
    /// The variable is not there, or the service failed.
    pub async fn read_data_value(&self) -> Result<DataValue, Error> {
        let node_id = self.node_id().await?;
        self.session().read_value(&node_id).await
    }
}

impl<T: FromVariant> Var<T> {
    /// Reads the value. Uncertain values count; bad ones are errors.
    ///
    /// # Errors
    /// The variable is not there, its status is bad, or its value is of another type than the model says.
    pub async fn read(&self) -> Result<T, Error> {
        let value = self.read_data_value().await?;
        let status = value.status_or_good();
        if status.is_bad() {
            return Err(Error::operation(self, status));
        }
        let found = value.value().unwrap_or(&Variant::Null);
        T::from_variant(found).map_err(|reason| Error::ValueType { what: self.to_string().into(), reason })
    }
}

impl<T> Clone for Var<T> {
    fn clone(&self) -> Self {
        Self { at: self.at.clone(), value: PhantomData }
    }
}

impl<T> fmt::Display for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Node(_, _, name) => f.write_str(name),
            At::Member(place, name) => write!(f, "{place}/{name}"),
        }
    }
}

impl<T> fmt::Debug for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Var({self})")
    }
}
