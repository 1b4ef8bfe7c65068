//! The static description of a field's type, found through its Rust type.

use alloc::string::String;

use crate::{
    BuiltinType, ByteString, ConstIdentifier, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId,
    ExtensionObject, FieldType, Guid, LocalizedText, NS0_URI, NodeId, QualifiedName, StatusCode, Structure,
    TypeKey, UaString, Variant, XmlElement,
};

/// A Rust type that is one element of a structure's field (OPC 10000-3 §8.51).
pub trait Described {
    /// Id of the DataType that the Rust type stands for.
    const DATA_TYPE: TypeKey;
    /// How one element is encoded.
    const FIELD_TYPE: FieldType;
}

const fn ns0(id: u32) -> TypeKey {
    TypeKey { namespace: NS0_URI, id: ConstIdentifier::Numeric(id) }
}

macro_rules! builtin {
    ($($ty:ty: $builtin:ident;)*) => {$(
        impl Described for $ty {
            // A builtin type's DataType has its number as id (OPC 10000-6 §5.1.2).
            const DATA_TYPE: TypeKey = ns0(BuiltinType::$builtin as u32);
            const FIELD_TYPE: FieldType = FieldType::Builtin(BuiltinType::$builtin);
        }
    )*};
}

builtin! {
    bool: Boolean; i8: SByte; u8: Byte; i16: Int16; u16: UInt16; i32: Int32; u32: UInt32; i64: Int64;
    u64: UInt64; f32: Float; f64: Double; UaString: String; String: String; DateTime: DateTime; Guid: Guid;
    ByteString: ByteString; XmlElement: XmlElement; NodeId: NodeId; ExpandedNodeId: ExpandedNodeId;
    StatusCode: StatusCode; QualifiedName: QualifiedName; LocalizedText: LocalizedText;
    ExtensionObject: ExtensionObject; DataValue: DataValue; Variant: Variant; DiagnosticInfo: DiagnosticInfo;
}

impl<T: Structure> Described for T {
    const DATA_TYPE: TypeKey = <T as Structure>::DATA_TYPE;
    const FIELD_TYPE: FieldType = FieldType::Structure(descriptor::<T>);
}

fn descriptor<T: Structure>() -> &'static crate::StructureDescriptor {
    T::DESCRIPTOR
}
