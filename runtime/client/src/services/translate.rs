//! TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4).

use uaforge_types::{BrowsePath, BrowsePathResult, TranslateBrowsePathsToNodeIdsRequest};

use super::{check_count, split};
use crate::{Error, Session};

impl Session {
    /// Follows browse paths. Several calls are made if the server takes fewer paths in one. The results
    /// are in the order of the paths, each with its own status.
    ///
    /// # Errors
    /// A call failed as a whole.
    pub async fn translate(&self, browse_paths: Vec<BrowsePath>) -> Result<Vec<BrowsePathResult>, Error> {
        let parts = split(browse_paths, self.limits().max_nodes_per_translate);
        let mut out = Vec::new();
        for results in crate::join::join_all(parts.into_iter().map(|part| self.translate_once(part))).await {
            out.append(&mut results?);
        }
        Ok(out)
    }

    async fn translate_once(&self, browse_paths: Vec<BrowsePath>) -> Result<Vec<BrowsePathResult>, Error> {
        let asked = browse_paths.len();
        let request =
            TranslateBrowsePathsToNodeIdsRequest { browse_paths: browse_paths.into(), ..Default::default() };
        let results = self.call_service(request).await?.results.into_vec();
        check_count("TranslateBrowsePathsToNodeIdsRequest", asked, results.len())?;
        Ok(results)
    }
}
