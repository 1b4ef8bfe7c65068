//! Names of types and fields as names of XML elements.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::Write as _;

/// The name of an element. What XML does not allow in a name is written by its number, as in `_x0023_`, but
/// the base model's schema has `ThreeDVector` for `3DVector` (OPC 10000-6 §5.3.1).
pub(super) fn element_name(name: &str) -> Cow<'_, str> {
    let (start, rest) = match name.strip_prefix("3D") {
        Some(rest) => ("ThreeD", rest),
        None => ("", name),
    };
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let holds = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let first = if start.is_empty() { rest.chars().next() } else { None };
    if start.is_empty() && first.is_some_and(begins) && rest.chars().all(holds) {
        return Cow::Borrowed(name);
    }
    let mut out = String::from(start);
    for (index, c) in rest.chars().enumerate() {
        let is_first = index == 0 && start.is_empty();
        if holds(c) && (!is_first || begins(c)) {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "_x{:04X}_", u32::from(c));
        }
    }
    Cow::Owned(out)
}
