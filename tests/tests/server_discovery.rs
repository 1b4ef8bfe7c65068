//! Discovery servers, registrations, and settings from a file (OPC 10000-4 §5.5).

use std::time::Duration;

use uaforge_client::Client;
use uaforge_codec::{Array, ExtensionObject, LocalizedText, StatusCode, UaString};
use uaforge_server::{
    Connection, DiscoveryServer, Limits, Registration, Server, ServerBuilder, ServerSettings,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    ApplicationType, EndpointDescription, FindServersOnNetworkRequest, FindServersRequest,
    GetEndpointsRequest, MdnsDiscoveryConfiguration, RegisterServer2Request, RegisterServerRequest,
    RegisteredServer, ServerOnNetwork, status,
};

const URL: &str = "opc.tcp://plant.example:4840";

fn builder() -> ServerBuilder {
    Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_ns0::model())
}

fn client(server: &Server) -> Peer<InProcess<Connection>> {
    Peer::connect(InProcess(server.connection(start_time())), URL, start_time())
}

fn discovery_server(settings: DiscoveryServer) -> Server {
    builder().application_uri("urn:test:lds").discovery_server(settings).build().expect("a server")
}

fn registered(uri: &str) -> RegisteredServer {
    RegisteredServer {
        server_uri: uri.into(),
        server_names: vec![
            LocalizedText::from("Pump"),
            LocalizedText { locale: "de".into(), text: "Pumpe".into() },
        ]
        .into(),
        server_type: ApplicationType::SERVER,
        discovery_urls: vec![UaString::from("opc.tcp://pump:4840"), "opc.tcp://pump:4841".into()].into(),
        is_online: true,
        ..Default::default()
    }
}

fn register(client: &mut Peer<InProcess<Connection>>, server: RegisteredServer) -> Result<(), StatusCode> {
    client.call(RegisterServerRequest { server, ..Default::default() }).map(drop)
}

/// Registers to be found on the network; the results of the configurations.
fn announce(client: &mut Peer<InProcess<Connection>>, uri: &str, capabilities: &[&str]) -> Vec<StatusCode> {
    let network = MdnsDiscoveryConfiguration {
        mdns_server_name: "pump".into(),
        server_capabilities: capabilities.iter().map(|&one| UaString::from(one)).collect::<Vec<_>>().into(),
    };
    let configurations = vec![ExtensionObject::new(network), ExtensionObject::default()];
    let request = RegisterServer2Request {
        server: registered(uri),
        discovery_configuration: configurations.into(),
        ..Default::default()
    };
    client.call(request).expect("registered").configuration_results.into_vec()
}

fn uris(client: &mut Peer<InProcess<Connection>>, request: FindServersRequest) -> Vec<String> {
    let found = client.call(request).expect("servers").servers;
    found.iter().map(|server| server.application_uri.as_str().unwrap_or_default().to_owned()).collect()
}

fn on_network(
    client: &mut Peer<InProcess<Connection>>,
    request: FindServersOnNetworkRequest,
) -> Vec<ServerOnNetwork> {
    client.call(request).expect("records").servers.into_vec()
}

#[test]
fn code_and_file_make_the_same_server() {
    let text = r#"
        endpoints = ["opc.tcp://127.0.0.1:0/one", "opc.tcp://127.0.0.1:0/two"]
        insecure = true
        namespaces = ["urn:test:nodes"]
        [application]
        uri = "urn:test:file"
        name = "From a file"
        product_uri = "urn:test:product"
        [limits]
        max_sessions = 7
    "#;
    let settings = ServerSettings::from_toml(text).expect("settings");
    let from_file =
        Server::builder().model(uaforge_ns0::model()).settings(&settings).build().expect("a server");
    let from_code = Server::builder()
        .model(uaforge_ns0::model())
        .endpoint("opc.tcp://127.0.0.1:0/one")
        .endpoint("opc.tcp://127.0.0.1:0/two")
        .insecure()
        .namespace("urn:test:nodes")
        .application_uri("urn:test:file")
        .application_name("From a file")
        .product_uri("urn:test:product")
        .limits(Limits { max_sessions: 7, ..Limits::default() })
        .build()
        .expect("a server");
    let endpoints = |server: &Server| -> Vec<EndpointDescription> {
        let request = GetEndpointsRequest { endpoint_url: URL.into(), ..Default::default() };
        client(server).call(request).expect("endpoints").endpoints.into_vec()
    };
    let found = endpoints(&from_file);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found.first().map(|endpoint| endpoint.endpoint_url.clone()),
        Some(format!("{URL}/one").into())
    );
    assert_eq!(found, endpoints(&from_code));
    let namespaces = |server: &Server| -> Vec<String> {
        let snapshot = server.space().snapshot();
        (0..).map_while(|index| snapshot.namespaces().uri(index).map(str::to_owned)).collect()
    };
    assert_eq!(namespaces(&from_file), namespaces(&from_code));
}

#[test]
fn a_server_that_is_no_discovery_server_says_so() {
    let server = builder().build().expect("a server");
    let mut client = client(&server);
    assert_eq!(register(&mut client, registered("urn:test:pump")), Err(status::BAD_SERVICE_UNSUPPORTED));
    let request = RegisterServer2Request { server: registered("urn:test:pump"), ..Default::default() };
    assert_eq!(client.call(request).map(drop), Err(status::BAD_SERVICE_UNSUPPORTED));
    let request = FindServersOnNetworkRequest::default();
    assert_eq!(client.call(request).map(drop), Err(status::BAD_SERVICE_UNSUPPORTED));
    let types: Vec<ApplicationType> = client
        .call(FindServersRequest::default())
        .expect("servers")
        .servers
        .iter()
        .map(|server| server.application_type)
        .collect();
    assert_eq!(types, [ApplicationType::SERVER]);
}

#[test]
fn registered_servers_are_found_until_they_go() {
    let server = discovery_server(DiscoveryServer::default());
    let mut client = client(&server);
    register(&mut client, registered("urn:test:pump")).expect("registered");
    register(&mut client, registered("urn:test:pump")).expect("registered again");
    assert_eq!(uris(&mut client, FindServersRequest::default()), ["urn:test:lds", "urn:test:pump"]);
    let only = FindServersRequest { server_uris: vec!["urn:test:pump".into()].into(), ..Default::default() };
    assert_eq!(uris(&mut client, only), ["urn:test:pump"]);
    let german =
        FindServersRequest { locale_ids: vec!["fr".into(), "de".into()].into(), ..Default::default() };
    let names: Vec<UaString> = client
        .call(german)
        .expect("servers")
        .servers
        .iter()
        .map(|s| s.application_name.text.clone())
        .collect();
    assert_eq!(names.last().and_then(|name| name.as_str()), Some("Pumpe"));
    let gone = RegisteredServer { is_online: false, ..registered("urn:test:pump") };
    register(&mut client, gone).expect("unregistered");
    assert_eq!(uris(&mut client, FindServersRequest::default()), ["urn:test:lds"]);
}

#[test]
fn a_server_that_does_not_come_again_is_forgotten() {
    let expiry = Duration::from_secs(100);
    let server = discovery_server(DiscoveryServer { expiry, ..Default::default() });
    let mut client = client(&server);
    register(&mut client, registered("urn:test:pump")).expect("registered");
    announce(&mut client, "urn:test:valve", &["DA"]);
    client.pass(Duration::from_secs(60));
    register(&mut client, registered("urn:test:pump")).expect("registered again");
    client.pass(Duration::from_secs(60));
    assert_eq!(uris(&mut client, FindServersRequest::default()), ["urn:test:lds", "urn:test:pump"]);
    assert!(on_network(&mut client, FindServersOnNetworkRequest::default()).is_empty());
}

#[test]
fn records_of_the_network_come_in_their_order() {
    let server = discovery_server(DiscoveryServer::default());
    let mut client = client(&server);
    assert_eq!(
        announce(&mut client, "urn:test:pump", &["DA", "HD"]),
        [StatusCode::GOOD, status::BAD_NOT_SUPPORTED]
    );
    announce(&mut client, "urn:test:valve", &["DA"]);
    register(&mut client, registered("urn:test:silent")).expect("registered, not announced");
    let ids =
        |records: Vec<ServerOnNetwork>| records.iter().map(|record| record.record_id).collect::<Vec<_>>();
    assert_eq!(ids(on_network(&mut client, FindServersOnNetworkRequest::default())), [1, 2, 3, 4]);
    announce(&mut client, "urn:test:pump", &["DA", "HD"]);
    let rest =
        FindServersOnNetworkRequest { starting_record_id: 1, max_records_to_return: 2, ..Default::default() };
    assert_eq!(ids(on_network(&mut client, rest)), [2, 3], "renewed, so under the same numbers");
    let history = FindServersOnNetworkRequest {
        server_capability_filter: vec!["hd".into(), "DA".into()].into(),
        ..Default::default()
    };
    assert_eq!(ids(on_network(&mut client, history)), [1, 2]);
    announce(&mut client, "urn:test:pump", &["DA"]);
    let all = on_network(&mut client, FindServersOnNetworkRequest::default());
    assert_eq!(ids(all.clone()), [3, 4, 5, 6], "another record has another number");
    assert_eq!(all.last().map(|record| record.discovery_url.clone()), Some("opc.tcp://pump:4841".into()));
}

#[test]
fn bad_registrations_have_their_status() {
    let server = discovery_server(DiscoveryServer { max_servers: 1, ..Default::default() });
    let mut client = client(&server);
    let of = |change: fn(&mut RegisteredServer)| {
        let mut server = registered("urn:test:pump");
        change(&mut server);
        server
    };
    for (wrong, expected) in [
        (of(|s| s.server_uri = UaString::default()), status::BAD_SERVER_URI_INVALID),
        (of(|s| s.server_names = Array::NULL), status::BAD_SERVER_NAME_MISSING),
        (of(|s| s.server_names = vec![LocalizedText::from("")].into()), status::BAD_SERVER_NAME_MISSING),
        (of(|s| s.discovery_urls = Array::NULL), status::BAD_DISCOVERY_URL_MISSING),
        (of(|s| s.server_type = ApplicationType::CLIENT), status::BAD_INVALID_ARGUMENT),
        (of(|s| s.server_type = ApplicationType(99)), status::BAD_INVALID_ARGUMENT),
    ] {
        assert_eq!(register(&mut client, wrong), Err(expected));
    }
    register(&mut client, registered("urn:test:first")).expect("room for one");
    assert_eq!(register(&mut client, registered("urn:test:second")), Err(status::BAD_RESOURCE_UNAVAILABLE));
    register(&mut client, registered("urn:test:first")).expect("the one it knows");
}

#[test]
fn servers_of_other_machines_register_where_they_may() {
    let local = discovery_server(DiscoveryServer::default());
    let open = discovery_server(DiscoveryServer { remote: true, ..Default::default() });
    let register_from = |server: &Server, address: &str| {
        let address = address.parse().expect("an address");
        let connection = server.connection_from(address, start_time());
        let mut client = Peer::connect(InProcess(connection), URL, start_time());
        register(&mut client, registered("urn:test:pump"))
    };
    for here in ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(register_from(&local, here), Ok(()), "{here}");
    }
    for elsewhere in ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7", "0.0.0.0"] {
        assert_eq!(register_from(&local, elsewhere), Err(status::BAD_USER_ACCESS_DENIED), "{elsewhere}");
        assert_eq!(register_from(&open, elsewhere), Ok(()), "{elsewhere}");
    }
    // Nor may they take a server of this machine away.
    let mut gone = registered("urn:test:pump");
    gone.is_online = false;
    let stranger = local.connection_from("192.0.2.7".parse().expect("an address"), start_time());
    let mut stranger = Peer::connect(InProcess(stranger), URL, start_time());
    assert_eq!(register(&mut stranger, gone), Err(status::BAD_USER_ACCESS_DENIED));
    let found = uris(&mut stranger, FindServersRequest::default());
    assert_eq!(found, ["urn:test:lds", "urn:test:pump"]);
}

/// The URIs that a discovery server on a socket knows.
async fn known(url: &str) -> Vec<String> {
    let discovery = Client::builder().insecure().discovery(url).await.expect("the discovery server");
    let found = discovery.find_servers().await.expect("servers");
    found.iter().map(|server| server.application_uri.as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_server_registers_while_it_runs() {
    let lds = discovery_server(DiscoveryServer::default());
    let url = lds.endpoints().first().cloned().expect("an endpoint");
    let (stop_lds, lds_stopped) = tokio::sync::oneshot::channel::<()>();
    let running_lds = tokio::spawn({
        let lds = lds.clone();
        async move { lds.run_until(lds_stopped).await }
    });
    // The second discovery server is not there: that holds nothing up.
    let registration =
        Registration { servers: vec![url.clone(), "opc.tcp://127.0.0.1:1".into()], ..Default::default() };
    let server =
        builder().application_uri("urn:test:pump").registration(registration).build().expect("a server");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { uaforge::run_registered(&server, stopped).await });
    let registered = async {
        while !known(&url).await.iter().any(|uri| uri == "urn:test:pump") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), registered).await.expect("it is registered");
    stop.send(()).expect("it runs");
    running.await.expect("no panic").expect("it ran");
    assert_eq!(known(&url).await, ["urn:test:lds"]);
    stop_lds.send(()).expect("it runs");
    running_lds.await.expect("no panic").expect("it ran");
}
