//! Browse and BrowseNext (OPC 10000-4 §5.9.2, §5.9.3).

use uaforge_codec::ByteString;
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowseRequest, BrowseResult, ReferenceDescription, status,
};

use super::{check_count, per_call, split};
use crate::{Error, Session};

/// All references of a node, or why they are not known.
pub type BrowsePage = Result<Vec<ReferenceDescription>, Error>;

impl Session {
    /// Browses nodes, one page each. Results with a continuation point go on with
    /// [`Session::browse_next`]; [`Session::browse_all`] does that by itself.
    ///
    /// # Errors
    /// The call failed as a whole.
    pub async fn browse(
        &self,
        nodes_to_browse: Vec<BrowseDescription>,
        max_references_per_node: u32,
    ) -> Result<Vec<BrowseResult>, Error> {
        let asked = nodes_to_browse.len();
        let request = BrowseRequest {
            requested_max_references_per_node: max_references_per_node,
            nodes_to_browse: nodes_to_browse.into(),
            ..Default::default()
        };
        let results = self.call_service(request).await?.results.into_vec();
        check_count("BrowseRequest", asked, results.len())?;
        Ok(results)
    }

    /// The next pages, or with `release` the end of these continuation points.
    ///
    /// # Errors
    /// The call failed as a whole.
    pub async fn browse_next(
        &self,
        continuation_points: Vec<ByteString>,
        release: bool,
    ) -> Result<Vec<BrowseResult>, Error> {
        let asked = continuation_points.len();
        let request = BrowseNextRequest {
            release_continuation_points: release,
            continuation_points: continuation_points.into(),
            ..Default::default()
        };
        let results = self.call_service(request).await?.results.into_vec();
        // A release has no results to give (OPC 10000-4 §5.9.3.2).
        if !release {
            check_count("BrowseNextRequest", asked, results.len())?;
        }
        Ok(results)
    }

    /// Browses nodes to the last page each: splits by the server's limits, follows continuation points,
    /// and asks again for nodes that found the server without a free one.
    ///
    /// # Errors
    /// A call failed as a whole. What failed for a single node stands in its place.
    pub async fn browse_all(
        &self,
        nodes_to_browse: Vec<BrowseDescription>,
    ) -> Result<Vec<BrowsePage>, Error> {
        let mut pages: Vec<BrowsePage> = nodes_to_browse.iter().map(|_| Ok(Vec::new())).collect();
        let mut waiting: Vec<(usize, BrowseDescription)> = nodes_to_browse.into_iter().enumerate().collect();
        let mut at_once = per_call(self.limits().max_nodes_per_browse);
        while !waiting.is_empty() {
            let mut again = Vec::new();
            for part in split(waiting, u32::try_from(at_once).unwrap_or(0)) {
                again.append(&mut self.browse_part(part, &mut pages).await?);
            }
            // Fewer nodes in one call need fewer continuation points at once; a single one is answered
            // as it is.
            at_once = (at_once.min(again.len()) / 2).max(1);
            waiting = again;
        }
        Ok(pages)
    }

    /// Browses nodes in one call and follows their continuation points. Gives back those that found the
    /// server without a free one.
    async fn browse_part(
        &self,
        part: Vec<(usize, BrowseDescription)>,
        pages: &mut [BrowsePage],
    ) -> Result<Vec<(usize, BrowseDescription)>, Error> {
        let alone = part.len() == 1;
        let results = self.browse(part.iter().map(|(_, node)| node.clone()).collect(), 0).await?;
        let mut again = Vec::new();
        let mut open = Vec::new();
        for ((index, node), result) in part.into_iter().zip(results) {
            if result.status_code == status::BAD_NO_CONTINUATION_POINTS && !alone {
                again.push((index, node));
            } else if let Some(point) = take_page(pages, index, &node, result) {
                open.push((index, node, point));
            }
        }
        while !open.is_empty() {
            let points = open.iter().map(|(_, _, point)| point.clone()).collect();
            let results = self.browse_next(points, false).await?;
            let mut further = Vec::new();
            for ((index, node, _), result) in open.into_iter().zip(results) {
                if let Some(point) = take_page(pages, index, &node, result) {
                    further.push((index, node, point));
                }
            }
            open = further;
        }
        Ok(again)
    }
}

/// Adds a page. Gives the continuation point, if there is more.
fn take_page(
    pages: &mut [BrowsePage],
    index: usize,
    node: &BrowseDescription,
    result: BrowseResult,
) -> Option<ByteString> {
    let page = pages.get_mut(index)?;
    if result.status_code.is_bad() {
        *page = Err(Error::operation(&node.node_id, result.status_code));
        return None;
    }
    if let Ok(references) = page {
        references.append(&mut result.references.into_vec());
    }
    let point = result.continuation_point;
    point.as_bytes().is_some_and(|bytes| !bytes.is_empty()).then_some(point)
}
