//! Status codes by name (OPC 10000-4 §7.38, OPC 10000-6 Annex A).

#[rustfmt::skip]
#[path = "generated/status.rs"]
mod codes;

pub use codes::*;

use uaforge_codec::StatusCode;

/// The symbolic name of a status, its flag bits aside; `None` for a code that is not in the table.
#[must_use]
pub fn name(status: StatusCode) -> Option<&'static str> {
    let code = status.0 & 0xFFFF_0000;
    let index = codes::NAMES.binary_search_by_key(&code, |(number, _)| *number).ok()?;
    codes::NAMES.get(index).map(|(_, name)| *name)
}
