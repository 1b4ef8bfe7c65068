//! Who asks, and over what: the access argument of every node-manager call.

use std::sync::Arc;

use uaforge_codec::NodeIdRef;

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

/// Takes rights away from users: what a node offers to all (AccessLevel, WriteMask, Executable) goes in, what this
/// user has of it comes out. It is asked for the attributes UserAccessLevel, UserWriteMask and UserExecutable
/// and for every Read, Write and Call that they bear on; the answer can only be narrower than the question.
pub trait AccessControl: Send + Sync + 'static {
    /// Bits of AccessLevel (OPC 10000-3 §8.57) that are left to the user.
    fn access_level(&self, access: Access, node: NodeIdRef<'_>, level: u8) -> u8 {
        let _ = (access, node);
        level
    }

    /// Bits of WriteMask (OPC 10000-3 §8.60) that are left to the user.
    fn write_mask(&self, access: Access, node: NodeIdRef<'_>, mask: u32) -> u32 {
        let _ = (access, node);
        mask
    }

    /// Whether the user receives events of this event type, or from this source: both are asked for (ReceiveEvents,
    /// OPC 10000-3 §8.55).
    fn receives_events(&self, access: Access, node: NodeIdRef<'_>) -> bool {
        let _ = (access, node);
        true
    }

    /// Whether the user may call a Method that is executable.
    fn executable(&self, access: Access, node: NodeIdRef<'_>) -> bool {
        let _ = (access, node);
        true
    }
}

/// The rights of users: all that the nodes offer, unless the application narrows them.
#[derive(Clone, Default)]
pub(crate) struct Rights(pub(crate) Option<Arc<dyn AccessControl>>);

impl Rights {
    /// UserAccessLevel (OPC 10000-3 §5.6.2).
    #[inline]
    pub(crate) fn access_level(&self, access: Access, node: NodeIdRef<'_>, level: u8) -> u8 {
        self.0.as_ref().map_or(level, |control| level & control.access_level(access, node, level))
    }

    /// UserWriteMask (OPC 10000-3 §5.2.8).
    #[inline]
    pub(crate) fn write_mask(&self, access: Access, node: NodeIdRef<'_>, mask: u32) -> u32 {
        self.0.as_ref().map_or(mask, |control| mask & control.write_mask(access, node, mask))
    }

    /// Whether events of a type from a source are for the user.
    pub(crate) fn receives_event(
        &self,
        access: Access,
        event_type: NodeIdRef<'_>,
        source: NodeIdRef<'_>,
    ) -> bool {
        self.0.as_ref().is_none_or(|control| {
            control.receives_events(access, event_type) && control.receives_events(access, source)
        })
    }

    /// UserExecutable (OPC 10000-3 §5.7).
    #[inline]
    pub(crate) fn executable(&self, access: Access, node: NodeIdRef<'_>, executable: bool) -> bool {
        executable && self.0.as_ref().is_none_or(|control| control.executable(access, node))
    }
}
