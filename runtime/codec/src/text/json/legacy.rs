//! Reads the builtin types that hold others, and the objects of version 1.04 (OPC 10000-6 Annex H).

use alloc::vec::Vec;

use crate::data_value::mask;
use crate::text::read::{self as walk, Input, Reader, put_default};
use crate::text::scalars::is_nullable;
use crate::text::variant::{ARRAY, DIMENSIONS};
use crate::text::{TextError, TextReason};
use crate::{
    BuiltinType, DecodeContext, Encode, Encoder, ExpandedNodeId, NamespaceMap, NodeId, QualifiedName,
    UaString, Variant,
};

use super::node::{Kind, Node};
use super::read::Named;

impl<'t> Node<'t> {
    /// `{"IdType":1,"Id":"x","Namespace":2,"ServerUri":1}`
    pub(super) fn legacy_node_id(self, namespaces: &NamespaceMap) -> Result<ExpandedNodeId, TextError> {
        let mut members = Named::of(self, &["IdType", "Id", "Namespace", "ServerUri"])?;
        let kind = members.take("IdType").map(Node::unsigned).transpose()?.unwrap_or(0);
        let id = members.take("Id");
        let node_id = match (kind, id) {
            (0, None) => NodeId::NULL,
            (0, Some(id)) => NodeId::numeric(0, id.unsigned()?),
            (1, Some(id)) => NodeId::string(0, &*id.string()?),
            (2, Some(id)) => NodeId::guid(0, id.guid()?),
            (3, Some(id)) => NodeId::opaque(0, id.base64()?),
            _ => return Err(self.expected("IdType 0 to 3 and an Id")),
        };
        let (index, namespace_uri) = match members.take("Namespace") {
            None => (0, UaString::NULL),
            Some(value) => value.legacy_namespace(namespaces)?,
        };
        // A server's URI instead of its index is for readers that know the server table.
        let server_index = members.take("ServerUri").map(Node::unsigned).transpose()?.unwrap_or(0);
        Ok(ExpandedNodeId { node_id: node_id.with_namespace(index), namespace_uri, server_index })
    }

    /// `{"Name":"x","Uri":2}`
    pub(super) fn legacy_qualified_name(self, namespaces: &NamespaceMap) -> Result<QualifiedName, TextError> {
        let mut members = Named::of(self, &["Name", "Uri"])?;
        let name = members.take("Name").map(Node::string).transpose()?;
        let name = name.map_or(UaString::NULL, |name| UaString::from(&*name));
        let namespace_index = match members.take("Uri") {
            None => 0,
            Some(value) => match value.legacy_namespace(namespaces)? {
                (index, UaString::NULL) => index,
                _ => return Err(value.error(TextReason::UnknownNamespace)),
            },
        };
        Ok(QualifiedName { namespace_index, name })
    }

    /// An index, or a URI.
    fn legacy_namespace(self, namespaces: &NamespaceMap) -> Result<(u16, UaString), TextError> {
        if self.kind() == Kind::String {
            let uri = self.string()?;
            return Ok(match namespaces.index_of(&uri) {
                Some(index) => (index, UaString::NULL),
                None => (0, UaString::from(&*uri)),
            });
        }
        let index = u16::try_from(self.unsigned()?);
        Ok((index.map_err(|_| self.error(TextReason::OutOfRange))?, UaString::NULL))
    }

    /// `{"UaType":6,"Value":1}`, or `{"Type":6,"Body":1}` of version 1.04 (OPC 10000-6 §5.4.2.17).
    pub(super) fn variant(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let mut members = Named::of(self, &["UaType", "Value", "Dimensions", "Type", "Body"])?;
        self.variant_members(&mut members, reader, e)
    }

    fn variant_members(
        self,
        members: &mut Named<'t>,
        reader: &mut Reader<'_>,
        e: &mut Encoder<'_>,
    ) -> Result<(), TextError> {
        let Some(ty) = members.take("UaType").or_else(|| members.take("Type")) else {
            // An object without members is what some write for the null Variant.
            if members.is_empty() {
                Variant::Null.encode(e);
                return Ok(());
            }
            return Err(self.expected("the member UaType"));
        };
        let number = u8::try_from(ty.unsigned()?).map_err(|_| ty.error(TextReason::OutOfRange))?;
        if number == 0 {
            Variant::Null.encode(e);
            return Ok(());
        }
        let builtin =
            BuiltinType::from_number(number).ok_or_else(|| ty.expected("the number of a builtin type"))?;
        let value = members.take("Value").or_else(|| members.take("Body"));
        let dimensions = members.take("Dimensions").map(Node::dimensions).transpose()?.unwrap_or_default();
        let wrote = put_variant(builtin, value, &dimensions, reader, e);
        wrote.map_err(|error| error.at_offset(self.offset()).in_field("Value"))
    }

    /// The members of its value beside its own; in version 1.04 a Variant as `Value` (OPC 10000-6 §5.4.2.18).
    pub(super) fn data_value(self, reader: &mut Reader<'_>, e: &mut Encoder<'_>) -> Result<(), TextError> {
        let names = [
            "UaType",
            "Value",
            "Dimensions",
            "Status",
            "SourceTimestamp",
            "SourcePicoseconds",
            "ServerTimestamp",
            "ServerPicoseconds",
        ];
        let mut members = Named::of(self, &names)?;
        let mut bits = 0;
        let mut value = Vec::new();
        let mut inner = Encoder::new(&mut value, crate::EncodeContext { namespaces: reader.cx.namespaces });
        let parts = [
            (mask::STATUS, "Status", BuiltinType::StatusCode),
            (mask::SOURCE_TIMESTAMP, "SourceTimestamp", BuiltinType::DateTime),
            (mask::SOURCE_PICOSECONDS, "SourcePicoseconds", BuiltinType::UInt16),
            (mask::SERVER_TIMESTAMP, "ServerTimestamp", BuiltinType::DateTime),
            (mask::SERVER_PICOSECONDS, "ServerPicoseconds", BuiltinType::UInt16),
        ];
        let mut found = Vec::new();
        for (bit, name, ty) in parts {
            if let Some(part) = members.take(name) {
                bits |= bit;
                found.push((name, ty, part));
            }
        }
        if let Some(ty) = members.take("UaType") {
            let number = u8::try_from(ty.unsigned()?).map_err(|_| ty.error(TextReason::OutOfRange))?;
            let builtin = BuiltinType::from_number(number);
            let builtin = builtin.ok_or_else(|| ty.expected("the number of a builtin type"))?;
            let dimensions =
                members.take("Dimensions").map(Node::dimensions).transpose()?.unwrap_or_default();
            put_variant(builtin, members.take("Value"), &dimensions, reader, &mut inner)
                .map_err(|error| error.in_field("Value"))?;
            bits |= mask::VALUE;
        } else if let Some(body) = members.take("Value") {
            reader
                .nested(|reader| body.variant(reader, &mut inner))
                .map_err(|error| error.in_field("Value"))?;
            bits |= mask::VALUE;
        }
        for (name, ty, part) in found {
            part.builtin(ty, reader, &mut inner).map_err(|error| error.in_field(name))?;
        }
        inner.finish()?;
        e.put_u8(bits);
        e.put(&value);
        Ok(())
    }

    /// A structure with its type beside its members, or a body in Base64; `TypeId` and `Body` in version
    /// 1.04 (OPC 10000-6 §5.4.2.16).
    pub(super) fn extension_object(
        self,
        reader: &mut Reader<'_>,
        e: &mut Encoder<'_>,
    ) -> Result<(), TextError> {
        let names = ["UaTypeId", "UaEncoding", "UaBody", "TypeId", "Encoding", "Body"];
        let mut members = Named::of(self, &names)?;
        let (type_id, encoding, body, legacy) = match members.take("UaTypeId") {
            Some(id) => (Some(id), members.take("UaEncoding"), members.take("UaBody"), false),
            // Fields of a structure may be called so too, but not beside a UaTypeId.
            None => (members.take("TypeId"), members.take("Encoding"), members.take("Body"), true),
        };
        let Some(type_id) = type_id else {
            if members.is_empty() && body.is_none() {
                put_default(BuiltinType::ExtensionObject, e);
                return Ok(());
            }
            return Err(self.expected("the member UaTypeId"));
        };
        let encoding = encoding.map(Node::unsigned).transpose()?.unwrap_or(0);
        let id = type_id.local_node_id(reader.cx.namespaces).map_err(|error| error.in_field("UaTypeId"))?;
        match (encoding, body) {
            (1, Some(body)) => {
                binary_id(id, reader.cx).encode(e);
                e.put_u8(1);
                e.put_bytes(Some(&body.base64()?));
                Ok(())
            }
            (2, Some(body)) => {
                id.encode(e);
                e.put_u8(2);
                let text = if legacy { body.string()?.into_owned().into_bytes() } else { body.base64()? };
                let text = core::str::from_utf8(&text).map_err(|_| body.expected("XML in UTF-8"))?;
                e.put_str(Some(text));
                Ok(())
            }
            // A structure inside of a body is how some write version 1.05.
            (0, body) => self.structure_body(&id, body.or(if legacy { None } else { Some(self) }), reader, e),
            _ => Err(self.expected("UaEncoding 0, 1 or 2 and a UaBody")),
        }
    }

    fn structure_body(
        self,
        id: &NodeId,
        body: Option<Self>,
        reader: &mut Reader<'_>,
        e: &mut Encoder<'_>,
    ) -> Result<(), TextError> {
        let cx = reader.cx;
        let uri = cx.namespaces.uri(id.namespace());
        let ty = uri.and_then(|uri| cx.types.structure_type(uri, id.as_ref()));
        let Some((body, ty)) = body.zip(ty) else {
            // A type alone, without anything else in the object.
            let empty = match body {
                Some(body) => body.members()?.len() <= 1,
                None => true,
            };
            if !empty {
                return Err(self.error(TextReason::UnknownType));
            }
            id.encode(e);
            e.put_u8(0);
            return Ok(());
        };
        let encoding = ty.binary_encoding().ok_or_else(|| self.error(TextReason::UnknownType))?;
        let index =
            cx.namespaces.index_of(encoding.0).ok_or_else(|| self.error(TextReason::UnknownNamespace))?;
        encoding.1.with_namespace(index).encode(e);
        e.put_u8(1);
        let mut read = Ok(());
        e.put_sized(|e| read = walk::structure(ty, body, reader, e));
        read.map_err(|error| error.in_field(ty.name()))
    }
}

/// The id before a binary body: of the encoding, also where the text has that of a known DataType.
fn binary_id(id: NodeId, cx: DecodeContext<'_>) -> NodeId {
    let uri = cx.namespaces.uri(id.namespace());
    let ty = uri.and_then(|uri| cx.types.structure_type(uri, id.as_ref()));
    let encoding = ty.and_then(|ty| ty.binary_encoding());
    let known = encoding.and_then(|(uri, id)| Some(id.with_namespace(cx.namespaces.index_of(uri)?)));
    known.unwrap_or(id)
}

/// Without a value it is null; for types that have no null, the null array.
fn put_variant(
    ty: BuiltinType,
    value: Option<Node<'_>>,
    dimensions: &[u32],
    reader: &mut Reader<'_>,
    e: &mut Encoder<'_>,
) -> Result<(), TextError> {
    let encoding = ty as u8;
    match value {
        None if !is_nullable(ty) || ty == BuiltinType::Variant => {
            e.put_u8(encoding | ARRAY);
            e.put_array_len(None);
            Ok(())
        }
        None => {
            e.put_u8(encoding);
            put_default(ty, e);
            Ok(())
        }
        Some(value) if value.kind() == Kind::Array => {
            let items = value.items()?;
            let matrix = dimensions.len() > 1;
            e.put_u8(encoding | ARRAY | if matrix { DIMENSIONS } else { 0 });
            Node::put_items(ty, &items, reader, e)?;
            if matrix {
                walk::put_dimensions(dimensions, items.len(), e)?;
            }
            Ok(())
        }
        Some(value) if ty == BuiltinType::Variant => Err(value.expected("an array")),
        Some(value) => {
            e.put_u8(encoding);
            value.builtin(ty, reader, e)
        }
    }
}
