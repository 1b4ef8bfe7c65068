//! DiagnosticInfo (OPC 10000-6 §5.2.2.12).

use alloc::boxed::Box;
use core::fmt;

use crate::debug::{Inner, Parts};
use crate::{Decode, DecodeError, DecodeReason, Decoder, Encode, Encoder, StatusCode, UaString};

/// Vendor diagnostics; numbers are indexes into the string table of the response
/// header (OPC 10000-6 §5.2.2.12).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DiagnosticInfo {
    /// Index of the symbolic id.
    pub symbolic_id: Option<i32>,
    /// Index of the namespace URI.
    pub namespace_uri: Option<i32>,
    /// Index of the locale.
    pub locale: Option<i32>,
    /// Index of the localized text.
    pub localized_text: Option<i32>,
    /// Further text; absent if null.
    pub additional_info: UaString,
    /// Status of the inner operation.
    pub inner_status_code: Option<StatusCode>,
    /// Diagnostics of the inner operation.
    pub inner_diagnostic_info: Option<Box<Self>>,
}

// An array of empty ones must stay within the budget of 64 bytes for each byte of input.
const _: () = assert!(size_of::<DiagnosticInfo>() <= 64);

const SYMBOLIC_ID: u8 = 0x01;
const NAMESPACE_URI: u8 = 0x02;
const LOCALIZED_TEXT: u8 = 0x04;
const LOCALE: u8 = 0x08;
const ADDITIONAL_INFO: u8 = 0x10;
const INNER_STATUS_CODE: u8 = 0x20;
const INNER_DIAGNOSTIC_INFO: u8 = 0x40;
const DEFINED: u8 = 0x7F;

impl DiagnosticInfo {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mask() == 0
    }

    fn mask(&self) -> u8 {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        bit(self.symbolic_id.is_some(), SYMBOLIC_ID)
            | bit(self.namespace_uri.is_some(), NAMESPACE_URI)
            | bit(self.localized_text.is_some(), LOCALIZED_TEXT)
            | bit(self.locale.is_some(), LOCALE)
            | bit(!self.additional_info.is_null(), ADDITIONAL_INFO)
            | bit(self.inner_status_code.is_some(), INNER_STATUS_CODE)
            | bit(self.inner_diagnostic_info.is_some(), INNER_DIAGNOSTIC_INFO)
    }
}

impl fmt::Debug for DiagnosticInfo {
    /// The parts that are present.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.additional_info;
        Parts::of("DiagnosticInfo", f)
            .part("symbolic_id", self.symbolic_id)
            .part("namespace_uri", self.namespace_uri)
            .part("locale", self.locale)
            .part("localized_text", self.localized_text)
            .part("additional_info", (!text.is_null()).then_some(text))
            .part("inner_status_code", self.inner_status_code)
            .part("inner_diagnostic_info", self.inner_diagnostic_info.as_ref().map(|inner| Inner(inner)))
            .finish()
    }
}

impl Encode for DiagnosticInfo {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_u8(self.mask());
        let indexes = [self.symbolic_id, self.namespace_uri, self.locale, self.localized_text];
        for index in indexes.into_iter().flatten() {
            e.put_i32(index);
        }
        if !self.additional_info.is_null() {
            self.additional_info.encode(e);
        }
        if let Some(status) = &self.inner_status_code {
            status.encode(e);
        }
        if let Some(inner) = &self.inner_diagnostic_info {
            e.nested(|e| inner.encode(e));
        }
    }
}

impl Decode for DiagnosticInfo {
    const MIN_SIZE: usize = 1;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let mask = d.u8()?;
        if mask & !DEFINED != 0 {
            return Err(DecodeReason::BadEncodingByte.into());
        }
        decode_parts(self, mask, d)?;
        self.inner_diagnostic_info = None;
        if mask & INNER_DIAGNOSTIC_INFO != 0 {
            d.charge(size_of::<Self>())?;
            let mut inner = Box::<Self>::default();
            d.enter()?;
            (*inner).decode_into(d)?;
            d.leave();
            self.inner_diagnostic_info = Some(inner);
        }
        Ok(())
    }
}

/// Everything but the inner one, apart from it to keep the frames of the recursion small.
#[inline(never)]
fn decode_parts(info: &mut DiagnosticInfo, mask: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    info.symbolic_id = optional(mask & SYMBOLIC_ID, d)?;
    info.namespace_uri = optional(mask & NAMESPACE_URI, d)?;
    // Locale stands before LocalizedText although its bit is the higher one.
    info.locale = optional(mask & LOCALE, d)?;
    info.localized_text = optional(mask & LOCALIZED_TEXT, d)?;
    info.additional_info = if mask & ADDITIONAL_INFO != 0 { Decode::decode(d)? } else { UaString::NULL };
    info.inner_status_code = optional(mask & INNER_STATUS_CODE, d)?;
    Ok(())
}

/// Walks over one.
pub(crate) fn skip(d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let mask = d.u8()?;
    if mask & !DEFINED != 0 {
        return Err(DecodeReason::BadEncodingByte.into());
    }
    let indexes = mask & (SYMBOLIC_ID | NAMESPACE_URI | LOCALE | LOCALIZED_TEXT);
    d.take(indexes.count_ones() as usize * size_of::<i32>())?;
    if mask & ADDITIONAL_INFO != 0 {
        d.bytes()?;
    }
    if mask & INNER_STATUS_CODE != 0 {
        d.u32()?;
    }
    if mask & INNER_DIAGNOSTIC_INFO != 0 { d.nested(skip) } else { Ok(()) }
}

fn optional<T: Decode>(bit: u8, d: &mut Decoder<'_>) -> Result<Option<T>, DecodeError> {
    if bit != 0 { T::decode(d).map(Some) } else { Ok(None) }
}
