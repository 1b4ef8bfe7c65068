//! What this machine is called and where it can be reached.

use std::net::IpAddr;

/// The names of this machine: its host name, and `localhost`.
#[must_use]
pub fn host_names() -> Vec<String> {
    let own = gethostname::gethostname().to_string_lossy().into_owned();
    let is_name = |name: &String| !name.is_empty() && name.is_ascii() && name != "localhost";
    Some(own).filter(is_name).into_iter().chain(["localhost".into()]).collect()
}

/// The addresses of this machine's interfaces, the loopback ones too, but for those of a single link.
#[must_use]
pub fn addresses() -> Vec<IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let mut addresses: Vec<IpAddr> =
        interfaces.iter().map(if_addrs::Interface::ip).filter(|address| !is_link_local(address)).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
