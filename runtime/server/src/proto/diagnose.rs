//! Diagnostics that a client asks for in its request header (returnDiagnostics, OPC 10000-4 §7.32, §7.12).
//!
//! They are put into a response that is written already, so that responses without them cost nothing.

use uaforge_codec::{
    Array, DataValueRef, Decode, DecodeContext, DecodeError, DecodeRef as _, Decoder, DiagnosticInfo,
    Encode as _, EncodeContext, Encoder, Mark, NS0_URI, NodeIdRef, StatusCode, Structure as _, UaString,
};
use uaforge_types::{
    BrowseNextResponse, BrowsePathResult, BrowseResponse, BrowseResult, CallMethodResult, CallResponse,
    ReadResponse, ResponseHeader, TranslateBrowsePathsToNodeIdsResponse, WriteResponse, status,
};

const READ: u32 = ReadResponse::DESCRIPTOR.binary_id();
const WRITE: u32 = WriteResponse::DESCRIPTOR.binary_id();
const BROWSE: u32 = BrowseResponse::DESCRIPTOR.binary_id();
const BROWSE_NEXT: u32 = BrowseNextResponse::DESCRIPTOR.binary_id();
const TRANSLATE: u32 = TranslateBrowsePathsToNodeIdsResponse::DESCRIPTOR.binary_id();
const CALL: u32 = CallResponse::DESCRIPTOR.binary_id();

/// Bits of returnDiagnostics for the service; those for operations are five higher (OPC 10000-4 §7.32).
mod bits {
    pub(super) const SYMBOLIC_ID: u32 = 1;
    pub(super) const LOCALIZED_TEXT: u32 = 1 << 1;
    pub(super) const ADDITIONAL_INFO: u32 = 1 << 2;
    pub(super) const OPERATIONS: u32 = 5;
}

/// Puts diagnostics into the response written since `start`. `reason` is why the request could not be read.
#[cold]
pub(crate) fn add(
    e: &mut Encoder<'_>,
    start: Mark,
    wanted: u32,
    reason: Option<&DecodeError>,
    cx: DecodeContext<'_>,
) {
    let mut plain = Vec::new();
    e.copy_since(start, &mut plain);
    let Some(rewritten) = rewrite(&plain, wanted, reason, cx) else { return };
    e.rewind(start);
    e.put(&rewritten);
    if e.error().is_some() {
        // A response that is too large with them goes without.
        e.rewind(start);
        e.put(&plain);
    }
}

/// The response with diagnostics; `None` if there is nothing to say.
fn rewrite(
    response: &[u8],
    wanted: u32,
    reason: Option<&DecodeError>,
    cx: DecodeContext<'_>,
) -> Option<Vec<u8>> {
    let mut d = Decoder::new(response, cx);
    let type_id = NodeIdRef::decode_ref(&mut d).ok()?;
    let mut header = ResponseHeader::decode(&mut d).ok()?;
    let mut strings = Strings::default();
    let reason = reason.map(ToString::to_string);
    header.service_diagnostics = strings.info(header.service_result, wanted, reason.as_deref());
    let (response_type, of_operations) = (type_id.as_numeric()?, wanted >> bits::OPERATIONS);
    let results = d.rest();
    let statuses = statuses(response_type, &mut d).unwrap_or_default();
    let results = results.get(..results.len().checked_sub(d.remaining())?)?;
    let infos: Vec<DiagnosticInfo> =
        statuses.iter().map(|status| strings.info(*status, of_operations, None)).collect();
    let has_infos = infos.iter().any(|info| !info.is_empty());
    if !has_infos && header.service_diagnostics.is_empty() {
        return None;
    }
    let with_arguments = match response_type {
        CALL if has_infos => Some(of_arguments(results, of_operations, &mut strings, cx)?),
        _ => None,
    };
    header.string_table = strings.0.into();
    let mut rewritten = Vec::with_capacity(response.len() + 64);
    let mut e = Encoder::new(&mut rewritten, EncodeContext { namespaces: cx.namespaces });
    type_id.encode(&mut e);
    header.encode(&mut e);
    e.put(with_arguments.as_deref().unwrap_or(results));
    if has_infos {
        // What is left is the null array that stands for no diagnostics.
        Array::from(infos).encode(&mut e);
    } else {
        e.put(d.rest());
    }
    e.error().is_none().then_some(rewritten)
}

/// The statuses of the results of a response, read up to their end; `None` for a response without any.
fn statuses(response: u32, d: &mut Decoder<'_>) -> Option<Vec<StatusCode>> {
    match response {
        READ => each(d, |d| Ok(DataValueRef::decode_ref(d)?.status())),
        WRITE => each(d, StatusCode::decode),
        BROWSE | BROWSE_NEXT => each(d, |d| Ok(BrowseResult::decode(d)?.status_code)),
        TRANSLATE => each(d, |d| Ok(BrowsePathResult::decode(d)?.status_code)),
        CALL => each(d, |d| Ok(CallMethodResult::decode(d)?.status_code)),
        _ => None,
    }
}

fn each<'a>(
    d: &mut Decoder<'a>,
    status: impl Fn(&mut Decoder<'a>) -> Result<StatusCode, DecodeError>,
) -> Option<Vec<StatusCode>> {
    let count = d.array_len(1).ok()??;
    (0..count).map(|_| status(d).ok()).collect()
}

/// The results of a Call, with what there is to say of each input argument (inputArgumentDiagnosticInfos,
/// OPC 10000-4 §5.12.2.2).
fn of_arguments(
    results: &[u8],
    wanted: u32,
    strings: &mut Strings,
    cx: DecodeContext<'_>,
) -> Option<Vec<u8>> {
    let mut d = Decoder::new(results, cx);
    let count = d.array_len(1).ok()??;
    let mut rewritten = Vec::with_capacity(results.len() + 64);
    let mut e = Encoder::new(&mut rewritten, EncodeContext { namespaces: cx.namespaces });
    e.put_array_len(Some(count));
    for _ in 0..count {
        let plain = d.rest();
        let mut result = CallMethodResult::decode(&mut d).ok()?;
        let statuses = result.input_argument_results.iter();
        let infos: Vec<_> = statuses.map(|status| strings.info(*status, wanted, None)).collect();
        if infos.iter().all(DiagnosticInfo::is_empty) {
            // Outputs stay as they were written.
            e.put(plain.get(..plain.len().checked_sub(d.remaining())?)?);
        } else {
            result.input_argument_diagnostic_infos = Array::from(infos);
            result.encode(&mut e);
        }
    }
    e.error().is_none().then_some(rewritten)
}

/// The string table of a response header (OPC 10000-4 §7.33): each text once.
#[derive(Default)]
struct Strings(Vec<UaString>);

impl Strings {
    fn index(&mut self, text: &str) -> Option<i32> {
        let known = self.0.iter().position(|known| *known == *text);
        let index = known.unwrap_or_else(|| {
            self.0.push(text.into());
            self.0.len() - 1
        });
        i32::try_from(index).ok()
    }

    /// What there is to say of a status that is not good, as far as it is wanted.
    fn info(&mut self, status: StatusCode, wanted: u32, additional: Option<&str>) -> DiagnosticInfo {
        let mut info = DiagnosticInfo::default();
        let Some(name) = status::name(status).filter(|_| !status.is_good()) else { return info };
        if wanted & bits::SYMBOLIC_ID != 0 {
            info.namespace_uri = self.index(NS0_URI);
            info.symbolic_id = self.index(name);
        }
        if wanted & bits::LOCALIZED_TEXT != 0 {
            info.locale = self.index("en");
            info.localized_text = self.index(&words(name));
        }
        if wanted & bits::ADDITIONAL_INFO != 0 {
            info.additional_info = additional.into();
        }
        info
    }
}

/// A symbolic name as words: `Bad_NodeIdUnknown` is "bad: node id unknown".
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    for (index, letter) in name.chars().enumerate() {
        match letter {
            '_' => words.push(':'),
            letter if letter.is_uppercase() && index > 0 => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.extend(letter.to_lowercase()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_words() {
        assert_eq!(words("Bad_NodeIdUnknown"), "bad: node id unknown");
        assert_eq!(words("Uncertain"), "uncertain");
    }

    #[test]
    fn each_text_stands_once_in_the_table() {
        let mut strings = Strings::default();
        let first = strings.info(status::BAD_NODE_ID_UNKNOWN, 3, None);
        assert_eq!(strings.info(status::BAD_NODE_ID_UNKNOWN, 3, None), first);
        assert_eq!(strings.info(StatusCode::GOOD, 3, None), DiagnosticInfo::default());
        assert_eq!(strings.0.len(), 4);
    }
}
