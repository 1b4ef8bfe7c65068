//! Conversions between Rust values and [`Variant`].

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{
    Array, BuiltinType, ByteString, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject,
    Guid, LocalizedText, Matrix, NodeId, QualifiedName, StatusCode, UaString, Variant, VariantArray,
    VariantMatrix, XmlElement,
};

/// A Rust value that a Variant can hold (OPC 10000-6 §5.1.9).
pub trait IntoVariant: Sized {
    /// The Variant that holds it.
    fn into_variant(self) -> Variant;

    /// The array of such values.
    fn array_into_variant(items: Array<Self>) -> Variant;
}

/// A Rust value that can be taken out of a Variant. No conversion between number
/// types (OPC 10000-6 §5.1.9).
pub trait FromVariant: Sized {
    /// The value.
    ///
    /// # Errors
    /// The Variant holds a value of another type or rank.
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError>;

    /// The elements of a one-dimensional array.
    ///
    /// # Errors
    /// The Variant holds a value of another type or rank.
    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError>;

    /// What a Variant without a value stands for, if the type has a null value.
    #[must_use]
    fn from_null() -> Option<Self> {
        None
    }
}

/// The Variant holds a value of another type than was asked for (OPC 10000-6 §5.1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {}", found.map_or("no value", type_name))]
pub struct VariantTypeError {
    /// What was asked for.
    pub expected: &'static str,
    /// The builtin type of what is there; `None` for no value.
    pub found: Option<BuiltinType>,
}

fn type_name(builtin: BuiltinType) -> &'static str {
    const NAMES: [&str; 26] = [
        "",
        "Boolean",
        "SByte",
        "Byte",
        "Int16",
        "UInt16",
        "Int32",
        "UInt32",
        "Int64",
        "UInt64",
        "Float",
        "Double",
        "String",
        "DateTime",
        "Guid",
        "ByteString",
        "XmlElement",
        "NodeId",
        "ExpandedNodeId",
        "StatusCode",
        "QualifiedName",
        "LocalizedText",
        "ExtensionObject",
        "DataValue",
        "Variant",
        "DiagnosticInfo",
    ];
    NAMES.get(builtin as usize).copied().unwrap_or_default()
}

impl VariantTypeError {
    /// `expected` was asked of `found`.
    #[must_use]
    pub fn new(expected: &'static str, found: &Variant) -> Self {
        Self { expected, found: found.builtin_type() }
    }
}

macro_rules! array_conversions {
    ($ty:ty, $arm:ident) => {
        fn array_into_variant(items: Array<Self>) -> Variant {
            VariantArray::$arm(items).into()
        }
    };
}

macro_rules! array_from {
    ($arm:ident) => {
        fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
            match value {
                Variant::Array(array) => match &**array {
                    VariantArray::$arm(items) => Ok(items.clone()),
                    _ => Err(VariantTypeError::new(concat!("array of ", stringify!($arm)), value)),
                },
                _ => Err(VariantTypeError::new(concat!("array of ", stringify!($arm)), value)),
            }
        }
    };
}

macro_rules! inline {
    ($null:expr; $($ty:ty: $arm:ident),*) => {$(
        impl From<$ty> for Variant {
            fn from(value: $ty) -> Self {
                Self::$arm(value)
            }
        }

        impl IntoVariant for $ty {
            fn into_variant(self) -> Variant {
                Variant::$arm(self)
            }

            array_conversions!($ty, $arm);
        }

        impl FromVariant for $ty {
            fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
                match value {
                    Variant::$arm(value) => Ok(value.clone()),
                    _ => Err(VariantTypeError::new(stringify!($arm), value)),
                }
            }

            array_from!($arm);

            fn from_null() -> Option<Self> {
                $null
            }
        }
    )*};
}

inline! {
    None;
    bool: Boolean, i8: SByte, u8: Byte, i16: Int16, u16: UInt16, i32: Int32, u32: UInt32, i64: Int64,
    u64: UInt64, f32: Float, f64: Double, StatusCode: StatusCode
}

inline! {
    Some(Self::default());
    UaString: String, DateTime: DateTime, Guid: Guid, ByteString: ByteString, XmlElement: XmlElement,
    NodeId: NodeId
}

macro_rules! shared {
    ($($ty:ty: $arm:ident),*) => {$(
        impl From<$ty> for Variant {
            fn from(value: $ty) -> Self {
                Self::$arm(Arc::new(value))
            }
        }

        impl IntoVariant for $ty {
            fn into_variant(self) -> Variant {
                self.into()
            }

            array_conversions!($ty, $arm);
        }

        impl FromVariant for $ty {
            fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
                match value {
                    Variant::$arm(value) => Ok((**value).clone()),
                    _ => Err(VariantTypeError::new(stringify!($arm), value)),
                }
            }

            array_from!($arm);

            fn from_null() -> Option<Self> {
                Some(Self::default())
            }
        }
    )*};
}

shared! {
    ExpandedNodeId: ExpandedNodeId, QualifiedName: QualifiedName, LocalizedText: LocalizedText,
    ExtensionObject: ExtensionObject, DataValue: DataValue, DiagnosticInfo: DiagnosticInfo
}

/// A Variant in a Variant is the value itself; an array of Variants stays one.
impl IntoVariant for Variant {
    fn into_variant(self) -> Self {
        self
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::Variant(items).into()
    }
}

impl FromVariant for Variant {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        Ok(value.clone())
    }

    array_from!(Variant);

    fn from_null() -> Option<Self> {
        Some(Self::Null)
    }
}

impl From<&str> for Variant {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Variant {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl IntoVariant for String {
    fn into_variant(self) -> Variant {
        self.into()
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::String(items.into_iter().map(UaString::from).collect()).into()
    }
}

/// The null string is an empty one.
impl FromVariant for String {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        UaString::from_variant(value).map(|text| text.text().into())
    }

    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
        UaString::array_from_variant(value).map(|items| items.iter().map(|text| text.text().into()).collect())
    }

    fn from_null() -> Option<Self> {
        Some(Self::new())
    }
}

/// An array of arrays is an array of Variants that hold arrays.
impl<T: IntoVariant> IntoVariant for Array<T> {
    fn into_variant(self) -> Variant {
        T::array_into_variant(self)
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::Variant(items.into_iter().map(IntoVariant::into_variant).collect()).into()
    }
}

impl<T: FromVariant> FromVariant for Array<T> {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        T::array_from_variant(value)
    }

    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
        let rows = Variant::array_from_variant(value)?;
        rows.iter().map(T::array_from_variant).collect::<Result<_, _>>()
    }

    fn from_null() -> Option<Self> {
        Some(Self::NULL)
    }
}

impl<T: IntoVariant> IntoVariant for Vec<T> {
    fn into_variant(self) -> Variant {
        T::array_into_variant(self.into())
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::Variant(items.into_iter().map(IntoVariant::into_variant).collect()).into()
    }
}

impl<T: FromVariant> FromVariant for Vec<T> {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        T::array_from_variant(value).map(Array::into_vec)
    }

    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
        let rows = Variant::array_from_variant(value)?;
        rows.iter().map(|row| T::array_from_variant(row).map(Array::into_vec)).collect::<Result<_, _>>()
    }

    fn from_null() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: IntoVariant> IntoVariant for Matrix<T> {
    fn into_variant(self) -> Variant {
        let (dimensions, elements) = self.into_parts();
        let elements = T::array_into_variant(elements.into());
        match &elements {
            Variant::Array(array) => {
                VariantMatrix::new(dimensions, (**array).clone()).map_or(Variant::Null, Variant::from)
            }
            _ => Variant::Null,
        }
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::Variant(items.into_iter().map(IntoVariant::into_variant).collect()).into()
    }
}

impl<T: FromVariant> FromVariant for Matrix<T> {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        let error = || VariantTypeError::new("matrix", value);
        let Variant::Matrix(matrix) = value else {
            return Err(error());
        };
        let elements = T::array_from_variant(&matrix.elements().clone().into())?;
        Self::new(matrix.dimensions().to_vec(), elements.into_vec()).ok_or_else(error)
    }

    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
        let rows = Variant::array_from_variant(value)?;
        rows.iter().map(Self::from_variant).collect::<Result<_, _>>()
    }
}

impl<T: crate::Structure> IntoVariant for T {
    fn into_variant(self) -> Variant {
        ExtensionObject::new(self).into()
    }

    fn array_into_variant(items: Array<Self>) -> Variant {
        VariantArray::ExtensionObject(items.into_iter().map(ExtensionObject::new).collect()).into()
    }
}

impl<T: crate::Structure> FromVariant for T {
    fn from_variant(value: &Variant) -> Result<Self, VariantTypeError> {
        let error = || VariantTypeError::new(T::DESCRIPTOR.name, value);
        match value {
            Variant::ExtensionObject(object) => structure(object).ok_or_else(error),
            _ => Err(error()),
        }
    }

    fn array_from_variant(value: &Variant) -> Result<Array<Self>, VariantTypeError> {
        let error = || VariantTypeError::new(T::DESCRIPTOR.name, value);
        let objects = ExtensionObject::array_from_variant(value)?;
        objects.iter().map(|object| structure(object).ok_or_else(error)).collect()
    }
}

/// A body that was not known when it was decoded holds no ids that depend on its connection's table
/// other than those that it was sent with, so that it can be read as it stands.
fn structure<T: crate::Structure>(object: &ExtensionObject) -> Option<T> {
    match object.downcast_ref::<T>() {
        Some(value) => Some(value.clone()),
        None => object.decode_as(crate::DecodeContext::default()).ok(),
    }
}
