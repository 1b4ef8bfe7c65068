//! The crates that carry public models, as of this version.

/// URI, crate, version and publication date by line; written together with the crates.
const CRATES: &str = include_str!("../interface/crates.txt");

/// A crate that carries a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The package's name.
    pub(crate) package: &'static str,
    /// The model's version.
    pub(crate) version: &'static str,
    /// The model's publication date.
    pub(crate) date: &'static str,
}

impl Known {
    /// The crate that carries the model with this URI.
    pub(crate) fn of(uri: &str) -> Option<Self> {
        CRATES.lines().find_map(|line| {
            let mut fields = line.split('\t');
            (fields.next()? == uri).then_some(())?;
            Some(Self { package: fields.next()?, version: fields.next()?, date: fields.next()? })
        })
    }

    /// The line of a Cargo.toml; all crates of the project have one version.
    pub(crate) fn dependency(self) -> String {
        let version = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")].join(".");
        format!("{} = \"{version}\"", self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::{CRATES, Known};

    #[test]
    fn every_line_is_a_crate() {
        for line in CRATES.lines() {
            let uri = line.split('\t').next().expect("a URI");
            let known = Known::of(uri).expect("a whole line");
            assert!(
                known.package.starts_with("uaforge-") && crate::dates::parse_date(known.date).is_some(),
                "{line}"
            );
        }
        assert_eq!(
            Known::of("http://opcfoundation.org/UA/DI/").map(|known| known.package),
            Some("uaforge-di")
        );
        assert_eq!(Known::of("http://opcfoundation.org/UA/DI"), None);
    }
}
