//! Random values of any type in binary, made by walking its descriptor.

use uaforge_codec::{
    BuiltinType, ByteString, DataValue, DateTime, DecodeContext, DiagnosticInfo, ElementType, Encode,
    EncodeContext, Encoder, EnumerationType, ExpandedNodeId, ExtensionObject, ExtensionObjectBody, Guid,
    LocalizedText, NodeId, QualifiedName, SeededEntropy, StatusCode, StructureFieldType, StructureKind,
    StructureType, UaString, Variant, VariantArray, VariantMatrix, XmlElement,
};

/// Where random values come from.
#[derive(Debug)]
pub struct Random<'a> {
    entropy: SeededEntropy,
    cx: DecodeContext<'a>,
}

/// Texts with what formats escape.
const TEXTS: &[&str] = &[
    "",
    "a",
    " two words ",
    "<&>\"'",
    "line\nfeed\r\ttab",
    "水 € 😀",
    "\\u0041",
    "nsu=x;y",
    "3:Name",
    "null",
    "]]>",
];
const SPECIAL: &[f64] =
    &[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX, 0.1, 1e21];

impl<'a> Random<'a> {
    /// Random values from a seed.
    #[must_use]
    pub fn new(seed: u64, cx: DecodeContext<'a>) -> Self {
        Self { entropy: SeededEntropy::new(seed), cx }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.entropy.next_u64() % bound.max(1) as u64) as usize
    }

    fn bits(&mut self) -> u64 {
        // Small numbers, too.
        self.entropy.next_u64() >> (8 * self.below(8))
    }

    /// The bytes of a structure.
    pub fn structure(&mut self, ty: StructureType<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: self.cx.namespaces });
        self.put_structure(ty, 0, &mut e);
        e.finish().expect("a value that can be written");
        bytes
    }

    fn put_structure(&mut self, ty: StructureType<'_>, depth: u32, e: &mut Encoder<'_>) {
        match ty.kind() {
            StructureKind::Union | StructureKind::UnionSubtypedValues => {
                let choice = if depth > 4 { 0 } else { self.below(ty.field_count() + 1) };
                e.put_u32(u32::try_from(choice).expect("few fields"));
                if let Some(field) = choice.checked_sub(1).and_then(|index| ty.field(index)) {
                    self.put_field(field, depth, e);
                }
            }
            kind => {
                let optional = ty.fields().filter(|field| field.optional).count();
                let mut mask = if depth > 4 { 0 } else { self.entropy.next_u64() as u32 };
                mask &= u32::try_from((1_u64 << optional) - 1).expect("at most 32");
                if kind == StructureKind::OptionalFields {
                    e.put_u32(mask);
                }
                for field in ty.fields() {
                    let present = !field.optional || mask & 1 != 0;
                    mask >>= u32::from(field.optional);
                    if present {
                        self.put_field(field, depth, e);
                    }
                }
            }
        }
    }

    fn put_field(&mut self, field: StructureFieldType<'_>, depth: u32, e: &mut Encoder<'_>) {
        let most = if depth > 3 { 1 } else { 4 };
        match field.value_rank {
            1 => match self.below(most) {
                0 => e.put_array_len(None),
                len => {
                    e.put_array_len(Some(len - 1));
                    (1..len).for_each(|_| self.put_element(field.element, depth + 1, e));
                }
            },
            rank @ 2.. => {
                let dimensions: Vec<i32> = (0..rank).map(|_| self.below(3) as i32).collect();
                e.put_array_len(Some(dimensions.len()));
                dimensions.iter().for_each(|dimension| e.put_i32(*dimension));
                (0..dimensions.iter().product()).for_each(|_| self.put_element(field.element, depth + 1, e));
            }
            _ => self.put_element(field.element, depth + 1, e),
        }
    }

    fn put_element(&mut self, element: ElementType<'_>, depth: u32, e: &mut Encoder<'_>) {
        match element {
            ElementType::Builtin(builtin) => self.put_builtin(builtin, depth, e),
            ElementType::Structure(ty) => self.put_structure(ty, depth, e),
            ElementType::Enumeration(ty) => self.put_enumeration(ty, e),
        }
    }

    /// Known and unknown values.
    fn put_enumeration(&mut self, ty: EnumerationType<'_>, e: &mut Encoder<'_>) {
        let bits = self.bits();
        match ty.base() {
            BuiltinType::Byte => e.put_u8(bits as u8),
            BuiltinType::UInt16 => e.put_u16(bits as u16),
            BuiltinType::UInt32 => e.put_u32(bits as u32),
            BuiltinType::UInt64 => e.put_u64(bits),
            _ if bits & 1 == 0 => e.put_i32(bits as i32),
            _ => e.put_i32((bits % 8) as i32),
        }
    }

    fn put_builtin(&mut self, builtin: BuiltinType, depth: u32, e: &mut Encoder<'_>) {
        match builtin {
            BuiltinType::Boolean => (self.below(2) == 1).encode(e),
            BuiltinType::SByte | BuiltinType::Byte => e.put_u8(self.bits() as u8),
            BuiltinType::Int16 | BuiltinType::UInt16 => e.put_u16(self.bits() as u16),
            BuiltinType::Int32 | BuiltinType::UInt32 => e.put_u32(self.bits() as u32),
            BuiltinType::Int64 | BuiltinType::UInt64 => e.put_u64(self.bits()),
            BuiltinType::Float => self.float().encode(e),
            BuiltinType::Double => self.double().encode(e),
            BuiltinType::String => self.text().encode(e),
            BuiltinType::DateTime => self.time().encode(e),
            BuiltinType::Guid => self.guid().encode(e),
            BuiltinType::ByteString => self.bytes().encode(e),
            BuiltinType::XmlElement => self.xml().encode(e),
            BuiltinType::NodeId => self.node_id().encode(e),
            BuiltinType::ExpandedNodeId => self.expanded_node_id().encode(e),
            BuiltinType::StatusCode => StatusCode(self.bits() as u32).encode(e),
            BuiltinType::QualifiedName => self.qualified_name().encode(e),
            BuiltinType::LocalizedText => self.localized_text().encode(e),
            BuiltinType::ExtensionObject => self.extension_object(depth, e),
            BuiltinType::DataValue => self.data_value(depth).encode(e),
            BuiltinType::Variant => self.variant(depth).encode(e),
            BuiltinType::DiagnosticInfo => self.diagnostic_info(depth).encode(e),
        }
    }

    fn float(&mut self) -> f32 {
        match self.below(3) {
            0 => SPECIAL[self.below(SPECIAL.len())] as f32,
            _ => f32::from_bits(self.entropy.next_u64() as u32),
        }
    }

    fn double(&mut self) -> f64 {
        match self.below(3) {
            0 => SPECIAL[self.below(SPECIAL.len())],
            _ => f64::from_bits(self.entropy.next_u64()),
        }
    }

    fn text(&mut self) -> UaString {
        match self.below(TEXTS.len() + 1) {
            0 => UaString::NULL,
            index => TEXTS[index - 1].into(),
        }
    }

    fn time(&mut self) -> DateTime {
        match self.below(4) {
            0 => DateTime::NULL,
            1 => DateTime::MAX,
            // Up to the year 9999.
            _ => DateTime((self.entropy.next_u64() % 2_650_467_743_990_000_000) as i64),
        }
    }

    fn guid(&mut self) -> Guid {
        let mut bytes = [0; 16];
        bytes.iter_mut().for_each(|byte| *byte = self.bits() as u8);
        Guid(bytes)
    }

    fn bytes(&mut self) -> ByteString {
        match self.below(6) {
            0 => ByteString::NULL,
            len => ByteString::from((1..len).map(|_| self.bits() as u8).collect::<Vec<u8>>().as_slice()),
        }
    }

    fn xml(&mut self) -> XmlElement {
        match self.below(3) {
            0 => XmlElement::NULL,
            1 => XmlElement::from("<a xmlns=\"urn:v\">1 &lt; 2<b/></a>"),
            _ => XmlElement::from("<p:a xmlns:p=\"urn:v\" q='x'/>"),
        }
    }

    fn node_id(&mut self) -> NodeId {
        let namespace = self.below(self.cx.namespaces.len()) as u16;
        match self.below(5) {
            0 => NodeId::NULL,
            1 => NodeId::numeric(namespace, self.bits() as u32),
            2 => NodeId::string(namespace, self.text().text()),
            3 => NodeId::guid(namespace, self.guid()),
            _ => NodeId::opaque(namespace, self.bytes().bytes()),
        }
    }

    fn expanded_node_id(&mut self) -> ExpandedNodeId {
        let server_index = self.below(3) as u32;
        match self.below(2) {
            0 => ExpandedNodeId { node_id: self.node_id(), namespace_uri: UaString::NULL, server_index },
            _ => ExpandedNodeId {
                node_id: self.node_id().with_namespace(0),
                namespace_uri: "urn:other;100%3B".into(),
                server_index,
            },
        }
    }

    fn qualified_name(&mut self) -> QualifiedName {
        match self.below(3) {
            0 => QualifiedName::NULL,
            _ => QualifiedName {
                namespace_index: self.below(self.cx.namespaces.len()) as u16,
                name: self.text().text().into(),
            },
        }
    }

    fn localized_text(&mut self) -> LocalizedText {
        LocalizedText { locale: self.text(), text: self.text() }
    }

    fn diagnostic_info(&mut self, depth: u32) -> DiagnosticInfo {
        let number = |random: &mut Self| (random.below(2) == 0).then(|| random.bits() as i32);
        DiagnosticInfo {
            symbolic_id: number(self),
            namespace_uri: number(self),
            locale: number(self),
            localized_text: number(self),
            additional_info: self.text(),
            inner_status_code: (self.below(2) == 0).then(|| StatusCode(self.bits() as u32)),
            inner_diagnostic_info: (depth < 4 && self.below(3) == 0)
                .then(|| self.diagnostic_info(depth + 1).into()),
        }
    }

    fn extension_object(&mut self, depth: u32, e: &mut Encoder<'_>) {
        let unknown = NodeId::numeric(1, 4_000_000);
        match self.below(if depth > 3 { 4 } else { 6 }) {
            0 => ExtensionObject::NULL.encode(e),
            1 => ExtensionObject::from_parts(unknown, ExtensionObjectBody::None).encode(e),
            2 => {
                let body = ByteString::from(self.bytes().bytes());
                ExtensionObject::from_parts(unknown, ExtensionObjectBody::Binary(body)).encode(e);
            }
            3 => {
                let body = ExtensionObjectBody::Xml("<x xmlns=\"urn:v\">1</x>".into());
                ExtensionObject::from_parts(unknown, body).encode(e);
            }
            _ => {
                let count = self.cx.types.descriptors().count();
                let at = self.below(count);
                let mut all: Vec<_> = self.cx.types.descriptors().collect();
                all.sort_by_key(|descriptor| descriptor.name);
                let ty = StructureType::Static(all[at]);
                let (uri, id) = ty.binary_encoding().expect("registered by it");
                let index = self.cx.namespaces.index_of(uri).expect("a known namespace");
                id.with_namespace(index).encode(e);
                e.put_u8(1);
                e.put_sized(|e| self.put_structure(ty, depth + 2, e));
            }
        }
    }

    fn data_value(&mut self, depth: u32) -> DataValue {
        let part = |random: &mut Self| random.below(2) == 0;
        let value = part(self).then(|| self.variant(depth + 1)).filter(|value| !value.is_null());
        let (status, source, server) = (part(self), part(self), part(self));
        DataValue::default()
            .with_value(value)
            .with_status(status.then(|| StatusCode(0x8000_0000 | self.bits() as u32)))
            .with_source_timestamp(source.then(|| self.time()))
            .with_source_picoseconds(source.then(|| self.below(10_000) as u16))
            .with_server_timestamp(server.then(|| self.time()))
            .with_server_picoseconds(server.then(|| self.below(10_000) as u16))
    }

    fn variant(&mut self, depth: u32) -> Variant {
        match self.below(if depth > 3 { 6 } else { 8 }) {
            0 => Variant::Null,
            1 => Variant::Int64(self.bits() as i64),
            2 => Variant::Float(self.float()),
            3 => Variant::String(self.text()),
            4 => Variant::Array(VariantArray::UInt16(vec![1, 2, 3].into()).into()),
            5 => {
                let elements = VariantArray::Double(vec![self.double(), 0.5, -1.0, 2.0].into());
                VariantMatrix::new(vec![2, 2], elements).expect("four").into()
            }
            6 => Variant::Array(
                VariantArray::Variant(vec![self.variant(depth + 1), Variant::Null].into()).into(),
            ),
            _ => Variant::LocalizedText(self.localized_text().into()),
        }
    }
}
