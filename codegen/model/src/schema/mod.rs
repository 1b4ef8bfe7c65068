//! The NodeSet2 schema (OPC 10000-6 Annex F) as the file has it; every item keeps its byte offsets.

mod dictionary;
mod element;
mod header;
mod xml;

pub(crate) use dictionary::{
    BSD_XMLNS, Dictionary, RawKind, RawType, TypeRef, is_dictionary, read_dictionary,
};
pub(crate) use element::{Element, Spanned};
pub(crate) use header::{Header, RawModel, read_header, required};
pub(crate) use xml::parse;

/// XML namespace of the NodeSet2 schema.
pub(crate) const NODESET_XMLNS: &str = "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd";
