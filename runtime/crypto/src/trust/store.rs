//! The folders of an application's certificates: own, trusted, issuer, rejected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use uaforge_channel::ChannelError;
use uaforge_codec::{Entropy, Now};

use super::{Purpose, Rejection, RevocationList, Suppress, TrustList};
use crate::{
    Certificate, CertificateError, Draft, Identity, KeyKind, PeerCheck, SharedProvider, Zeroizing, chain,
    pem_or_der,
};

/// Rejected certificates that are kept for somebody to look at.
const MAX_REJECTED: usize = 100;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file or folder cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: CertificateError,
    },
    /// There is no certificate of this name.
    #[error("there is no certificate `{name}` in {}", folder.display())]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
}

/// A folder of certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The application's own.
    Own,
    /// Trusted applications and authorities.
    Trusted,
    /// Authorities that only complete chains.
    Issuer,
    /// Certificates that were refused, for somebody to look at.
    Rejected,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Own, Self::Trusted, Self::Issuer, Self::Rejected];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Trusted => "trusted",
            Self::Issuer => "issuer",
            Self::Rejected => "rejected",
        }
    }
}

/// The store: `own/certs`, `own/private`, `trusted/certs`, `trusted/crl`, `issuer/certs`, `issuer/crl` and
/// `rejected/certs` below one folder. What is put there or taken away holds for the next peer.
#[derive(Clone, Debug)]
pub struct Pki {
    folder: Arc<PathBuf>,
    provider: SharedProvider,
    purpose: Purpose,
    suppress: Suppress,
    read: Arc<Mutex<Read>>,
}

/// What was read from the folders, and how they were then.
#[derive(Debug, Default)]
struct Read {
    stamps: Vec<Stamp>,
    list: Arc<TrustList>,
    version: u64,
}

/// When a folder was changed last, and how many files it has: two changes may have the same time.
type Stamp = (Option<SystemTime>, usize);

impl Pki {
    /// A store in a folder, which is made if it is not there; `purpose` says whose certificates are decided about.
    ///
    /// # Errors
    /// The folders cannot be made.
    pub fn open(
        folder: impl Into<PathBuf>,
        provider: SharedProvider,
        purpose: Purpose,
    ) -> Result<Self, PkiError> {
        let folder = folder.into();
        for name in FOLDERS {
            make_folder(&folder.join(name), name == "own/private")?;
        }
        Ok(Self {
            folder: Arc::new(folder),
            provider,
            purpose,
            suppress: Suppress::default(),
            read: Arc::default(),
        })
    }

    /// Lets these errors pass.
    #[must_use]
    pub fn suppress(mut self, suppress: Suppress) -> Self {
        self.suppress = suppress;
        self.read = Arc::default();
        self
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The own certificate with a key of this kind; it is made by `draft` if there is none.
    ///
    /// # Errors
    /// A file cannot be read or written, or is none.
    pub fn own(&self, kind: KeyKind, draft: &Draft, entropy: &mut dyn Entropy) -> Result<Identity, PkiError> {
        let name = file_name(kind);
        let key = self.folder.join("own/private").join(format!("{name}.pem"));
        let certificate = self.folder.join("own/certs").join(format!("{name}.der"));
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| PkiError::Certificate { path, source }
        };
        if !key.exists() {
            let (made, pkcs8) = draft.make(&self.provider, kind, entropy).map_err(wrong(&certificate))?;
            write_private(&key, &private_pem(&pkcs8).map_err(wrong(&key))?)?;
            write(&certificate, made.chain())?;
        }
        let pkcs8 = pem_or_der(&Zeroizing::new(read(&key)?)).map_err(wrong(&key))?;
        let pkcs8 = Zeroizing::new(pkcs8);
        if !certificate.exists() {
            let made = draft.make_for(&self.provider, &pkcs8, entropy).map_err(wrong(&certificate))?;
            write(&certificate, made.chain())?;
        }
        let certificates = pem_or_der(&read(&certificate)?).map_err(wrong(&certificate))?;
        Identity::from_der(&self.provider, &certificates, &pkcs8).map_err(wrong(&certificate))
    }

    /// The certificates in a place, by name of file. What cannot be read is left out.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self, place: Place) -> Result<Vec<(String, Certificate)>, PkiError> {
        let files = files(&self.certificates(place))?;
        Ok(files
            .into_iter()
            .filter_map(|path| {
                let certificates = chain(&pem_or_der(&read(&path).ok()?).ok()?).ok()?;
                let name = path.file_name()?.to_string_lossy().into_owned();
                Some((name, certificates.into_iter().next()?))
            })
            .collect())
    }

    /// Trusts a certificate: puts it into `trusted`, and takes it out of `rejected`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn trust(&self, certificate: &Certificate) -> Result<(), PkiError> {
        self.put(Place::Trusted, certificate)?;
        self.remove(Place::Rejected, certificate)
    }

    /// Trusts a certificate no more: puts it into `rejected`, and takes it out of `trusted`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn reject(&self, certificate: &Certificate) -> Result<(), PkiError> {
        self.put(Place::Rejected, certificate)?;
        self.remove(Place::Trusted, certificate)
    }

    /// A certificate of any place whose thumbprint or file begins with `name`.
    ///
    /// # Errors
    /// A folder cannot be read, or there is none.
    pub fn find(&self, name: &str) -> Result<Certificate, PkiError> {
        for place in Place::ALL {
            for (file, certificate) in self.list(place)? {
                if file.starts_with(name) || self.thumbprint(&certificate).starts_with(name) {
                    return Ok(certificate);
                }
            }
        }
        Err(PkiError::Unknown { name: name.into(), folder: self.folder().to_owned() })
    }

    /// SHA-1 of a certificate, in hexadecimal digits.
    #[must_use]
    pub fn thumbprint(&self, certificate: &Certificate) -> String {
        certificate.thumbprint(&*self.provider).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What the folders say now; they are read again only if they have changed.
    #[must_use]
    pub fn trust_list(&self) -> Arc<TrustList> {
        let stamps: Vec<_> = WATCHED.iter().map(|name| stamp(&self.folder.join(name))).collect();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.stamps != stamps {
            let version = read.version + 1;
            *read = Read { stamps, list: Arc::new(self.read_all()), version };
        }
        Arc::clone(&read.list)
    }

    fn read_all(&self) -> TrustList {
        let certificates = |place| {
            let found = self.list(place).unwrap_or_default();
            found.into_iter().map(|(_, certificate)| certificate).collect()
        };
        let lists = ["trusted/crl", "issuer/crl"].into_iter();
        let files = lists.flat_map(|name| files(&self.folder.join(name)).unwrap_or_default());
        TrustList {
            trusted: certificates(Place::Trusted),
            issuers: certificates(Place::Issuer),
            revoked: files.filter_map(|path| revocation_list(&path)).collect(),
            suppress: self.suppress,
        }
    }

    /// Decides about a certificate by what the folders say; one that is only not trusted is put into `rejected`.
    ///
    /// # Errors
    /// The step of OPC 10000-4 §6.1.3 that failed.
    pub fn validate(&self, certificates: &[Certificate], now: Now) -> Result<(), Rejection> {
        let list = self.trust_list();
        let decided = list.validate(&*self.provider, certificates, self.purpose, now.utc);
        if let (Err(_), Some(certificate)) = (decided, certificates.first()) {
            // Whoever cannot write there does without.
            let _ = self.keep_rejected(certificate);
        }
        decided
    }

    fn keep_rejected(&self, certificate: &Certificate) -> Result<(), PkiError> {
        let known = files(&self.certificates(Place::Rejected))?;
        let path = self.path(Place::Rejected, certificate);
        if known.len() < MAX_REJECTED && !known.contains(&path) {
            write(&path, certificate.der())?;
        }
        Ok(())
    }

    fn certificates(&self, place: Place) -> PathBuf {
        self.folder.join(place.name()).join("certs")
    }

    fn path(&self, place: Place, certificate: &Certificate) -> PathBuf {
        self.certificates(place).join(format!("{}.der", self.thumbprint(certificate)))
    }

    fn put(&self, place: Place, certificate: &Certificate) -> Result<(), PkiError> {
        write(&self.path(place, certificate), certificate.der())
    }

    /// Removes a certificate, whatever its file is called.
    fn remove(&self, place: Place, certificate: &Certificate) -> Result<(), PkiError> {
        for (file, found) in self.list(place)? {
            if found == *certificate {
                let path = self.certificates(place).join(file);
                fs::remove_file(&path).map_err(|source| PkiError::Io { path, source })?;
            }
        }
        Ok(())
    }
}

impl PeerCheck for Pki {
    fn check(&self, certificates: &[Certificate], now: Now) -> Result<(), ChannelError> {
        self.validate(certificates, now).map_err(Into::into)
    }

    fn version(&self) -> u64 {
        let _ = self.trust_list();
        self.read.lock().unwrap_or_else(PoisonError::into_inner).version
    }
}

const FOLDERS: [&str; 7] = [
    "own/certs",
    "own/private",
    "trusted/certs",
    "trusted/crl",
    "issuer/certs",
    "issuer/crl",
    "rejected/certs",
];
/// Folders that decide.
const WATCHED: [&str; 4] = ["trusted/certs", "trusted/crl", "issuer/certs", "issuer/crl"];

fn file_name(kind: KeyKind) -> String {
    match kind {
        KeyKind::Rsa(bits) => format!("rsa{bits}"),
        KeyKind::P256 => "nistP256".into(),
        KeyKind::P384 => "nistP384".into(),
        KeyKind::Ed25519 => "curve25519".into(),
    }
}

fn revocation_list(path: &Path) -> Option<RevocationList> {
    RevocationList::from_der(&pem_or_der(&read(path).ok()?).ok()?).ok()
}

fn private_pem(pkcs8: &[u8]) -> Result<Zeroizing<String>, CertificateError> {
    crate::certificate::to_pem("PRIVATE KEY", pkcs8).map(Zeroizing::new)
}

fn stamp(path: &Path) -> Stamp {
    let files = fs::read_dir(path).map(Iterator::count).unwrap_or_default();
    (fs::metadata(path).and_then(|found| found.modified()).ok(), files)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, PkiError> {
    let failed = |source| PkiError::Io { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<u8>, PkiError> {
    fs::read(path).map_err(|source| PkiError::Io { path: path.to_owned(), source })
}

/// Writes a file under another name first: whoever reads sees all of it or nothing.
fn write(path: &Path, bytes: &[u8]) -> Result<(), PkiError> {
    let part = path.with_extension("part");
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| PkiError::Io { path: path.to_owned(), source })
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, text: &str) -> Result<(), PkiError> {
    use std::io::Write as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| PkiError::Io { path: path.to_owned(), source })
}

fn make_folder(path: &Path, is_private: bool) -> Result<(), PkiError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    builder.create(path).map_err(|source| PkiError::Io { path: path.to_owned(), source })
}
