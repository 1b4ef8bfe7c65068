//! ExtensionObjects: TypeId and Body (OPC 10000-6 §5.3.1.16).

use super::{Reader, TYPES_XMLNS};
use crate::diagnostic::{Diagnostic, codes};
use crate::ids::{decode_base64, shared};
use crate::query::DataTypeKind;
use crate::resolved::{Id, Value};
use crate::schema::Element;

impl<'a> Reader<'_, 'a> {
    /// An ExtensionObject; one without TypeId or Body is null, one of an unknown type stays opaque.
    pub(super) fn extension_object(&mut self, element: Element<'a>) -> Value {
        let type_id = element.child("TypeId").map_or(Id::ns0(0), |child| self.node_id(child));
        let content = element.child("Body").and_then(|body| body.children().next());
        let Some(content) = content else {
            return Value::Null;
        };
        if content.name() == "ByteString" && content.namespace() == TYPES_XMLNS {
            let bytes = decode_base64(&content.text());
            return bytes.map_or(Value::Null, |bytes| Value::OpaqueBinary { type_id, bytes: bytes.into() });
        }
        match self.structure_of(&type_id) {
            Some(data_type) => self.structure(&data_type, content),
            None => {
                let text = self.set.id_text(&type_id);
                let message =
                    format!("ExtensionObject of {text}, which is the encoding of no loaded structure");
                self.report(
                    Diagnostic::warning(codes::UNKNOWN_ENCODING, message)
                        .at(element.name_span())
                        .help("load the model that has the type; the body is kept as XML until then"),
                );
                Value::OpaqueXml { type_id, xml: shared(content.raw()) }
            }
        }
    }

    /// The structure behind an encoding id, or behind the id of the data type itself.
    fn structure_of(&self, type_id: &Id) -> Option<Id> {
        let data_type = self.set.data_type_of_encoding(type_id).unwrap_or(type_id);
        let kind = self.set.kind_of_data_type(data_type)?;
        matches!(kind, DataTypeKind::Structure | DataTypeKind::Union).then(|| data_type.clone())
    }
}
