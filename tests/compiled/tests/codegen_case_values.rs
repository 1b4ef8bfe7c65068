//! The codegen cases 018 and 020 against a server of the generated model: attributes, writes, values.

use serde_json::Value;
use uaforge::client::{Session, WriteItem, connect_insecure};
use uaforge::server::Server;
use uaforge::{
    ByteString, DateTime, ExpandedNodeId, Guid, LocalizedText, NodeId, QualifiedName, Variant, status,
};
use uaforge_codec::{BuiltinType, FromVariant, XmlElement};
use uaforge_goldens::{value_ranks_and_dimensions, xml_values};
use uaforge_nodes::AttributeId;
use uaforge_nodes::table::StaticModel;
use uaforge_types::Range;

/// Runs a client against a server of the model.
fn with_server<F: Future>(model: &'static StaticModel, client: impl FnOnce(Session) -> F) -> F::Output {
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure();
    let server = builder.model(uaforge::ns0()).model(model).build().expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let output = client(connect_insecure(&url).await.expect("connected")).await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
        output
    })
}

/// The value that the case gives for a builtin type. `ns` is the model's index on the connection.
fn expected(builtin: BuiltinType, value: &Value, ns: u16) -> Variant {
    let integer = || value.as_i64().expect("an integer");
    let text = || value.as_str().expect("text");
    match builtin {
        BuiltinType::Boolean => value.as_bool().expect("a truth value").into(),
        BuiltinType::SByte => i8::try_from(integer()).expect("in range").into(),
        BuiltinType::Byte => u8::try_from(integer()).expect("in range").into(),
        BuiltinType::Int16 => i16::try_from(integer()).expect("in range").into(),
        BuiltinType::UInt16 => u16::try_from(integer()).expect("in range").into(),
        BuiltinType::Int32 => i32::try_from(integer()).expect("in range").into(),
        BuiltinType::UInt32 => u32::try_from(integer()).expect("in range").into(),
        BuiltinType::Int64 => integer().into(),
        BuiltinType::UInt64 => value.as_u64().expect("an integer").into(),
        BuiltinType::Float => value.to_string().parse::<f32>().expect("a number").into(),
        BuiltinType::Double => text().parse::<f64>().expect("a number").into(),
        BuiltinType::String => text().into(),
        BuiltinType::Guid => text().parse::<Guid>().expect("a Guid").into(),
        BuiltinType::NodeId => {
            assert_eq!(text(), "ns=<this model>;s=Pump 1");
            NodeId::string(ns, "Pump 1").into()
        }
        BuiltinType::StatusCode => {
            assert_eq!(text(), "Bad_NodeIdUnknown");
            status::BAD_NODE_ID_UNKNOWN.into()
        }
        BuiltinType::QualifiedName => {
            assert_eq!(text(), "<this model>:Q");
            QualifiedName::new(ns, "Q").into()
        }
        BuiltinType::ByteString => {
            assert_eq!(text(), "base64 AAEC/w==");
            ByteString::from(&[0, 1, 2, 0xff][..]).into()
        }
        BuiltinType::DateTime => {
            assert_eq!(text(), "2024-02-29T23:59:59.1234567Z");
            DateTime::from_utc(2024, 2, 29, 86_399, 1_234_567).into()
        }
        other => panic!("the case has no {other:?}"),
    }
}

#[test]
fn case_020_xml_values_every_builtin() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases/020-xml-values-every-builtin/expected.json");
    let case: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a case")).expect("JSON");
    let values = case["values"].as_array().expect("values");
    let read = with_server(&xml_values::MODEL, |session| async move {
        let uri = xml_values::MODEL.slots[0];
        let ns = session.namespaces().index_of(uri).expect("the model's namespace");
        assert!(ns >= 2, "index 1 is the server's own");
        let mut read = Vec::new();
        for value in values {
            let id = value["node"].as_str().and_then(|id| id.strip_prefix("ns=1;i=")).expect("an id");
            let id = NodeId::numeric(ns, id.parse().expect("a number"));
            let data = session.read_value(&id).await.expect("it is read");
            assert!(data.status().is_none_or(|status| status.is_good()), "{id}");
            read.push((value, data.into_value()));
        }
        session.close().await;
        (ns, read)
    });
    let (ns, read) = read;
    assert_eq!(read.len(), 23);
    for (value, found) in read {
        let (name, value) = (value["type"].as_str().expect("a type"), &value["value"]);
        match name {
            "XmlElement" => {
                let element = XmlElement::from_variant(&found).expect("an XmlElement");
                let element = element.as_str().expect("text");
                assert!(element.starts_with("<x ") && element.ends_with(">t</x>"), "{element}");
                assert!(element.contains("a=\"1\"") && element.contains("xmlns=\"http://example.org/x\""));
            }
            "ExpandedNodeId" => {
                let id = ExpandedNodeId::from_variant(&found).expect("an ExpandedNodeId");
                assert_eq!(format!("nsu={};i=7", id.namespace_uri), value.as_str().expect("text"));
                assert_eq!(id.node_id, NodeId::numeric(0, 7));
            }
            "LocalizedText" => assert_eq!(found, LocalizedText::new("de", "Grüße").into()),
            "i=884" => assert_eq!(Range::from_variant(&found).ok(), Some(Range { low: -1.0, high: 1.0 })),
            "i=24" => assert_eq!(found, Variant::Int32(5)),
            _ => {
                let builtin = found.builtin_type().expect("a value");
                assert_eq!(format!("{builtin:?}"), name);
                assert_eq!(found, expected(builtin, value, ns), "{name}");
            }
        }
    }
}

/// Rank and dimensions of each variable as a client reads them; empty for no dimensions.
const RANKS: [(u32, i32, &[u32]); 6] =
    [(6001, -1, &[]), (6002, 1, &[3]), (6003, 1, &[0]), (6004, 2, &[2, 0]), (6005, -2, &[]), (6006, -3, &[])];

#[test]
fn case_018_value_ranks_and_dimensions() {
    with_server(&value_ranks_and_dimensions::MODEL, |session| async move {
        let uri = value_ranks_and_dimensions::MODEL.slots[0];
        let ns = session.namespaces().index_of(uri).expect("the model's namespace");
        let node = |id| NodeId::numeric(ns, id);
        for (id, rank, dimensions) in RANKS {
            let read = session.read_attribute(&node(id), AttributeId::ValueRank).await.expect("a rank");
            assert_eq!(read, rank.into(), "{id}");
            let read = session.read_attribute(&node(id), AttributeId::ArrayDimensions).await;
            let read = read.ok().filter(|read| *read != Variant::Null);
            let read: Vec<u32> =
                read.map_or_else(Vec::new, |read| Vec::from_variant(&read).expect("numbers"));
            assert_eq!(read, dimensions, "{id}");
        }
        let data_type = session.read_attribute(&node(6007), AttributeId::DataType).await.expect("a type");
        assert_eq!(data_type, NodeId::numeric(0, 24).into());

        let items = [
            WriteItem::value(&node(6002), vec![1_i32, 2, 3, 4]),
            WriteItem::value(&node(6003), 1.5_f64),
            WriteItem::value(&node(6002), vec![4_i32, 5, 6]),
            WriteItem::value(&node(6003), vec![1.5_f64; 5]),
        ];
        let results = session.write(items).await.expect("the service");
        let (mismatch, range) = (status::BAD_TYPE_MISMATCH, status::BAD_OUT_OF_RANGE);
        assert!([mismatch, range].contains(&results[0]), "{}", results[0]);
        assert_eq!(results[1], mismatch);
        assert!(results[2].is_good() && results[3].is_good(), "{results:?}");
        session.close().await;
    });
}
