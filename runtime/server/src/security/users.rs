//! Who users are: credentials in, a user with roles out (OPC 10000-4 §7.40).

use core::fmt;
use core::future::Future;
use core::pin::Pin;

use uaforge_codec::{Now, StatusCode};
use uaforge_crypto::{Certificate, Zeroizing};

use crate::access::{RoleSet, UserId};

/// What kinds of identity a server takes (OPC 10000-4 §7.41 UserTokenPolicy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// AnonymousIdentityToken.
    pub anonymous: bool,
    /// UserNameIdentityToken.
    pub user_name: bool,
    /// X509IdentityToken.
    pub certificate: bool,
    /// IssuedIdentityToken with a JSON Web Token.
    pub issued: bool,
}

impl Offered {
    /// Anonymous users only.
    pub const ANONYMOUS: Self = Self { anonymous: true, user_name: false, certificate: false, issued: false };
}

/// What a user identifies with. Secrets are wiped when they are dropped, and not shown.
pub enum Credentials {
    /// Nothing.
    Anonymous,
    /// A name and a password.
    UserName {
        /// The name.
        name: String,
        /// The password as UTF-8.
        password: Zeroizing<Vec<u8>>,
    },
    /// A certificate whose key the user has proved to have. Whether it is trusted is not checked.
    Certificate(Certificate),
    /// A token of an authorisation service, as it came.
    Issued(Zeroizing<Vec<u8>>),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::UserName { name, .. } => {
                f.debug_struct("UserName").field("name", name).finish_non_exhaustive()
            }
            Self::Certificate(certificate) => f.debug_tuple("Certificate").field(certificate).finish(),
            Self::Issued(_) => f.write_str("Issued"),
        }
    }
}

/// A user who is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The application's number for the user.
    pub id: UserId,
    /// The roles of the user, without those that come of themselves: Anonymous, and AuthenticatedUser.
    pub roles: RoleSet,
}

/// The answer to a login: Bad_UserAccessDenied if the credentials are wrong or the user is locked out.
pub type Authentication = Pin<Box<dyn Future<Output = Result<User, StatusCode>> + Send>>;

/// Knows the users of a server.
pub trait Authenticator: Send + Sync + 'static {
    /// The kinds of identity that clients are offered.
    fn offered(&self) -> Offered;

    /// Decides about credentials of a kind that is offered. It may take its time; nobody else waits for it.
    fn authenticate(&self, credentials: Credentials, now: Now) -> Authentication;
}

/// Everybody is anonymous.
pub(crate) struct AnonymousOnly;

impl Authenticator for AnonymousOnly {
    fn offered(&self) -> Offered {
        Offered::ANONYMOUS
    }

    fn authenticate(&self, _credentials: Credentials, _now: Now) -> Authentication {
        Box::pin(core::future::ready(Ok(User::default())))
    }
}
