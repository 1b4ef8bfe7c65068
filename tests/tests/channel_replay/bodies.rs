//! Every recorded body is read, and written again as it was wherever another stack does so.

use sha2::{Digest as _, Sha256};
use uaforge_codec::{
    Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder, ExtensionObject,
    ExtensionObjectBody, NamespaceMap, NodeId, TypeRegistry,
};
use uaforge_tests::captures::{Capture, Message, captures};
use uaforge_types::*;

use crate::recorded::OPEN_HEADER;

macro_rules! services {
    ($($request:ident $response:ident)*) => {
        /// The structures of all services, and what they may hold.
        fn types() -> TypeRegistry {
            let mut types = TypeRegistry::new();
            register_types(&mut types);
            $(
                types.register::<$request>();
                types.register::<$response>();
            )*
            types.register::<ServiceFault>();
            types
        }
    };
}

services! {
    ActivateSessionRequest ActivateSessionResponse AddNodesRequest AddNodesResponse
    AddReferencesRequest AddReferencesResponse BrowseNextRequest BrowseNextResponse
    BrowseRequest BrowseResponse CallRequest CallResponse CancelRequest CancelResponse
    CloseSecureChannelRequest CloseSecureChannelResponse CloseSessionRequest CloseSessionResponse
    CreateMonitoredItemsRequest CreateMonitoredItemsResponse CreateSessionRequest CreateSessionResponse
    CreateSubscriptionRequest CreateSubscriptionResponse
    DeleteMonitoredItemsRequest DeleteMonitoredItemsResponse DeleteNodesRequest DeleteNodesResponse
    DeleteReferencesRequest DeleteReferencesResponse
    DeleteSubscriptionsRequest DeleteSubscriptionsResponse
    FindServersOnNetworkRequest FindServersOnNetworkResponse FindServersRequest FindServersResponse
    GetEndpointsRequest GetEndpointsResponse HistoryReadRequest HistoryReadResponse
    HistoryUpdateRequest HistoryUpdateResponse ModifyMonitoredItemsRequest ModifyMonitoredItemsResponse
    ModifySubscriptionRequest ModifySubscriptionResponse
    OpenSecureChannelRequest OpenSecureChannelResponse PublishRequest PublishResponse
    QueryFirstRequest QueryFirstResponse QueryNextRequest QueryNextResponse ReadRequest ReadResponse
    RegisterNodesRequest RegisterNodesResponse RegisterServer2Request RegisterServer2Response
    RegisterServerRequest RegisterServerResponse RepublishRequest RepublishResponse
    SetMonitoringModeRequest SetMonitoringModeResponse SetPublishingModeRequest SetPublishingModeResponse
    SetTriggeringRequest SetTriggeringResponse TransferSubscriptionsRequest TransferSubscriptionsResponse
    TranslateBrowsePathsToNodeIdsRequest TranslateBrowsePathsToNodeIdsResponse
    UnregisterNodesRequest UnregisterNodesResponse WriteRequest WriteResponse
}

/// A body (type id and structure) as the ExtensionObject of that structure.
fn read(body: &[u8], types: &TypeRegistry) -> ExtensionObject {
    let cx = DecodeContext { types, ..Default::default() };
    let mut d = Decoder::new(body, cx);
    NodeId::decode(&mut d).expect("a type id");
    let (id, fields) = body.split_at(body.len() - d.remaining());
    let len = u32::try_from(fields.len()).expect("short").to_le_bytes();
    let object = [id, &[1], &len, fields].concat();
    let mut d = Decoder::new(&object, cx);
    let object = ExtensionObject::decode(&mut d).unwrap_or_else(|error| panic!("{error}"));
    d.finish().expect("nothing behind it");
    object
}

/// The body of what was read.
fn written(object: &ExtensionObject) -> Vec<u8> {
    let ExtensionObjectBody::Value(value) = object.body() else {
        panic!("{} is no service", object.type_id());
    };
    let map = NamespaceMap::new();
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: &map });
    object.type_id().encode(&mut e);
    value.encode_body(&mut e);
    e.finish().expect("it can be written");
    bytes
}

/// The body of a message, put together from its chunks.
fn body(capture: &Capture, message: &Message) -> Vec<u8> {
    let header = if message.kind == "OPN" { OPEN_HEADER } else { 24 };
    let chunks = message.frames.iter().map(|at| &capture.frames[*at].chunk.0[header..]);
    chunks.collect::<Vec<_>>().concat()
}

#[test]
fn every_body_is_read_and_written_again() {
    let types = types();
    let mut count = 0;
    for capture in captures() {
        for message in capture.messages.iter().filter(|message| !message.sha256.is_empty()) {
            let name = format!("{}: {} {}", capture.name, message.service, message.request_id);
            let body = body(&capture, message);
            assert_eq!(hex::encode(Sha256::digest(&body)), message.sha256, "{name}");
            let value = read(&body, &types);
            let again = written(&value);
            // Without a stack that does so, longer forms of NodeIds (OPC 10000-6 §5.2.2.9) became shorter.
            assert_eq!(read(&again, &types), value, "{name}");
            if message.is_canonical {
                assert_eq!(hex::encode(again), hex::encode(body), "{name}");
            }
            count += 1;
        }
    }
    assert!(count > 300, "{count} bodies");
}
