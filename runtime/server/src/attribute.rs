//! Attribute ids (OPC 10000-6 §A.1) that the server looks at itself.

/// Value.
pub(crate) const VALUE: u32 = 13;
/// The highest attribute id of the specification, AccessLevelEx.
pub(crate) const LAST: u32 = 27;
