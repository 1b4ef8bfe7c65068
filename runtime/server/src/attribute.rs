//! Attribute ids (OPC 10000-6 §A.1) that the server looks at itself.

/// EventNotifier: what is monitored of it are events (OPC 10000-4 §5.13.1.4).
pub(crate) const EVENT_NOTIFIER: u32 = 12;
/// Value.
pub(crate) const VALUE: u32 = 13;
/// The highest attribute id of the specification, AccessLevelEx.
pub(crate) const LAST: u32 = 27;
