//! Whether a value fits a declaration: DataType, ValueRank and ArrayDimensions (OPC 10000-3 §5.6.2, §8.6).

use uaforge_codec::{
    Array, BuiltinType, ByteString, DateTime, ExtensionObject, ExtensionObjectBody, Guid, NodeId, NodeIdRef,
    StatusCode, UaString, Variant, VariantArray, XmlElement,
};
use uaforge_nodes::{Direction, Node, NodeClass, Snapshot};
use uaforge_types::{ids, status};

/// Longest chain of supertypes that is followed.
const MAX_CHAIN: usize = 256;
/// Deepest nesting of Variants that is looked into.
const MAX_DEPTH: usize = 100;

/// DataTypes of the base model that are more than a builtin type (OPC 10000-5 §12.2).
mod base {
    pub(super) const STRUCTURE: u32 = 22;
    pub(super) const BASE_DATA_TYPE: u32 = 24;
    pub(super) const NUMBER: u32 = 26;
    pub(super) const INTEGER: u32 = 27;
    pub(super) const UINTEGER: u32 = 28;
    pub(super) const ENUMERATION: u32 = 29;
    pub(super) const DECIMAL: u32 = 50;
}

const HAS_ENCODING: NodeIdRef<'static> = ids::reference_type::HAS_ENCODING.identifier().in_namespace(0);

/// Checks a value. `Some` is the value to take in its place: a null value becomes the null of the declared
/// type, and ByteString and array of Byte stand for each other (OPC 10000-4 §5.11.4.2).
///
/// # Errors
/// Bad_TypeMismatch for another type or rank; Bad_OutOfRange for more elements than ArrayDimensions
/// allows, and for a number that the enumeration does not declare (OPC 10000-4 §5.11.4.4).
pub(crate) fn value(
    snapshot: &Snapshot,
    value: &Variant,
    data_type: NodeIdRef<'_>,
    value_rank: i32,
    dimensions: &[u32],
) -> Result<Option<Variant>, StatusCode> {
    if is_declared_scalar(value, data_type, value_rank) {
        return Ok(None);
    }
    let declared = Declared::new(snapshot, data_type);
    if value.is_null() {
        return declared.null(value_rank).map(Some).ok_or(status::BAD_TYPE_MISMATCH);
    }
    if let Some(value) = declared.same_bytes(value, value_rank) {
        if let Variant::Array(bytes) = &value {
            check_lengths(dimensions, &[u32::try_from(bytes.len()).unwrap_or(u32::MAX)])?;
        }
        return Ok(Some(value));
    }
    let lengths: &[u32] = match value {
        Variant::Array(array) => &[u32::try_from(array.len()).unwrap_or(u32::MAX)],
        Variant::Matrix(matrix) => matrix.dimensions(),
        _ => &[],
    };
    // An array without elements has no shape that it could lack.
    let takes_rank = takes_rank(value_rank, lengths.len()) || (value_rank > 1 && lengths == [0]);
    if !takes_rank || !declared.takes(value, MAX_DEPTH) {
        return Err(status::BAD_TYPE_MISMATCH);
    }
    check_lengths(dimensions, lengths)?;
    if declared.basis == Basis::Enumeration && !declared.declares(value) {
        return Err(status::BAD_OUT_OF_RANGE);
    }
    Ok(None)
}

/// Whether a value is a scalar of the very builtin type that is declared, no structure: what is written most, and
/// what fits without a look at the address space.
#[inline]
pub(crate) fn is_declared_scalar(value: &Variant, data_type: NodeIdRef<'_>, value_rank: i32) -> bool {
    let NodeIdRef::Numeric(0, number @ 1..base::STRUCTURE) = data_type else { return false };
    let builtin = value.builtin_type().map_or(0, |builtin| builtin as u32);
    builtin == number && takes_rank(value_rank, 0) && !value.is_array()
}

/// Whether a ValueRank (OPC 10000-3 §5.6.2) allows this many dimensions; 0 is a scalar.
fn takes_rank(value_rank: i32, dimensions: usize) -> bool {
    match value_rank {
        -3 => dimensions <= 1,
        -2 => true,
        -1 => dimensions == 0,
        0 => dimensions >= 1,
        rank => usize::try_from(rank) == Ok(dimensions),
    }
}

/// ArrayDimensions says the longest length of each dimension; 0 is any.
fn check_lengths(dimensions: &[u32], lengths: &[u32]) -> Result<(), StatusCode> {
    let too_long = |(most, length): (&u32, &u32)| *most != 0 && length > most;
    match dimensions.iter().zip(lengths).any(too_long) {
        true => Err(status::BAD_OUT_OF_RANGE),
        false => Ok(()),
    }
}

/// What the DataType comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// BaseDataType, or a type that the address space does not know.
    Any,
    /// Number, Integer, UInteger or an abstract type of the application below them.
    Number(u32),
    /// An Int32 that the DataType declares.
    Enumeration,
    /// A builtin type; structures are ExtensionObject.
    Builtin(BuiltinType),
}

#[derive(Clone, Copy)]
struct Declared<'a> {
    snapshot: &'a Snapshot,
    data_type: NodeIdRef<'a>,
    basis: Basis,
}

impl<'a> Declared<'a> {
    fn new(snapshot: &'a Snapshot, data_type: NodeIdRef<'a>) -> Self {
        let found = basis(data_type).or_else(|| {
            let chain = core::iter::successors(snapshot.node(data_type), |node| node.supertype());
            chain.take(MAX_CHAIN).find_map(|node| basis(node.id()))
        });
        Self { snapshot, data_type, basis: found.unwrap_or(Basis::Any) }
    }

    /// An array of Byte in place of a ByteString, and the other way round.
    fn same_bytes(&self, value: &Variant, value_rank: i32) -> Option<Variant> {
        match (self.basis, value) {
            (Basis::Builtin(BuiltinType::Byte), Variant::ByteString(bytes)) if takes_rank(value_rank, 1) => {
                let array = bytes.as_bytes().map_or(Array::NULL, |bytes| bytes.to_vec().into());
                Some(VariantArray::Byte(array).into())
            }
            (Basis::Builtin(BuiltinType::ByteString), Variant::Array(array)) if takes_rank(value_rank, 0) => {
                match &**array {
                    VariantArray::Byte(bytes) if bytes.is_null() => Some(ByteString::NULL.into()),
                    VariantArray::Byte(bytes) => Some(ByteString::from(bytes.as_slice()).into()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether the enumeration declares every number of a value; one without a definition takes all.
    fn declares(&self, value: &Variant) -> bool {
        let Some(mut declared) =
            self.snapshot.node(self.data_type).and_then(|node| node.enumeration_values())
        else {
            return true;
        };
        let elements = match value {
            Variant::Int32(number) => return declared.any(|own| own == i64::from(*number)),
            Variant::Array(array) => &**array,
            Variant::Matrix(matrix) => matrix.elements(),
            _ => return false,
        };
        let VariantArray::Int32(numbers) = elements else { return false };
        let mut declared: Vec<i64> = declared.collect();
        declared.sort_unstable();
        numbers.iter().all(|number| declared.binary_search(&i64::from(*number)).is_ok())
    }

    /// The null value of the type, if it has one.
    fn null(&self, value_rank: i32) -> Option<Variant> {
        let builtin = match self.basis {
            Basis::Any => return Some(Variant::Null),
            Basis::Number(_) => return None,
            Basis::Enumeration => BuiltinType::Int32,
            Basis::Builtin(builtin) => builtin,
        };
        if value_rank == 1 {
            return Some(VariantArray::null(builtin).into());
        }
        if value_rank != -1 {
            return Some(Variant::Null);
        }
        Some(match builtin {
            BuiltinType::String => Variant::String(UaString::NULL),
            BuiltinType::ByteString => Variant::ByteString(ByteString::NULL),
            BuiltinType::XmlElement => Variant::XmlElement(XmlElement::default()),
            BuiltinType::DateTime => Variant::DateTime(DateTime::NULL),
            BuiltinType::Guid => Variant::Guid(Guid::NULL),
            BuiltinType::NodeId => Variant::NodeId(NodeId::NULL),
            BuiltinType::ExpandedNodeId => uaforge_codec::ExpandedNodeId::default().into(),
            BuiltinType::QualifiedName => uaforge_codec::QualifiedName::NULL.into(),
            BuiltinType::LocalizedText => uaforge_codec::LocalizedText::default().into(),
            BuiltinType::ExtensionObject => ExtensionObject::NULL.into(),
            BuiltinType::DataValue => uaforge_codec::DataValue::default().into(),
            _ => return None,
        })
    }

    fn takes(&self, value: &Variant, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match value {
            Variant::Null => self.basis == Basis::Any,
            Variant::ExtensionObject(object) => self.takes_object(object),
            Variant::Array(array) => self.takes_elements(array, depth),
            Variant::Matrix(matrix) => self.takes_elements(matrix.elements(), depth),
            _ => value.builtin_type().is_some_and(|builtin| self.takes_builtin(builtin)),
        }
    }

    fn takes_elements(&self, array: &VariantArray, depth: usize) -> bool {
        match array {
            VariantArray::ExtensionObject(objects) => objects.iter().all(|object| self.takes_object(object)),
            // Elements of an abstract type may have types of their own; they have no ranks of their own
            // then, unless anything is taken.
            VariantArray::Variant(values) => match self.basis {
                Basis::Any => true,
                Basis::Number(_) => values.iter().all(|value| !value.is_array() && self.takes(value, depth)),
                Basis::Enumeration | Basis::Builtin(_) => false,
            },
            _ => self.takes_builtin(array.builtin_type()),
        }
    }

    fn takes_builtin(&self, builtin: BuiltinType) -> bool {
        match self.basis {
            Basis::Any => true,
            Basis::Enumeration => builtin == BuiltinType::Int32,
            Basis::Builtin(wanted) => wanted == builtin,
            Basis::Number(number) => is_number(number, builtin),
        }
    }

    /// A structure fits if its DataType is the declared one or below it. A body whose type nobody knows
    /// fits where any structure does.
    fn takes_object(&self, object: &ExtensionObject) -> bool {
        match self.basis {
            Basis::Any => true,
            // A Decimal is written as a structure (OPC 10000-6 §5.1.10).
            Basis::Number(number) => {
                number == base::NUMBER && *object.type_id() == NodeId::numeric(0, base::DECIMAL)
            }
            Basis::Builtin(BuiltinType::ExtensionObject) => {
                object.is_null()
                    || self.data_type == NodeIdRef::Numeric(0, base::STRUCTURE)
                    || self.is_below(object)
            }
            Basis::Enumeration | Basis::Builtin(_) => false,
        }
    }

    fn is_below(&self, object: &ExtensionObject) -> bool {
        if let ExtensionObjectBody::Value(value) = object.body() {
            let descriptor = value.descriptor();
            let same = |key: &uaforge_codec::TypeKey| {
                let namespace = self.snapshot.namespaces().index_of(key.namespace);
                namespace.is_some_and(|namespace| key.id.in_namespace(namespace) == self.data_type)
            };
            return same(&descriptor.data_type) || descriptor.supertypes.iter().any(same);
        }
        if object.type_id().as_ref() == self.data_type {
            return true;
        }
        let filter = self.snapshot.reference_filter(HAS_ENCODING, true);
        let encoding = self.snapshot.node(object.type_id().as_ref());
        let (Some(encoding), Some(filter)) = (encoding, filter) else { return false };
        let mut data_types = encoding.references(Direction::Inverse, filter).filter_map(|r| r.target());
        let is_data_type = |node: &Node<'_>| node.class() == NodeClass::DataType;
        data_types.find(is_data_type).is_some_and(|node| self.snapshot.is_subtype(node.id(), self.data_type))
    }
}

/// What a DataType of the base model comes down to; `None` for those below the ones listed.
fn basis(data_type: NodeIdRef<'_>) -> Option<Basis> {
    let NodeIdRef::Numeric(0, number) = data_type else { return None };
    Some(match number {
        base::BASE_DATA_TYPE => Basis::Any,
        base::NUMBER | base::INTEGER | base::UINTEGER => Basis::Number(number),
        base::ENUMERATION => Basis::Enumeration,
        base::DECIMAL => Basis::Builtin(BuiltinType::ExtensionObject),
        number => Basis::Builtin(BuiltinType::from_number(u8::try_from(number).ok()?)?),
    })
}

fn is_number(number: u32, builtin: BuiltinType) -> bool {
    use BuiltinType as B;
    let signed = matches!(builtin, B::SByte | B::Int16 | B::Int32 | B::Int64);
    let unsigned = matches!(builtin, B::Byte | B::UInt16 | B::UInt32 | B::UInt64);
    match number {
        base::UINTEGER => unsigned,
        base::INTEGER => signed,
        _ => signed || unsigned || matches!(builtin, B::Float | B::Double),
    }
}
