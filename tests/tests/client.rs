//! The client's services against the server, over a socket of this machine.

use std::future::Future;

use uaforge::client::{Client, Error, Session};
use uaforge::server::{Limits, Server};
use uaforge::types::{BrowseDescription, BrowseDirection, BrowseResultMask, ReadValueId, RequestHeader};
use uaforge::{NodeId, QualifiedName, status};
use uaforge_nodes::{ClassAttributes, NewNode};

/// Folder F with 25 references, G with 3; two continuation points, pages of ten (case 040).
fn server() -> Server {
    let limits = Limits { max_continuation_points: 2, max_references_per_node: 10, ..Limits::default() };
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .limits(limits)
        .model(uaforge::ns0())
        .build()
        .expect("the server is built");
    for (folder, count) in [("F", 25), ("G", 3)] {
        let parent = NodeId::string(1, folder);
        let add = |id: &NodeId, name: &str, under: &NodeId| {
            server.space().edit(|edit| {
                let object = ClassAttributes::Object { event_notifier: 0 };
                edit.add_node(NewNode::new(id.clone(), QualifiedName::new(1, name), object))?;
                edit.add_reference(under, &NodeId::numeric(0, 35), id)
            })
        };
        add(&parent, folder, &NodeId::numeric(0, 85)).expect("a folder");
        for number in 0..count {
            let name = format!("{folder}{number}");
            add(&NodeId::string(1, name.clone()), &name, &parent).expect("a child");
        }
    }
    server
}

fn with_session<F: Future>(client: impl FnOnce(Session) -> F) -> F::Output {
    let server = server();
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

fn children(of: &str) -> BrowseDescription {
    BrowseDescription {
        node_id: NodeId::string(1, of),
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: NodeId::numeric(0, 35),
        include_subtypes: true,
        node_class_mask: 0,
        result_mask: BrowseResultMask::ALL.0.cast_unsigned(),
    }
}

/// Case 040: more nodes with pages than the server has continuation points.
#[test]
fn browse_all_gets_every_page() {
    with_session(|session| async move {
        let once = session.browse(vec![children("F"); 3], 10).await.unwrap();
        assert_eq!(once[2].status_code, status::BAD_NO_CONTINUATION_POINTS);
        let points = once.into_iter().take(2).map(|result| result.continuation_point).collect();
        session.browse_next(points, true).await.unwrap();

        let nodes = vec![children("F"), children("G"), children("F"), children("Missing"), children("F")];
        let pages = session.browse_all(nodes).await.unwrap();
        let counts: Vec<_> = pages.iter().map(|page| page.as_ref().map_or(0, Vec::len)).collect();
        assert_eq!(counts, [25, 3, 25, 0, 25]);
        let mut names: Vec<_> =
            pages[4].as_ref().unwrap().iter().map(|reference| reference.browse_name.name.clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 25, "each reference once");
        assert_eq!(pages[3].as_ref().unwrap_err().status(), status::BAD_NODE_ID_UNKNOWN);
    });
}

#[test]
fn a_service_that_fails_is_an_error_with_its_name() {
    with_session(|session| async move {
        let error = session.read(Vec::<ReadValueId>::new()).await.unwrap_err();
        assert!(matches!(error, Error::Service { .. }), "{error}");
        assert!(error.to_string().starts_with("ReadRequest: Bad_NothingToDo"), "{error}");
        let error = session.browse(Vec::new(), 0).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_NOTHING_TO_DO);
    });
}

#[test]
fn discovery_works_over_a_session() {
    with_session(|session| async move {
        let endpoints = session.get_endpoints("opc.tcp://[::1]:14840/srv").await.unwrap();
        assert!(!endpoints.is_empty());
        let servers = session.find_servers("opc.tcp://localhost").await.unwrap();
        assert_eq!(servers.len(), 1);
    });
}

#[test]
fn a_request_header_of_the_caller_does_not_matter() {
    with_session(|session| async move {
        let request = uaforge::types::ReadRequest {
            request_header: RequestHeader { request_handle: 7, ..Default::default() },
            nodes_to_read: vec![ReadValueId {
                node_id: NodeId::numeric(0, 2259),
                attribute_id: 13,
                ..Default::default()
            }]
            .into(),
            ..Default::default()
        };
        let response = session.call_service(request).await.unwrap();
        assert_eq!(response.results.len(), 1);
    });
}

#[test]
fn a_closed_session_says_so() {
    let session = with_session(|session| async move { session });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(session.read_value(&NodeId::numeric(0, 2259))).unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
}
