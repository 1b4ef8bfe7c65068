//! Write (OPC 10000-4 §5.11.4).

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;

use uaforge_codec::{DataValue, DateTime, IntoVariant, NodeId, StatusCode, Structure as _, UaString};
use uaforge_nodes::AttributeId;
use uaforge_nodes::typed::NodeRef;
use uaforge_types::{WriteRequest, WriteValue};

use crate::{Error, Session, batch};

/// What is to be written to one node (WriteValue, OPC 10000-4 §5.11.4.2): the value only, unless status or
/// timestamps are named, since many servers refuse them (Bad_WriteNotSupported).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteItem(pub(crate) WriteValue);

impl WriteItem {
    /// The Value of a variable.
    #[must_use]
    pub fn value(node_id: &NodeId, value: impl IntoVariant) -> Self {
        Self::attribute(node_id, AttributeId::Value, value)
    }

    /// Any attribute.
    #[must_use]
    pub fn attribute(node_id: &NodeId, attribute: AttributeId, value: impl IntoVariant) -> Self {
        Self(WriteValue {
            node_id: node_id.clone(),
            attribute_id: attribute as u32,
            index_range: UaString::NULL,
            value: DataValue::new(value.into_variant()),
        })
    }

    /// Writes only a part of an array, string or byte string, such as `2`, `0:9` or `1:2,0:1` for a matrix
    /// (NumericRange, OPC 10000-4 §7.27). The value has to be of the same size as the range.
    #[must_use]
    pub fn range(mut self, range: impl Into<UaString>) -> Self {
        self.0.index_range = range.into();
        self
    }

    /// Writes a status with the value.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.0.value = self.0.value.with_status(status);
        self
    }

    /// Writes the time at the source with the value.
    #[must_use]
    pub fn source_timestamp(mut self, time: DateTime) -> Self {
        self.0.value = self.0.value.with_source_timestamp(time);
        self
    }

    /// Writes the server's time with the value.
    #[must_use]
    pub fn server_timestamp(mut self, time: DateTime) -> Self {
        self.0.value = self.0.value.with_server_timestamp(time);
        self
    }

    pub(crate) fn with(mut self, options: &WriteOptions) -> Self {
        let value = core::mem::take(&mut self.0.value);
        self.0.value = value
            .with_status(options.status)
            .with_source_timestamp(options.source_timestamp)
            .with_server_timestamp(options.server_timestamp);
        self
    }
}

impl From<WriteValue> for WriteItem {
    fn from(item: WriteValue) -> Self {
        Self(item)
    }
}

impl<T: IntoVariant> From<(&NodeId, T)> for WriteItem {
    fn from((node_id, value): (&NodeId, T)) -> Self {
        Self::value(node_id, value)
    }
}

impl<T: IntoVariant> From<(NodeId, T)> for WriteItem {
    fn from((node_id, value): (NodeId, T)) -> Self {
        Self::value(&node_id, value)
    }
}

/// What goes with the value of a typed variable. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    pub(crate) status: Option<StatusCode>,
    pub(crate) source_timestamp: Option<DateTime>,
    pub(crate) server_timestamp: Option<DateTime>,
    pub(crate) timeout: Option<Duration>,
}

impl WriteOptions {
    /// The value only, in the session's usual time.
    #[must_use]
    pub const fn new() -> Self {
        Self { status: None, source_timestamp: None, server_timestamp: None, timeout: None }
    }

    /// Writes a status with the value.
    #[must_use]
    pub const fn status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// Writes the time at the source with the value.
    #[must_use]
    pub const fn source_timestamp(mut self, time: DateTime) -> Self {
        self.source_timestamp = Some(time);
        self
    }

    /// Writes the server's time with the value.
    #[must_use]
    pub const fn server_timestamp(mut self, time: DateTime) -> Self {
        self.server_timestamp = Some(time);
        self
    }

    /// Another time than the session's usual one.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }
}

/// A Write; await it, for the status of each item in the order of the items. From [`Session::write`].
#[derive(Debug)]
#[must_use = "it writes when it is awaited"]
pub struct Write {
    session: Session,
    items: Vec<WriteValue>,
    timeout: Option<Duration>,
}

impl Write {
    /// Another time than the session's usual one, for each call that is made.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Writes, and is content only if every item was taken: a bad status is an error that names item and
    /// node, the first one if there are several.
    ///
    /// # Errors
    /// The service failed as a whole, or an item has a bad status.
    pub async fn all(self) -> Result<(), Error> {
        let nodes: Vec<NodeId> = self.items.iter().map(|item| item.node_id.clone()).collect();
        let results = self.await?;
        results
            .into_iter()
            .zip(&nodes)
            .enumerate()
            .try_for_each(|(index, (status, node))| taken(status, node).map_err(|error| error.at(index)))
    }
}

impl IntoFuture for Write {
    type Output = Result<Vec<StatusCode>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(
            async move { batch::run(&self.session, WriteRequest::default(), self.items, self.timeout).await },
        )
    }
}

pub(crate) fn taken(status: StatusCode, what: impl std::fmt::Display) -> Result<(), Error> {
    if status.is_bad() {
        return Err(Error::operation(what, status).of(WriteRequest::DESCRIPTOR.name));
    }
    Ok(())
}

impl Session {
    /// Writes attributes. Several calls are made, a bounded number at once, if the server takes fewer
    /// operations in one, or if the request is too large; what the server may have written already is
    /// never sent again. For more items than are to be in memory see [`Session::write_many`].
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session, WriteItem};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session, level: NodeId, curve: NodeId) -> Result<(), Error> {
    /// let statuses = session
    ///     .write([
    ///         WriteItem::value(&level, 7.5),
    ///         WriteItem::value(&curve, vec![1.0, 2.0]).range("3:4"),
    ///     ])
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several calls failed, their items have the status of
    /// the call; with Bad_Timeout or a lost connection it is not known whether they were written.
    pub fn write<I: Into<WriteItem>>(&self, items: impl IntoIterator<Item = I>) -> Write {
        let items = items.into_iter().map(|item| item.into().0).collect();
        Write { session: self.clone(), items, timeout: None }
    }

    /// Writes the value of one variable: the value only, no status, no timestamps.
    ///
    /// # Errors
    /// The call failed, the server did not take the value, or it lacks the node's model.
    pub async fn write_value(&self, node: impl NodeRef, value: impl IntoVariant) -> Result<(), Error> {
        let node = node.node_id(&self.namespaces())?;
        let item = WriteItem::value(&node, value);
        taken(self.write_one(item, None).await?, &node)
    }

    pub(crate) async fn write_one(
        &self,
        item: WriteItem,
        timeout: Option<Duration>,
    ) -> Result<StatusCode, Error> {
        let results = batch::run(self, WriteRequest::default(), vec![item.0], timeout).await?;
        Ok(results.into_iter().next().unwrap_or_default())
    }
}
