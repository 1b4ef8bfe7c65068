//! Reads JSON along the walk (OPC 10000-6 §5.4).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::node_id_text::unescaped_uri;
use crate::text::read::{self as walk, Dimensioned, Input, Members, Reader, put_default, put_integer};
use crate::text::{TextError, TextReason, scalars};
use crate::{
    BuiltinType, DiagnosticInfo, ElementType, Encode, Encoder, EnumerationType, ExpandedNodeId, Guid,
    LocalizedText, NamespaceMap, NodeId, QualifiedName, StatusCode, StructureType, UaString,
};

use super::node::{Kind, Node};

impl Input for Node<'_> {
    fn is_null(self) -> Result<bool, TextError> {
        Ok(self.kind() == Kind::Null)
    }

    fn members(self, ty: StructureType<'_>, reader: &mut Reader<'_>) -> Result<Members<Self>, TextError> {
        let members = self.members()?;
        reader.charge(members.len())?;
        let mut fields = Vec::new();
        fields.resize(ty.field_count(), None);
        let mut found = Members { fields, mask: None, switch: None, union_value: None };
        for (name, value) in members {
            let duplicate = |name: &str| value.error(TextReason::Duplicate).in_field(name);
            if let Some(index) = ty.fields().position(|field| field.name == name)
                && let Some(slot) = found.fields.get_mut(index)
            {
                if slot.replace(value).is_some() {
                    return Err(duplicate(&name));
                }
                continue;
            }
            let number = match &*name {
                "EncodingMask" => &mut found.mask,
                "SwitchField" => &mut found.switch,
                "Value" if ty.is_union() => {
                    if found.union_value.replace(value).is_some() {
                        return Err(duplicate(&name));
                    }
                    continue;
                }
                _ => continue,
            };
            let read = value.unsigned().map_err(|error| error.in_field(&name))?;
            if number.replace(read).is_some() {
                return Err(duplicate(&name));
            }
        }
        Ok(found)
    }

    fn elements(self, _: ElementType<'_>) -> Result<Option<Vec<Self>>, TextError> {
        if self.kind() == Kind::Null { Ok(None) } else { self.items().map(Some) }
    }

    fn matrix(
        self,
        _: ElementType<'_>,
        rank: i32,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Dimensioned<Self>>, TextError> {
        match self.kind() {
            Kind::Null => Ok(None),
            Kind::Array => self.nested_arrays(rank, reader).map(Some),
            _ => {
                let mut members = Named::of(self, &["Array", "Dimensions"])?;
                let items = members.take("Array").map(Self::items).transpose()?.unwrap_or_default();
                let dimensions = members.take("Dimensions").map(Self::dimensions).transpose()?;
                Ok(Some((dimensions.ok_or_else(|| self.expected("the member Dimensions"))?, items)))
            }
        }
    }

    fn enumeration(self, ty: EnumerationType<'_>) -> Result<i128, TextError> {
        match self.kind() {
            Kind::Number => self.integer(),
            _ => scalars::enumeration(&self.string()?, ty).map_err(|reason| self.error(reason)),
        }
    }

    fn builtin(self, ty: BuiltinType, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let namespaces = reader.cx.namespaces;
        if self.kind() == Kind::Null {
            put_default(ty, e);
            return Ok(());
        }
        match ty {
            BuiltinType::Boolean => e.put_u8(self.boolean()?.into()),
            BuiltinType::Float => self.float::<f32>()?.encode(e),
            BuiltinType::Double => self.float::<f64>()?.encode(e),
            BuiltinType::String | BuiltinType::XmlElement => self.limited_string(reader)?.encode(e),
            BuiltinType::DateTime => {
                let time = scalars::date_time(&self.string()?);
                time.ok_or_else(|| self.expected("a time as in ISO 8601"))?.encode(e);
            }
            BuiltinType::Guid => self.guid()?.encode(e),
            BuiltinType::ByteString => e.put_bytes(Some(&self.base64()?)),
            BuiltinType::NodeId => {
                let id = self.expanded_node_id(namespaces)?;
                if !id.namespace_uri.is_null() || id.server_index != 0 {
                    return Err(self.error(TextReason::UnknownNamespace));
                }
                id.node_id.encode(e);
            }
            BuiltinType::ExpandedNodeId => self.expanded_node_id(namespaces)?.encode(e),
            BuiltinType::StatusCode => self.status()?.encode(e),
            BuiltinType::QualifiedName => self.qualified_name(namespaces)?.encode(e),
            BuiltinType::LocalizedText => self.localized_text()?.encode(e),
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
        self.offset_in_text()
    }
}

/// The members of an object that have a meaning; others are ignored.
pub(super) struct Named<'t> {
    members: Vec<(Cow<'t, str>, Node<'t>)>,
}

impl<'t> Named<'t> {
    pub(super) fn of(node: Node<'t>, names: &[&str]) -> Result<Self, TextError> {
        let mut members: Vec<(Cow<'t, str>, Node<'t>)> = Vec::new();
        for (name, value) in node.members()? {
            if !names.contains(&&*name) {
                continue;
            }
            if members.iter().any(|(known, _)| *known == name) {
                return Err(value.error(TextReason::Duplicate).in_field(&name));
            }
            members.push((name, value));
        }
        Ok(Self { members })
    }

    /// A member; a null one counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<Node<'t>> {
        let position = self.members.iter().position(|(known, _)| *known == name)?;
        Some(self.members.swap_remove(position).1).filter(|value| value.kind() != Kind::Null)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// A floating-point type, read from digits in its own precision.
pub(super) trait Real: core::str::FromStr {
    const NAN: Self;
    const INFINITY: Self;
    const NEGATIVE_INFINITY: Self;
    fn is_finite(&self) -> bool;
}

macro_rules! real {
    ($($ty:ident)*) => {$(
        impl Real for $ty {
            const NAN: Self = $ty::NAN;
            const INFINITY: Self = $ty::INFINITY;
            const NEGATIVE_INFINITY: Self = $ty::NEG_INFINITY;

            fn is_finite(&self) -> bool {
                $ty::is_finite(*self)
            }
        }
    )*};
}
real!(f32 f64);

impl<'t> Node<'t> {
    pub(super) fn integer(self) -> Result<i128, TextError> {
        scalars::integer(&self.digits()?).map_err(|reason| self.error(reason))
    }

    pub(super) fn unsigned(self) -> Result<u32, TextError> {
        u32::try_from(self.integer()?).map_err(|_| self.error(TextReason::OutOfRange))
    }

    fn float<T: Real>(self) -> Result<T, TextError> {
        if self.kind() == Kind::String {
            return match &*self.string()? {
                "NaN" => Ok(T::NAN),
                "Infinity" => Ok(T::INFINITY),
                "-Infinity" => Ok(T::NEGATIVE_INFINITY),
                _ => Err(self.expected("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")),
            };
        }
        let value: T = self.digits()?.parse().map_err(|_| self.expected("a number"))?;
        if value.is_finite() { Ok(value) } else { Err(self.error(TextReason::OutOfRange)) }
    }

    pub(super) fn limited_string(self, reader: &Reader<'_>) -> Result<UaString, TextError> {
        let text = self.string()?;
        if text.len() > reader.cx.limits.max_string_length {
            return Err(self.error(TextReason::LimitExceeded));
        }
        Ok(UaString::from(&*text))
    }

    pub(super) fn guid(self) -> Result<Guid, TextError> {
        self.string()?.trim().parse().map_err(|_| self.expected("a Guid"))
    }

    pub(super) fn base64(self) -> Result<Vec<u8>, TextError> {
        scalars::base64(&self.string()?).ok_or_else(|| self.expected("Base64"))
    }

    pub(super) fn dimensions(self) -> Result<Vec<u32>, TextError> {
        self.items()?.into_iter().map(Self::unsigned).collect()
    }

    /// The form of version 1.04: arrays in arrays.
    fn nested_arrays(self, rank: i32, reader: &mut Reader<'_>) -> Result<Dimensioned<Self>, TextError> {
        let (mut dimensions, mut level) = (Vec::new(), alloc::vec![self]);
        for _ in 0..rank {
            let (mut next, mut len) = (Vec::new(), None);
            for node in level {
                let items = node.items()?;
                reader.charge(items.len() + 1)?;
                if *len.get_or_insert(items.len()) != items.len() {
                    return Err(node.error(TextReason::BadDimensions));
                }
                next.extend(items);
            }
            let len = len.unwrap_or_default();
            dimensions.push(u32::try_from(len).map_err(|_| self.error(TextReason::LimitExceeded))?);
            level = next;
        }
        Ok((dimensions, level))
    }

    /// A URI that is in the namespace table becomes its index; another one stays (OPC 10000-6 §5.1.12).
    pub(super) fn expanded_node_id(self, namespaces: &NamespaceMap) -> Result<ExpandedNodeId, TextError> {
        let mut id: ExpandedNodeId = match self.kind() {
            Kind::Object => self.legacy_node_id(namespaces)?,
            _ => self.string()?.parse().map_err(|_| self.expected("a NodeId"))?,
        };
        if let Some(index) = id.namespace_uri.as_str().and_then(|uri| namespaces.index_of(uri)) {
            id = ExpandedNodeId {
                node_id: id.node_id.with_namespace(index),
                namespace_uri: UaString::NULL,
                ..id
            };
        }
        Ok(id)
    }

    pub(super) fn local_node_id(self, namespaces: &NamespaceMap) -> Result<NodeId, TextError> {
        let id = self.expanded_node_id(namespaces)?;
        if id.namespace_uri.is_null() {
            Ok(id.node_id)
        } else {
            Err(self.error(TextReason::UnknownNamespace))
        }
    }

    /// `{}` for Good; a number in version 1.04.
    pub(super) fn status(self) -> Result<StatusCode, TextError> {
        if self.kind() == Kind::Number {
            return self.unsigned().map(StatusCode);
        }
        let code = Named::of(self, &["Code"])?.take("Code");
        code.map_or(Ok(StatusCode::GOOD), |code| code.unsigned().map(StatusCode))
    }

    fn qualified_name(self, namespaces: &NamespaceMap) -> Result<QualifiedName, TextError> {
        if self.kind() == Kind::Object {
            return self.legacy_qualified_name(namespaces);
        }
        let text = self.string()?;
        let Some((uri, name)) = text.strip_prefix("nsu=").and_then(|rest| rest.split_once(';')) else {
            // Never fails: without an index all of it is the name.
            return text.parse().map_err(|_| self.expected("a QualifiedName"));
        };
        let index = namespaces.index_of(&unescaped_uri(uri));
        Ok(QualifiedName::new(index.ok_or_else(|| self.error(TextReason::UnknownNamespace))?, name))
    }

    /// The text alone is what version 1.04 writes when it is not to be read back.
    fn localized_text(self) -> Result<LocalizedText, TextError> {
        if self.kind() == Kind::String {
            return Ok(LocalizedText { locale: UaString::NULL, text: UaString::from(&*self.string()?) });
        }
        let mut members = Named::of(self, &["Locale", "Text"])?;
        let mut part = |name: &str| match members.take(name) {
            Some(value) => value.string().map(|text| UaString::from(&*text)).map_err(|e| e.in_field(name)),
            None => Ok(UaString::NULL),
        };
        Ok(LocalizedText { locale: part("Locale")?, text: part("Text")? })
    }

    fn diagnostic_info(self, reader: &mut Reader<'_>) -> Result<DiagnosticInfo, TextError> {
        const INDEXES: [&str; 4] = ["SymbolicId", "NamespaceUri", "Locale", "LocalizedText"];
        const NAMES: [&str; 7] = [
            "SymbolicId",
            "NamespaceUri",
            "Locale",
            "LocalizedText",
            "AdditionalInfo",
            "InnerStatusCode",
            "InnerDiagnosticInfo",
        ];
        let mut members = Named::of(self, &NAMES)?;
        let mut index = |name: &str| match members.take(name) {
            Some(value) => {
                let number = i32::try_from(value.integer()?).map_err(|_| value.error(TextReason::OutOfRange));
                number.map(Some).map_err(|error| error.in_field(name))
            }
            None => Ok(None),
        };
        let [symbolic_id, namespace_uri, locale, localized_text] = INDEXES;
        let (symbolic_id, namespace_uri) = (index(symbolic_id)?, index(namespace_uri)?);
        let (locale, localized_text) = (index(locale)?, index(localized_text)?);
        let additional_info = members.take("AdditionalInfo").map(Node::string).transpose()?;
        let inner = members.take("InnerDiagnosticInfo");
        let inner = inner.map(|inner| reader.nested(|reader| inner.diagnostic_info(reader)));
        Ok(DiagnosticInfo {
            symbolic_id,
            namespace_uri,
            locale,
            localized_text,
            additional_info: additional_info.map_or(UaString::NULL, |text| UaString::from(&*text)),
            inner_status_code: members.take("InnerStatusCode").map(Node::status).transpose()?,
            inner_diagnostic_info: inner.transpose()?.map(alloc::boxed::Box::new),
        })
    }

    /// Elements of a Variant or of a field of one, with their number.
    pub(super) fn put_items(
        ty: BuiltinType,
        items: &[Self],
        reader: &mut Reader<'_>,
        e: &mut Encoder<'_>,
    ) -> Result<(), TextError> {
        e.put_array_len(Some(items.len()));
        walk::elements(ElementType::Builtin(ty), items, reader, e)
    }
}
