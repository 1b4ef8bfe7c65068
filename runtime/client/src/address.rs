//! Addresses as users type them: `opc.tcp://host[:port][/path]` (OPC 10000-6 §7.2).

use std::sync::Arc;

use crate::Error;

/// The port that OPC 10000-6 §7.2 names.
const DEFAULT_PORT: u16 = 4840;
const SCHEME: &str = "opc.tcp://";
/// Longest EndpointUrl of a Hello message (OPC 10000-6 §7.1.2.3).
const MAX_LENGTH: usize = 4096;

/// Where to dial, and the URL to name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The URL as typed.
    pub(crate) url: Arc<str>,
    /// Host name or address without brackets.
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let parts = split(url.trim()).ok_or_else(|| Error::Address(url.into()))?;
        Ok(Self { url: url.trim().into(), host: parts.0.into(), port: parts.1 })
    }

    /// `host:port` for messages.
    pub(crate) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

fn split(url: &str) -> Option<(&str, u16)> {
    if url.len() > MAX_LENGTH || url.chars().any(|c| c.is_control() || c == ' ') {
        return None;
    }
    let scheme = url.get(..SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let rest = url.get(SCHEME.len()..)?;
    let authority = rest.split('/').next()?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().ok()?,
        None => DEFAULT_PORT,
    };
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_form() {
        for (url, host, port) in [
            ("opc.tcp://plant:14840/srv", "plant", 14840),
            ("opc.tcp://PLANT/", "PLANT", 4840),
            ("OPC.TCP://10.0.0.1", "10.0.0.1", 4840),
            ("opc.tcp://[::1]:14840/srv", "::1", 14840),
            ("opc.tcp://[fe80::1]", "fe80::1", 4840),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!((&*address.host, address.port, &*address.url), (host, port, url));
        }
        assert_eq!(Address::parse("opc.tcp://[::1]").unwrap().authority(), "[::1]:4840");
    }

    #[test]
    fn no_address() {
        for url in [
            "",
            "plant:4840",
            "http://plant",
            "opc.tcp://",
            "opc.tcp://:4840",
            "opc.tcp://a:b",
            "opc.tcp://[::1",
            "opc.tcp://a b",
        ] {
            assert!(matches!(Address::parse(url), Err(Error::Address(_))), "{url}");
        }
    }
}
