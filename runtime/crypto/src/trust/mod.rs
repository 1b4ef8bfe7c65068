//! Whether a certificate is to be trusted: the steps of OPC 10000-4 §6.1.3, each with its own result.

mod crl;
mod list;
mod rejection;
mod store;
mod usage;

pub use crl::RevocationList;
pub use list::{Purpose, Suppress, TrustList};
pub use rejection::Rejection;
pub use store::{Pki, PkiError, Place};
