//! Read (OPC 10000-4 §5.11.2).

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;

use uaforge_codec::{DataValue, NodeId, QualifiedName, Structure as _, UaString, Variant};
use uaforge_nodes::AttributeId;
use uaforge_nodes::typed::NodeRef;
use uaforge_types::{ReadRequest, ReadValueId, TimestampsToReturn};

use crate::{Error, Session, batch};

/// What of one node is to be read (ReadValueId, OPC 10000-4 §7.29). A [`NodeId`] alone is its Value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadItem(pub(crate) ReadValueId);

impl ReadItem {
    /// The Value of a variable.
    #[must_use]
    pub fn value(node_id: &NodeId) -> Self {
        Self::attribute(node_id, AttributeId::Value)
    }

    /// Any attribute.
    #[must_use]
    pub fn attribute(node_id: &NodeId, attribute: AttributeId) -> Self {
        Self(ReadValueId { node_id: node_id.clone(), attribute_id: attribute as u32, ..Default::default() })
    }

    /// A part of an array, string or byte string, such as `2`, `0:9` or `1:2,0:1` for a matrix
    /// (NumericRange, OPC 10000-4 §7.27).
    #[must_use]
    pub fn range(mut self, range: impl Into<UaString>) -> Self {
        self.0.index_range = range.into();
        self
    }

    /// How a structure is to be encoded, such as `Default Binary`; the server chooses otherwise
    /// (OPC 10000-4 §5.11.2.2 dataEncoding).
    #[must_use]
    pub fn encoding(mut self, encoding: QualifiedName) -> Self {
        self.0.data_encoding = encoding;
        self
    }
}

impl From<ReadValueId> for ReadItem {
    fn from(item: ReadValueId) -> Self {
        Self(item)
    }
}

impl From<&NodeId> for ReadItem {
    fn from(node_id: &NodeId) -> Self {
        Self::value(node_id)
    }
}

impl From<NodeId> for ReadItem {
    fn from(node_id: NodeId) -> Self {
        Self(ReadValueId { node_id, attribute_id: AttributeId::Value as u32, ..Default::default() })
    }
}

impl From<(&NodeId, AttributeId)> for ReadItem {
    fn from((node_id, attribute): (&NodeId, AttributeId)) -> Self {
        Self::attribute(node_id, attribute)
    }
}

/// How to read, the same for all items of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    pub(crate) max_age: Duration,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) timeout: Option<Duration>,
}

impl ReadOptions {
    /// The newest values with both timestamps, in the session's usual time.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_age: Duration::ZERO, timestamps: TimestampsToReturn::BOTH, timeout: None }
    }

    /// How old a value may be that the server has at hand; 0, the default, asks the device
    /// (OPC 10000-4 §5.11.2.2 maxAge). In milliseconds on the wire.
    #[must_use]
    pub const fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// Which timestamps come with the values; default both (OPC 10000-4 §7.39).
    #[must_use]
    pub const fn timestamps(mut self, timestamps: TimestampsToReturn) -> Self {
        self.timestamps = timestamps;
        self
    }

    /// Another time than the session's usual one, for each call that is made.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// The request without nodes.
    pub(crate) fn request(&self) -> ReadRequest {
        ReadRequest {
            max_age: self.max_age.as_secs_f64() * 1000.0,
            timestamps_to_return: self.timestamps,
            ..Default::default()
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A Read; await it, for the results in the order of the items, each with its own status. From
/// [`Session::read`].
#[derive(Debug)]
#[must_use = "it reads when it is awaited"]
pub struct Read {
    session: Session,
    items: Vec<ReadValueId>,
    options: ReadOptions,
}

impl Read {
    /// How old a value may be that the server has at hand; see [`ReadOptions::max_age`].
    pub fn max_age(mut self, age: Duration) -> Self {
        self.options = self.options.max_age(age);
        self
    }

    /// Which timestamps come with the values; default both.
    pub fn timestamps(mut self, timestamps: TimestampsToReturn) -> Self {
        self.options = self.options.timestamps(timestamps);
        self
    }

    /// Another time than the session's usual one, for each call that is made.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options = self.options.timeout(time);
        self
    }

    /// The values alone, if all of them are there: a bad status is an error that names item and node.
    ///
    /// # Errors
    /// The service failed as a whole, or an item has a bad status.
    pub async fn values(self) -> Result<Vec<Variant>, Error> {
        let nodes: Vec<NodeId> = self.items.iter().map(|item| item.node_id.clone()).collect();
        let results = self.await?;
        let checked = results.into_iter().zip(&nodes).enumerate().map(|(index, (result, node))| {
            good(result, node).map_err(|error| error.at(index)).map(DataValue::into_value)
        });
        checked.collect()
    }
}

impl IntoFuture for Read {
    type Output = Result<Vec<DataValue>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            batch::run(&self.session, self.options.request(), self.items, self.options.timeout).await
        })
    }
}

/// A result that is not bad.
fn good(result: DataValue, node: &NodeId) -> Result<DataValue, Error> {
    match result.status_or_good() {
        status if status.is_bad() => Err(Error::operation(node, status).of(ReadRequest::DESCRIPTOR.name)),
        _ => Ok(result),
    }
}

impl Session {
    /// Reads attributes. Several calls are made, a bounded number at once, if the server takes fewer
    /// operations in one, or if request or response are too large for either side. For more items than
    /// are to be in memory see [`Session::read_many`].
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use uaforge_client::{Error, ReadItem, Session};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session, level: NodeId, curve: NodeId) -> Result<(), Error> {
    /// let results = session
    ///     .read([ReadItem::value(&level), ReadItem::value(&curve).range("0:9")])
    ///     .max_age(Duration::from_secs(1))
    ///     .await?;
    /// for result in results {
    ///     println!("{:?} {}", result.value(), result.status_or_good());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several calls failed, the results of their items
    /// have the status of the call.
    pub fn read<I: Into<ReadItem>>(&self, items: impl IntoIterator<Item = I>) -> Read {
        let items = items.into_iter().map(|item| item.into().0).collect();
        Read { session: self.clone(), items, options: ReadOptions::new() }
    }

    /// Reads one attribute.
    ///
    /// # Errors
    /// The call failed, the attribute has a bad status, or the server lacks the node's model.
    pub async fn read_attribute(&self, node: impl NodeRef, attribute: AttributeId) -> Result<Variant, Error> {
        let node = node.node_id(&self.namespaces())?;
        let item = ReadItem::attribute(&node, attribute);
        let result = self.read_one(item, &ReadOptions::new()).await?;
        Ok(good(result, &node)?.into_value())
    }

    /// Reads the values of variables, each with its own status and timestamps.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub async fn read_values<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a NodeId>,
    ) -> Result<Vec<DataValue>, Error> {
        self.read(nodes).await
    }

    /// Reads the value of one variable, with its status and timestamps, whatever they are.
    ///
    /// # Errors
    /// The call failed as a whole, or the server lacks the node's model.
    pub async fn read_value(&self, node: impl NodeRef) -> Result<DataValue, Error> {
        let node = node.node_id(&self.namespaces())?;
        self.read_one(node.into(), &ReadOptions::new()).await
    }

    pub(crate) async fn read_one(&self, item: ReadItem, options: &ReadOptions) -> Result<DataValue, Error> {
        let results = batch::run(self, options.request(), vec![item.0], options.timeout).await?;
        Ok(results.into_iter().next().unwrap_or_default())
    }
}
