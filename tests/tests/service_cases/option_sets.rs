//! Writes of bit masks that are structures (OptionSet, OPC 10000-3 §8.40).

use uaforge_codec::{
    ByteString, Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder, ExtensionObject,
    ExtensionObjectBody, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, VariantArray,
};
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{Server, VariableHandle};
use uaforge_tests::nodes::{
    self, READ_WRITE, VALUE, array, property, scalar, variable, write_all, write_item,
};
use uaforge_types::status;

use crate::{InProcessPeer, builder, peer};

/// A subtype of OptionSet with ten bits, one of which has no meaning, and its encoding.
const DOORS: u32 = 100;
const DOORS_BINARY: u32 = 101;

fn doors(value: &[u8], valid_bits: &[u8]) -> ExtensionObject {
    let mut body = Vec::new();
    let mut e = Encoder::new(&mut body, EncodeContext::default());
    ByteString::from(value).encode(&mut e);
    ByteString::from(valid_bits).encode(&mut e);
    let body = ExtensionObjectBody::Binary(ByteString::from(body.as_slice()));
    ExtensionObject::from_parts(NodeId::numeric(1, DOORS_BINARY), body)
}

fn fields(object: &ExtensionObject) -> (Vec<u8>, Vec<u8>) {
    let ExtensionObjectBody::Binary(body) = object.body() else { panic!("{object:?}") };
    let mut d = Decoder::new(body.bytes(), DecodeContext::default());
    let mut field = || ByteString::decode(&mut d).expect("a field").bytes().to_vec();
    (field(), field())
}

fn doors_type() -> VariableAttributes {
    VariableAttributes { data_type: NodeId::numeric(1, DOORS), ..scalar(22) }
}

fn server() -> Server {
    let server = builder().build().expect("a server");
    let data_type = ClassAttributes::DataType { is_abstract: false, definition: Box::default() };
    let encoding = ClassAttributes::Object { event_notifier: 0 };
    let add =
        |id, name, attributes| NewNode::new(NodeId::numeric(1, id), QualifiedName::new(0, name), attributes);
    let added: Result<(), StatusCode> = server.space().edit(|edit| {
        edit.add_node(add(DOORS, "Doors", data_type))?;
        let supertype = NodeId::numeric(0, 12_755);
        edit.add_reference(&supertype, &NodeId::numeric(0, 45), &NodeId::numeric(1, DOORS))?;
        edit.add_node(add(DOORS_BINARY, "Default Binary", encoding))?;
        let (from, to) = (NodeId::numeric(1, DOORS), NodeId::numeric(1, DOORS_BINARY));
        edit.add_reference(&from, &NodeId::numeric(0, 38), &to)
    });
    added.expect("the type fits");
    let name = |bit| LocalizedText::from(if bit == 3 { "" } else { "a door" });
    let names = (0..10).map(name).collect::<Vec<_>>();
    property(
        &server,
        &NodeId::numeric(1, DOORS),
        102,
        "OptionSetValues",
        VariantArray::LocalizedText(names.into()),
    );
    server
}

fn write(peer: &mut InProcessPeer, to: &VariableHandle, value: impl Into<Variant>) -> StatusCode {
    write_all(peer, vec![write_item(to.id(), VALUE, value)]).remove(0)
}

fn shown(handle: &VariableHandle) -> (Vec<u8>, Vec<u8>) {
    match handle.cell().value() {
        Variant::ExtensionObject(object) => fields(&object),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_named_bits_change() {
    let server = server();
    let held = variable(&server, 1, doors_type(), doors(&[0b1010_0101, 0b01], &[0xF7, 0b11]));
    let mut peer = peer(&server);
    assert_eq!(write(&mut peer, &held, doors(&[0xFF, 0xFF], &[0b0000_0011, 0b10])), StatusCode::GOOD);
    assert_eq!(shown(&held), (vec![0b1010_0111, 0b11], vec![0xF7, 0b11]));
    assert_eq!(write(&mut peer, &held, doors(&[0, 0], &[0b1000_0000, 0b01])), StatusCode::GOOD);
    assert_eq!(shown(&held), (vec![0b0010_0111, 0b10], vec![0xF7, 0b11]));
    assert_eq!(write(&mut peer, &held, doors(&[1, 1], &[0, 0])), StatusCode::GOOD);
    assert_eq!(shown(&held).0, [0b0010_0111, 0b10]);
}

#[test]
fn what_is_no_valid_bit_changes_nothing() {
    let server = server();
    let held = variable(&server, 1, doors_type(), doors(&[0, 0], &[0xF7, 0b11]));
    let fresh = variable(&server, 2, doors_type(), ExtensionObject::NULL);
    let mut peer = peer(&server);
    let broken = ExtensionObject::from_parts(
        NodeId::numeric(1, DOORS_BINARY),
        ExtensionObjectBody::Binary(ByteString::from(&[1, 0, 0, 0][..])),
    );
    let in_xml = ExtensionObject::from_parts(
        NodeId::numeric(1, DOORS_BINARY),
        ExtensionObjectBody::Xml("<a/>".into()),
    );
    for to in [&held, &fresh] {
        for (wrong, expected) in [
            (doors(&[0xFF, 0], &[0b1001, 0]), status::BAD_OUT_OF_RANGE),
            (doors(&[0, 0], &[0, 0b100]), status::BAD_OUT_OF_RANGE),
            (doors(&[0, 0], &[1]), status::BAD_OUT_OF_RANGE),
            (doors(&[], &[1, 0]), status::BAD_OUT_OF_RANGE),
            (doors(&[0, 0, 0], &[1, 0, 0x80]), status::BAD_OUT_OF_RANGE),
            (broken.clone(), status::BAD_TYPE_MISMATCH),
            (in_xml.clone(), status::BAD_TYPE_MISMATCH),
        ] {
            let before = to.cell().value();
            assert_eq!(write(&mut peer, to, wrong.clone()), expected, "{wrong:?}");
            assert_eq!(to.cell().value(), before);
        }
    }
    // Those of another length, too, where the length is settled.
    assert_eq!(write(&mut peer, &held, doors(&[1, 0, 0], &[1, 0, 0])), status::BAD_OUT_OF_RANGE);
    assert_eq!(write(&mut peer, &fresh, doors(&[0xFF, 0xFF], &[0xF7, 0b01])), StatusCode::GOOD);
    assert_eq!(shown(&fresh), (vec![0xF7, 0b01], vec![0xF7, 0b01]));
}

#[test]
fn elements_of_arrays_change_each_for_itself() {
    let server = server();
    let attributes = VariableAttributes { access_level: READ_WRITE, ..array(22, 1, &[]) };
    let attributes = VariableAttributes { data_type: NodeId::numeric(1, DOORS), ..attributes };
    let before = vec![doors(&[1, 0], &[0xF7, 3]), doors(&[2, 0], &[0xF7, 3]), doors(&[4, 0], &[0xF7, 3])];
    let held = variable(&server, 1, attributes, VariantArray::ExtensionObject(before.into()));
    let mut peer = peer(&server);
    let elements = |peer: &mut InProcessPeer| -> Vec<Vec<u8>> {
        match nodes::value(peer, held.id(), VALUE) {
            Variant::Array(array) => match &*array {
                VariantArray::ExtensionObject(objects) => {
                    objects.iter().map(|object| fields(object).0).collect()
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    let part = VariantArray::ExtensionObject(
        vec![doors(&[0xFF, 0xFF], &[0x10, 0]), doors(&[0, 0], &[0x04, 0])].into(),
    );
    let mut item = write_item(held.id(), VALUE, part);
    item.index_range = "1:2".into();
    assert_eq!(write_all(&mut peer, vec![item]), [StatusCode::GOOD]);
    assert_eq!(elements(&mut peer), [[1, 0], [0x12, 0], [0, 0]]);
    let one_wrong =
        VariantArray::ExtensionObject(vec![doors(&[0, 0], &[1, 0]), doors(&[8, 0], &[8, 0])].into());
    assert_eq!(write(&mut peer, &held, one_wrong), status::BAD_OUT_OF_RANGE);
    assert_eq!(elements(&mut peer)[0], [1, 0]);
    let two = VariantArray::ExtensionObject(vec![doors(&[0, 0], &[1, 0]), doors(&[0, 1], &[0, 1])].into());
    assert_eq!(write(&mut peer, &held, two), StatusCode::GOOD);
    assert_eq!(elements(&mut peer), [[0, 0], [0x12, 1]]);
}

#[test]
fn closures_see_the_whole_value() {
    let server = server();
    let held = variable(&server, 1, doors_type(), doors(&[0x24, 0], &[0xF7, 3]));
    server
        .on_write(&held, |value| match &value {
            Variant::ExtensionObject(object) if fields(object).0 == [0x21, 0] => Ok(value),
            _ => Err(status::BAD_INVALID_STATE),
        })
        .expect("a Variable");
    let mut peer = peer(&server);
    assert_eq!(write(&mut peer, &held, doors(&[1, 0], &[1, 0])), status::BAD_INVALID_STATE);
    assert_eq!(write(&mut peer, &held, doors(&[1, 0], &[5, 0])), StatusCode::GOOD);
    assert_eq!(shown(&held).0, [0x21, 0]);
}
