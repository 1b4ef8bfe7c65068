//! The client's services against the server, over a socket of this machine.

use std::future::{Future, IntoFuture as _};

use tokio::sync::mpsc::UnboundedSender;
use uaforge::client::typed::Var;
use uaforge::client::{Client, Error, ReadOptions, Session, WriteOptions};
use uaforge::server::{
    BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, Limits, NodeManager, ReadCx, ReadItem,
    Server,
};
use uaforge::types::{
    BrowseDescription, BrowseDirection, BrowseResultMask, ReadRequest, ReadValueId, RequestHeader,
    TimestampsToReturn,
};
use uaforge::{NodeId, QualifiedName, status};
use uaforge_codec::{DateTime, IntoVariant as _, NodeIdRef, StatusCode};
use uaforge_nodes::{AttributeId, ClassAttributes, NewNode, VariableAttributes};
use uaforge_tests::nodes;

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
    with_session_of(server(), client)
}

fn with_session_of<F: Future>(server: Server, client: impl FnOnce(Session) -> F) -> F::Output {
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

/// Typed variables write the value alone, or what was asked for.
#[test]
fn typed_variables_write() {
    let server = server();
    // CurrentRead, CurrentWrite and TimestampWrite (OPC 10000-3 §8.57).
    let with_time = VariableAttributes { access_level: 0x43, ..nodes::scalar(11) };
    let level = nodes::variable(&server, 1, with_time, 1.5);
    let curve = nodes::variable(&server, 2, nodes::array(11, 1, &[]), vec![1.0, 2.0, 3.0].into_variant());
    let fixed = nodes::variable(&server, 3, VariableAttributes { access_level: 1, ..nodes::scalar(11) }, 1.5);
    with_session_of(server, |session| async move {
        let curve_of = |session: &Session| Var::<Vec<f64>>::at(session, curve.id().clone());
        let level_of = Var::<f64>::at(&session, level.id().clone());
        level_of.write(7.25).await.unwrap();
        assert_eq!(level_of.read().await.unwrap(), 7.25);
        let time = DateTime::from_utc(2024, 5, 6, 7, 8);
        level_of.write_with(8.0, &WriteOptions::new().source_timestamp(time)).await.unwrap();
        let error =
            curve_of(&session).write_with(vec![0.0], &WriteOptions::new().source_timestamp(time)).await;
        assert_eq!(error.unwrap_err().status(), status::BAD_WRITE_NOT_SUPPORTED);
        let options = ReadOptions::new().timestamps(TimestampsToReturn::SOURCE);
        let sample = level_of.read_with(&options).await.unwrap();
        assert_eq!((sample.value, sample.source_timestamp), (8.0, Some(time)));
        assert_eq!(sample.server_timestamp, None);
        let curve_of = curve_of(&session);
        curve_of.write_range("1:2", vec![5.0, 6.0]).await.unwrap();
        assert_eq!(curve_of.read().await.unwrap(), [1.0, 5.0, 6.0]);
        assert_eq!(curve_of.read_range("0:1").await.unwrap(), [1.0, 5.0]);
        let error = curve_of.read_range("7").await.unwrap_err();
        assert_eq!(error.status(), status::BAD_INDEX_RANGE_NO_DATA);
        // What was refused is told with request, node, status, meaning and advice.
        let error = Var::<f64>::at(&session, fixed.id().clone()).write(1.0).await.unwrap_err();
        let told = "WriteRequest ns=1;i=3: Bad_NotWritable (0x803B0000): the node may not be written; \
                    look at its AccessLevel or WriteMask";
        assert_eq!(error.to_string(), told);
        assert!(error.advice().unwrap().contains("AccessLevel"));
        let items = [(level.id(), 1.0), (fixed.id(), 2.0)];
        assert_eq!(session.write(items).await.unwrap(), [StatusCode::GOOD, status::BAD_NOT_WRITABLE]);
        let error = session.write(items).all().await.unwrap_err();
        assert!(error.to_string().starts_with("WriteRequest[1] ns=1;i=3: "), "{error}");
        // A value of another type is refused by the server, not converted by the client.
        let error = session.write_value(level.id(), 5u32).await.unwrap_err();
        assert_eq!(error.status(), status::BAD_TYPE_MISMATCH);
    });
}

/// A server that stops tells the session, and whoever waits.
#[test]
fn a_server_that_stops_ends_the_session() {
    let server = server();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    runtime.block_on(async {
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let session = Client::builder().insecure().connect(&url).await.expect("connected");
        assert!(!session.is_closed());
        let watched = session.clone();
        let closed = tokio::spawn(async move { watched.closed().await });
        drop(stop);
        let reason = closed.await.expect("the task ends");
        assert!(session.is_closed(), "{reason}");
        let error = session.read_value(&NodeId::numeric(0, 2259)).await.unwrap_err();
        assert_eq!(error.to_string(), reason.to_string());
        running.await.expect("the server does not panic").expect("the server runs");
        let error = Client::builder().insecure().connect(&url).await.unwrap_err();
        assert!(matches!(error, Error::Connect { .. }), "{error}");
    });
}

/// A device that never answers, and tells when a read of it begins and ends.
struct Stuck(UnboundedSender<&'static str>);

/// Tells that a read is given up.
struct Ends(UnboundedSender<&'static str>);

impl Drop for Ends {
    fn drop(&mut self) {
        // The test may have ended before the server has.
        let _ = self.0.send("given up");
    }
}

impl NodeManager for Stuck {
    fn namespaces(&self) -> Vec<Claim> {
        vec!["urn:stuck".into()]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        for item in items {
            let ends = Ends(self.0.clone());
            cx.defer(item, async move {
                ends.0.send("running").expect("the test listens");
                std::future::pending().await
            });
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_NODE_ID_UNKNOWN));
    }

    fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}

    fn describe(&self, _: NodeIdRef<'_>, _: &mut dyn FnMut(&Description<'_>)) -> bool {
        false
    }
}

/// Dropping a call stops the work on the server.
#[test]
fn a_dropped_call_cancels_its_handler() {
    let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .manager(Stuck(told))
        .build()
        .expect("the server is built");
    with_session_of(server, |session| async move {
        let namespace = session.namespaces().index_of("urn:stuck").expect("the manager's namespace");
        let item = ReadValueId {
            node_id: NodeId::numeric(namespace, 1),
            attribute_id: AttributeId::Value as u32,
            ..Default::default()
        };
        let request = ReadRequest { nodes_to_read: vec![item].into(), ..Default::default() };
        let running = tokio::spawn(session.call_service(request.clone()).into_future());
        assert_eq!(events.recv().await, Some("running"));
        running.abort();
        assert_eq!(events.recv().await, Some("given up"));
        // And by its handle; whoever waits is told.
        let call = session.call_service(request);
        let handle = call.request_handle();
        let running = tokio::spawn(call.into_future());
        assert_eq!(events.recv().await, Some("running"));
        assert_eq!(session.cancel(handle).await.unwrap(), 1);
        assert_eq!(events.recv().await, Some("given up"));
        let error = running.await.unwrap().unwrap_err();
        assert_eq!(error.status(), status::BAD_REQUEST_CANCELLED_BY_CLIENT);
        assert_eq!(session.cancel(handle).await.unwrap(), 0);
    });
}
