//! Structures that a client knows by their DataTypeDefinition alone, read from a server (OPC 10000-3 §8.48).

use std::future::Future;

use uaforge::client::{Client, Session};
use uaforge::json::{self, JsonEncoding};
use uaforge::server::Server;
use uaforge::{
    DecodeContext, DecodeLimits, DynamicValue, ExtensionObject, UaEnumeration, UaOptionSet, UaStructure,
    UaUnion, Variant,
};
use uaforge_codec::{
    ElementSource, EncodeContext, EncodeError, FieldSource, NamespaceMap, NodeId, RuntimeTypes,
    StructureKind, StructureSource, TextReason,
};
use uaforge_tests::nodes::{scalar, variable};
use uaforge_types::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, UaEnumeration)]
#[ua(namespace = "http://example.org/brew/", id = 3010)]
#[repr(i32)]
enum Phase {
    #[default]
    Idle,
    Mashing,
    #[ua(unknown)]
    Unknown(i32),
}

#[derive(Clone, Copy, Default, PartialEq, UaOptionSet)]
#[ua(namespace = "http://example.org/brew/", id = 3011, bits(HEATED = 0, CIP = 15))]
struct Equipment(u16);

#[derive(Clone, Debug, Default, PartialEq, UaUnion)]
#[ua(namespace = "http://example.org/brew/", id = 3012, binary_id = 5012)]
enum Addition {
    #[default]
    Null,
    Hops(f64),
    Spices(Vec<String>),
}

#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/brew/", id = 3013, binary_id = 5013)]
struct Batch {
    phase: Phase,
    phases: Vec<Phase>,
    equipment: Equipment,
    additions: Vec<Addition>,
    limits: Range,
    number: u64,
    #[ua(optional)]
    note: Option<String>,
}

fn batch() -> Batch {
    Batch {
        phase: Phase::Mashing,
        phases: vec![Phase::Idle, Phase::Unknown(77)],
        equipment: Equipment(0x8001),
        additions: vec![Addition::Hops(2.5), Addition::Null, Addition::Spices(vec!["coriander".into()])],
        limits: Range { low: 1.0, high: 2.0 },
        number: u64::MAX,
        note: Some("dry".into()),
    }
}

const VARIABLE: u32 = 7;

fn with_session<F: Future>(client: impl FnOnce(Session) -> F) -> F::Output {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .structure::<Batch>()
        .build()
        .expect("the server is built");
    variable(&server, VARIABLE, scalar(22), ExtensionObject::new(batch()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let session = Client::builder().insecure().connect(&url).await.expect("connected");
        let output = client(session.clone()).await;
        session.close().await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

async fn read(session: &Session) -> ExtensionObject {
    let value = session.read_value(&NodeId::numeric(1, VARIABLE)).await.expect("it is read").into_value();
    let Variant::ExtensionObject(object) = value else { panic!("{value:?}") };
    (*object).clone()
}

#[test]
fn fields_of_an_unknown_structure_have_names() {
    with_session(|session| async move {
        let object = read(&session).await;
        assert!(session.dynamic(&object).is_err(), "nobody knows the type yet");
        let loaded = session.load_types().await.expect("definitions");
        assert!(loaded.structures >= 2, "{loaded:?}");
        let value = session.dynamic(&object).expect("the type is known now");
        assert_eq!(value.name(), "Batch");
        assert_eq!(value.get("Phase"), Some(&DynamicValue::Enumeration(1, Some("Mashing".into()))));
        assert_eq!(value.get("Equipment"), Some(&DynamicValue::Enumeration(0x8001, None)));
        assert_eq!(value.value("Number"), Some(&Variant::UInt64(u64::MAX)));
        let Some(DynamicValue::Structure(limits)) = value.get("Limits") else { panic!("{value:?}") };
        assert_eq!(limits.value("High"), Some(&Variant::Double(2.0)));

        let (types, namespaces) = (session.types(), session.namespaces());
        let cx = DecodeContext { limits: &DecodeLimits::DEFAULT, namespaces: &namespaces, types: &types };
        let text = json::to_string(&object, JsonEncoding::Verbose, cx).expect("JSON");
        let expected = concat!(
            r#"{"UaTypeId":"nsu=http://example.org/brew/;i=3013","Phase":"Mashing_1","Phases":["Idle_0","77"],"#,
            r#""Equipment":32769,"Additions":[{"Hops":2.5},null,{"Spices":["coriander"]}],"#,
            r#""Limits":{"Low":1.0,"High":2.0},"Number":"18446744073709551615","Note":"dry"}"#
        );
        assert_eq!(text, expected);
        let again: ExtensionObject = json::from_str(&text, cx).expect("a value");
        assert_eq!(again, object, "bit for bit");
        let xml = uaforge::xml::to_string(&object, cx).expect("XML");
        let again: ExtensionObject = uaforge::xml::from_str(&xml, cx).expect("a value");
        assert_eq!(again, object, "bit for bit: {xml}");
    });
}

#[test]
fn a_dynamic_value_is_changed_and_written_back() {
    with_session(|session| async move {
        let object = read(&session).await;
        session.load_types().await.expect("definitions");
        let mut value = session.dynamic(&object).expect("the type is known");
        value.set("Phase", DynamicValue::Enumeration(5, None));
        value.remove("Note").expect("it was there");
        let (types, namespaces) = (session.types(), session.namespaces());
        let uri = namespaces.uri(object.type_id().namespace()).expect("a namespace");
        let ty = types.structure_type(uri, object.type_id().as_ref()).expect("a type");
        let cx = EncodeContext { namespaces: &namespaces };
        let changed = value.to_extension_object(ty, cx).expect("it fits");
        session.write_value(&NodeId::numeric(1, VARIABLE), changed).await.expect("it is written");
        let decoding =
            DecodeContext { limits: &DecodeLimits::DEFAULT, namespaces: &namespaces, types: &types };
        let back: Batch = read(&session).await.decode_as(decoding).expect("a Batch");
        assert_eq!(back, Batch { phase: Phase::Unknown(5), note: None, ..batch() });

        value.set("Number", DynamicValue::Builtin(Variant::Int16(1)));
        assert_eq!(value.to_extension_object(ty, cx), Err(EncodeError::Inconsistent), "another type");
        value.remove("Number");
        assert_eq!(value.to_extension_object(ty, cx), Err(EncodeError::Inconsistent), "a field is missing");
    });
}

/// Definitions of a hostile server: a structure in itself, and one that grows with each level.
#[test]
fn definitions_without_end_are_refused_where_they_are_used() {
    let id = |number| NodeId::numeric(1, number);
    let source = |number: u32, fields: Vec<u32>| StructureSource {
        data_type: id(number),
        name: format!("S{number}").into(),
        binary_encoding: id(number + 1000),
        kind: StructureKind::Plain,
        fields: fields
            .into_iter()
            .enumerate()
            .map(|(index, of)| FieldSource {
                name: format!("F{index}").into(),
                element: ElementSource::Defined(id(of)),
                value_rank: -1,
                optional: false,
            })
            .collect(),
    };
    let mut sources = vec![source(0, vec![0])];
    sources.extend((1..60).map(|number| source(number, vec![number + 1; 4])));
    sources.push(source(60, vec![]));
    sources.push(source(61, vec![62]));
    let mut namespaces = NamespaceMap::new();
    namespaces.push("urn:hostile");
    let (types, wrong) = RuntimeTypes::new(sources, vec![], |index| namespaces.uri(index));
    assert_eq!(types.len(), 61);
    assert_eq!(wrong.len(), 1, "S61 has a field of an unknown type: {wrong:?}");
    assert_eq!(wrong[0].to_string(), "`S61.F0`: its data type ns=1;i=62 is not known");
    let mut registry = uaforge_types::registry();
    registry.set_runtime_types(types.into());
    let cx = DecodeContext { limits: &DecodeLimits::DEFAULT, namespaces: &namespaces, types: &registry };
    for (number, reason) in [(0, TextReason::TooDeep), (1, TextReason::LimitExceeded)] {
        let text = format!(r#"{{"UaTypeId":"nsu=urn:hostile;i={number}","F0":{{}}}}"#);
        let error = json::from_str::<ExtensionObject>(&text, cx).expect_err("without end");
        assert_eq!(error.reason(), &reason, "{error}");
    }
}
