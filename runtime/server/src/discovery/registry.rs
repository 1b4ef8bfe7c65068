//! The servers that have registered here.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use uaforge_codec::{Array, DateTime, LocalizedText, StatusCode, Ticks, UaString};
use uaforge_types::{
    ApplicationDescription, ApplicationType, MdnsDiscoveryConfiguration, RegisteredServer, ServerOnNetwork,
    status,
};

use super::DiscoveryServer;
use crate::security::ChannelSecurity;

/// Registrations, by ServerUri.
pub(crate) struct Registry {
    settings: DiscoveryServer,
    /// When record numbers began at 1.
    pub(crate) started: DateTime,
    table: Mutex<Table>,
}

/// Who asks to be registered.
pub(crate) struct Registrant<'c> {
    /// Where the connection comes from; `None` if there is no network between.
    pub(crate) address: Option<IpAddr>,
    /// What the channel has proved; `None` without security.
    pub(crate) channel: Option<&'c ChannelSecurity>,
}

impl Registrant<'_> {
    /// Whether this one may register a server of this URI.
    fn check(&self, settings: &DiscoveryServer, uri: &UaString) -> Result<(), StatusCode> {
        let is_local = self.address.is_none_or(|address| address.to_canonical().is_loopback());
        if !is_local && !settings.remote {
            return Err(status::BAD_USER_ACCESS_DENIED);
        }
        match self.channel {
            Some(channel) if !channel.is_of(uri.as_str().unwrap_or_default()) => {
                Err(status::BAD_SERVER_URI_INVALID)
            }
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    last_record: u32,
}

struct Entry {
    server: RegisteredServer,
    expires: Ticks,
    /// What it is called on the network, if it wants to be found there.
    network: Option<Network>,
}

struct Network {
    name: UaString,
    capabilities: Array<UaString>,
    /// The record of the first discovery URL; the others follow.
    first_record: u32,
}

impl Registry {
    pub(crate) fn new(settings: DiscoveryServer, started: DateTime) -> Self {
        Self { settings, started, table: Mutex::default() }
    }

    /// Notes a server, or forgets one that goes offline.
    pub(crate) fn register(
        &self,
        by: &Registrant<'_>,
        server: RegisteredServer,
        network: Option<MdnsDiscoveryConfiguration>,
        now: Ticks,
    ) -> Result<(), StatusCode> {
        check(&server)?;
        by.check(&self.settings, &server.server_uri)?;
        self.with_table(now, |table| {
            let known = table.entries.iter().position(|entry| entry.server.server_uri == server.server_uri);
            if !server.is_online {
                if let Some(index) = known {
                    table.entries.remove(index);
                }
                return Ok(());
            }
            let before = known.map(|index| table.entries.remove(index));
            if before.is_none() && table.entries.len() >= self.settings.max_servers {
                return Err(status::BAD_RESOURCE_UNAVAILABLE);
            }
            let network = network.map(|wanted| {
                // A record keeps its number as long as what it says stays the same.
                let same = before.filter(|entry| entry.server.discovery_urls == server.discovery_urls);
                let same = same.and_then(|entry| entry.network).filter(|network| {
                    network.name == wanted.mdns_server_name
                        && network.capabilities == wanted.server_capabilities
                });
                same.unwrap_or_else(|| table.announce(wanted, server.discovery_urls.len()))
            });
            table.entries.push(Entry { server, expires: now + self.settings.expiry, network });
            Ok(())
        })
    }

    /// Descriptions of all servers, with the name in the first of the locales that they have.
    pub(crate) fn servers(&self, locales: &[UaString], now: Ticks) -> Vec<ApplicationDescription> {
        self.with_table(now, |table| {
            table.entries.iter().map(|entry| description(&entry.server, locales)).collect()
        })
    }

    /// The records after `starting_record` of servers that have all of these capabilities.
    pub(crate) fn on_network(
        &self,
        starting_record: u32,
        capabilities: &[UaString],
        now: Ticks,
    ) -> Vec<ServerOnNetwork> {
        let mut records = self.with_table(now, |table| {
            let found = table.entries.iter().filter_map(|entry| Some((entry, entry.network.as_ref()?)));
            found
                .filter(|(_, network)| capabilities.iter().all(|wanted| has(&network.capabilities, wanted)))
                .flat_map(|(entry, network)| records(entry, network))
                .filter(|record| record.record_id > starting_record)
                .collect::<Vec<_>>()
        });
        records.sort_by_key(|record| record.record_id);
        records
    }

    /// Runs `f` with the registrations that are still good.
    fn with_table<R>(&self, now: Ticks, f: impl FnOnce(&mut Table) -> R) -> R {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.entries.retain(|entry| entry.expires > now);
        f(&mut table)
    }
}

impl Table {
    fn announce(&mut self, wanted: MdnsDiscoveryConfiguration, urls: usize) -> Network {
        let first_record = self.last_record.wrapping_add(1);
        self.last_record = self.last_record.wrapping_add(u32::try_from(urls).unwrap_or(u32::MAX));
        Network { name: wanted.mdns_server_name, capabilities: wanted.server_capabilities, first_record }
    }
}

/// The statuses of OPC 10000-4 §5.5.5.3. A semaphore file is not looked at: the path is a stranger's.
fn check(server: &RegisteredServer) -> Result<(), StatusCode> {
    let has_text = |text: &UaString| text.as_str().is_some_and(|text| !text.is_empty());
    if !has_text(&server.server_uri) {
        return Err(status::BAD_SERVER_URI_INVALID);
    }
    if !server.is_online {
        return Ok(());
    }
    if !server.server_names.iter().any(|name| has_text(&name.text)) {
        return Err(status::BAD_SERVER_NAME_MISSING);
    }
    if !server.discovery_urls.iter().any(has_text) {
        return Err(status::BAD_DISCOVERY_URL_MISSING);
    }
    let types =
        [ApplicationType::SERVER, ApplicationType::CLIENT_AND_SERVER, ApplicationType::DISCOVERY_SERVER];
    if types.contains(&server.server_type) { Ok(()) } else { Err(status::BAD_INVALID_ARGUMENT) }
}

fn description(server: &RegisteredServer, locales: &[UaString]) -> ApplicationDescription {
    let in_locale = |locale: &UaString| server.server_names.iter().find(|name| name.locale == *locale);
    let name: Option<&LocalizedText> =
        locales.iter().find_map(in_locale).or_else(|| server.server_names.first());
    ApplicationDescription {
        application_uri: server.server_uri.clone(),
        product_uri: server.product_uri.clone(),
        application_name: name.cloned().unwrap_or_default(),
        application_type: server.server_type,
        gateway_server_uri: server.gateway_server_uri.clone(),
        discovery_profile_uri: UaString::default(),
        discovery_urls: server.discovery_urls.clone(),
    }
}

fn records<'e>(entry: &'e Entry, network: &'e Network) -> impl Iterator<Item = ServerOnNetwork> + 'e {
    entry.server.discovery_urls.iter().zip(network.first_record..).map(|(url, record_id)| ServerOnNetwork {
        record_id,
        server_name: network.name.clone(),
        discovery_url: url.clone(),
        server_capabilities: network.capabilities.clone(),
    })
}

/// Capabilities are compared without regard to case (OPC 10000-4 §5.5.3.2).
fn has(capabilities: &[UaString], wanted: &UaString) -> bool {
    let wanted = wanted.as_str().unwrap_or_default();
    capabilities.iter().any(|one| one.as_str().is_some_and(|one| one.eq_ignore_ascii_case(wanted)))
}
