//! Write (OPC 10000-4 §5.11.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use uaforge_channel::ClientConfig;
use uaforge_codec::{Array, LocalizedText, NodeIdRef, QualifiedName, StatusCode, Variant, VariantArray};
use uaforge_nodes::{AttributeId, ClassAttributes, Listener, ValueCell, VariableAttributes};
use uaforge_server::{Access, AccessControl, Limits, VariableHandle};
use uaforge_tests::nodes::{
    self, VALUE, add, array, property, scalar, set, variable, write, write_all, write_item,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{WriteRequest, status};

use crate::{builder, peer};

/// Counts changes of a cell.
#[derive(Default)]
struct Changes(AtomicUsize);

impl Listener for Changes {
    fn changed(&self, _: &ValueCell) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn watch(handle: &VariableHandle) -> Arc<Changes> {
    let changes = Arc::new(Changes::default());
    handle.cell().listen(changes.clone());
    changes
}

/// Nobody may write node 6.
struct NotNode6;

impl AccessControl for NotNode6 {
    fn access_level(&self, _: Access, node: NodeIdRef<'_>, level: u8) -> u8 {
        if node == NodeIdRef::Numeric(1, 6) { level & !2 } else { level }
    }
}

/// Write: access rights, write masks and type checks (OPC 10000-4 §5.11.4, OPC 10000-3 §5.2.7, §5.2.8, §5.6.2).
#[test]
fn case_042_write_masks_and_types() {
    let server = builder().access_control(NotNode6).build().unwrap();
    let v = variable(&server, 1, scalar(6), 0i32);
    let r = variable(&server, 2, VariableAttributes { access_level: 1, ..scalar(6) }, 1i32);
    let n = variable(&server, 3, VariableAttributes { access_level: 0, ..scalar(11) }, 1.0);
    let s = variable(&server, 4, scalar(26), 0i32);
    let d = add(&server, 5, ClassAttributes::Object { event_notifier: 0 });
    let denied = variable(&server, 6, scalar(6), 1i32);
    // The bit DisplayName of AttributeWriteMask (OPC 10000-3 §8.60).
    set(&server, &d, AttributeId::WriteMask, 1u32 << 6);
    let (of_v, of_r) = (watch(&v), watch(&r));
    let mut peer = peer(&server);

    // Steps 1 to 4.
    assert_eq!(write(&mut peer, v.id(), 5i32), StatusCode::GOOD);
    assert_eq!(nodes::value(&mut peer, v.id(), VALUE), Variant::Int32(5));
    assert_eq!(of_v.0.load(Ordering::Relaxed), 1);
    assert_eq!(write(&mut peer, v.id(), 5u32), status::BAD_TYPE_MISMATCH);
    let list = VariantArray::Int32(Array::from(vec![5]));
    assert_eq!(write(&mut peer, v.id(), list.clone()), status::BAD_TYPE_MISMATCH);
    assert_eq!(write(&mut peer, v.id(), Variant::Null), status::BAD_TYPE_MISMATCH);
    let nullable = variable(&server, 7, scalar(6), 1i32);
    property(&server, nullable.id(), 8, "AllowNulls", true);
    assert_eq!(write(&mut peer, nullable.id(), Variant::Null), StatusCode::GOOD);
    // Steps 5 to 7.
    assert_eq!(write(&mut peer, r.id(), 5i32), status::BAD_NOT_WRITABLE);
    assert_eq!(write(&mut peer, denied.id(), 5i32), status::BAD_USER_ACCESS_DENIED);
    assert_eq!(nodes::value(&mut peer, denied.id(), AttributeId::AccessLevel as u32), Variant::Byte(3));
    assert_eq!(nodes::value(&mut peer, denied.id(), AttributeId::UserAccessLevel as u32), Variant::Byte(1));
    assert_eq!(nodes::read(&mut peer, n.id(), VALUE).status_or_good(), status::BAD_NOT_READABLE);
    // Step 8.
    assert_eq!(write(&mut peer, s.id(), 1.0), StatusCode::GOOD);
    assert_eq!(write(&mut peer, s.id(), 1u8), StatusCode::GOOD);
    assert_eq!(write(&mut peer, s.id(), Variant::String("1".into())), status::BAD_TYPE_MISMATCH);
    // Steps 9 to 13, in one call: the items do not influence each other.
    let (display_name, browse_name) = (AttributeId::DisplayName as u32, AttributeId::BrowseName as u32);
    let text = LocalizedText { locale: "en".into(), text: "Boiler".into() };
    let items = vec![
        write_item(&d, display_name, text.clone()),
        write_item(&d, browse_name, QualifiedName::new(1, "Boiler")),
        write_item(&d, display_name, 1i32),
        write_item(&d, 99, 1i32),
        write_item(&d, VALUE, 1i32),
        write_item(v.id(), VALUE, 6i32),
    ];
    let expected = [
        StatusCode::GOOD,
        status::BAD_NOT_WRITABLE,
        status::BAD_TYPE_MISMATCH,
        status::BAD_ATTRIBUTE_ID_INVALID,
        status::BAD_ATTRIBUTE_ID_INVALID,
        StatusCode::GOOD,
    ];
    assert_eq!(write_all(&mut peer, items), expected);
    assert_eq!(nodes::value(&mut peer, &d, display_name), text.into());
    assert_eq!(nodes::value(&mut peer, &d, browse_name), QualifiedName::new(1, "5").into());
    // Step 14, in both directions.
    let bytes = variable(&server, 9, scalar(15), Variant::ByteString([1].into()));
    let list_of_bytes = variable(&server, 10, array(3, 1, &[]), VariantArray::Byte(Array::from(vec![1])));
    assert_eq!(write(&mut peer, bytes.id(), VariantArray::Byte(Array::from(vec![2, 3]))), StatusCode::GOOD);
    assert_eq!(nodes::value(&mut peer, bytes.id(), VALUE), Variant::ByteString([2, 3].into()));
    assert_eq!(write(&mut peer, list_of_bytes.id(), Variant::ByteString([4].into())), StatusCode::GOOD);
    let four = VariantArray::Byte(Array::from(vec![4]));
    assert_eq!(nodes::value(&mut peer, list_of_bytes.id(), VALUE), four.into());
    // Step 15: ServerState (i=852) declares 0 to 7.
    let state = variable(&server, 11, scalar(852), 0i32);
    assert_eq!(write(&mut peer, state.id(), 7i32), StatusCode::GOOD);
    assert_eq!(write(&mut peer, state.id(), 8i32), status::BAD_OUT_OF_RANGE);
    assert_eq!(write(&mut peer, state.id(), 7u32), status::BAD_TYPE_MISMATCH);
    // Step 16.
    assert_eq!(peer.call(WriteRequest::default()), Err(status::BAD_NOTHING_TO_DO));
    // What was refused changed nothing, and nobody was told.
    assert_eq!(nodes::value(&mut peer, v.id(), VALUE), Variant::Int32(6));
    assert_eq!(nodes::value(&mut peer, r.id(), VALUE), Variant::Int32(1));
    assert_eq!((of_v.0.load(Ordering::Relaxed), of_r.0.load(Ordering::Relaxed)), (2, 0));
}

/// Step 17: 20 MB against the server's limit; and a limit of the node (OPC 10000-3 §5.6.4, MaxArrayLength).
#[test]
fn case_042_long_values() {
    let limits = Limits { max_array_length: 1_000, max_message_size: 32 << 20, ..Limits::default() };
    let server = builder().limits(limits).build().unwrap();
    let many = |count: usize| Variant::from(VariantArray::Double(Array::from(vec![0.5; count])));
    let wide = variable(&server, 12, array(11, 1, &[]), many(0));
    property(&server, wide.id(), 13, "MaxArrayLength", 1_000u32);
    let too_many = WriteRequest {
        nodes_to_write: Array::from(vec![write_item(wide.id(), VALUE, many(2_500_000))]),
        ..Default::default()
    };
    let mut config = ClientConfig::new("opc.tcp://here:4840");
    config.limits.max_message = 32 << 20;
    let now = start_time();
    let mut peer = Peer::with_session_by(InProcess(server.connection(now)), config, now);
    assert_eq!(peer.call(too_many), Err(status::BAD_ENCODING_LIMITS_EXCEEDED));
    let server = builder().build().unwrap();
    let wide = variable(&server, 12, array(11, 1, &[]), many(0));
    property(&server, wide.id(), 13, "MaxArrayLength", 1_000u32);
    let mut peer = crate::peer(&server);
    assert_eq!(write(&mut peer, wide.id(), many(1_001)), status::BAD_OUT_OF_RANGE);
    assert_eq!(write(&mut peer, wide.id(), many(1_000)), StatusCode::GOOD);
}
