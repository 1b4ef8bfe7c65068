//! Fields of a structured type: switches, lengths and padding are no fields of the data type
//! (OPC 10000-6 §5.2.5 to §5.2.8).

use std::collections::{BTreeMap, BTreeSet};

use super::{Own, Part};
use crate::resolve::Resolver;
use crate::resolved::{Field, Ns};
use crate::schema::{BSD_XMLNS, Element, RawType};

/// Width of the EncodingMask.
const MASK_BITS: u32 = 32;

impl<'a> Resolver<'a, '_> {
    /// Whether the type is a union, and its own fields.
    pub(super) fn layout(&mut self, ns: Ns, raw: &RawType<'a>, own: &Own<'a>) -> Option<(bool, Vec<Field>)> {
        let parts: Vec<Part<'a>> = raw
            .parts
            .iter()
            .filter_map(|element| Some(Part { element: *element, name: element.attribute("Name")?.value }))
            .collect();
        let lengths: BTreeSet<&str> =
            parts.iter().filter_map(|part| text(part.element, "LengthField")).collect();
        let switch = union_switch(&parts);
        let bits = self.bits(raw, &parts)?;
        let mut fields = Vec::new();
        let (mut optional, mut alternatives) = (0, 0);
        for part in &parts {
            if bits.contains_key(part.name) || is_bit(part.element) || switch == Some(part.name) {
                continue;
            }
            if lengths.contains(part.name) {
                self.length_field(part)?;
                continue;
            }
            let mut is_optional = false;
            if let Some(by) = text(part.element, "SwitchField") {
                let value: Option<u32> = self.optional_number(part.element, "SwitchValue");
                if switch == Some(by) {
                    alternatives += 1;
                    self.switch_value(part, value, alternatives)?;
                } else {
                    self.switch_bit(part, by, value, optional, &bits)?;
                    optional += 1;
                    is_optional = true;
                }
            }
            if inherited(part.element, raw.name.value) {
                continue;
            }
            let field = self.member(ns, part, own, &lengths)?;
            fields.push(Field { is_optional, ..field });
        }
        Some((switch.is_some(), fields))
    }

    /// Offsets of the bits in front: 32 of them, or none.
    fn bits(&mut self, raw: &RawType<'a>, parts: &[Part<'a>]) -> Option<BTreeMap<&'a str, u32>> {
        let mut bits = BTreeMap::new();
        let (mut offset, mut others) = (0u32, false);
        for part in parts {
            if !is_bit(part.element) {
                others = true;
                continue;
            }
            if others {
                self.not_representable(
                    part.element.name_span(),
                    "bits stand in front of all fields".to_owned(),
                );
                return None;
            }
            bits.insert(part.name, offset);
            offset = offset.saturating_add(self.number(part.element, "Length", 1));
        }
        if offset != 0 && offset != MASK_BITS {
            let why = format!("the mask in front of the fields has {offset} bits, not {MASK_BITS}");
            self.not_representable(raw.name.span, why);
            return None;
        }
        Some(bits)
    }

    fn length_field(&mut self, part: &Part<'a>) -> Option<()> {
        let is_int32 = part
            .element
            .type_ref("TypeName")
            .is_some_and(|of| of.namespace == BSD_XMLNS && of.name == "Int32");
        if !is_int32 {
            self.not_representable(part.element.name_span(), "the length of an array is an Int32".to_owned());
        }
        is_int32.then_some(())
    }

    /// Alternatives of a union are numbered from 1 in the order of the fields.
    fn switch_value(&mut self, part: &Part<'a>, value: Option<u32>, expected: u32) -> Option<()> {
        if value == Some(expected) && equals(part.element) {
            return Some(());
        }
        let why = format!("{} has to be the alternative with the switch value {expected}", part.name);
        self.not_representable(part.element.name_span(), why);
        None
    }

    /// An optional field is switched by the bit of its place among the optional fields.
    fn switch_bit(
        &mut self,
        part: &Part<'a>,
        by: &str,
        value: Option<u32>,
        place: u32,
        bits: &BTreeMap<&str, u32>,
    ) -> Option<()> {
        if matches!(value, None | Some(1)) && equals(part.element) && bits.get(by) == Some(&place) {
            return Some(());
        }
        let why =
            format!("{} is optional, so it has to be switched by bit {place} alone, not by {by}", part.name);
        self.not_representable(part.element.name_span(), why);
        None
    }

    fn member(&mut self, ns: Ns, part: &Part<'a>, own: &Own<'a>, lengths: &BTreeSet<&str>) -> Option<Field> {
        let Some(of) = part.element.type_ref("TypeName") else {
            self.not_representable(part.element.name_span(), format!("{} has no TypeName", part.name));
            return None;
        };
        let data_type = self.dictionary_ref(ns, &of, own, part.element.name_span())?;
        let mut field = self.dictionary_field(part.name, data_type, part.element.span());
        let array = text(part.element, "LengthField").is_some_and(|by| lengths.contains(by));
        if array {
            field.value_rank = 1;
        }
        let in_bytes = self.flag(part.element, "IsLengthInBytes", false);
        let one_byte = matches!(field.data_type.ns0_number(), Some(1..=3));
        let fixed =
            part.element.attribute("Length").is_some() || part.element.attribute("Terminator").is_some();
        if fixed || (in_bytes && !(array && one_byte)) {
            let why = format!("{} is an array without a number of elements in front", part.name);
            self.not_representable(part.element.name_span(), why);
            return None;
        }
        Some(field)
    }
}

fn text<'a>(element: Element<'a>, name: &str) -> Option<&'a str> {
    element.attribute(name).map(|text| text.value.trim())
}

fn is_bit(element: Element<'_>) -> bool {
    element.type_ref("TypeName").is_some_and(|of| of.namespace == BSD_XMLNS && of.name == "Bit")
}

fn equals(element: Element<'_>) -> bool {
    matches!(text(element, "SwitchOperand"), None | Some("Equals"))
}

/// Fields of the base type are repeated, with the type that they come from.
fn inherited(element: Element<'_>, own: &str) -> bool {
    element.type_ref("SourceType").is_some_and(|source| source.name != own)
}

/// The first field, if it is a number that switches all others.
fn union_switch<'a>(parts: &[Part<'a>]) -> Option<&'a str> {
    let [first, rest @ ..] = parts else { return None };
    let of = first.element.type_ref("TypeName")?;
    let is_number = of.namespace == BSD_XMLNS && of.name == "UInt32";
    let lengths: BTreeSet<&str> = rest.iter().filter_map(|part| text(part.element, "LengthField")).collect();
    let mut members = rest.iter().filter(|part| !lengths.contains(part.name)).peekable();
    (is_number
        && members.peek().is_some()
        && members.all(|part| text(part.element, "SwitchField") == Some(first.name)))
    .then_some(first.name)
}
