//! Who asks, and over what: the access argument of every node-manager call.

/// A user as the server knows it; the number stands for an entry of the identity table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserId(pub u32);

impl UserId {
    /// A user who did not identify (AnonymousIdentityToken, OPC 10000-4 §7.40.3).
    pub const ANONYMOUS: Self = Self(0);
}

/// A set of roles (OPC 10000-3 §4.9): one bit for each well-known role, the upper half for roles of the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RoleSet(pub u64);

impl RoleSet {
    /// No role.
    pub const NONE: Self = Self(0);
    /// The role Anonymous (OPC 10000-3 §4.9.2).
    pub const ANONYMOUS: Self = Self(1);
    /// The role AuthenticatedUser (OPC 10000-3 §4.9.2).
    pub const AUTHENTICATED_USER: Self = Self(1 << 1);

    /// Whether every role of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The roles of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What the secure channel of a request protects; compared with a node's AccessRestrictions (OPC 10000-3 §5.2.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Protection {
    /// Messages are signed.
    pub signed: bool,
    /// Messages are encrypted.
    pub encrypted: bool,
}

/// The access argument: `Copy`, so that a deferred answer can take it along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// The user of the session.
    pub user: UserId,
    /// The roles granted to the session.
    pub roles: RoleSet,
    /// The protection of the channel that the request came on.
    pub protection: Protection,
}

impl Access {
    /// An anonymous user on a channel with the given protection.
    #[must_use]
    pub const fn anonymous(protection: Protection) -> Self {
        Self { user: UserId::ANONYMOUS, roles: RoleSet::ANONYMOUS, protection }
    }
}
