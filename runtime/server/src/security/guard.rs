//! What a client whose certificate is refused learns, and what the log does.

use std::sync::Arc;

use uaforge_channel::{ChannelError, security_checks_failed};
use uaforge_codec::Now;
use uaforge_crypto::{Certificate, PeerCheck, SharedProvider};

/// Logs why a certificate is refused; the client is told no more than that it is (OPC 10000-4 §6.1.3).
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    provider: SharedProvider,
    check: Arc<dyn PeerCheck>,
}

impl Guard {
    pub(crate) fn new(provider: SharedProvider, check: Arc<dyn PeerCheck>) -> Self {
        Self { provider, check }
    }
}

impl PeerCheck for Guard {
    fn check(&self, certificates: &[Certificate], now: Now) -> Result<(), ChannelError> {
        self.check.check(certificates, now).map_err(|error| {
            if let Some(certificate) = certificates.first() {
                let thumbprint = certificate.thumbprint(&*self.provider);
                let thumbprint: String = thumbprint.iter().map(|byte| format!("{byte:02x}")).collect();
                let subject = certificate.subject();
                tracing::warn!(thumbprint, subject, status = %error.status, reason = %error.reason, "a client is refused");
            }
            security_checks_failed()
        })
    }

    fn version(&self) -> u64 {
        self.check.version()
    }
}
