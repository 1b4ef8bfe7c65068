//! A file of users with hashes of their passwords.

use core::time::Duration;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use uaforge_channel::Operation;
use uaforge_codec::{Now, Ticks};
use uaforge_crypto::{KeyPool, Zeroizing, hash_password, is_password_hash, verify_password};
use uaforge_net::OsEntropy;
use uaforge_types::status;

use super::{Authentication, Authenticator, Credentials, Offered, User};
use crate::access::{RoleSet, UserId};

/// Failures in a row after which a user is locked out, and for how long.
const MAX_FAILURES: u32 = 10;
const LOCK_OUT: Duration = Duration::from_secs(300);
/// The first failure is answered after this time, each further one after twice as much.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(5);
/// Hashes that are computed at once, each in 20 MB, and logins that may wait for that.
const THREADS: usize = 2;
const WAITING: usize = 64;

/// Why a file of users cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PasswordFileError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A line is none.
    #[error("{}:{line}: write `name:hash`, with a hash of Argon2 such as PasswordFile::line gives", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// Users with names and passwords, out of a text with one `name:hash` a line. Lines that are empty or begin with
/// `#` say nothing. Failures are answered later and later, and ten in a row lock a user out for five minutes.
#[derive(Clone)]
pub struct PasswordFile {
    shared: Arc<Shared>,
}

struct Shared {
    /// Hash and number.
    users: HashMap<String, (String, UserId)>,
    /// Failures of those users.
    failures: Mutex<HashMap<String, Failures>>,
    /// The hash that passwords of nobody are compared with, so that it takes as long.
    nobody: String,
    anonymous: bool,
    pool: KeyPool,
}

#[derive(Clone, Copy, Default)]
struct Failures {
    in_a_row: u32,
    locked_until: Option<Ticks>,
}

impl PasswordFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or a line is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PasswordFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| PasswordFileError::Io { path: path.into(), source })?;
        Self::parse(&text).map_err(|line| PasswordFileError::Line { path: path.into(), line })
    }

    /// Reads a text; the number of a line that is none.
    fn parse(text: &str) -> Result<Self, usize> {
        let mut users = HashMap::new();
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry =
                line.split_once(':').filter(|(name, hash)| !name.is_empty() && is_password_hash(hash));
            let (name, hash) = entry.ok_or(number)?;
            let id = UserId(u32::try_from(users.len()).unwrap_or(u32::MAX - 1) + 1);
            if users.insert(name.to_owned(), (hash.to_owned(), id)).is_some() {
                return Err(number);
            }
        }
        Ok(Self {
            shared: Arc::new(Shared {
                users,
                failures: Mutex::default(),
                nobody: hash_password(b"", &mut OsEntropy).unwrap_or_default(),
                anonymous: false,
                pool: KeyPool::new(THREADS, WAITING),
            }),
        })
    }

    /// Lets anonymous users in too.
    #[must_use]
    pub fn and_anonymous(self) -> Self {
        let Shared { users, nobody, pool, .. } = &*self.shared;
        let (users, nobody, pool) = (users.clone(), nobody.clone(), pool.clone());
        Self { shared: Arc::new(Shared { users, failures: Mutex::default(), nobody, anonymous: true, pool }) }
    }

    /// The line of a user; `None` if the name has a colon or a line break, or there is not enough memory.
    #[must_use]
    pub fn line(name: &str, password: &str) -> Option<String> {
        let is_plain = !name.is_empty() && !name.starts_with('#') && !name.contains([':', '\n', '\r']);
        let hash = is_plain.then(|| hash_password(password.as_bytes(), &mut OsEntropy).ok()).flatten()?;
        Some(format!("{name}:{hash}"))
    }
}

impl Shared {
    /// Whether a user is locked out.
    fn is_locked(&self, name: &str, now: Ticks) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(name).and_then(|failures| failures.locked_until).is_some_and(|until| now < until)
    }

    /// Notes how a login ended; when a failure is to be answered.
    fn note(&self, name: &str, good: bool, now: Ticks) -> Option<Ticks> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if good {
            all.remove(name);
            return None;
        }
        // Names that nobody has are not remembered: there is no end of them.
        let mut unknown = Failures::default();
        let failures = if self.users.contains_key(name) {
            all.entry(name.to_owned()).or_default()
        } else {
            &mut unknown
        };
        failures.in_a_row += 1;
        if failures.in_a_row >= MAX_FAILURES {
            *failures = Failures { in_a_row: 0, locked_until: Some(now + LOCK_OUT) };
            tracing::warn!(user = name, "locked out after too many failures");
        }
        let doubled = FIRST_DELAY.saturating_mul(1 << failures.in_a_row.saturating_sub(1).min(10));
        Some(now + doubled.min(LONGEST_DELAY))
    }
}

/// The answer for a name and a password.
async fn login(
    shared: Arc<Shared>,
    name: String,
    password: Zeroizing<Vec<u8>>,
    now: Ticks,
) -> Result<User, uaforge_codec::StatusCode> {
    let known = shared.users.get(&name).cloned();
    let hash = known.as_ref().map_or_else(|| shared.nobody.clone(), |(hash, _)| hash.clone());
    let right = shared.pool.run(move || Operation::Ready(Ok(verify_password(&hash, &password))));
    let right = right.await.map_err(|_| status::BAD_SERVER_TOO_BUSY)?;
    let good = right && known.is_some() && !shared.is_locked(&name, now);
    if let Some(answer_at) = shared.note(&name, good, now) {
        uaforge_net::sleep_until(answer_at).await;
    }
    let id = known.filter(|_| good).map(|(_, id)| id).ok_or(status::BAD_USER_ACCESS_DENIED)?;
    Ok(User { id, roles: RoleSet::NONE })
}

impl Authenticator for PasswordFile {
    fn offered(&self) -> Offered {
        Offered { anonymous: self.shared.anonymous, user_name: true, ..Default::default() }
    }

    fn authenticate(&self, credentials: Credentials, now: Now) -> Authentication {
        match credentials {
            Credentials::UserName { name, password } => {
                Box::pin(login(Arc::clone(&self.shared), name, password, now.ticks))
            }
            _ => Box::pin(core::future::ready(Err(status::BAD_IDENTITY_TOKEN_REJECTED))),
        }
    }
}
