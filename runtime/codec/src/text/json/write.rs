//! Writes JSON along the walk (OPC 10000-6 §5.4).

use alloc::string::String;
use core::fmt::Write as _;

use crate::node_id_text::write_base64;
use crate::text::TextError;
use crate::text::write::{Content, Number, Output};
use crate::{BuiltinType, Decoder, ElementType, EnumerationType, StructureFieldType, StructureType};

use super::JsonEncoding;

/// The text so far.
pub(super) struct Writer {
    pub(super) text: String,
    encoding: JsonEncoding,
    /// The type of an ExtensionObject, to be written as the first member of the structure that follows.
    pub(super) type_id: Option<String>,
}

impl Writer {
    pub(super) fn new(encoding: JsonEncoding) -> Self {
        Self { text: String::new(), encoding, type_id: None }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn is_compact(&self) -> bool {
        self.encoding == JsonEncoding::Compact
    }

    /// Writes what can be displayed; a String takes it always.
    pub(super) fn put(&mut self, args: core::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(args);
    }

    /// The name of a member, after a comma if it is not the first. A brace at the end is that of the
    /// object: what a member ends with is a quotation mark, a digit, a letter or a closing bracket.
    pub(super) fn key(&mut self, name: &str) {
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
        self.string(name);
        self.text.push(':');
    }

    pub(super) fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{0}'..='\u{1F}' => self.put(format_args!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    pub(super) fn base64(&mut self, bytes: &[u8]) {
        self.text.push('"');
        let _ = write_base64(bytes, &mut self.text);
        self.text.push('"');
    }

    /// Begins an object, with the type of the ExtensionObject that it is the body of.
    pub(super) fn open(&mut self) {
        self.text.push('{');
        if let Some(type_id) = self.type_id.take() {
            self.key("UaTypeId");
            self.string(&type_id);
        }
    }
}

impl Output for Writer {
    fn builtin(&mut self, ty: BuiltinType, d: &mut Decoder<'_>) -> Result<Content, TextError> {
        self.write_builtin(ty, d)
    }

    fn enumeration(&mut self, ty: EnumerationType<'_>, value: Number) {
        match value {
            Number::Bits(bits, BuiltinType::UInt64) => self.put(format_args!("\"{bits}\"")),
            Number::Bits(bits, _) => self.put(format_args!("{bits}")),
            Number::Member(value) if self.is_compact() => self.put(format_args!("{value}")),
            Number::Member(value) => match ty.name_of(value.into()) {
                Some(name) => {
                    self.string(name);
                    self.text.pop();
                    self.put(format_args!("_{value}\""));
                }
                None => self.put(format_args!("\"{value}\"")),
            },
        }
    }

    fn begin(&mut self, _: StructureType<'_>) {
        self.open();
    }

    fn end(&mut self) {
        self.text.push('}');
    }

    fn mask(&mut self, mask: u32) {
        if self.is_compact() && mask != 0 {
            self.key("EncodingMask");
            self.put(format_args!("{mask}"));
        }
    }

    fn switch(&mut self, switch: u32) {
        if self.is_compact() {
            self.key("SwitchField");
            self.put(format_args!("{switch}"));
        }
    }

    fn null_union(&mut self) {
        if self.type_id.is_some() {
            self.open();
            self.text.push('}');
        } else {
            self.text.push_str("null");
        }
    }

    fn member(
        &mut self,
        field: &StructureFieldType<'_>,
        write: impl FnOnce(&mut Self) -> Result<Content, TextError>,
    ) -> Result<Content, TextError> {
        let before = self.text.len();
        self.key(field.name);
        let content = write(self)?;
        if self.is_compact() && content != Content::Value {
            self.text.truncate(before);
        }
        Ok(content)
    }

    fn null_array(&mut self) {
        self.text.push_str("null");
    }

    fn array(
        &mut self,
        _: ElementType<'_>,
        dimensions: Option<&[u32]>,
        len: usize,
        mut write: impl FnMut(&mut Self) -> Result<Content, TextError>,
    ) -> Result<(), TextError> {
        if dimensions.is_some() {
            self.text.push_str("{\"Array\":");
        }
        self.text.push('[');
        for index in 0..len {
            if index > 0 {
                self.text.push(',');
            }
            write(self)?;
        }
        self.text.push(']');
        if let Some(dimensions) = dimensions {
            self.key("Dimensions");
            self.dimensions(dimensions);
            self.text.push('}');
        }
        Ok(())
    }
}

impl Writer {
    pub(super) fn dimensions(&mut self, dimensions: &[u32]) {
        self.text.push('[');
        for (index, dimension) in dimensions.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            self.put(format_args!("{comma}{dimension}"));
        }
        self.text.push(']');
    }
}
