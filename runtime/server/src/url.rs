//! Endpoint URLs: `opc.tcp://host[:port][/path]` (OPC 10000-6 §7.1.1).

/// The default port of OPC UA TCP.
pub(crate) const DEFAULT_PORT: u16 = 4840;

const SCHEME: &str = "opc.tcp://";
const MAX_URL: usize = 4096;

/// The parts of an endpoint URL, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndpointUrl<'a> {
    /// Host and port as written, IPv6 brackets included.
    pub(crate) authority: &'a str,
    /// Host without port and brackets.
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// Empty, or with its leading slash.
    pub(crate) path: &'a str,
}

impl<'a> EndpointUrl<'a> {
    /// Splits a URL; `None` for anything that is not an `opc.tcp` URL with a host.
    pub(crate) fn parse(url: &'a str) -> Option<Self> {
        if url.len() > MAX_URL || url.chars().any(|c| c.is_control() || c == ' ') {
            return None;
        }
        let scheme = url.get(..SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let rest = url.get(SCHEME.len()..)?;
        let cut = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (host, port) = split_authority(authority)?;
        if host.is_empty() {
            return None;
        }
        Some(Self { authority, host, port, path })
    }

    /// This endpoint as a client reached it: scheme, the authority that was dialled, the path of this endpoint.
    pub(crate) fn as_dialled(&self, dialled: &str) -> String {
        let authority = EndpointUrl::parse(dialled).map_or(self.authority, |url| url.authority);
        let mut out = String::with_capacity(SCHEME.len() + authority.len() + self.path.len());
        out.push_str(SCHEME);
        out.push_str(authority);
        out.push_str(self.path);
        out
    }
}

fn split_authority(authority: &str) -> Option<(&str, u16)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, port.parse().ok()?)),
            None if after.is_empty() => Some((host, DEFAULT_PORT)),
            None => None,
        };
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => Some((host, port.parse().ok()?)),
        Some(_) => None,
        None => Some((authority, DEFAULT_PORT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_the_usual_forms() {
        let url = EndpointUrl::parse("opc.tcp://plant:4841/srv").unwrap();
        assert_eq!((url.host, url.port, url.path), ("plant", 4841, "/srv"));
        let url = EndpointUrl::parse("OPC.TCP://[::1]").unwrap();
        assert_eq!((url.host, url.port, url.authority), ("::1", 4840, "[::1]"));
        for bad in [
            "",
            "http://x",
            "opc.tcp://",
            "opc.tcp://a:b",
            "opc.tcp://a:1:2",
            "opc.tcp://[::1",
            "opc.tcp://a b",
        ] {
            assert_eq!(EndpointUrl::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn keeps_the_path_and_takes_the_dialled_authority() {
        let url = EndpointUrl::parse("opc.tcp://0.0.0.0:4840/srv").unwrap();
        assert_eq!(url.as_dialled("opc.tcp://127.0.0.1:14840/other"), "opc.tcp://127.0.0.1:14840/srv");
        assert_eq!(url.as_dialled("nonsense"), "opc.tcp://0.0.0.0:4840/srv");
    }
}
