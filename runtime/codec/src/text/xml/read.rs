//! Reads XML along the walk (OPC 10000-6 §5.3).

use alloc::vec::Vec;

use crate::data_value::mask;
use crate::text::read::{self as walk, Dimensioned, Input, Members, Reader, put_default, put_integer};
use crate::text::variant::{ARRAY, DIMENSIONS};
use crate::text::write::{builtin_name, element_name};
use crate::text::{TextError, TextReason, scalars};
use crate::{
    BuiltinType, DiagnosticInfo, ElementType, Encode, EncodeContext, Encoder, EnumerationType,
    ExpandedNodeId, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, StructureType, UaString, Variant,
};

use super::names;
use super::node::Node;

impl Input for Node<'_, '_> {
    fn is_null(self) -> Result<bool, TextError> {
        Ok(self.is_nil())
    }

    fn members(self, ty: StructureType<'_>, reader: &mut Reader<'_>) -> Result<Members<Self>, TextError> {
        let mut fields = Vec::new();
        fields.resize(ty.field_count(), None);
        let mut found = Members { fields, mask: None, switch: None, union_value: None };
        for child in self.children() {
            reader.charge(1)?;
            let duplicate = || child.error(TextReason::Duplicate).in_field(child.name());
            if let Some(index) = ty.fields().position(|field| names::element_name(field.name) == child.name())
                && let Some(slot) = found.fields.get_mut(index)
            {
                if slot.replace(child).is_some() {
                    return Err(duplicate());
                }
                continue;
            }
            let number = match child.name() {
                "EncodingMask" => &mut found.mask,
                "SwitchField" => &mut found.switch,
                _ => continue,
            };
            let read = child
                .integer()
                .and_then(|number| u32::try_from(number).map_err(|_| child.error(TextReason::OutOfRange)));
            if number.replace(read.map_err(|error| error.in_field(child.name()))?).is_some() {
                return Err(duplicate());
            }
        }
        Ok(found)
    }

    fn elements(self, ty: ElementType<'_>) -> Result<Option<Vec<Self>>, TextError> {
        if self.is_nil() {
            return Ok(None);
        }
        let fits = |child: Self| match ty {
            // Numbers are written under the name of their type, too.
            ElementType::Enumeration(enumeration) if child.name() == builtin_name(enumeration.base()) => true,
            _ => names::element_name(element_name(ty)) == child.name(),
        };
        let items: Vec<Self> = self.children().collect();
        match items.iter().find(|child| !fits(**child)) {
            Some(child) => Err(child.expected("an element named after the type of the array's elements")),
            None => Ok(Some(items)),
        }
    }

    fn matrix(
        self,
        ty: ElementType<'_>,
        _: i32,
        _: &mut Reader<'_>,
    ) -> Result<Option<Dimensioned<Self>>, TextError> {
        if self.is_nil() {
            return Ok(None);
        }
        let dimensions = self.dimensions()?;
        let items = self.child("Elements")?.map(|elements| elements.elements(ty)).transpose()?.flatten();
        Ok(Some((dimensions, items.unwrap_or_default())))
    }

    fn enumeration(self, ty: EnumerationType<'_>) -> Result<i128, TextError> {
        scalars::enumeration(&self.text()?, ty).map_err(|reason| self.error(reason))
    }

    fn builtin(self, ty: BuiltinType, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        if self.is_nil() {
            put_default(ty, e);
            return Ok(());
        }
        match ty {
            BuiltinType::Boolean => e.put_u8(self.boolean()?.into()),
            BuiltinType::Float => {
                self.float::<f32>("INF", f32::INFINITY, f32::NEG_INFINITY, f32::NAN)?.encode(e)
            }
            BuiltinType::Double => {
                self.float::<f64>("INF", f64::INFINITY, f64::NEG_INFINITY, f64::NAN)?.encode(e)
            }
            BuiltinType::String => self.string(reader)?.encode(e),
            BuiltinType::XmlElement => e.put_str(Some(&self.fragment()?)),
            BuiltinType::DateTime => {
                let time = scalars::date_time(&self.text()?);
                time.ok_or_else(|| self.expected("a time as in ISO 8601"))?.encode(e);
            }
            BuiltinType::Guid => {
                let guid = self.text_of("String")?.trim().parse::<Guid>();
                guid.map_err(|_| self.expected("a Guid"))?.encode(e);
            }
            BuiltinType::ByteString => e.put_bytes(Some(&self.base64()?)),
            BuiltinType::NodeId => self.node_id()?.encode(e),
            BuiltinType::ExpandedNodeId => self.expanded_node_id()?.encode(e),
            BuiltinType::StatusCode => self.status()?.encode(e),
            BuiltinType::QualifiedName => self.qualified_name(reader)?.encode(e),
            BuiltinType::LocalizedText => self.localized_text(reader)?.encode(e),
            BuiltinType::DiagnosticInfo => self.diagnostic_info(reader)?.encode(e),
            BuiltinType::ExtensionObject => return reader.nested(|reader| self.extension_object(reader, e)),
            BuiltinType::DataValue => return reader.nested(|reader| self.data_value(reader, e)),
            BuiltinType::Variant => return reader.nested(|reader| self.variant(reader, e)),
            integer => {
                put_integer(integer, self.integer()?, e).map_err(|_| self.error(TextReason::OutOfRange))?
            }
        }
        Ok(())
    }

    fn offset(self) -> usize {
        self.start()
    }
}

impl<'a, 'text> Node<'a, 'text> {
    fn integer(self) -> Result<i128, TextError> {
        self.text()?.trim().parse().map_err(|_| self.expected("a whole number"))
    }

    fn boolean(self) -> Result<bool, TextError> {
        match self.text()?.trim() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    fn float<T: core::str::FromStr>(self, inf: &str, infinity: T, minus: T, nan: T) -> Result<T, TextError> {
        let text = self.text()?;
        let text = text.trim();
        match text {
            "NaN" => return Ok(nan),
            _ if text == inf || text == "+INF" => return Ok(infinity),
            _ if text.strip_prefix('-') == Some(inf) => return Ok(minus),
            _ => {}
        }
        // Rust's own spellings of infinity and NaN are none of XML.
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let value = if digits { text.parse().ok() } else { None };
        value.ok_or_else(|| self.expected("a number, NaN, INF or -INF"))
    }

    fn string(self, reader: &Reader<'_>) -> Result<UaString, TextError> {
        if self.is_nil() {
            return Ok(UaString::NULL);
        }
        let text = self.text()?;
        if text.len() > reader.cx.limits.max_string_length {
            return Err(self.error(TextReason::LimitExceeded));
        }
        Ok(UaString::from(&*text))
    }

    fn base64(self) -> Result<Vec<u8>, TextError> {
        scalars::base64(&self.text()?).ok_or_else(|| self.expected("Base64"))
    }

    fn node_id(self) -> Result<NodeId, TextError> {
        let text = self.text_of("Identifier")?;
        match text.trim() {
            "" => Ok(NodeId::NULL),
            // White space belongs to a string identifier.
            _ => text.parse().or_else(|_| text.trim().parse()).map_err(|_| self.expected("a NodeId")),
        }
    }

    fn expanded_node_id(self) -> Result<ExpandedNodeId, TextError> {
        let text = self.text_of("Identifier")?;
        match text.trim() {
            "" => Ok(ExpandedNodeId::default()),
            _ => {
                text.parse().or_else(|_| text.trim().parse()).map_err(|_| self.expected("an ExpandedNodeId"))
            }
        }
    }

    fn status(self) -> Result<StatusCode, TextError> {
        let text = self.text_of("Code")?;
        match text.trim() {
            "" => Ok(StatusCode::GOOD),
            code => code.parse().map(StatusCode).map_err(|_| self.expected("a status code")),
        }
    }

    fn part(self, name: &str, reader: &Reader<'_>) -> Result<UaString, TextError> {
        match self.child(name)? {
            Some(part) => part.string(reader).map_err(|error| error.in_field(name)),
            None => Ok(UaString::NULL),
        }
    }

    fn qualified_name(self, reader: &Reader<'_>) -> Result<QualifiedName, TextError> {
        let index = self.child("NamespaceIndex")?.filter(|index| !index.is_nil());
        let index = match index {
            Some(node) => u16::try_from(node.integer()?).map_err(|_| node.error(TextReason::OutOfRange))?,
            None => 0,
        };
        Ok(QualifiedName { namespace_index: index, name: self.part("Name", reader)? })
    }

    fn localized_text(self, reader: &Reader<'_>) -> Result<LocalizedText, TextError> {
        Ok(LocalizedText { locale: self.part("Locale", reader)?, text: self.part("Text", reader)? })
    }

    fn diagnostic_info(self, reader: &mut Reader<'_>) -> Result<DiagnosticInfo, TextError> {
        let index = |name: &str| match self.child(name)?.filter(|part| !part.is_nil()) {
            Some(part) => {
                let number = i32::try_from(part.integer()?).map_err(|_| part.error(TextReason::OutOfRange));
                number.map(Some)
            }
            None => Ok::<_, TextError>(None),
        };
        let inner = self.child("InnerDiagnosticInfo")?.filter(|inner| !inner.is_nil());
        let inner = inner.map(|inner| reader.nested(|reader| inner.diagnostic_info(reader)));
        let status = self.child("InnerStatusCode")?.filter(|status| !status.is_nil());
        Ok(DiagnosticInfo {
            symbolic_id: index("SymbolicId")?,
            namespace_uri: index("NamespaceUri")?,
            locale: index("Locale")?,
            localized_text: index("LocalizedText")?,
            additional_info: self.part("AdditionalInfo", reader)?,
            inner_status_code: status.map(Self::status).transpose()?,
            inner_diagnostic_info: inner.transpose()?.map(alloc::boxed::Box::new),
        })
    }

    fn dimensions(self) -> Result<Vec<u32>, TextError> {
        let Some(dimensions) = self.child("Dimensions")? else {
            return Err(self.expected("the element Dimensions"));
        };
        let number =
            |node: Self| u32::try_from(node.integer()?).map_err(|_| node.error(TextReason::OutOfRange));
        dimensions.children().map(number).collect()
    }

    /// `Value` with an element named after a builtin type, `ListOf…` or `Matrix` (OPC 10000-6 §5.3.1.17).
    fn variant(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let content = self.child("Value")?.unwrap_or(self);
        let mut children = content.children();
        let Some(value) = children.next().filter(|_| !content.is_nil()) else {
            Variant::Null.encode(e);
            return Ok(());
        };
        if let Some(second) = children.next() {
            return Err(second.expected("one value"));
        }
        let name = value.name();
        if let Some(ty) = name.strip_prefix("ListOf").and_then(builtin_of) {
            e.put_u8(ty as u8 | ARRAY);
            return value.variant_items(ty, reader, e);
        }
        if name == "Matrix" {
            return value.variant_matrix(reader, e);
        }
        match builtin_of(name).filter(|ty| *ty != BuiltinType::Variant) {
            Some(ty) => {
                e.put_u8(ty as u8);
                value.builtin(ty, reader, e).map_err(|error| error.at_offset(value.start()))
            }
            None => Err(value.expected("an element named after a builtin type")),
        }
    }

    fn variant_items(
        self,
        ty: BuiltinType,
        reader: &mut Reader<'_>,
        e: &mut Encoder<'_>,
    ) -> Result<(), TextError> {
        let element = ElementType::Builtin(ty);
        let items = self.elements(element)?;
        e.put_array_len(items.as_ref().map(Vec::len));
        walk::elements(element, &items.unwrap_or_default(), reader, e)
    }

    fn variant_matrix(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let dimensions = self.dimensions()?;
        let elements = self.child("Elements")?.ok_or_else(|| self.expected("the element Elements"))?;
        let first = elements.children().next();
        // Without elements nothing says of which type they would be.
        let ty = first.map_or(Some(BuiltinType::Variant), |first| builtin_of(first.name()));
        let ty = ty.ok_or_else(|| elements.expected("elements named after a builtin type"))?;
        let matrix = if dimensions.len() > 1 { DIMENSIONS } else { 0 };
        e.put_u8(ty as u8 | ARRAY | matrix);
        elements.variant_items(ty, reader, e)?;
        let len = elements.children().count();
        if matrix != 0 {
            return walk::put_dimensions(&dimensions, len, e);
        }
        let fits = dimensions.first().is_none_or(|dimension| usize::try_from(*dimension) == Ok(len));
        if fits { Ok(()) } else { Err(self.error(TextReason::BadDimensions)) }
    }

    fn data_value(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let parts = [
            (mask::VALUE, "Value", BuiltinType::Variant),
            (mask::STATUS, "StatusCode", BuiltinType::StatusCode),
            (mask::SOURCE_TIMESTAMP, "SourceTimestamp", BuiltinType::DateTime),
            (mask::SOURCE_PICOSECONDS, "SourcePicoseconds", BuiltinType::UInt16),
            (mask::SERVER_TIMESTAMP, "ServerTimestamp", BuiltinType::DateTime),
            (mask::SERVER_PICOSECONDS, "ServerPicoseconds", BuiltinType::UInt16),
        ];
        let (mut bits, mut value) = (0, Vec::new());
        let mut inner = Encoder::new(&mut value, EncodeContext { namespaces: reader.cx.namespaces });
        for (bit, name, ty) in parts {
            if let Some(part) = self.child(name)?.filter(|part| !part.is_nil()) {
                bits |= bit;
                part.builtin(ty, reader, &mut inner)
                    .map_err(|error| error.at_offset(part.start()).in_field(name))?;
            }
        }
        inner.finish()?;
        e.put_u8(bits);
        e.put(&value);
        Ok(())
    }

    /// A body of a type that is not known stays as XML (OPC 10000-6 §5.3.1.16).
    fn extension_object(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let id = self.child("TypeId")?.map(Node::node_id).transpose()?.unwrap_or(NodeId::NULL);
        let body = self.child("Body")?.filter(|body| !body.is_nil());
        let content = body.and_then(|body| body.children().next());
        let Some(content) = content else {
            id.encode(e);
            e.put_u8(0);
            return Ok(());
        };
        let cx = reader.cx;
        let uri = cx.namespaces.uri(id.namespace());
        let ty = uri.and_then(|uri| cx.types.structure_type(uri, id.as_ref()));
        let encoding = ty.and_then(StructureType::binary_encoding);
        let encoding = encoding.and_then(|(uri, id)| Some(id.with_namespace(cx.namespaces.index_of(uri)?)));
        if content.name() == "ByteString" {
            encoding.unwrap_or(id).encode(e);
            e.put_u8(1);
            e.put_bytes(Some(&content.base64()?));
            return Ok(());
        }
        let Some((ty, encoding)) = ty.zip(encoding) else {
            id.encode(e);
            e.put_u8(2);
            e.put_str(Some(&content.source()));
            return Ok(());
        };
        encoding.encode(e);
        e.put_u8(1);
        let mut read = Ok(());
        e.put_sized(|e| read = walk::structure(ty, content, reader, e));
        read.map_err(|error| error.at_offset(content.start()).in_field(ty.name()))
    }
}

fn builtin_of(name: &str) -> Option<BuiltinType> {
    BuiltinType::ALL.into_iter().find(|ty| builtin_name(*ty) == name)
}
