//! What the emitters are told: names, shapes and keys, nothing of where they came from.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};

/// Paths under which generated code finds the runtime; they differ between the runtime's own types,
/// model crates and users.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The codec crate, such as `::uaforge_codec`.
    pub codec: TokenStream,
    /// The base types crate, such as `::uaforge_types`.
    pub types: TokenStream,
    /// The address space crate, such as `::uaforge_nodes`.
    pub nodes: TokenStream,
}

/// An identifier that can stand in a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstIdentifier {
    /// `i=`
    Numeric(u32),
    /// `s=`
    String(String),
    /// `g=`
    Guid([u8; 16]),
    /// `b=`
    Opaque(Vec<u8>),
}

impl ConstIdentifier {
    /// The constant as an expression.
    #[must_use]
    pub fn expression(&self, roots: &Roots) -> TokenStream {
        let codec = &roots.codec;
        match self {
            Self::Numeric(id) => {
                let id = Literal::u32_unsuffixed(*id);
                quote!(#codec::ConstIdentifier::Numeric(#id))
            }
            Self::String(id) => quote!(#codec::ConstIdentifier::String(#id)),
            Self::Guid(id) => {
                let bytes = bytes(id);
                quote!(#codec::ConstIdentifier::Guid(#codec::Guid([#(#bytes),*])))
            }
            Self::Opaque(id) => {
                let bytes = bytes(id);
                quote!(#codec::ConstIdentifier::Opaque(&[#(#bytes),*]))
            }
        }
    }
}

fn bytes(bytes: &[u8]) -> Vec<Literal> {
    bytes.iter().map(|byte| Literal::u8_unsuffixed(*byte)).collect()
}

/// An id by namespace URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The URI, or a path to a constant that holds it.
    pub namespace: Namespace,
    /// The identifier.
    pub id: ConstIdentifier,
}

/// A namespace URI in generated code.
#[derive(Clone, Debug)]
pub enum Namespace {
    /// `http://opcfoundation.org/UA/`, by the codec's constant.
    Ua,
    /// Text.
    Uri(String),
}

impl PartialEq for Namespace {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ua, Self::Ua) => true,
            (Self::Uri(a), Self::Uri(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Namespace {}

impl Key {
    /// The key as an expression.
    #[must_use]
    pub fn expression(&self, roots: &Roots) -> TokenStream {
        let codec = &roots.codec;
        let id = self.id.expression(roots);
        let namespace = match &self.namespace {
            Namespace::Ua => quote!(#codec::NS0_URI),
            Namespace::Uri(uri) => uri.to_token_stream(),
        };
        quote!(#codec::TypeKey { namespace: #namespace, id: #id })
    }
}

pub(crate) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The Rust type of one element.
#[derive(Clone, Debug)]
pub enum Type {
    /// A primitive, such as `f64`.
    Primitive(Ident),
    /// A type of the codec crate, such as `UaString`.
    Codec(Ident),
    /// A generated type by its path.
    Item(TokenStream),
    /// A type as a user wrote it.
    Rust(Box<syn::Type>),
}

impl Type {
    /// The type as tokens.
    #[must_use]
    pub fn tokens(&self, roots: &Roots) -> TokenStream {
        match self {
            Self::Primitive(name) => name.to_token_stream(),
            Self::Codec(name) => {
                let codec = &roots.codec;
                quote!(#codec::#name)
            }
            Self::Item(path) => path.clone(),
            Self::Rust(ty) => ty.to_token_stream(),
        }
    }
}

/// How many elements a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    Scalar,
    /// A one-dimensional array.
    Array,
    /// Two or more dimensions.
    Matrix,
}

/// A field of a structure or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Rust name: snake_case, or PascalCase for a union.
    pub ident: Ident,
    /// Exact name in the model.
    pub name: String,
    /// Type of one element.
    pub ty: Type,
    /// Id of the DataType, where it is not that of the Rust type.
    pub data_type: Option<Key>,
    /// Fewest bytes of one encoded element; 0 where unknown.
    pub min_size: u32,
    /// Number of elements.
    pub shape: Shape,
    /// ValueRank of the model.
    pub value_rank: i32,
    /// May be absent.
    pub optional: bool,
    /// Needs a box, as the structure would contain itself.
    pub boxed: bool,
    /// AllowSubTypes.
    pub allow_sub_types: bool,
    /// MaxStringLength.
    pub max_string_length: u32,
    /// ArrayDimensions.
    pub array_dimensions: Vec<u32>,
}

/// Structure, the root of all structures (OPC 10000-5 §12.2.12).
const STRUCTURE: Key = Key { namespace: Namespace::Ua, id: ConstIdentifier::Numeric(22) };

impl Field {
    /// The structure that the field's ExtensionObjects have to derive from, unless any will do.
    pub(crate) fn allowed_subtypes(&self) -> Option<&Key> {
        let object = match &self.ty {
            Type::Codec(name) => name == "ExtensionObject",
            Type::Rust(ty) => matches!(&**ty, syn::Type::Path(path)
                if path.path.segments.last().is_some_and(|last| last.ident == "ExtensionObject")),
            Type::Primitive(_) | Type::Item(_) => false,
        };
        self.data_type.as_ref().filter(|key| object && self.allow_sub_types && **key != STRUCTURE)
    }
}

/// Layout of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All fields.
    Plain,
    /// A mask and the fields that are present.
    OptionalFields,
    /// All fields, some of them with subtypes.
    SubtypedValues,
    /// A switch and one field.
    Union,
    /// A switch and one field that may hold a subtype.
    UnionSubtypedValues,
}

/// Whether a structure is a request or response.
#[derive(Clone, Debug, Default)]
pub enum Service {
    /// An ordinary structure.
    #[default]
    No,
    /// A request; the path of its response.
    Request(TokenStream),
    /// A response.
    Response,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Rust name.
    pub ident: Ident,
    /// Exact name of the DataType.
    pub name: String,
    /// Id of the DataType.
    pub data_type: Key,
    /// Default Binary encoding.
    pub binary_encoding: Option<Key>,
    /// Default XML encoding.
    pub xml_encoding: Option<Key>,
    /// Default JSON encoding.
    pub json_encoding: Option<Key>,
    /// Layout.
    pub kind: Kind,
    /// All fields, inherited ones first.
    pub fields: Vec<Field>,
    /// How many are inherited.
    pub inherited: usize,
    /// Structures that it derives from, nearest first, without Structure itself.
    pub supertypes: Vec<Key>,
    /// Contains itself over some path, so that decoding counts levels.
    pub recursive: bool,
    /// Request or response.
    pub service: Service,
    /// Bits of an option set in the shape of a structure.
    pub bits: Vec<Member>,
    /// Lines of documentation of the item.
    pub docs: Vec<String>,
}

/// An enumeration or an option set over an integer.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Rust name.
    pub ident: Ident,
    /// Exact name of the DataType.
    pub name: String,
    /// Id of the DataType.
    pub data_type: Key,
    /// `u8`, `u16`, `u32` or `u64` of an option set; `None` for an enumeration.
    pub option_set: Option<Ident>,
    /// Members, or bits.
    pub members: Vec<Member>,
    /// The Rust item.
    pub form: Form,
    /// Lines of documentation of the item.
    pub docs: Vec<String>,
}

/// The Rust item of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A struct around the number, with a constant for each member.
    Number,
    /// An enum with a variant for each member, and this one around every other number.
    Variants {
        /// The variant around other numbers.
        unknown: Ident,
    },
}

/// A member of an enumeration or a bit of an option set.
#[derive(Clone, Debug)]
pub struct Member {
    /// Constant, in SCREAMING_SNAKE_CASE, or the variant of an enum.
    pub ident: Ident,
    /// Exact name.
    pub name: String,
    /// Value, or bit number.
    pub value: i64,
}
