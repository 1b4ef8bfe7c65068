//! DataValue and DiagnosticInfo (OPC 10000-6 §5.3.1.12, §5.3.1.18).

use super::Reader;
use super::builtin::date_time;
use crate::resolved::{DataValueParts, DiagnosticInfoParts, Value};
use crate::schema::Element;

impl<'a> Reader<'_, 'a> {
    pub(super) fn data_value(&mut self, element: Element<'a>) -> DataValueParts {
        let mut parts = DataValueParts::default();
        for child in element.children() {
            match child.name() {
                "Value" => parts.value = child.children().next().and_then(|content| self.any(content)),
                "StatusCode" => parts.status = Some(self.status_code(child)),
                "SourceTimestamp" => parts.source_timestamp = self.ticks(child),
                "SourcePicoseconds" => parts.source_picoseconds = self.small(child),
                "ServerTimestamp" => parts.server_timestamp = self.ticks(child),
                "ServerPicoseconds" => parts.server_picoseconds = self.small(child),
                _ => self.unknown_field(child, "DataValue"),
            }
        }
        parts
    }

    pub(super) fn diagnostic_info(&mut self, element: Element<'a>) -> DiagnosticInfoParts {
        let mut parts = DiagnosticInfoParts::default();
        for child in element.children() {
            match child.name() {
                "SymbolicId" => parts.symbolic_id = self.index(child),
                "NamespaceUri" => parts.namespace_uri = self.index(child),
                "Locale" => parts.locale = self.index(child),
                "LocalizedText" => parts.localized_text = self.index(child),
                "AdditionalInfo" => parts.additional_info = Some(child.text().into_owned()),
                "InnerStatusCode" => parts.inner_status_code = Some(self.status_code(child)),
                "InnerDiagnosticInfo" => parts.inner = Some(Box::new(self.diagnostic_info(child))),
                _ => self.unknown_field(child, "DiagnosticInfo"),
            }
        }
        parts
    }

    fn ticks(&mut self, element: Element<'a>) -> Option<i64> {
        match self.builtin(13, element) {
            Value::DateTime(ticks) => Some(ticks),
            _ => date_time(""),
        }
    }

    fn small(&mut self, element: Element<'a>) -> Option<u16> {
        match self.builtin(5, element) {
            Value::UInt16(number) => Some(number),
            _ => None,
        }
    }

    fn index(&mut self, element: Element<'a>) -> Option<i32> {
        match self.builtin(6, element) {
            Value::Int32(number) => Some(number),
            _ => None,
        }
    }
}
