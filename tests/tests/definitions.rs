//! DataTypeDefinition and encodings of every structure that the server knows (OPC 10000-3 §5.8.3, §5.8.4).

use uaforge::{Array, ExtensionObject, LocalizedText, NodeId, UaStructure, Variant};
use uaforge_codec::{
    BuiltinType, ConstIdentifier, Decode, DecodeError, Decoder, Encode, Encoder, EnumValue,
    EnumerationDescriptor, FieldDescriptor, FieldType, FromVariant as _, NamespaceMap, SeededEntropy,
    StatusCode, Structure, StructureDescriptor, StructureKind, TypeKey, TypeRegistry,
};
use uaforge_nodes::typed::resolve_key;
use uaforge_nodes::{AttributeId, Direction, NodeClass, Snapshot};
use uaforge_server::{BuildError, Connection, Server, ServerBuilder};
use uaforge_tests::nodes::{VALUE, read, scalar, value, variable, write};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    ApplicationType, EnumDefinition, EnumValueType, Range, StructureDefinition, StructureType, status,
};

const DEFINITION: u32 = AttributeId::DataTypeDefinition as u32;
const HAS_ENCODING: NodeId = NodeId::numeric(0, 38);
const STRUCTURE: NodeId = NodeId::numeric(0, 22);
const ENUMERATION: NodeId = NodeId::numeric(0, 29);
const DATA_TYPE_ENCODING_TYPE: NodeId = NodeId::numeric(0, 76);

type Client = Peer<InProcess<Connection>>;

fn builder() -> ServerBuilder {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
}

fn client(server: &Server) -> Client {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now)
}

fn structure_definition(client: &mut Client, id: &NodeId) -> Result<StructureDefinition, String> {
    match value_of(client, id)?.downcast_ref::<StructureDefinition>() {
        Some(definition) => Ok(definition.clone()),
        None => Err(format!("{id} has no StructureDefinition")),
    }
}

fn value_of(client: &mut Client, id: &NodeId) -> Result<ExtensionObject, String> {
    let read = read(client, id, DEFINITION);
    match (read.status_or_good(), read.value()) {
        (StatusCode::GOOD, Some(Variant::ExtensionObject(object))) => Ok((**object).clone()),
        (status, value) => Err(format!("{id} has the DataTypeDefinition {value:?}, {status}")),
    }
}

fn resolve(key: TypeKey, namespaces: &NamespaceMap) -> NodeId {
    resolve_key(key, namespaces).expect("a known namespace")
}

/// The encodings of a DataType by their browse name; each has to be an object of DataTypeEncodingType.
fn encodings(snapshot: &Snapshot, id: &NodeId) -> Vec<(String, NodeId)> {
    let filter = snapshot.reference_filter(HAS_ENCODING.as_ref(), true).expect("HasEncoding");
    let node = snapshot.node(id.as_ref()).expect("a node");
    let found = node.references(Direction::Forward, filter).map(|reference| {
        let encoding = reference.target().expect("an encoding");
        assert_eq!(encoding.class(), NodeClass::Object);
        assert_eq!(encoding.type_definition(), Some(DATA_TYPE_ENCODING_TYPE.as_ref()));
        assert!(encoding.references(Direction::Inverse, filter).any(|back| back.target_id() == id.as_ref()));
        (encoding.browse_name().name.to_owned(), encoding.id().to_owned())
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    found
}

/// What is wrong with the node of a structure: `Ok` if nothing is.
fn check(client: &mut Client, snapshot: &Snapshot, descriptor: &StructureDescriptor) -> Result<(), String> {
    let namespaces = snapshot.namespaces();
    let id = resolve(descriptor.data_type, namespaces);
    let definition = structure_definition(client, &id)?;
    let key = |key: Option<TypeKey>| key.map(|key| resolve(key, namespaces)).unwrap_or_default();
    let is_abstract =
        snapshot.node(id.as_ref()).and_then(|node| node.attribute(AttributeId::IsAbstract).ok());
    let is_abstract = matches!(is_abstract, Some(uaforge_nodes::AttributeValue::Boolean(true)));
    let encoding = if is_abstract { NodeId::NULL } else { key(descriptor.binary_encoding) };
    let base = descriptor.supertypes.first().map_or(STRUCTURE, |base| resolve(*base, namespaces));
    let kind = match descriptor.kind {
        StructureKind::Plain => StructureType::STRUCTURE,
        StructureKind::OptionalFields => StructureType::STRUCTURE_WITH_OPTIONAL_FIELDS,
        StructureKind::Union => StructureType::UNION,
        StructureKind::SubtypedValues => StructureType::STRUCTURE_WITH_SUBTYPED_VALUES,
        StructureKind::UnionSubtypedValues => StructureType::UNION_WITH_SUBTYPED_VALUES,
    };
    let stated = (&definition.default_encoding_id, &definition.base_data_type, definition.structure_type);
    if stated != (&encoding, &base, kind) {
        return Err(format!("{}: {stated:?} is not {:?}", descriptor.name, (encoding, base, kind)));
    }
    let subtyped = matches!(kind.0, 3 | 4);
    let expected: Vec<_> = descriptor
        .fields
        .iter()
        .map(|field| {
            let optional = if subtyped { field.allow_sub_types } else { field.optional };
            let data_type = resolve(field.data_type, namespaces);
            (field.name, data_type, field.value_rank, field.max_string_length, optional)
        })
        .collect();
    let fields = definition.fields.iter().map(|field| {
        let (rank, length) = (field.value_rank, field.max_string_length);
        (field.name.text(), field.data_type.clone(), rank, length, field.is_optional)
    });
    let fields: Vec<_> = fields.collect();
    if fields != expected {
        return Err(format!("{}: {fields:?} is not {expected:?}", descriptor.name));
    }
    let named = [
        ("Default Binary", descriptor.binary_encoding),
        ("Default JSON", descriptor.json_encoding),
        ("Default XML", descriptor.xml_encoding),
    ];
    let found = encodings(snapshot, &id);
    for (name, key) in named {
        let Some(key) = key else { continue };
        let wanted = (name.to_owned(), resolve(key, namespaces));
        if !found.contains(&wanted) {
            return Err(format!("{}: {wanted:?} is not among {found:?}", descriptor.name));
        }
    }
    Ok(())
}

#[test]
fn every_structure_of_the_models_tells_how_it_is_encoded() {
    let server = builder().model(uaforge_di::model()).build().expect("the server is built");
    let (mut client, snapshot) = (client(&server), server.space().snapshot());
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    uaforge_di::register_types(&mut types);
    let mut checked = 0;
    let mut findings = Vec::new();
    for descriptor in types.descriptors() {
        // Types that services alone use are no nodes.
        let id = resolve(descriptor.data_type, snapshot.namespaces());
        if snapshot.node(id.as_ref()).is_some() {
            checked += 1;
            findings.extend(check(&mut client, &snapshot, descriptor).err());
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
    assert!(checked > 150, "{checked} structures are not all");
}

#[test]
fn no_structure_and_no_enumeration_is_without_a_definition() {
    let server = builder().model(uaforge_di::model()).build().expect("the server is built");
    let (mut client, snapshot) = (client(&server), server.space().snapshot());
    let mut findings = Vec::new();
    let (mut structures, mut enumerations) = (0, 0);
    for node in snapshot.nodes().filter(|node| node.class() == NodeClass::DataType) {
        let id = node.id().to_owned();
        // Structure itself has no layout.
        if id != STRUCTURE && snapshot.is_subtype(node.id(), STRUCTURE.as_ref()) {
            structures += 1;
            let is_bits = snapshot.is_subtype(node.id(), NodeId::numeric(0, 12_755).as_ref());
            let found = if is_bits {
                value_of(&mut client, &id).map(|_| ())
            } else {
                structure_definition(&mut client, &id).map(|_| ())
            };
            findings.extend(found.err());
        } else if snapshot.is_subtype(node.id(), ENUMERATION.as_ref()) && id != ENUMERATION {
            enumerations += 1;
            let found = value_of(&mut client, &id);
            let fields =
                found.map(|found| found.downcast_ref::<EnumDefinition>().map(|found| found.fields.len()));
            if !matches!(fields, Ok(Some(1..))) {
                findings.push(format!("{id}: {fields:?}"));
            }
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
    assert!(structures > 190 && enumerations > 40, "{structures} and {enumerations} are not all");
}

/// A step of a recipe.
#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/brew/", id = 3002, binary_id = 5002)]
struct Step {
    temperature: f64,
    window: Range,
    #[ua(rank = 2)]
    curve: uaforge::Matrix<f32>,
}

/// A structure of the application.
#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/brew/", id = 3001, binary_id = 5001, xml_id = 5011, json_id = 5021)]
struct Recipe {
    name: String,
    steps: Vec<Step>,
    kind: ApplicationType,
    #[ua(optional, max_string_length = 12)]
    note: Option<String>,
}

#[test]
fn structures_of_the_application_get_nodes() {
    let server = builder().structure::<Recipe>().build().expect("the server is built");
    let (mut client, snapshot) = (client(&server), server.space().snapshot());
    let namespaces = snapshot.namespaces();
    let ns = namespaces.index_of("http://example.org/brew/").expect("the namespace is there");
    for descriptor in [Recipe::DESCRIPTOR, Step::DESCRIPTOR] {
        assert_eq!(check(&mut client, &snapshot, descriptor), Ok(()));
    }
    let recipe = NodeId::numeric(ns, 3001);
    let definition = structure_definition(&mut client, &recipe).unwrap();
    assert_eq!(definition.structure_type, StructureType::STRUCTURE_WITH_OPTIONAL_FIELDS);
    assert_eq!(definition.default_encoding_id, NodeId::numeric(ns, 5001));
    let steps = &definition.fields[1];
    assert_eq!(
        (steps.name.text(), &steps.data_type, steps.value_rank),
        ("Steps", &NodeId::numeric(ns, 3002), 1)
    );
    let kinds = ["Default Binary", "Default JSON", "Default XML"];
    let ids = [5001, 5021, 5011].map(|id| NodeId::numeric(ns, id));
    let expected: Vec<_> = kinds.into_iter().map(String::from).zip(ids).collect();
    assert_eq!(encodings(&snapshot, &recipe), expected);
    assert!(snapshot.is_subtype(recipe.as_ref(), STRUCTURE.as_ref()));
}

#[test]
fn values_of_such_a_structure_are_read_and_written() {
    let server = builder().structure::<Recipe>().build().expect("the server is built");
    let mut client = client(&server);
    let ns = server.space().namespaces().index_of("http://example.org/brew/").expect("the namespace");
    let mut attributes = scalar(22);
    attributes.data_type = NodeId::numeric(ns, 3001);
    let handle = variable(&server, 1, attributes, Variant::Null);
    let typed = handle.clone().typed::<Recipe>();
    let recipe = Recipe { name: "Pils".into(), steps: vec![Step::default()], ..Default::default() };
    typed.set(recipe.clone());
    assert_eq!(typed.get().as_ref(), Ok(&recipe));
    let shown = value(&mut client, handle.id(), VALUE);
    let Variant::ExtensionObject(object) = &shown else { panic!("{shown:?} is no structure") };
    // The client does not know the type, so that it keeps id and bytes.
    assert!(!object.is_null() && object.downcast_ref::<Recipe>().is_none());
    // It sends back what it got; the server knows what it is.
    typed.set(Recipe::default());
    assert_eq!(write(&mut client, handle.id(), shown.clone()), StatusCode::GOOD);
    assert_eq!(typed.get(), Ok(recipe));
    // Another structure does not fit.
    let range = Variant::from(ExtensionObject::new(Range::default()));
    assert_eq!(write(&mut client, handle.id(), range), status::BAD_TYPE_MISMATCH);
}

/// Derives from a structure that no model of the server has.
#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/brew/", id = 3003, binary_id = 3003)]
struct Clash {
    name: String,
}

#[test]
fn what_cannot_be_added_names_the_structure() {
    // The id of the encoding is that of the type itself.
    match builder().structure::<Clash>().build() {
        Err(BuildError::Structure { name: "Clash", status: status::BAD_NODE_ID_EXISTS }) => {}
        other => panic!("{other:?}"),
    }
}

const URI: &str = "http://example.org/brew/";

const fn own(id: u32) -> TypeKey {
    TypeKey { namespace: URI, id: ConstIdentifier::Numeric(id) }
}

const fn names<const N: usize>(names: [&'static str; N], step: i64) -> [EnumValue; N] {
    let mut values = [EnumValue { name: "", value: 0 }; N];
    let mut at = 0;
    while at < N {
        values[at] = EnumValue { name: names[at], value: at as i64 * step };
        at += 1;
    }
    values
}

static DENSE: [EnumValue; 2] = names(["Off", "On"], 1);
static SPARSE: [EnumValue; 3] = names(["Low", "Middle", "High"], 10);
static BITS: [EnumValue; 2] = names(["Hot", "Stirred"], 4);

static SWITCH: EnumerationDescriptor =
    EnumerationDescriptor { name: "Switch", data_type: own(3101), option_set: None, values: &DENSE };
static LEVEL: EnumerationDescriptor =
    EnumerationDescriptor { name: "Level", data_type: own(3102), option_set: None, values: &SPARSE };
static FLAGS: EnumerationDescriptor = EnumerationDescriptor {
    name: "Flags",
    data_type: own(3103),
    option_set: Some(BuiltinType::Byte),
    values: &BITS,
};

/// A structure with enumerations that no model has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stirrer {
    switch: i32,
    level: i32,
    flags: u8,
}

impl Encode for Stirrer {
    fn encode(&self, e: &mut Encoder<'_>) {
        e.put_i32(self.switch);
        e.put_i32(self.level);
        e.put_u8(self.flags);
    }
}

impl Decode for Stirrer {
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.switch.decode_into(d)?;
        self.level.decode_into(d)?;
        self.flags.decode_into(d)
    }
}

const fn field(name: &'static str, data_type: TypeKey, ty: FieldType) -> FieldDescriptor {
    FieldDescriptor {
        name,
        data_type,
        ty,
        value_rank: -1,
        optional: false,
        allow_sub_types: false,
        max_string_length: 0,
        array_dimensions: &[],
    }
}

impl Structure for Stirrer {
    const DATA_TYPE: TypeKey = own(3100);
    const DESCRIPTOR: &'static StructureDescriptor = &StructureDescriptor {
        name: "Stirrer",
        data_type: own(3100),
        binary_encoding: Some(own(5100)),
        xml_encoding: None,
        json_encoding: None,
        kind: StructureKind::Plain,
        fields: const {
            &[
                field("Switch", own(3101), FieldType::Enumeration(&SWITCH)),
                field("Level", own(3102), FieldType::Enumeration(&LEVEL)),
                field("Flags", own(3103), FieldType::OptionSet(&FLAGS)),
            ]
        },
        inherited: 0,
        supertypes: &[],
    };
}

#[test]
fn enumerations_in_their_fields_get_nodes_too() {
    let server = builder().structure::<Stirrer>().build().expect("the server is built");
    let (mut client, snapshot) = (client(&server), server.space().snapshot());
    assert_eq!(check(&mut client, &snapshot, Stirrer::DESCRIPTOR), Ok(()));
    let ns = snapshot.namespaces().index_of(URI).expect("the namespace");
    let node = |id| NodeId::numeric(ns, id);
    let mut fields = |id| {
        let found = value_of(&mut client, &node(id)).expect("a definition");
        let definition = found.downcast_ref::<EnumDefinition>().expect("an EnumDefinition");
        definition.fields.iter().map(|field| (field.value, field.name.text().to_owned())).collect::<Vec<_>>()
    };
    let named = |values: &[(i64, &str)]| -> Vec<_> {
        values.iter().map(|(value, name)| (*value, (*name).to_owned())).collect()
    };
    assert_eq!(fields(3101), named(&[(0, "Off"), (1, "On")]));
    assert_eq!(fields(3102), named(&[(0, "Low"), (10, "Middle"), (20, "High")]));
    assert_eq!(fields(3103), named(&[(0, "Hot"), (4, "Stirred")]));
    assert!(snapshot.is_subtype(node(3101).as_ref(), ENUMERATION.as_ref()));
    assert!(snapshot.is_subtype(node(3103).as_ref(), NodeId::numeric(0, 3).as_ref()));
    // For clients that know no DataTypeDefinition.
    let property = |id, name| {
        let filter = snapshot.reference_filter(NodeId::numeric(0, 46).as_ref(), false).expect("HasProperty");
        let node = snapshot.node(node(id).as_ref()).expect("a node").follow(filter, false, 0, name).next();
        node.map(|node| node.id().to_owned())
    };
    let strings = value(&mut client, &property(3101, "EnumStrings").expect("a property"), VALUE);
    let texts = Array::<LocalizedText>::from_variant(&strings).expect("texts");
    assert_eq!(texts.iter().map(|text| text.text.text()).collect::<Vec<_>>(), ["Off", "On"]);
    assert_eq!(property(3102, "EnumStrings"), None);
    let values = value(&mut client, &property(3102, "EnumValues").expect("a property"), VALUE);
    let values = Array::<EnumValueType>::from_variant(&values).expect("values");
    assert_eq!(values.iter().map(|value| value.value).collect::<Vec<_>>(), [0, 10, 20]);
}
