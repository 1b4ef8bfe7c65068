//! Variables with a known type of value.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use uaforge_codec::{
    DataValue, DateTime, FromVariant, IntoVariant, NodeId, StatusCode, Structure as _, UaString, Variant,
};
use uaforge_nodes::typed::InstanceName;
use uaforge_types::{ReadRequest, status};

use super::place::Place;
use crate::services::taken;
use crate::{Error, Missed, ReadItem, ReadOptions, Session, WriteItem, WriteOptions};

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

    pub(super) fn session(&self) -> &Session {
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
        self.read_item(ReadOptions::new(), UaString::NULL).await
    }

    async fn read_item(&self, options: ReadOptions, range: UaString) -> Result<DataValue, Error> {
        let node_id = self.node_id().await?;
        self.session().read_one(ReadItem::from(node_id).range(range), &options).await
    }

    async fn write_item(&self, value: Variant, options: &WriteOptions, range: UaString) -> Result<(), Error> {
        let node_id = self.node_id().await?;
        let item = WriteItem::value(&node_id, value).range(range).with(options);
        taken(self.session().write_one(item, options.timeout).await?, self)
    }
}

impl<T: FromVariant> Var<T> {
    /// Reads the value. Uncertain values count; bad ones are errors.
    ///
    /// # Errors
    /// The variable is not there, its status is bad, or its value is of another type than the model says.
    pub async fn read(&self) -> Result<T, Error> {
        let result = self.read_data_value().await?;
        Ok(self.sample(&result)?.value)
    }

    /// Reads the value with its status and timestamps, such as not older than a second:
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use uaforge_client::{Error, ReadOptions, typed::Var};
    /// # async fn example(temperature: Var<f64>) -> Result<(), Error> {
    /// let sample = temperature.read_with(&ReadOptions::new().max_age(Duration::from_secs(1))).await?;
    /// println!("{} at {:?}", sample.value, sample.source_timestamp);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Var::read`].
    pub async fn read_with(&self, options: &ReadOptions) -> Result<Sample<T>, Error> {
        let result = self.read_item(options.clone(), UaString::NULL).await?;
        self.sample(&result)
    }

    /// Reads a part of an array, string or byte string, such as `0:9` (NumericRange, OPC 10000-4 §7.27).
    ///
    /// # Errors
    /// As [`Var::read`]; Bad_IndexRangeNoData where the value has no such part.
    pub async fn read_range(&self, range: &str) -> Result<T, Error> {
        let result = self.read_item(ReadOptions::new(), range.into()).await?;
        Ok(self.sample(&result)?.value)
    }

    pub(super) fn sample(&self, result: &DataValue) -> Result<Sample<T>, Error> {
        let status = result.status_or_good();
        if status.is_bad() {
            return Err(Error::operation(self, status).of(ReadRequest::DESCRIPTOR.name));
        }
        let found = result.value().unwrap_or(&Variant::Null);
        let value = T::from_variant(found)
            .map_err(|reason| Error::ValueType { what: self.to_string().into(), reason })?;
        Ok(Sample {
            value,
            status,
            source_timestamp: result.source_timestamp(),
            server_timestamp: result.server_timestamp(),
            missed: Missed::NONE,
        })
    }
}

impl<T: IntoVariant> Var<T> {
    /// Writes the value: the value only, no status, no timestamps. A value of another type does not
    /// compile.
    ///
    /// # Errors
    /// The variable is not there, the service failed, or the server did not take the value.
    pub async fn write(&self, value: T) -> Result<(), Error> {
        self.write_with(value, &WriteOptions::new()).await
    }

    /// Writes the value with a status or timestamps, which many servers refuse with
    /// Bad_WriteNotSupported.
    ///
    /// # Errors
    /// As [`Var::write`].
    pub async fn write_with(&self, value: T, options: &WriteOptions) -> Result<(), Error> {
        self.write_item(value.into_variant(), options, UaString::NULL).await
    }

    /// Writes a part of an array, string or byte string, such as `0:1` for a value of two elements
    /// (NumericRange, OPC 10000-4 §7.27).
    ///
    /// # Errors
    /// As [`Var::write`].
    pub async fn write_range(&self, range: &str, value: T) -> Result<(), Error> {
        self.write_item(value.into_variant(), &WriteOptions::new(), range.into()).await
    }
}

/// A value with what the server says of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample<T> {
    /// The value.
    pub value: T,
    /// Its status: good or uncertain.
    pub status: StatusCode,
    /// When the value or its status changed at the source; `None` if the server does not say.
    pub source_timestamp: Option<DateTime>,
    /// When the server had the value; `None` if the server does not say.
    pub server_timestamp: Option<DateTime>,
    /// What of a stream was not handed out before it; nothing for a value that was read.
    pub missed: Missed,
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
