//! Cancel (OPC 10000-4 §5.7.5).

use uaforge_types::CancelRequest;

use crate::{Error, Session};

impl Session {
    /// Asks the server to give up the outstanding requests with this requestHandle; how many it did. Their
    /// callers get Bad_RequestCancelledByClient. What is dropped is cancelled by itself: see [`Session`].
    ///
    /// ```no_run
    /// # async fn example(session: uaforge_client::Session) -> Result<(), uaforge_client::Error> {
    /// let slow = session.call_service(uaforge_types::HistoryReadRequest::default());
    /// let handle = slow.request_handle();
    /// let running = tokio::spawn(async move { slow.await });
    /// session.cancel(handle).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The service failed, such as Bad_ServiceUnsupported.
    pub async fn cancel(&self, request_handle: u32) -> Result<u32, Error> {
        let request = CancelRequest { request_handle, ..Default::default() };
        Ok(self.call_service(request).await?.cancel_count)
    }
}
