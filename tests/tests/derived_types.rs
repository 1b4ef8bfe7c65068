//! Enumerations, option sets and unions of the user: coding, Variants, and what a server tells of them.

use uaforge::{Array, NodeId, UaEnumeration, UaOptionSet, UaStructure, UaUnion, Variant};
use uaforge_codec::{
    Decode, DecodeContext, DecodeReason, Decoder, Encode, EncodeContext, Encoder, ExtensionObject,
    FromVariant as _, IntoVariant as _, SeededEntropy, StatusCode, Structure,
};
use uaforge_nodes::AttributeId;
use uaforge_server::{Connection, Server};
use uaforge_tests::nodes::{VALUE, read, scalar, value, variable, write};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{EnumDefinition, Range, StructureDefinition, StructureType, status};

const URI: &str = "http://example.org/brew/";

#[derive(Clone, Copy, Debug, Default, PartialEq, UaEnumeration)]
#[ua(namespace = "http://example.org/brew/", id = 3010)]
#[repr(i32)]
enum Phase {
    #[default]
    Idle,
    #[ua(name = "MashIn")]
    Mashing,
    Boiling = 9,
    Cooling,
    #[ua(value = -1)]
    Lost,
    #[ua(unknown)]
    Unknown(i32),
}

#[derive(Clone, Copy, Default, PartialEq, UaOptionSet)]
#[ua(
    namespace = "http://example.org/brew/",
    id = 3011,
    bits(HEATED = 0, WELL_STIRRED = 3, CIP(name = "CIP", bit = 15))
)]
struct Equipment(u16);

#[derive(Clone, Debug, Default, PartialEq, UaUnion)]
#[ua(namespace = "http://example.org/brew/", id = 3012, binary_id = 5012)]
enum Addition {
    #[default]
    Null,
    Hops(f64),
    Spices(Vec<String>),
    #[ua(name = "OtherBatch")]
    Batch(Box<Batch>),
}

#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/brew/", id = 3013, binary_id = 5013)]
struct Batch {
    phase: Phase,
    phases: Vec<Phase>,
    equipment: Equipment,
    additions: Vec<Addition>,
}

fn bytes(value: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, EncodeContext::default());
    value.encode(&mut encoder);
    assert_eq!(encoder.error(), None);
    bytes
}

fn decode<T: Decode>(bytes: &[u8]) -> Result<T, DecodeReason> {
    let mut decoder = Decoder::new(bytes, DecodeContext::default());
    let value = T::decode(&mut decoder).map_err(|error| error.reason())?;
    assert_eq!(decoder.remaining(), 0);
    Ok(value)
}

#[test]
fn enumerations_are_open() {
    let named =
        [(Phase::Idle, 0), (Phase::Mashing, 1), (Phase::Boiling, 9), (Phase::Cooling, 10), (Phase::Lost, -1)];
    for (phase, number) in named {
        assert_eq!((phase.value(), Phase::from_value(number)), (number, phase));
        assert_eq!(bytes(&phase), number.to_le_bytes());
        assert_eq!(decode(&number.to_le_bytes()), Ok(phase));
    }
    assert_eq!(decode(&77_i32.to_le_bytes()), Ok(Phase::Unknown(77)));
    assert_eq!(bytes(&Phase::Unknown(77)), 77_i32.to_le_bytes());
    let values: Vec<_> = Phase::DESCRIPTOR.values.iter().map(|value| (value.name, value.value)).collect();
    assert_eq!(values, [("Idle", 0), ("MashIn", 1), ("Boiling", 9), ("Cooling", 10), ("Lost", -1)]);
}

#[test]
fn enumerations_are_int32_in_variants() {
    assert_eq!(Phase::Boiling.into_variant(), Variant::Int32(9));
    assert_eq!(Phase::from_variant(&Variant::Int32(5)), Ok(Phase::Unknown(5)));
    assert!(Phase::from_variant(&Variant::UInt32(9)).is_err());
    let phases = Array::from(vec![Phase::Lost, Phase::Unknown(4)]);
    let variant = Phase::array_into_variant(phases.clone());
    assert_eq!(variant, Array::from(vec![-1_i32, 4]).into_variant());
    assert_eq!(Phase::array_from_variant(&variant), Ok(phases));
}

#[test]
fn option_sets_keep_bits_that_are_not_declared() {
    let both = Equipment::HEATED | Equipment::WELL_STIRRED;
    assert!(both.contains(Equipment::HEATED) && !both.contains(Equipment::CIP));
    assert_eq!(bytes(&both), [9, 0]);
    assert_eq!(decode::<Equipment>(&[0xff, 0x40]).map(|set| set.0), Ok(0x40ff));
    assert_eq!((both & Equipment::CIP).into_variant(), Variant::UInt16(0));
    assert_eq!(format!("{both:?}"), "Equipment(0x9)");
    let bits: Vec<_> = Equipment::DESCRIPTOR.values.iter().map(|bit| (bit.name, bit.value)).collect();
    assert_eq!(bits, [("Heated", 0), ("WellStirred", 3), ("CIP", 15)]);
}

/// Switch values count from 1, and 0 is no field at all (OPC 10000-6 §5.2.8).
#[test]
fn unions_have_a_switch() {
    assert_eq!(bytes(&Addition::Null), [0; 4]);
    assert_eq!(bytes(&Addition::Hops(1.0)), [&[1, 0, 0, 0][..], &1.0_f64.to_le_bytes()].concat());
    let batch = Batch { additions: vec![Addition::Spices(vec!["coriander".into()])], ..Batch::default() };
    let nested = Addition::Batch(Box::new(batch));
    assert_eq!(bytes(&nested)[..4], [3, 0, 0, 0]);
    assert_eq!(decode(&bytes(&nested)), Ok(nested));
    assert_eq!(decode::<Addition>(&[4, 0, 0, 0]), Err(DecodeReason::BadSwitch));
}

/// A union within itself a thousand times is refused, not followed.
#[test]
fn depth_is_bounded() {
    let mut nested = Vec::new();
    for _ in 0..1_000 {
        nested.extend([3, 0, 0, 0]); // the switch
        nested.extend([0; 4]); // phase
        nested.extend([0; 4]); // phases
        nested.extend([0; 2]); // equipment
        nested.extend([1, 0, 0, 0]); // one addition
    }
    nested.extend([0; 4]);
    assert_eq!(decode::<Addition>(&nested), Err(DecodeReason::TooDeep));
}

fn definition<T: Structure>(client: &mut Peer<InProcess<Connection>>, id: &NodeId) -> T {
    let read = read(client, id, AttributeId::DataTypeDefinition as u32);
    match read.value() {
        Some(Variant::ExtensionObject(object)) => object.downcast_ref().cloned().expect("a definition"),
        other => panic!("{id} has the DataTypeDefinition {other:?}"),
    }
}

#[test]
fn a_server_tells_and_takes_them() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
        .structure::<Batch>()
        .structure::<Addition>()
        .build()
        .expect("the server is built");
    let now = start_time();
    let mut client = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    let ns = server.space().namespaces().index_of(URI).expect("the namespace");

    let phase: EnumDefinition = definition(&mut client, &NodeId::numeric(ns, 3010));
    let named: Vec<_> = phase.fields.iter().map(|field| (field.name.text(), field.value)).collect();
    assert_eq!(named, [("Idle", 0), ("MashIn", 1), ("Boiling", 9), ("Cooling", 10), ("Lost", -1)]);
    let addition: StructureDefinition = definition(&mut client, &NodeId::numeric(ns, 3012));
    assert_eq!(addition.structure_type, StructureType::UNION);
    let named: Vec<_> = addition.fields.iter().map(|field| (field.name.text(), field.value_rank)).collect();
    assert_eq!(named, [("Hops", -1), ("Spices", 1), ("OtherBatch", -1)]);
    assert_eq!(addition.fields[2].data_type, NodeId::numeric(ns, 3013));
    let union = NodeId::numeric(0, 12_756);
    assert!(server.space().snapshot().is_subtype(NodeId::numeric(ns, 3012).as_ref(), union.as_ref()));

    let mut attributes = scalar(22);
    attributes.data_type = NodeId::numeric(ns, 3012);
    let node = variable(&server, 1, attributes, Variant::Null);
    let typed = node.clone().typed::<Addition>();
    let batch = Batch { phase: Phase::Unknown(6), equipment: Equipment(0x8002), ..Batch::default() };
    typed.set(Addition::Batch(Box::new(batch.clone())));
    let shown = value(&mut client, node.id(), VALUE);
    typed.set(Addition::Null);
    assert_eq!(write(&mut client, node.id(), shown), StatusCode::GOOD);
    assert_eq!(typed.get(), Ok(Addition::Batch(Box::new(batch.clone()))));
    let range = ExtensionObject::new(Range::default());
    assert_eq!(write(&mut client, node.id(), range), status::BAD_TYPE_MISMATCH);

    // A subtype of Enumeration takes Int32 alone, and no number is refused for being unknown here.
    let mut attributes = scalar(29);
    attributes.data_type = NodeId::numeric(ns, 3010);
    let node = variable(&server, 2, attributes, Phase::Idle.into_variant());
    let typed = node.clone().typed::<Phase>();
    assert_eq!(write(&mut client, node.id(), 10_i32), StatusCode::GOOD);
    assert_eq!(typed.get(), Ok(Phase::Cooling));
    assert_eq!(write(&mut client, node.id(), 10_u8), status::BAD_TYPE_MISMATCH);
}
