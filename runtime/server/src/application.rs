//! Who the server says it is (ApplicationDescription, OPC 10000-4 §7.2; BuildInfo, OPC 10000-5 §12.4).

use uaforge_codec::{DateTime, LocalizedText, UaString};
use uaforge_types::{ApplicationDescription, ApplicationType, BuildInfo};

/// Names of the application.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    pub(crate) uri: String,
    pub(crate) product_uri: String,
    pub(crate) name: String,
    pub(crate) manufacturer: String,
    pub(crate) software_version: String,
    pub(crate) build_number: String,
    pub(crate) build_date: DateTime,
    pub(crate) kind: ApplicationType,
}

impl Application {
    /// The description without discovery URLs.
    pub(crate) fn description(&self) -> ApplicationDescription {
        ApplicationDescription {
            application_uri: UaString::from(self.uri.as_str()),
            product_uri: UaString::from(self.product_uri.as_str()),
            application_name: LocalizedText::from(self.name.as_str()),
            application_type: self.kind,
            ..Default::default()
        }
    }

    pub(crate) fn build_info(&self) -> BuildInfo {
        BuildInfo {
            product_uri: UaString::from(self.product_uri.as_str()),
            manufacturer_name: UaString::from(self.manufacturer.as_str()),
            product_name: UaString::from(self.name.as_str()),
            software_version: UaString::from(self.software_version.as_str()),
            build_number: UaString::from(self.build_number.as_str()),
            build_date: self.build_date,
        }
    }
}
