//! Writes XML along the walk (OPC 10000-6 §5.3).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{Display, Write as _};

use crate::text::write::{Content, Number, Output, element_name};
use crate::text::{TextError, TextReason};
use crate::{BuiltinType, Decoder, ElementType, EnumerationType, NS0_URI, StructureFieldType, StructureType};

use super::names;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of the base model's schema (OPC 10000-6 §5.3.1).
const TYPES: &str = "http://opcfoundation.org/UA/2008/02/Types.xsd";
/// Where a structure's members are, beside the one of the base model.
const BASE: usize = 0;

/// The text so far.
pub(super) struct Writer {
    pub(super) text: String,
    /// The tag at the end of the text has no `>` yet.
    tag_open: bool,
    /// Names of the elements that are open.
    open: Vec<String>,
    /// Namespaces by the number in their prefix; the first is that of the base model.
    namespaces: Vec<String>,
    /// The namespaces of the structures that are open.
    structures: Vec<usize>,
    has_nil: bool,
    /// Text that XML cannot hold; the first one is the error of the whole.
    error: Option<TextReason>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            tag_open: false,
            open: Vec::new(),
            namespaces: alloc::vec![TYPES.to_string()],
            structures: Vec::new(),
            has_nil: false,
            error: None,
        }
    }

    /// Declares the prefixes at the root element.
    pub(super) fn finish(mut self) -> Result<String, TextError> {
        if let Some(reason) = self.error {
            return Err(reason.into());
        }
        let mut declarations = String::new();
        for (number, namespace) in self.namespaces.iter().enumerate() {
            let _ = write!(declarations, " xmlns:{}=\"{}\"", prefix(number), Escaped(namespace));
        }
        if self.has_nil {
            let _ = write!(declarations, " xmlns:xsi=\"{XSI}\"");
        }
        let name_end = self.text.find([' ', '/', '>']).unwrap_or(self.text.len());
        self.text.insert_str(name_end, &declarations);
        Ok(self.text)
    }

    /// Begins an element of the base model's schema.
    pub(super) fn open(&mut self, name: &str) {
        self.open_in(BASE, name);
    }

    fn open_in(&mut self, namespace: usize, name: &str) {
        self.end_tag();
        let name = format!("{}:{name}", prefix(namespace));
        let _ = write!(self.text, "<{name}");
        self.tag_open = true;
        self.open.push(name);
    }

    /// Begins the element of a value of this type.
    pub(super) fn open_element(&mut self, ty: ElementType<'_>) {
        let namespace = match ty {
            ElementType::Structure(ty) => self.namespace(ty.namespace()),
            ElementType::Enumeration(EnumerationType::Static(ty)) => self.namespace(ty.data_type.namespace),
            // In the schema of the structure whose field it is.
            ElementType::Enumeration(EnumerationType::Runtime(_)) => self.members_namespace(),
            ElementType::Builtin(_) => BASE,
        };
        self.open_in(namespace, &names::element_name(element_name(ty)));
    }

    fn members_namespace(&self) -> usize {
        self.structures.last().copied().unwrap_or(BASE)
    }

    fn namespace(&mut self, uri: &str) -> usize {
        if uri == NS0_URI {
            return BASE;
        }
        let slash = if uri.ends_with('/') { "" } else { "/" };
        let schema = format!("{uri}{slash}Types.xsd");
        let known = self.namespaces.iter().position(|known| *known == schema);
        known.unwrap_or_else(|| {
            self.namespaces.push(schema);
            self.namespaces.len() - 1
        })
    }

    /// Ends the innermost element.
    pub(super) fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if core::mem::take(&mut self.tag_open) {
            self.text.push_str("/>");
        } else {
            let _ = write!(self.text, "</{name}>");
        }
    }

    /// Ends the tag at the end of the text, if it is open, and gives the length of the text.
    pub(super) fn end_tag(&mut self) -> usize {
        if core::mem::take(&mut self.tag_open) {
            self.text.push('>');
        }
        self.text.len()
    }

    /// An element with text in it.
    pub(super) fn leaf(&mut self, name: &str, value: impl Display) {
        self.open(name);
        self.put(value);
        self.close();
    }

    /// Text without characters that XML escapes.
    pub(super) fn put(&mut self, value: impl Display) {
        self.end_tag();
        let _ = write!(self.text, "{value}");
    }

    /// Any text.
    pub(super) fn put_text(&mut self, text: &str) {
        let held = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
        if !text.chars().all(held) {
            self.error.get_or_insert(TextReason::Expected("characters that XML can hold"));
            return;
        }
        if !text.is_empty() {
            self.put(Escaped(text));
        }
    }

    /// An XML fragment as it is.
    pub(super) fn put_fragment(&mut self, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        if roxmltree::Document::parse(fragment).is_err() {
            self.error.get_or_insert(TextReason::Expected("an XML element"));
            return;
        }
        // A declaration may stand at the start of a document only.
        let element = fragment.trim_start_matches('\u{FEFF}').trim_start();
        let declaration = element.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
        self.put(declaration.map_or(element, |(_, rest)| rest));
    }

    /// Says that the element has no value.
    pub(super) fn nil(&mut self) -> Content {
        self.text.push_str(" xsi:nil=\"true\"");
        self.has_nil = true;
        Content::Null
    }

    pub(super) fn dimensions(&mut self, dimensions: &[u32]) {
        self.open("Dimensions");
        for dimension in dimensions {
            self.leaf("UInt32", dimension);
        }
        self.close();
    }
}

fn prefix(namespace: usize) -> String {
    if namespace == BASE { "uax".into() } else { format!("m{namespace}") }
}

struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // Readers make a line feed of it otherwise.
                '\r' => f.write_str("&#13;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl Output for Writer {
    fn builtin(&mut self, ty: BuiltinType, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        self.write_builtin(ty, d)
    }

    fn enumeration(&mut self, ty: EnumerationType<'_>, value: Number) {
        match value {
            Number::Bits(bits, _) => self.put(bits),
            Number::Member(value) => match ty.name_of(value.into()) {
                Some(name) => {
                    self.put_text(name);
                    self.put(format_args!("_{value}"));
                }
                None => self.put(value),
            },
        }
    }

    fn begin(&mut self, ty: StructureType<'_>) {
        let namespace = self.namespace(ty.namespace());
        self.structures.push(namespace);
    }

    fn end(&mut self) {
        self.structures.pop();
    }

    fn mask(&mut self, mask: u32) {
        self.open_in(self.members_namespace(), "EncodingMask");
        self.put(mask);
        self.close();
    }

    fn switch(&mut self, switch: u32) {
        self.open_in(self.members_namespace(), "SwitchField");
        self.put(switch);
        self.close();
    }

    fn null_union(&mut self) {
        self.nil();
    }

    fn member(
        &mut self,
        field: &StructureFieldType<'_>,
        write: impl FnOnce(&mut Self) -> Result<Content, TextError>,
    ) -> Result<Content, TextError> {
        self.open_in(self.members_namespace(), &names::element_name(field.name));
        let content = write(self)?;
        self.close();
        Ok(content)
    }

    fn null_array(&mut self) {
        self.nil();
    }

    fn array(
        &mut self,
        element: ElementType<'_>,
        dimensions: Option<&[u32]>,
        len: usize,
        mut write: impl FnMut(&mut Self) -> Result<Content, TextError>,
    ) -> Result<(), TextError> {
        if let Some(dimensions) = dimensions {
            self.dimensions(dimensions);
            self.open("Elements");
        }
        for _ in 0..len {
            self.open_element(element);
            write(self)?;
            self.close();
        }
        if dimensions.is_some() {
            self.close();
        }
        Ok(())
    }
}
