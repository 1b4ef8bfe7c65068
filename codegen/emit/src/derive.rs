//! Lowers a user's Rust item with `#[ua(…)]` attributes to the IR of the emitters.

mod attributes;
mod enumeration;
mod union;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Fields, GenericArgument, PathArguments, PathSegment, Type as RustType};

use crate::ir::{ConstIdentifier, Field, Key, Kind, Roots, Service, Shape, Structure, Type};
use crate::size;
use attributes::{Extra, FieldAttributes, ItemAttributes, namespace};

pub use enumeration::{ua_enumeration, ua_option_set};
pub use union::ua_union;

/// `derive(UaStructure)`: what is added to the item.
///
/// # Errors
/// The item is not a struct with named fields, or an attribute is missing, unknown or malformed.
pub fn ua_structure(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = ItemAttributes::read(&input.attrs, input.ident.span(), Extra::Encodings)?;
    let ir = lower(input, &attributes)?;
    Ok(crate::structure::impls(&ir, &roots(attributes.root.as_ref())))
}

/// The paths of a user's crate, or those below a path that the user gave.
fn roots(root: Option<&syn::Path>) -> Roots {
    let root = root.map_or_else(|| quote!(::uaforge::__private), |path| quote!(#path::__private));
    Roots { codec: quote!(#root::codec), types: quote!(#root::types), nodes: quote!(#root::nodes) }
}

fn lower(input: &DeriveInput, attributes: &ItemAttributes) -> syn::Result<Structure> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "UaStructure is derived for structs"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(syn::Error::new(
            input.span(),
            "UaStructure needs named fields: they are names of the model",
        ));
    };
    no_parameters(input)?;
    let fields = named.named.iter().map(named_field).collect::<syn::Result<Vec<_>>>()?;
    let optional = fields.iter().filter(|field| field.optional).count();
    if optional > 32 {
        return Err(syn::Error::new(input.span(), "a structure has at most 32 optional fields"));
    }
    let kind = match (optional, fields.iter().any(|field| field.allow_sub_types)) {
        (0, false) => Kind::Plain,
        (0, true) => Kind::SubtypedValues,
        (_, false) => Kind::OptionalFields,
        (_, true) => {
            let message = "a structure has optional fields or fields that allow subtypes, not both";
            return Err(syn::Error::new(input.span(), message));
        }
    };
    Ok(structure(input, attributes, kind, fields))
}

fn no_parameters(input: &DeriveInput) -> syn::Result<()> {
    match input.generics.params.first() {
        Some(parameter) => Err(syn::Error::new(parameter.span(), "a DataType has no parameters")),
        None => Ok(()),
    }
}

fn key(attributes: &ItemAttributes, id: &ConstIdentifier) -> Key {
    Key { namespace: namespace(&attributes.namespace), id: id.clone() }
}

fn structure(input: &DeriveInput, attributes: &ItemAttributes, kind: Kind, fields: Vec<Field>) -> Structure {
    let key = |id: &ConstIdentifier| key(attributes, id);
    Structure {
        ident: input.ident.clone(),
        name: attributes.name.clone().unwrap_or_else(|| input.ident.to_string()),
        data_type: key(&attributes.id),
        binary_encoding: attributes.binary_id.as_ref().map(key),
        xml_encoding: attributes.xml_id.as_ref().map(key),
        json_encoding: attributes.json_id.as_ref().map(key),
        kind,
        recursive: fields.iter().any(might_recurse),
        fields,
        inherited: 0,
        supertypes: Vec::new(),
        service: Service::No,
        bits: Vec::new(),
        docs: Vec::new(),
    }
}

fn named_field(field: &syn::Field) -> syn::Result<Field> {
    let attributes = FieldAttributes::read(&field.attrs)?;
    let ident = field.ident.clone().ok_or_else(|| syn::Error::new(field.span(), "the field has no name"))?;
    let name = pascal(&ident);
    lower_field(field, ident, name, attributes)
}

/// The field under the names that it has in Rust and, unless its attributes say otherwise, in the model.
fn lower_field(
    field: &syn::Field,
    ident: Ident,
    name: String,
    attributes: FieldAttributes,
) -> syn::Result<Field> {
    let (optional, ty) = match argument(&field.ty, &["Option"]) {
        Some(inner) => (true, inner),
        None => (false, &field.ty),
    };
    if attributes.optional && !optional {
        return Err(syn::Error::new(field.ty.span(), "an optional field is an `Option`"));
    }
    let (shape, element) = if let Some(element) = argument(ty, &["Vec", "Array"]) {
        (Shape::Array, element)
    } else if let Some(element) = argument(ty, &["Matrix"]) {
        (Shape::Matrix, element)
    } else {
        (Shape::Scalar, argument(ty, &["Box"]).unwrap_or(ty))
    };
    if attributes.allow_subtypes && attributes.data_type.is_none() {
        let message = "a field that allows subtypes says of what, as in `data_type = \"i=22\"`";
        return Err(syn::Error::new(field.span(), message));
    }
    Ok(Field {
        name: attributes.name.unwrap_or(name),
        ident,
        ty: Type::Rust(Box::new(element.clone())),
        data_type: attributes.data_type,
        min_size: builtin_size(element).unwrap_or(0),
        shape,
        value_rank: match shape {
            Shape::Scalar => -1,
            Shape::Array => 1,
            Shape::Matrix => attributes.rank.unwrap_or(2),
        },
        optional,
        boxed: false,
        allow_sub_types: attributes.allow_subtypes,
        max_string_length: attributes.max_string_length,
        array_dimensions: Vec::new(),
    })
}

/// `note_text` and `NOTE_TEXT` → `NoteText`
fn pascal(ident: &Ident) -> String {
    let name = ident.to_string();
    let words = name.trim_start_matches("r#").split('_');
    let is_constant = !name.contains(|letter: char| letter.is_lowercase());
    words
        .map(|word| {
            let rest = |rest: &str| if is_constant { rest.to_lowercase() } else { rest.to_owned() };
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(rest(letters.as_str()).chars()).collect()
            })
        })
        .collect()
}

/// The argument of a type such as `Vec<T>`, by the last segment of its path.
fn argument<'a>(ty: &'a RustType, names: &[&str]) -> Option<&'a RustType> {
    let last = last_segment(ty)?;
    if !names.iter().any(|name| last.ident == name) {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether a structure might contain itself through the field. A macro sees one item, so that every
/// field that is not of a builtin type might; levels are counted there.
fn might_recurse(field: &Field) -> bool {
    match &field.ty {
        Type::Rust(ty) => builtin_size(ty).is_none(),
        _ => true,
    }
}

/// The fewest bytes of a builtin type; `None` if the type is no builtin one.
fn builtin_size(ty: &RustType) -> Option<u32> {
    size::of_builtin(&last_segment(ty)?.ident.to_string())
}

fn last_segment(ty: &RustType) -> Option<&PathSegment> {
    match ty {
        RustType::Path(path) => path.path.segments.last(),
        // A type that a macro passed on.
        RustType::Group(group) => last_segment(&group.elem),
        _ => None,
    }
}
