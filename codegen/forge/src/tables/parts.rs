//! DataValue and DiagnosticInfo inside values: a mask of what is there, then the parts.

use super::encode::{Encoder, Result};
use uaforge_model::resolved::{DataValueParts, DiagnosticInfoParts};

/// OPC 10000-6 §5.2.2.17.
pub(super) fn data_value(e: &mut Encoder<'_>, parts: &DataValueParts) -> Result {
    e.u8(mask(&[
        parts.value.is_some(),
        parts.status.is_some(),
        parts.source_timestamp.is_some(),
        parts.server_timestamp.is_some(),
        parts.source_picoseconds.is_some(),
        parts.server_picoseconds.is_some(),
    ]));
    if let Some(value) = &parts.value {
        e.variant(value)?;
    }
    if let Some(status) = parts.status {
        e.u32(status);
    }
    for (timestamp, picoseconds) in [
        (parts.source_timestamp, parts.source_picoseconds),
        (parts.server_timestamp, parts.server_picoseconds),
    ] {
        if let Some(timestamp) = timestamp {
            e.i64(timestamp);
        }
        if let Some(picoseconds) = picoseconds {
            e.bytes.extend(picoseconds.to_le_bytes());
        }
    }
    Ok(())
}

/// OPC 10000-6 §5.2.2.12.
pub(super) fn diagnostic_info(e: &mut Encoder<'_>, parts: &DiagnosticInfoParts) -> Result {
    let mut next = Some(parts);
    while let Some(parts) = next {
        e.u8(mask(&[
            parts.symbolic_id.is_some(),
            parts.namespace_uri.is_some(),
            parts.localized_text.is_some(),
            parts.locale.is_some(),
            parts.additional_info.is_some(),
            parts.inner_status_code.is_some(),
            parts.inner.is_some(),
        ]));
        let numbers = [parts.symbolic_id, parts.namespace_uri, parts.locale, parts.localized_text];
        numbers.into_iter().flatten().for_each(|number| e.i32(number));
        if let Some(info) = &parts.additional_info {
            e.counted(Some(info.as_bytes()))?;
        }
        if let Some(status) = parts.inner_status_code {
            e.u32(status);
        }
        next = parts.inner.as_deref();
    }
    Ok(())
}

/// One bit for each part that is there, the first lowest.
fn mask(present: &[bool]) -> u8 {
    let bits = present.iter().enumerate().filter(|(_, present)| **present);
    bits.fold(0, |mask, (bit, _)| mask | 1 << bit)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn first_is_lowest() {
        assert_eq!(mask(&[true, false, true]), 0b101);
    }
}
