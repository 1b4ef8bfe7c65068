//! Browse and BrowseNext (OPC 10000-4 §5.9.2, §5.9.3).

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;

use uaforge_codec::{ByteString, IdentifierRef, NodeId};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowseNextRequest, BrowseRequest, BrowseResult, BrowseResultMask,
    ReferenceDescription, ids,
};

use super::pages::{BrowseOptions, Pages};
use crate::batch::{self, Limit};
use crate::{Error, Session};

/// All references of a node, or why they are not known.
pub type BrowsePage = Result<Vec<ReferenceDescription>, Error>;

/// Memory that references may need.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// Bytes of memory that a reference needs, about.
fn size_of_reference(reference: &ReferenceDescription) -> usize {
    let texts = [
        reference.browse_name.name.text().len(),
        reference.display_name.locale.text().len(),
        reference.display_name.text.text().len(),
        reference.node_id.namespace_uri.text().len(),
        reference.type_definition.namespace_uri.text().len(),
    ];
    let ids = [&reference.reference_type_id, &reference.node_id.node_id, &reference.type_definition.node_id];
    size_of::<ReferenceDescription>()
        + texts.into_iter().sum::<usize>()
        + ids.into_iter().map(size_of_id).sum::<usize>()
}

/// Bytes of memory that an id needs beside its own.
pub(super) fn size_of_id(node_id: &NodeId) -> usize {
    match node_id.identifier() {
        IdentifierRef::String(text) => text.len(),
        IdentifierRef::Opaque(bytes) => bytes.len(),
        IdentifierRef::Numeric(_) | IdentifierRef::Guid(_) => 0,
    }
}

/// The description that asks for the children of a node: forward hierarchical references of any kind, with
/// everything that Browse tells of them.
pub(crate) fn children_of(node_id: NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id,
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: ids::reference_type::HIERARCHICAL_REFERENCES
            .identifier()
            .in_namespace(0)
            .to_owned(),
        include_subtypes: true,
        node_class_mask: 0,
        result_mask: BrowseResultMask::ALL.0.cast_unsigned(),
    }
}

impl Session {
    /// Browses nodes, one page each, with at most so many references (0: the server decides). Several
    /// calls are made if the server takes fewer nodes in one. Results with a continuation point go on
    /// with [`Session::browse_next`]; [`Session::browse_all`] does that by itself.
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several calls failed, the results of their nodes
    /// have the status of the call.
    pub async fn browse(
        &self,
        nodes_to_browse: Vec<BrowseDescription>,
        max_references_per_node: u32,
    ) -> Result<Vec<BrowseResult>, Error> {
        let request = BrowseRequest {
            requested_max_references_per_node: max_references_per_node,
            ..Default::default()
        };
        batch::run(self, request, nodes_to_browse, None).await
    }

    /// The next pages, or with `release` the end of these continuation points (OPC 10000-4 §7.9), which
    /// has no results.
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several calls failed, the results of their points
    /// have the status of the call.
    pub async fn browse_next(
        &self,
        continuation_points: Vec<ByteString>,
        release: bool,
    ) -> Result<Vec<BrowseResult>, Error> {
        if !release {
            return batch::run(self, BrowseNextRequest::default(), continuation_points, None).await;
        }
        let mut left = continuation_points.into_iter().peekable();
        let mut outcome = Ok(Vec::new());
        while left.peek().is_some() {
            let part: Vec<_> = left.by_ref().take(batch::per_call(self, Limit::Browse)).collect();
            outcome = outcome.and(self.call_service(release_of(part)).await.map(|_| Vec::new()));
        }
        outcome
    }

    /// Browses nodes to the last page each: await it. It splits by the server's limits, follows
    /// continuation points, and asks again for nodes that found the server without a free one
    /// (Bad_NoContinuationPoints). What does not end is ended with [`Error::Endless`]. For more references
    /// than are to be in memory see [`Session::browse_many`].
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_types::BrowseDescription;
    /// # async fn example(session: Session, nodes: Vec<BrowseDescription>) -> Result<(), Error> {
    /// for references in session.browse_all(nodes).await? {
    ///     for reference in references? {
    ///         println!("{} {}", reference.browse_name, reference.node_id);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// More references than [`BrowseAll::max_references`]. What failed for a single node stands in its
    /// place.
    pub fn browse_all(&self, nodes_to_browse: Vec<BrowseDescription>) -> BrowseAll {
        let options = BrowseOptions::default();
        BrowseAll { session: self.clone(), nodes: nodes_to_browse, options, max_bytes: MAX_BYTES }
    }

    /// The children of a node: all forward hierarchical references.
    ///
    /// # Errors
    /// The service failed, or the node is not there.
    pub async fn children(&self, node_id: &NodeId) -> BrowsePage {
        let mut pages = self.browse_all(vec![children_of(node_id.clone())]).await?;
        pages.pop().unwrap_or_else(|| Ok(Vec::new()))
    }
}

/// The request that ends continuation points.
pub(super) fn release_of(continuation_points: Vec<ByteString>) -> BrowseNextRequest {
    BrowseNextRequest {
        release_continuation_points: true,
        continuation_points: continuation_points.into(),
        ..Default::default()
    }
}

/// A Browse to the last page of each node; await it, for the references in the order of the nodes. From
/// [`Session::browse_all`].
#[derive(Debug)]
#[must_use = "it browses when it is awaited"]
pub struct BrowseAll {
    session: Session,
    nodes: Vec<BrowseDescription>,
    options: BrowseOptions,
    max_bytes: usize,
}

impl BrowseAll {
    /// References that are taken, those of all nodes together; default 1,000,000. With more it is an
    /// error.
    pub fn max_references(mut self, references: usize) -> Self {
        self.options.max_references = references;
        self
    }

    /// Memory that the references may need, in bytes, names and ids included; default 256 MiB. With more
    /// it is an error.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// References of one page; default 0, the server decides.
    pub fn page_size(mut self, references: u32) -> Self {
        self.options.page_size = references;
        self
    }

    /// Another time than the session's usual one, for each call that is made.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    async fn run(self) -> Result<Vec<BrowsePage>, Error> {
        let limit = self.options.max_references;
        let mut all: Vec<BrowsePage> = self.nodes.iter().map(|_| Ok(Vec::new())).collect();
        let (mut total, mut bytes) = (0, 0_usize);
        let mut pages = Pages::new(&self.session, self.nodes.into_iter(), self.options);
        while let Some(page) = pages.next().await {
            let Some(place) = all.get_mut(page.index) else { continue };
            match (place, page.references) {
                (Ok(known), Ok(references)) => {
                    total += references.len();
                    if total > limit {
                        return Err(Error::too_many_references("all nodes together", limit));
                    }
                    bytes = bytes.saturating_add(references.iter().map(size_of_reference).sum());
                    if bytes > self.max_bytes {
                        let reason = "the references need more bytes of memory than they may";
                        return Err(Error::endless("all nodes together", reason, self.max_bytes));
                    }
                    known.extend(references);
                }
                (place, Err(error)) => *place = Err(error),
                (Err(_), Ok(_)) => {}
            }
        }
        Ok(all)
    }
}

impl IntoFuture for BrowseAll {
    type Output = Result<Vec<BrowsePage>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
