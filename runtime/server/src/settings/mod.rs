//! A server's settings from a TOML file: everything that [`ServerBuilder`] takes and that is no code.
//!
//! `docs/server.toml` shows all keys with what they are without the file.

mod error;
mod limits;
mod seconds;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Deserialize;

use crate::discovery::{DiscoveryServer, Registration};
use crate::{ServerBuilder, config};

pub use error::SettingsError;
use limits::LimitsTable;
use seconds::Seconds;

/// What a settings file says; what it does not mention stays as it was. Keys that nobody knows are errors.
///
/// ```
/// # use uaforge_server::{Server, ServerSettings, SettingsError};
/// let settings = ServerSettings::from_toml("endpoints = ['opc.tcp://127.0.0.1:4840']\ninsecure = true")?;
/// let builder = Server::builder().settings(&settings);
/// # Ok::<(), SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    endpoints: Option<Vec<String>>,
    insecure: Option<bool>,
    namespaces: Option<Vec<String>>,
    application: ApplicationTable,
    discovery_server: Option<DiscoveryServerTable>,
    registration: Option<RegistrationTable>,
    limits: LimitsTable,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ApplicationTable {
    uri: Option<String>,
    name: Option<String>,
    product_uri: Option<String>,
    manufacturer: Option<String>,
    software_version: Option<String>,
    build_number: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DiscoveryServerTable {
    max_servers: Option<usize>,
    expiry: Option<Seconds>,
    remote: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RegistrationTable {
    servers: Option<Vec<String>>,
    interval: Option<Seconds>,
    discovery_urls: Option<Vec<String>>,
    capabilities: Option<Vec<String>>,
}

impl ServerSettings {
    /// Reads settings from the text of a file.
    ///
    /// # Errors
    /// The text is no TOML, has an unknown key, or a value of a wrong kind.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| SettingsError::parse(text, &error))
    }

    /// Reads settings from a file.
    ///
    /// # Errors
    /// As [`ServerSettings::from_toml`], and what the file system says.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SettingsError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|reason| SettingsError::unreadable(path.to_path_buf(), &reason))?;
        Self::from_toml(&text).map_err(|error| error.in_file(path.to_path_buf()))
    }
}

impl ServerBuilder {
    /// Takes what the settings say. Calls before this one are what holds without the file, calls behind it
    /// replace what the file says. A list replaces the list before.
    #[must_use]
    pub fn settings(mut self, settings: &ServerSettings) -> Self {
        let set = |target: &mut String, value: &Option<String>| {
            if let Some(value) = value {
                target.clone_from(value);
            }
        };
        let table = &settings.application;
        set(&mut self.application.uri, &table.uri);
        set(&mut self.application.name, &table.name);
        set(&mut self.application.product_uri, &table.product_uri);
        set(&mut self.application.manufacturer, &table.manufacturer);
        set(&mut self.application.software_version, &table.software_version);
        set(&mut self.application.build_number, &table.build_number);
        if let Some(endpoints) = &settings.endpoints {
            self.endpoints.clone_from(endpoints);
        }
        if let Some(namespaces) = &settings.namespaces {
            self.namespaces.clone_from(namespaces);
        }
        self.insecure = settings.insecure.unwrap_or(self.insecure);
        let config::Limits { operations, subscriptions, .. } = &mut self.limits;
        settings.limits.operations.apply(operations);
        settings.limits.subscriptions.apply(subscriptions);
        settings.limits.apply(&mut self.limits);
        if let Some(table) = &settings.discovery_server {
            let DiscoveryServer { max_servers, expiry, remote } =
                self.discovery_server.take().unwrap_or_default();
            self = self.discovery_server(DiscoveryServer {
                max_servers: table.max_servers.unwrap_or(max_servers),
                expiry: table.expiry.map_or(expiry, Into::into),
                remote: table.remote.unwrap_or(remote),
            });
        }
        if let Some(table) = &settings.registration {
            let Registration { servers, interval, discovery_urls, capabilities } = self.registration;
            self.registration = Registration {
                servers: table.servers.clone().unwrap_or(servers),
                interval: table.interval.map_or(interval, Into::into),
                discovery_urls: table.discovery_urls.clone().unwrap_or(discovery_urls),
                capabilities: table.capabilities.clone().unwrap_or(capabilities),
            };
        }
        self
    }
}
