//! Properties of a DataVariable that bound its values (OPC 10000-3 §5.6.4).

use uaforge_codec::{DecodeContext, StatusCode, UaString, Variant, VariantArray};
use uaforge_nodes::{AttributeId, Node, Snapshot};
use uaforge_types::{ids, status};

/// The value of a Property of the base model.
pub(super) fn property(snapshot: &Snapshot, node: &Node<'_>, name: &str) -> Option<Variant> {
    let has_property = ids::reference_type::HAS_PROPERTY.resolve_ref(snapshot.namespaces()).ok()?;
    let filter = snapshot.reference_filter(has_property, true)?;
    let found = node.follow(filter, false, 0, name).next()?;
    found.attribute(AttributeId::Value).ok()?.to_variant(DecodeContext::default()).ok()
}

/// AllowNulls; `None` if the Variable does not say.
pub(super) fn allows_null(snapshot: &Snapshot, node: &Node<'_>) -> Option<bool> {
    match property(snapshot, node, "AllowNulls") {
        Some(Variant::Boolean(allowed)) => Some(allowed),
        _ => None,
    }
}

/// Lengths of a value's strings, each the longest one.
#[derive(Default)]
struct Lengths {
    bytes: usize,
    characters: usize,
}

impl Lengths {
    fn add(&mut self, text: &UaString) {
        let text = text.as_str().unwrap_or_default();
        self.bytes = self.bytes.max(text.len());
        self.characters = self.characters.max(text.chars().count());
    }
}

/// Checks MaxArrayLength, MaxStringLength, MaxCharacters and MaxByteStringLength; only of values that have a length.
///
/// # Errors
/// Bad_OutOfRange.
pub(super) fn check_lengths(snapshot: &Snapshot, node: &Node<'_>, value: &Variant) -> Result<(), StatusCode> {
    let within = |name: &str, length: usize| match property(snapshot, node, name) {
        // 0 is "no limit known".
        Some(Variant::UInt32(0)) | None => Ok(()),
        Some(Variant::UInt32(most)) if usize::try_from(most).is_ok_and(|most| length > most) => {
            Err(status::BAD_OUT_OF_RANGE)
        }
        Some(_) => Ok(()),
    };
    let mut text = Lengths::default();
    match value {
        Variant::String(own) => text.add(own),
        Variant::LocalizedText(own) => text.add(&own.text),
        Variant::ByteString(bytes) => return within("MaxByteStringLength", bytes.bytes().len()),
        Variant::Array(array) => {
            within("MaxArrayLength", array.len())?;
            return check_elements(array, &within);
        }
        Variant::Matrix(matrix) => {
            within("MaxArrayLength", matrix.elements().len())?;
            return check_elements(matrix.elements(), &within);
        }
        _ => return Ok(()),
    }
    within("MaxStringLength", text.bytes)?;
    within("MaxCharacters", text.characters)
}

fn check_elements(
    elements: &VariantArray,
    within: &dyn Fn(&str, usize) -> Result<(), StatusCode>,
) -> Result<(), StatusCode> {
    let mut text = Lengths::default();
    match elements {
        VariantArray::String(items) => items.iter().for_each(|item| text.add(item)),
        VariantArray::LocalizedText(items) => items.iter().for_each(|item| text.add(&item.text)),
        VariantArray::ByteString(items) => {
            let longest = items.iter().map(|item| item.bytes().len()).max();
            return within("MaxByteStringLength", longest.unwrap_or_default());
        }
        _ => return Ok(()),
    }
    within("MaxStringLength", text.bytes)?;
    within("MaxCharacters", text.characters)
}
