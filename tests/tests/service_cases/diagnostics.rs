//! Diagnostics that a client asks for (RequestHeader returnDiagnostics, OPC 10000-4 §7.32, §7.12, §7.33).

use uaforge_codec::{Array, Encode as _, EncodeContext, Encoder, NS0_URI, NodeId, NodeIdRef, Variant};
use uaforge_codec::{DiagnosticInfo, StatusCode, Structure as _};
use uaforge_tests::nodes::{VALUE, item, read_request, scalar, variable, write_item};
use uaforge_types::{
    BrowseDescription, BrowseRequest, BrowseResponse, CallMethodRequest, CallRequest, CallResponse,
    ReadRequest, ReadResponse, ResponseHeader, ServiceFault, ServiceRequest, WriteRequest, WriteResponse,
    status,
};

use crate::{InProcessPeer, builder, peer};

const SERVICE: u32 = 0x1F;
const OPERATIONS: u32 = 0x3E0;
const SYMBOLIC_IDS: u32 = 0x21;

/// The body of the response to a request with these bits.
fn ask<Q: ServiceRequest>(peer: &mut InProcessPeer, mut request: Q, bits: u32) -> Vec<u8> {
    *request.header_mut() = peer.header();
    request.header_mut().return_diagnostics = bits;
    let mut body = Vec::new();
    let mut e = Encoder::new(&mut body, EncodeContext::default());
    NodeIdRef::Numeric(0, Q::DESCRIPTOR.binary_id()).encode(&mut e);
    request.encode(&mut e);
    peer.call_raw(&body).expect("an answer")
}

fn text(header: &ResponseHeader, index: Option<i32>) -> Option<&str> {
    header.string_table.get(usize::try_from(index?).ok()?)?.as_str()
}

fn symbol<'h>(header: &'h ResponseHeader, info: &DiagnosticInfo) -> Option<&'h str> {
    assert_eq!(text(header, info.namespace_uri), info.symbolic_id.map(|_| NS0_URI));
    text(header, info.symbolic_id)
}

#[test]
fn operations_say_what_was_asked_for() {
    let server = builder().build().unwrap();
    let v = variable(&server, 1, scalar(6), 7i32);
    let unknown = NodeId::numeric(1, 99);
    let mut peer = peer(&server);
    let request = || read_request(vec![item(v.id(), VALUE), item(&unknown, VALUE), item(v.id(), 99)]);
    let read = |peer: &mut InProcessPeer, bits| -> ReadResponse {
        let body = ask(peer, request(), bits);
        let response: ReadResponse = peer.decode(&body).unwrap();
        assert_eq!(response.results[0].value(), Some(&Variant::Int32(7)));
        assert_eq!(response.results[1].status(), Some(status::BAD_NODE_ID_UNKNOWN));
        response
    };
    for nothing in [0, SERVICE, 1 << 9, 1 << 31] {
        let response = read(&mut peer, nothing);
        assert!(response.diagnostic_infos.is_empty(), "{nothing:x}");
        assert!(response.response_header.string_table.is_empty(), "{nothing:x}");
    }
    let response = read(&mut peer, OPERATIONS);
    let (header, infos) = (&response.response_header, &response.diagnostic_infos);
    assert!(header.service_diagnostics.is_empty());
    assert_eq!(infos.len(), 3);
    assert!(infos[0].is_empty());
    assert_eq!(symbol(header, &infos[1]), Some("Bad_NodeIdUnknown"));
    assert_eq!(symbol(header, &infos[2]), Some("Bad_AttributeIdInvalid"));
    assert_eq!(text(header, infos[1].localized_text), Some("bad: node id unknown"));
    assert_eq!(text(header, infos[1].locale), Some("en"));
    let response = read(&mut peer, SYMBOLIC_IDS);
    assert_eq!(response.diagnostic_infos[1].localized_text, None);
    assert_eq!(response.response_header.string_table.len(), 3);
    // All is well: there is nothing to say.
    let good = ask(&mut peer, read_request(vec![item(v.id(), VALUE)]), OPERATIONS | SERVICE);
    let good: ReadResponse = peer.decode(&good).unwrap();
    assert!(good.diagnostic_infos.is_null() && good.response_header.string_table.is_null());
}

#[test]
fn other_services_say_it_too() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let unknown = NodeId::numeric(1, 99);
    let write = WriteRequest {
        nodes_to_write: Array::from(vec![write_item(&unknown, VALUE, 1i32)]),
        ..Default::default()
    };
    let body = ask(&mut peer, write, OPERATIONS);
    let response: WriteResponse = peer.decode(&body).unwrap();
    assert_eq!(*response.results, [status::BAD_NODE_ID_UNKNOWN]);
    assert_eq!(symbol(&response.response_header, &response.diagnostic_infos[0]), Some("Bad_NodeIdUnknown"));
    let description = |node: u32| BrowseDescription {
        node_id: NodeId::numeric(0, node),
        result_mask: 63,
        ..Default::default()
    };
    let browse = BrowseRequest {
        nodes_to_browse: Array::from(vec![description(84), description(4_000_000)]),
        ..Default::default()
    };
    let plain: BrowseResponse = peer.call(browse.clone()).unwrap();
    let body = ask(&mut peer, browse, OPERATIONS);
    let response: BrowseResponse = peer.decode(&body).unwrap();
    assert_eq!(response.results, plain.results);
    assert_eq!(symbol(&response.response_header, &response.diagnostic_infos[1]), Some("Bad_NodeIdUnknown"));
}

#[test]
fn faults_say_where_a_request_cannot_be_read() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let fault = |peer: &mut InProcessPeer, body: &[u8]| -> ServiceFault {
        let answer = peer.call_raw(body).expect("an answer");
        let cx = uaforge_codec::DecodeContext::default();
        let mut d = uaforge_codec::Decoder::new(&answer, cx);
        let id: NodeId = uaforge_codec::Decode::decode(&mut d).unwrap();
        assert_eq!(id, NodeId::numeric(0, ServiceFault::DESCRIPTOR.binary_id()));
        let fault = uaforge_codec::Decode::decode(&mut d).unwrap();
        d.finish().unwrap();
        fault
    };
    let body = |peer: &mut InProcessPeer, items, bits| {
        let mut request = ReadRequest { request_header: peer.header(), ..read_request(items) };
        request.request_header.return_diagnostics = bits;
        let mut body = Vec::new();
        let mut e = Encoder::new(&mut body, EncodeContext::default());
        NodeIdRef::Numeric(0, ReadRequest::DESCRIPTOR.binary_id()).encode(&mut e);
        request.encode(&mut e);
        body
    };
    let empty = body(&mut peer, vec![], SERVICE);
    let answer = fault(&mut peer, &empty).response_header;
    assert_eq!(answer.service_result, status::BAD_NOTHING_TO_DO);
    assert_eq!(symbol(&answer, &answer.service_diagnostics), Some("Bad_NothingToDo"));
    assert!(answer.service_diagnostics.additional_info.is_null());
    let server_node = NodeId::numeric(0, 2253);
    let mut cut = body(&mut peer, vec![item(&server_node, 4); 3], SERVICE);
    cut.truncate(cut.len() - 4);
    let answer = fault(&mut peer, &cut).response_header;
    assert_eq!(answer.service_result, StatusCode::BAD_DECODING_ERROR);
    let reason = answer.service_diagnostics.additional_info.as_str().unwrap_or_default().to_owned();
    assert!(reason.contains("nodesToRead[2].dataEncoding"), "{reason}");
    let mut silent = body(&mut peer, vec![item(&server_node, 4); 3], 0);
    silent.truncate(silent.len() - 4);
    assert!(fault(&mut peer, &silent).response_header.service_diagnostics.is_empty());
}

#[test]
fn input_arguments_have_their_own() {
    let server = builder().build().unwrap();
    let mut peer = peer(&server);
    let (object, method) = (NodeId::numeric(0, 2253), NodeId::numeric(0, 11_492));
    server
        .on_call(object.clone(), method.clone(), |call| match call.inputs[0] {
            Variant::UInt32(7) => Ok(vec![Variant::Null; 2]),
            _ => Err(status::BAD_USER_ACCESS_DENIED.into()),
        })
        .unwrap();
    let call = |input: Variant| CallMethodRequest {
        object_id: object.clone(),
        method_id: method.clone(),
        input_arguments: Array::from(vec![input]),
    };
    let calls = vec![call("seven".into()), call(7u32.into()), call(8u32.into()), call(false.into())];
    let mut ask_for = |bits| -> CallResponse {
        let request = CallRequest { methods_to_call: Array::from(calls.clone()), ..Default::default() };
        let body = ask(&mut peer, request, bits);
        peer.decode(&body).unwrap()
    };
    let plain = ask_for(0);
    assert_eq!(*plain.results[0].input_argument_results, [status::BAD_TYPE_MISMATCH]);
    assert!(plain.results.iter().all(|result| result.input_argument_diagnostic_infos.is_empty()));
    let told = ask_for(OPERATIONS);
    let header = &told.response_header;
    for wrong in [0, 3] {
        let infos = &told.results[wrong].input_argument_diagnostic_infos;
        assert_eq!(infos.len(), 1);
        assert_eq!(symbol(header, &infos[0]), Some("Bad_TypeMismatch"));
        assert_eq!(text(header, infos[0].localized_text), Some("bad: type mismatch"));
        assert_eq!(symbol(header, &told.diagnostic_infos[wrong]), Some("Bad_InvalidArgument"));
    }
    assert_eq!(told.results[1], plain.results[1]);
    assert_eq!(told.results[2], plain.results[2]);
    assert_eq!(symbol(header, &told.diagnostic_infos[2]), Some("Bad_UserAccessDenied"));
    // Additional text is all that is wanted, and there is none.
    assert_eq!(ask_for(1 << 7).results, plain.results);
}
