//! Lowers structures, unions, enumerations and option sets.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use quote::format_ident;
use uaforge_emit::ir::{
    ConstIdentifier, Enumeration, Form, Key, Kind, Member, Namespace, Service, Shape, Structure, Type,
};
use uaforge_model::resolved::{self, Id, ModelSet, Ns};
use uaforge_model::{DataTypeKind, StructureType};

use super::graph::Graph;
use super::sizes::Sizes;
use super::{Cx, DataTypes, Known, fields};

/// Requests on the hot path, which get a borrowed view with everything inside them (D7).
const VIEWED: [&str; 7] = [
    "ReadRequest",
    "WriteRequest",
    "BrowseRequest",
    "BrowseNextRequest",
    "TranslateBrowsePathsToNodeIdsRequest",
    "RegisterNodesRequest",
    "UnregisterNodesRequest",
];

/// The root of all structures.
const STRUCTURE: Id = Id::ns0(22);

/// All data types of the model that are emitted as items.
pub(crate) fn data_types(cx: &Cx<'_>) -> DataTypes {
    let graph = Graph::new(cx.set);
    let recursion = graph.recursion();
    let known = Known { sizes: Sizes::new(cx.set, &recursion), recursion };
    let mut out = DataTypes::default();
    for (id, ident) in cx.names.of_model(cx.ns) {
        match cx.set.kind_of_data_type(id) {
            Some(DataTypeKind::Structure | DataTypeKind::Union) => {
                out.structures.push(structure(cx, &known, id, ident.clone()));
            }
            _ => out.enumerations.push(enumeration(cx, id, ident.clone())),
        }
    }
    out.structures.sort_by_cached_key(|structure| structure.ident.to_string());
    out.enumerations.sort_by_cached_key(|enumeration| enumeration.ident.to_string());
    if cx.ns == Ns(0) {
        pair_services(&mut out.structures);
        out.views = viewed(&out.structures);
    }
    out
}

/// The id of a node in generated code.
pub(crate) fn key(set: &ModelSet, id: &Id) -> Key {
    let namespace = match id.ns {
        Ns(0) => Namespace::Ua,
        ns => Namespace::Uri(set.uri(ns).to_string()),
    };
    Key { namespace, id: identifier(&id.ident) }
}

/// An identifier in generated code.
pub(crate) fn identifier(ident: &resolved::Ident) -> ConstIdentifier {
    match ident {
        resolved::Ident::Numeric(id) => ConstIdentifier::Numeric(*id),
        resolved::Ident::String(id) => ConstIdentifier::String(id.to_string()),
        resolved::Ident::Guid(id) => ConstIdentifier::Guid(*id),
        resolved::Ident::Opaque(id) => ConstIdentifier::Opaque(id.to_vec()),
    }
}

/// The layout of a structure over all its fields.
pub(super) fn kind(set: &ModelSet, id: &Id) -> Kind {
    match set.structure_type(id) {
        Some(StructureType::StructureWithOptionalFields) => Kind::OptionalFields,
        Some(StructureType::StructureWithSubtypedValues) => Kind::SubtypedValues,
        Some(StructureType::Union) => Kind::Union,
        Some(StructureType::UnionWithSubtypedValues) => Kind::UnionSubtypedValues,
        _ => Kind::Plain,
    }
}

fn structure(cx: &Cx<'_>, known: &Known<'_>, id: &Id, ident: Ident) -> Structure {
    let set = cx.set;
    let kind = kind(set, id);
    let union = matches!(kind, Kind::Union | Kind::UnionSubtypedValues);
    let reserved: &[&str] = if union { &["Null"] } else { &[] };
    let mut scope = cx.ledgers.scope(id.ns, format!("field {}", id.ident), reserved);
    let declared = set.all_fields(id);
    let inherited = declared.iter().filter(|(declaring, _)| *declaring != id).count();
    let lowered = declared.iter().enumerate().map(|(index, (_, field))| {
        let name = field.symbolic_name.as_deref().unwrap_or(&field.name);
        let suffix = (index + 1).to_string();
        let key = &field.name;
        let ident = if union { scope.pascal(key, name, &suffix) } else { scope.snake(key, name, &suffix) };
        fields::field(cx, id, known, ident, field)
    });
    let fields = lowered.collect();
    let encodings = set.encodings(id);
    Structure {
        ident,
        name: browse_name(set, id),
        data_type: key(set, id),
        binary_encoding: encodings.binary.map(|encoding| key(set, encoding)),
        xml_encoding: encodings.xml.map(|encoding| key(set, encoding)),
        json_encoding: encodings.json.map(|encoding| key(set, encoding)),
        kind,
        fields,
        inherited,
        supertypes: supertypes(set, id),
        recursive: known.recursion.is_recursive(id),
        service: Service::No,
        bits: if set.is_option_set_structure(id) { members(cx, id, u32::MAX.into()) } else { Vec::new() },
        docs: docs(set, id),
    }
}

/// The chain of a structure up to Structure itself, nearest first.
fn supertypes(set: &ModelSet, id: &Id) -> Vec<Key> {
    let chain = set.supertypes(id);
    chain.into_iter().take_while(|id| **id != STRUCTURE).map(|id| key(set, id)).collect()
}

fn enumeration(cx: &Cx<'_>, id: &Id, ident: Ident) -> Enumeration {
    let set = cx.set;
    let option_set = matches!(set.kind_of_data_type(id), Some(DataTypeKind::OptionSet));
    let (width, last) = match (option_set, set.builtin_type(id)) {
        (false, _) => (None, i64::MAX),
        (true, 3) => (Some(format_ident!("u8")), 7),
        (true, 5) => (Some(format_ident!("u16")), 15),
        (true, 7) => (Some(format_ident!("u32")), 31),
        (true, _) => (Some(format_ident!("u64")), 63),
    };
    Enumeration {
        ident,
        name: browse_name(set, id),
        data_type: key(set, id),
        option_set: width,
        members: members(cx, id, last),
        form: Form::Number,
        docs: docs(set, id),
    }
}

/// Members of an enumeration, or bits up to `last`.
fn members(cx: &Cx<'_>, id: &Id, last: i64) -> Vec<Member> {
    let mut scope = cx.ledgers.scope(id.ns, format!("value {}", id.ident), &["DESCRIPTOR"]);
    let fields = cx.set.definition(id).map_or(&[][..], |definition| &definition.fields);
    let valued = fields.iter().filter_map(|field| Some((field, field.value?)));
    valued
        .filter(|(_, value)| *value <= last)
        .map(|(field, value)| Member {
            ident: scope.screaming(
                &field.name,
                field.symbolic_name.as_deref().unwrap_or(&field.name),
                &value.to_string().replace('-', "minus"),
            ),
            name: field.name.clone(),
            value,
        })
        .collect()
}

fn browse_name(set: &ModelSet, id: &Id) -> String {
    set.node(id).map(|node| node.browse_name.name.to_string()).unwrap_or_default()
}

pub(crate) fn docs(set: &ModelSet, id: &Id) -> Vec<String> {
    let name = browse_name(set, id);
    let reference = set.node(id).and_then(|node| node.documentation.as_ref());
    let mut docs = vec![format!(" `{name}` ({})", id.ident)];
    if let Some(url) = reference {
        docs.push(String::new());
        docs.push(format!(" <{url}>"));
    }
    docs
}

/// `XRequest` and `XResponse` make a service (OPC 10000-4).
fn pair_services(structures: &mut [Structure]) {
    let names: BTreeSet<String> = structures.iter().map(|structure| structure.ident.to_string()).collect();
    for structure in structures {
        let name = structure.ident.to_string();
        let first = structure.fields.first().map(|field| field.name.as_str());
        if let (Some(stem), Some("RequestHeader")) = (name.strip_suffix("Request"), first) {
            let response = format!("{stem}Response");
            if names.contains(&response) {
                let path = format_ident!("{response}");
                structure.service = Service::Request(quote::quote!(#path));
            }
        } else if first == Some("ResponseHeader") {
            structure.service = Service::Response;
        }
    }
}

fn viewed(structures: &[Structure]) -> BTreeSet<String> {
    let by_name: BTreeMap<String, &Structure> =
        structures.iter().map(|structure| (structure.ident.to_string(), structure)).collect();
    let mut views = BTreeSet::new();
    let mut open: Vec<String> = VIEWED.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = open.pop() {
        let Some(structure) = by_name.get(&name) else {
            continue;
        };
        let plain = structure.kind == Kind::Plain
            && structure.fields.iter().all(|field| field.shape != Shape::Matrix);
        if plain && views.insert(name) {
            let items = structure.fields.iter().filter_map(|field| match &field.ty {
                Type::Item(path) => Some(path.to_string()),
                _ => None,
            });
            open.extend(items);
        }
    }
    views
}
