//! TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4).

use uaforge_types::{BrowsePath, BrowsePathResult, TranslateBrowsePathsToNodeIdsRequest};

use crate::{Error, Session, batch};

impl Session {
    /// Follows browse paths. Several calls are made if the server takes fewer paths in one. The results
    /// are in the order of the paths, each with its own status; Bad_NoMatch is a path that leads nowhere.
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several calls failed, the results of their paths
    /// have the status of the call.
    pub async fn translate(&self, browse_paths: Vec<BrowsePath>) -> Result<Vec<BrowsePathResult>, Error> {
        batch::run(self, TranslateBrowsePathsToNodeIdsRequest::default(), browse_paths, None).await
    }
}
